"""DataLoaders: the calls that construct them, and the values of their arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Opaque
from dllint.facts.schema import Expr
from dllint.inference.constructors import Reached, base_constructed, reaching
from dllint.inference.entries import OPAQUE, Found
from dllint.inference.values import (
    UNKNOWN,
    Actuals,
    Class,
    Const,
    External,
    Frame,
    Function,
    Instance,
    Partial,
    Site,
    Unknown,
    Value,
    Values,
    const,
)
from dllint.libraries import contexts
from dllint.libraries.facets import LoaderApi
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project.abstract_datasets import objects_below
from dllint.project.loader_apis import given_argument, loader_api, stays_text
from dllint.project.own_iteration import starts_no_workers
from dllint.project.trainers import fed_to, given_to_trainers
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.inference.edges import Caller
    from dllint.inference.engine import World


@dataclass(frozen=True)
class Workers:
    """A worker count.

    `kind` is "none" (provably 0), "some" (a positive number is among the values), "unknown" (workers are possible) or
    "opaque" (it depends on an unpacked mapping that cannot be resolved). `off`: there are no workers unless the user
    asks for them, because the default is 0. `counted`: workers behind an opaque mapping count as possible, which they
    do unless the project also writes a start method into such a mapping.
    """

    kind: str
    count: int | None
    text: str
    off: bool = False
    counted: bool = True

    @property
    def possible(self) -> bool:
        return self.kind in ("some", "unknown") or (self.kind == "opaque" and self.counted)

    @property
    def described(self) -> str:
        """ "4 workers", or the expression that the number comes from: "`args.workers` workers"."""
        if self.count is not None:
            return "1 worker" if self.count == 1 else f"{self.count} workers"
        return f"`{self.text}` workers"


@dataclass(frozen=True)
class Loader:
    """A call that constructs a DataLoader. `assumed`: the datasets that it is assumed to read (`assumed_datasets`)."""

    world: World
    file: SourceFile
    call: int
    callee: Value
    api: LoaderApi
    name: str
    assumed: Values = ()

    @cached_property
    def _arguments(self) -> dict[tuple[str, Frame | None], Found]:
        """Memo table of arguments by name and activation of the enclosing function: every rule asks for them."""
        return {}

    @cached_property
    def _reaching(self) -> dict[Frame | None, tuple[LoaderApi, Actuals] | None]:
        return {}

    @cached_property
    def _workers(self) -> dict[Frame | None, Workers]:
        return {}

    @cached_property
    def _datasets(self) -> dict[Frame | None, Values]:
        return {}

    @property
    def span(self) -> Span:
        return self.file.calls[self.call].span

    @cached_property
    def site(self) -> Site:
        return self.world.call_site(self.file, self.call, None)

    @property
    def cls(self) -> Class | None:
        """The project's own loader class; None if the call constructs the library's."""
        callee = self.callee
        while isinstance(callee, Partial):
            callee = callee.function
        return callee if isinstance(callee, Class) else None

    def argument(self, name: str, frame: Frame | None = None) -> Found:
        """The values of an argument of DataLoader's own constructor, in the activation `frame` of the enclosing
        function."""
        found = self._arguments.get((name, frame))
        if found is None:
            found = self._arguments[name, frame] = self._find_argument(name, frame)
        return found

    def _find_argument(self, name: str, frame: Frame | None) -> Found:
        if name == "collate_fn" and self.api.trainers:
            return given_to_trainers(self.world, self.api, (self.file, self.call), lambda trainer: (trainer.collate,))
        if self._filled:
            return self._default(name)
        reached = self.reaching(frame)
        if reached is None:
            return OPAQUE
        found = given_argument(self.world, reached[0], reached[1], reached[0].names.get(name, name))
        if self.api.forks and name in ("collate_fn", "worker_init_fn"):
            # Where the configuration names none, the runner adds its own, which seeds the workers.
            return replace(found, values=self.world.knowledge.described(found.values) or (UNKNOWN,), absent=False)
        if name == "num_workers" and found.absent and not found.values and self.api.configured:
            by_name = self.api.dataset in reached[1].keywords
            return found if by_name else Found((const(self.api.configured), UNKNOWN), False)
        return found

    @cached_property
    def _filled(self) -> bool:
        """Whether a command line or a file determines the trainer's options."""
        return bool(self.api.trainers) and self.world.knowledge.fills(self.file, self.call)

    def _default(self, name: str) -> Found:
        """The values of an option that a command line or a file may set: unknown, and the default that a class of
        the project gives it."""
        made = Instance(self.callee, self.file, self.call) if isinstance(self.callee, Class) else None
        field = self.api.names.get(name, name)
        given = self.world.values.attribute(made, field) if made is not None else ()
        known = tuple(value for value in given if isinstance(value, Const))
        return Found((*known, UNKNOWN), not known, True)

    def reaching(self, frame: Frame | None = None) -> tuple[LoaderApi, Actuals] | None:
        """The library's constructor and the arguments that reach it, through partials and the constructors of the
        project's own loader classes; None if unknown."""
        if frame not in self._reaching:
            found = self._reached(frame)
            made = loader_api(self.world, found.base) if found is not None else None
            self._reaching[frame] = (made[0], found.actuals) if found is not None and made is not None else None
        return self._reaching[frame]

    @cached_property
    def names_object(self) -> bool:
        """Whether the first argument of the call is the loader itself: `DataLoader.__init__(self, rows)`."""
        base = base_constructed(self.world, self.file, self.call)
        return base is not None and base[1]

    def _reached(self, frame: Frame | None) -> Reached | None:
        actuals = self.world.actuals(self.file, self.call, frame)
        if self.names_object:
            actuals = actuals.without_first()
        making = (self.file, self.call, frame)
        if self.cls is not None and self.api.copied:
            return Reached(self.cls, actuals, making)
        return reaching(self.world, self.callee, actuals, making, lambda one: loader_api(self.world, one) is not None)

    @property
    def handed(self) -> tuple[SourceFile, Span] | None:
        """Where a loader class of the project passes the arguments on to the library's constructor; None if the
        loader's own call is that call."""
        found = self._reached(None)
        if found is None or found.call[:2] == (self.file, self.call):
            return None
        file, index, _ = found.call
        return file, file.calls[index].span

    def workers(self, frame: Frame | None = None) -> Workers:
        """The workers that start in one activation of the enclosing function: none if the loader's class gives batches
        itself, whatever `num_workers` is."""
        return Workers("none", 0, "0") if self.iterates_itself else self.asked(frame)

    @cached_property
    def iterates_itself(self) -> bool:
        if self.cls is None:
            return False
        callees = self.world.values.evaluate(self.file.calls[self.call].func, self.site)
        return starts_no_workers(self.world, callees, self.file, self.call)

    def asked(self, frame: Frame | None = None) -> Workers:
        """The worker count that the base class is given in one activation of the enclosing function."""
        found = self._workers.get(frame)
        if found is None:
            found = self._workers[frame] = self._find_asked(frame)
        return found

    def _find_asked(self, frame: Frame | None) -> Workers:
        found = self.argument("num_workers", frame)
        values = found.values
        if found.absent and not values:
            return Workers("none", 0, "0")
        written = self._written("num_workers")
        if not found.named and any(isinstance(value, Unknown) for value in values):
            return Workers("opaque", None, self._unpacked() or written, counted=self._may_have_workers())
        counts = [value.value for value in values if isinstance(value, Const) and isinstance(value.value, (int, float))]
        if not any(counts) and (len(counts) == len(values) or (counts and self._is_text("num_workers"))):
            return Workers("none", 0, "0")
        if len(counts) == len(values) == 1:
            return Workers("some", int(counts[0]), str(int(counts[0])))
        kind = "some" if any(counts) else "unknown"
        return Workers(kind, None, written, not any(counts) and (found.absent or bool(counts)))

    @property
    def has_workers(self) -> bool:
        """Whether the worker count is known and positive for every caller of the enclosing function."""
        found = self.argument("num_workers")
        counts = [value.value for value in found.values if isinstance(value, Const) and isinstance(value.value, int)]
        known = not found.absent and len(counts) == len(found.values) > 0 and all(count > 0 for count in counts)
        return known and not self.iterates_itself

    def accepts(self, name: str) -> bool:
        """Whether the call accepts DataLoader's argument `name` as a keyword."""
        if not self.api.dataset:
            return False
        cls = self.cls
        init = self.world.hierarchy.method(cls, "__init__") if cls is not None else None
        if init is None:
            return True
        params = init.file.scopes[init.scope].params
        return any(param.kind == "kw" or param.name == name for param in params)

    def _may_have_workers(self) -> bool:
        """Whether an unresolved mapping counts as one that may set workers: no code of the project uses a
        multiprocessing context as a key, or a configuration file has the key `num_workers`."""
        world = self.world
        return not world.writes_key("multiprocessing_context") or world.knowledge.configures("num_workers")

    def _unpacked(self) -> str | None:
        """The last mapping that the call unpacks, as written: "**options"."""
        unpacked = [one.value for one in self.file.calls[self.call].args if one.keyword == "**"]
        return f"**{render(unpacked[-1], self.file, 40)}" if unpacked else None

    def _written(self, name: str) -> str:
        given = self._keyword(name)
        return self.api.names.get(name, name) if given is None else render(given, self.file, 40)

    def _is_text(self, name: str) -> bool:
        """Whether only a text can replace the default of an argument, so that the default alone works."""
        given = self._keyword(name)
        return given is not None and stays_text(self.world, given, self.site)

    def _keyword(self, name: str) -> Expr | None:
        name = self.api.names.get(name, name)
        return next((one.value for one in self.file.calls[self.call].args if one.keyword == name), None)

    def context(self, frame: Frame | None = None) -> str | None:
        """The explicit start method: its name, "?" if one is given but unknown, None if there is none."""
        found = self.argument("multiprocessing_context", frame)
        given = [value for value in found.values if not (isinstance(value, Const) and value.value is None)]
        if not given and self.api.forks:
            return "fork" if self.world.knowledge.setting(self.api.forks) <= {"fork"} else "?"
        if not given:
            return self._assigned_context()
        for value in given:
            if isinstance(value, Const):
                return str(value.value)
            if isinstance(value, External) and (method := contexts.method_of(value.name)) is not None:
                return method
        if found.absent:
            return None
        return "?"

    def _assigned_context(self) -> str | None:
        """ "?" if the file assigns `loader.multiprocessing_context = …` after construction."""
        for store_file, _store in self.world.stores.outside_stores("multiprocessing_context"):
            if store_file is self.file:
                return "?"
        return None

    @property
    def takes_mapping(self) -> bool:
        """Whether the call passes some of its options as `**options`."""
        return any(argument.keyword == "**" for argument in self.file.calls[self.call].args)

    def flag(self, name: str, frame: Frame | None = None) -> bool | None:
        """Whether a flag is on: True if it may be (a true constant is among the values), False if it provably is
        not, None if unknown."""
        found = self.argument(name, frame)
        if any(isinstance(value, Const) and value.value for value in found.values):
            return True
        if all(isinstance(value, Const) for value in found.values):
            return False
        return None

    def named_anywhere(self, option: str) -> bool:
        """Whether an unknown mapping that the call unpacks may set an option, because the call or the project names it
        as a key."""
        if self._unpacked() is None or not self.api.dataset:
            return True
        return self.world.writes_key(option) or self.world.knowledge.configures(option)

    def datasets(self, frame: Frame | None = None) -> Values:
        """The values that the dataset argument can have."""
        found = self._datasets.get(frame)
        if found is None:
            found = self._datasets[frame] = self._find_datasets(frame)
        return found

    def _find_datasets(self, frame: Frame | None) -> Values:
        if self.assumed:
            return self.assumed
        if self.api.trainers:
            return given_to_trainers(self.world, self.api, (self.file, self.call), lambda one: one.datasets).values
        if self.api.wraps:
            return (Instance(External(self.api.wraps), self.file, self.call, frame),)
        if self.api.registry:
            registered = self.world.knowledge.entries(External(self.api.registry))
            return tuple(Instance(one) for one in registered if isinstance(one, Class))
        if self.api.fed_by:
            return fed_to(self.world, self.api, (self.file, self.call))
        found = self.argument(self.api.dataset, frame).values if self.api.dataset else ()
        found = self.world.knowledge.described(found) if self.api.forks else found
        return tuple(dict.fromkeys(one for value in found for one in self._heirs(value)))

    def _called_on(self, caller: Caller) -> Values:
        """The receivers of a call of the method that makes the loader."""
        func: Expr = caller.file.calls[caller.call].func if caller.call >= 0 else Opaque()
        if not isinstance(func, Attribute):
            return (UNKNOWN,)
        return self.world.values.evaluate(func.value, self.world.call_site(caller.file, caller.call, None))

    @cached_property
    def _own_object(self) -> Instance | None:
        """An unspecified object of the class whose method makes the loader; None outside of methods."""
        number = self.file.enclosing_class(self.site.scope)
        return Instance(Class(self.file, number)) if number is not None else None

    def _heirs(self, value: Value) -> Iterator[Value]:
        """The value itself, unless it is the unspecified receiver of the method that makes the loader.

        Such a receiver is replaced by the objects that the method is called on. If some of those are unknown, the
        receiver itself and one object of each subclass that inherits the method are added.
        """
        if value is not self._own_object:
            yield from objects_below(self.world, value) or (value,)
            return
        number = self.file.enclosing_class(self.site.scope)
        assert number is not None
        owner, scope = Class(self.file, number), self.site.scope
        while self.file.scopes[scope].parent != number:
            scope = self.file.scopes[scope].parent
        callers = self.world.calls.callers(Function(self.file, scope))
        unclear = not callers
        for caller in callers:
            for one in self._called_on(caller):
                if not isinstance(one, Instance) or one.file is None:
                    unclear = True
                elif isinstance(one.of, Class) and self._inherits(one.of, scope):
                    yield one
        if unclear:
            yield value
            for heir in self.world.hierarchy.subclasses(owner):
                if self._inherits(heir, scope):
                    yield Instance(heir)

    def _inherits(self, cls: Class, scope: int) -> bool:
        """Whether `cls` resolves the method's name to the function `scope` of this file."""
        method = self.world.hierarchy.method(cls, self.file.scopes[scope].name)
        return method is not None and method.key == (self.file.path, scope)


def written(loader: Loader, option: str) -> Expr | None:
    """The expression that the loader's own call passes for an option; None if it arrives another way."""
    name = loader.api.names.get(option, option)
    arguments = loader.file.calls[loader.call].args
    for argument in arguments:
        if argument.keyword == name:
            return argument.value
    position = loader.api.params.index(name) if name in loader.api.params else -1
    plain = [argument for argument in arguments if argument.keyword is None][loader.names_object :]
    return plain[position].value if loader.cls is None and 0 <= position < len(plain) else None
