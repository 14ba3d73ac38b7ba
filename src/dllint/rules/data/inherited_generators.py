"""Generators that worker code reaches other than by an attribute of the dataset: a module variable, a class
attribute, an element of a list, the `collate_fn` object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, Name, Subscript
from dllint.inference.names import CONSTRUCTORS
from dllint.inference.stores import keeps_result
from dllint.inference.values import NONE, Class, External, Function, Instance
from dllint.libraries.facets import Generator
from dllint.libraries.index import GENERATORS, UNDRAWING, canonical
from dllint.linking.conditions import render
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerRun
from dllint.rules.data.idle_draws import is_idle
from dllint.rules.data.optional_starts import OptionalStarts
from dllint.rules.data.worker_init_functions import any_asks_which_worker, hides_start
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.model import Project


@dataclass(frozen=True)
class InheritedGenerator:
    """A generator that is created before workers start, and that they draw from.

    Attributes:
        held: how the first draw names it: "rng", "self.ops['noise']".
        api: the API that created it.
        file, call: the call that created it.
        shared: whether workers have the same state under every start method; otherwise only under fork.
        draws: where workers draw from it.
    """

    held: str
    api: Generator
    file: SourceFile
    call: int
    shared: bool
    draws: tuple[tuple[SourceFile, Span], ...]


class InheritedGenerators:
    """Finds the inherited generators of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    def of_loader(self, loader: Loader) -> Iterator[InheritedGenerator]:
        """The generators that workers draw from without seeding or replacing them.

        There are none if any worker code asks which worker it is in, or an unknown `worker_init_fn` may run.
        """
        if hides_start(self.world, loader):
            return
        runs = self.project.ask(OptionalStarts).runs(loader)
        if any_asks_which_worker(runs):
            return
        draws: dict[tuple[SourceFile, int], tuple[str, Generator, list[tuple[SourceFile, Span]]]] = {}
        seeded: set[tuple[SourceFile, int]] = set()
        drawing: dict[tuple[SourceFile, int], list[int]] = {}
        for run in runs:
            place = (run.file, run.scope)
            if place not in drawing:
                drawing[place] = [index for index in run.file.calls_of(run.scope) if _may_draw(run.file, index)]
            for index in drawing[place]:
                for made, api, held, name in self._used(run, index):
                    if name in api.reseeding:
                        seeded.add(made)
                    else:
                        draws.setdefault(made, (held, api, []))[2].append((run.file, run.file.calls[index].span))
        for made, (held, api, places) in draws.items():
            if made not in seeded and api.family != "torch" and self._made_on_first_use(*made, runs):
                yield InheritedGenerator(held, api, *made, True, tuple(places))
            elif made not in seeded and self._made_before(*made, runs) and not self._replaced(held, runs):
                file, call = made
                scope = file.calls[call].scope
                imported = scope <= 0 or file.scopes[scope].kind == "class"
                # Workers that import the module again create their own, from the same seed if one is given.
                shared = api.family != "torch" and (not imported or bool(file.calls[call].args))
                yield InheritedGenerator(held, api, file, call, shared, tuple(places))

    def _used(self, run: WorkerRun, index: int) -> Iterator[tuple[tuple[SourceFile, int], Generator, str, str]]:
        """The generators that a call draws from or seeds: the call that created each, its API, its name, and the
        method called."""
        call = run.file.calls[index]
        func = call.func
        assert isinstance(func, Attribute)
        site = self.world.call_site(run.file, index, run.frame)
        for value in self.world.values.evaluate(func.value, site):
            api = _api(value)
            if api is not None and isinstance(value, Instance) and value.file is not None and value.call >= 0:
                if self.world.untaken(site) or is_idle(self.world, run, index):
                    return
                yield (value.file, value.call), api, render(func.value, run.file), func.attr

    def _made_before(self, file: SourceFile, call: int, runs: list[WorkerRun]) -> bool:
        """Whether a call runs once, before workers start: when a module is imported or an object constructed."""
        scope = file.calls[call].scope
        if any((run.file.path, run.scope) == (file.path, scope) for run in runs):
            return False
        if scope <= 0 or file.scopes[scope].kind == "class":
            return True
        owner = file.method_of(scope)
        if owner is None:
            # A function that returns a new generator to its caller: it must not be called per item by worker code.
            return not any(
                target.function.key == (file.path, scope)
                for run in runs
                for index in run.file.calls_of(run.scope)
                for target in self.world.calls.targets(run.file, index, run.frame)
            )
        cls = Class(file, owner)
        place = (file.path, scope)
        return file.scopes[scope].name in CONSTRUCTORS or any(
            place in self.project.datasets.construction.of_class(one)
            or (place in self.project.datasets.prepared_by(one) and not runs_in_loop(self.world, file, scope))
            for one in (cls, *self.world.hierarchy.subclasses(cls))
        )

    def _made_on_first_use(self, file: SourceFile, call: int, runs: list[WorkerRun]) -> bool:
        """Whether each worker creates the generator once, from a seed that is the same in all of them: `if self.rng is
        None: self.rng = RandomState(self.seed)`, or in a cached property."""
        made = file.calls[call]
        params = file.scopes[made.scope].params
        run = next((one for one in runs if (one.file, one.scope) == (file, made.scope)), None)
        if not made.args or not params or run is None:
            return False
        own = Name(params[0].name)
        alike = all(
            isinstance(one.value, Constant) or (isinstance(one.value, Attribute) and one.value.value == own)
            for one in made.args
        )
        site = self.world.call_site(file, call, run.frame)
        # Without a seed the operating system's randomness is used, which differs.
        if not alike or any(NONE in self.world.values.evaluate(one.value, site) for one in made.args):
            return False
        if keeps_result(file, made.scope):
            return True
        for store in file.stores(made.scope):
            if store.value == CallRef(call) and store.base == own and isinstance(store.key, str):
                tests = [file.facts.regions[one].expr for one in file.regions(store.event.region)]
                kept = Attribute(own, store.key)
                return any(part == kept for test in tests if test is not None for part in walk(test, file))
        return False

    @staticmethod
    def _replaced(held: str, runs: list[WorkerRun]) -> bool:
        """Whether worker code rebinds the name or the attribute."""
        last = held.rpartition(".")[2]
        for run in runs:
            if any(store.key in (last, "state") for store in run.file.stores(run.scope)):
                return True
            for event in run.file.scopes[run.scope].events:
                if event.kind == "assign" and event.target == Name(last) and "." not in held:
                    return True
        return False


def _may_draw(file: SourceFile, index: int) -> bool:
    """Whether a call is of a method of something that is kept, and may draw from it."""
    func = file.calls[index].func
    if not isinstance(func, Attribute) or func.attr in UNDRAWING:
        return False
    return isinstance(func.value, (Name, Attribute, Subscript))


def _api(value: object) -> Generator | None:
    if not isinstance(value, Instance) or not isinstance(value.of, External):
        return None
    return GENERATORS.get(canonical(value.of.name).removesuffix("().manual_seed"))


def runs_in_loop(world: World, file: SourceFile, method: int) -> bool:
    """Whether a method is called in a loop, as one that reseeds for each epoch is."""
    return any(
        caller.file.facts.regions[region].kind in ("for", "while")
        for caller in world.calls.callers(Function(file, method))
        if caller.call >= 0
        for region in caller.file.regions(caller.file.calls[caller.call].region)
    )
