"""The code that runs while an object is constructed, before workers start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from dllint.facts.nodes import Name
from dllint.inference import limits
from dllint.inference.values import Class, Function, Instance, Site
from dllint.libraries.index import RUNS_BEFORE_LOADING, canonical, is_dataset_base
from dllint.linking.derivations import setters_in
from dllint.project.arrivals import Hop
from dllint.project.in_workers import InWorkers
from dllint.project.preparation import fills, is_in_hook
from dllint.project.without_workers import WithoutWorkers

if TYPE_CHECKING:
    from dllint.inference.engine import World

Runs = dict[tuple[str, int], tuple[Hop, ...]]
"""Functions, by path and scope, each with the calls that lead to it."""

_HOOKS = frozenset(chain.from_iterable(RUNS_BEFORE_LOADING.values()))
"""Names of methods that a framework calls before the object makes loaders."""


class Construction:
    """Queries about the functions that construct objects.

    `measured` tells whether loaders ask their datasets for the length before workers start.
    """

    def __init__(self, world: World, measured: Callable[[], bool]) -> None:
        self.world = world
        self._measured = measured
        self.without_workers = WithoutWorkers(world)
        self.in_workers = InWorkers(world)
        self._of_classes: dict[tuple[str, int], Runs] = {}
        self._of_objects: dict[Instance, Runs] = {}

    def of_class(self, cls: Class) -> Runs:
        """The functions of the project that run while an object of the class is constructed, or in a hook that a
        framework calls before the object makes loaders, each with the calls from `__init__` or the hook to it."""
        found = self._of_classes.get(cls.key)
        if found is None:
            found = self._of_classes[cls.key] = {}
            self._add(found, Instance(cls))
        return found

    def of(self, value: Instance) -> Runs:
        """Those of the functions that run while this object is constructed: without those that are only called under
        tests that its arguments make false (`if cache: self.load()`)."""
        assert isinstance(value.of, Class)
        every = self.of_class(value.of)
        if value.call < 0 or not any(map(len, every.values())):
            return every
        found = self._of_objects.get(value)
        if found is None:
            found = self._of_objects[value] = {}
            self._add(found, value)
        return found

    def _add(self, found: Runs, value: Instance) -> None:
        cls = value.of
        assert isinstance(cls, Class)
        inits = self.world.hierarchy.methods(cls, "__init__")
        first = [*inits, *self.world.hierarchy.run_by_constructor(cls), *self._setting_up(cls)]
        frame = self.world.receiver_frame(Instance(cls))
        found.update((function.key, ()) for function in first)
        queue: list[tuple[Function, tuple[Hop, ...]]] = [(function, ()) for function in first]
        while queue and not limits.INIT_FUNCTIONS.reached(len(found)):
            function, hops = queue.pop(0)
            for setter in self._setters(cls, function):
                if setter.key not in found:
                    found[setter.key] = hops
                    queue.append((setter, hops))
            for index in function.file.calls_of(function.scope):
                call = function.file.calls[index]
                called = self.world.calls.targets(function.file, index, frame)
                targets = [one for one in called if one.function.key not in found]
                asked = call.region and targets
                if asked and self._never_runs(value, self.world.call_site(function.file, index, None)):
                    continue
                for target in targets:
                    if target.function.key not in found and not limits.PIECE_DEPTH.reached(len(hops)):
                        hop = Hop(function.file, call.span, f"calls {target.function.name}", target.guessed)
                        found[target.function.key] = (*hops, hop)
                        queue.append((target.function, (*hops, hop)))

    def _never_runs(self, value: Instance, site: Site) -> bool:
        """Whether a place stands under a test that is false in the parent or, in a method, for this object, with
        workers."""
        if self.in_workers.only(site):
            return True
        owner = site.file.method_of(site.scope)
        if value.call < 0 or owner is None:
            return False
        frame = self.world.stores.method_frame(value, Class(site.file, owner), site.scope)
        where = site._replace(frame=frame)
        return self.world.untaken(where) or self.without_workers.only(where)

    def _setters(self, cls: Class, function: Function) -> Iterator[Function]:
        """The setters of properties that a method runs when it assigns to them: `self.path = path`."""
        params = function.file.scopes[function.scope].params
        if function.file.method_of(function.scope) is None or not params:
            return
        keys = {store.key for store in function.file.stores(function.scope) if store.base == Name(params[0].name)}
        owners = [one for one in self.world.hierarchy.line(cls) if isinstance(one, Class)] if keys else []
        for owner in owners:
            for name, scope in owner.file.derived(setters_in, owner.scope):
                if name in keys:
                    yield Function(owner.file, scope)

    def _setting_up(self, cls: Class) -> Iterator[Function]:
        """The hooks of a class that a framework calls before an object of it makes loaders, and the `__len__` of a
        dataset that loads its items when it is first asked for their number."""
        names = (RUNS_BEFORE_LOADING.get(canonical(one), ()) for one in self.world.hierarchy.externals(cls))
        own = dict.fromkeys(chain.from_iterable(names))
        for name in own:
            yield from self.world.hierarchy.methods(cls, name)
        for name in sorted(_HOOKS - own.keys()):
            # A hook of another class may hand the call on: `self.task.setup(stage)`.
            method = self.world.hierarchy.method(cls, name)
            if method is not None and any(is_in_hook(self.world, one) for one in self.world.calls.callers(method)):
                yield method
        if any(map(is_dataset_base, self.world.hierarchy.externals(cls))):
            item, length = (self.world.hierarchy.method(cls, name) for name in ("__getitem__", "__len__"))
            if item and length and fills(length.file, length.scope, called=True) and self._measured():
                yield length

    def fills(self, cls: Class, place: tuple[str, int]) -> bool:
        """Whether a function runs during construction for more than a single trial item such as
        `self.__getitem__(0)`."""
        hops = self.of_class(cls).get(place)
        tried = next((hop for hop in hops or () if hop.text == "calls __getitem__"), None)
        if tried is None:
            return hops is not None
        around = (
            one for call in tried.file.calls if call.span == tried.span for one in tried.file.regions(call.region)
        )
        return any(tried.file.facts.regions[one].kind in ("for", "while") for one in around)
