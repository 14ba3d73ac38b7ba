"""Where processes start: calls of launchers, and the iteration of loaders with workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, CallRef, Constant, Name, Starred
from dllint.facts.schema import Expr
from dllint.inference import generators, limits
from dllint.inference.constructors import reaching
from dllint.inference.values import Class, Display, External, Frame, Function, Instance, Mapping, Site, Value
from dllint.libraries.contents import keeps_arguments
from dllint.libraries.contexts import METHODS
from dllint.libraries.index import BEGINNING, GOES_INSIDE, HANDING_ON, ITERATING, canonical
from dllint.linking.conditions import render
from dllint.linking.derivations import looped_in
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project import framework_loaders
from dllint.project.arrivals import Arrival
from dllint.project.launches import Launch
from dllint.project.loaders import Loader
from dllint.project.merged_activations import may_work
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_MEASURING = frozenset({"len", "range", "isinstance", "type", "id", "repr", "str", "print", "dir", "vars"})
"""Builtins that take a loader without iterating it."""


@dataclass(frozen=True)
class Method:
    """A start method of a launch. `where` names the targets whose default it is, if the project does not set it."""

    name: str
    where: str = ""
    arrival: Arrival | None = None

    @property
    def shown(self) -> bool:
        return not self.where


@dataclass(frozen=True)
class Iteration:
    """A place where a loader is iterated, and therefore its workers start.

    `call` is -1 if no call iterates it: in a `for` statement, or with `unpacked`, in `[*batches]`.
    """

    loader: Loader
    file: SourceFile
    scope: int
    region: int
    span: Span
    statement: Span
    call: int
    unpacked: bool = False


class Read(NamedTuple):
    """A loader object that is iterated. `frame` is the activation that makes it, None if it is not known."""

    loader: Loader
    frame: Frame | None


class _Loop(NamedTuple):
    """An expression that a statement iterates without a call."""

    expr: Expr
    span: Span
    region: int
    statement: Span
    unpacked: bool


class Starting:
    """Finds the places where processes start, and their start methods."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    # Launches

    def methods(self, launch: Launch, script: SourceFile | None = None) -> list[Method]:
        """The start methods of a launch: its own, those that the project puts in force there, or the defaults.

        With `script`, where the top level of that file reaches the launch.
        """
        found = [Method(name) for name in launch.methods if name in METHODS]
        if "default" not in launch.methods:
            return found
        call = launch.file.calls[launch.call]
        at = call.statement.start
        arrivals = self.project.methods.at(launch.file, call.scope, call.region, at, launch.package)
        if script is not None:
            arrivals = [arrival for arrival in arrivals if self.project.in_force(arrival, script)]
        found += [Method(arrival.origin.method, "", arrival) for arrival in arrivals]
        if not any(arrival.origin.launch is None for arrival in arrivals):
            found += [Method(name, where) for name, where in self.project.targets.default_start_methods().items()]
        return found

    @cached_property
    def launching(self) -> dict[tuple[str, int], list[Launch]]:
        """The launches by the call that starts their processes."""
        found: dict[tuple[str, int], list[Launch]] = {}
        for launch in (*self.project.launches.all(), *self.project.launches.blind()):
            for file, index in self.started(launch):
                found.setdefault((file.path, index), []).append(launch)
        return found

    def started(self, launch: Launch) -> Iterator[tuple[SourceFile, int]]:
        """The calls that start the processes of a launch: `start()` of a Process, else the launching call itself."""
        if not launch.api.endswith("Process"):
            yield launch.file, launch.call
            return
        yield from self._starts.get((launch.file.path, launch.call), ())

    @cached_property
    def _starts(self) -> dict[tuple[str, int], list[tuple[SourceFile, int]]]:
        """The calls of `start()`, by the calls that create the processes."""
        found: dict[tuple[str, int], list[tuple[SourceFile, int]]] = {}
        for name in sorted({"start", *self.world.aliases("start")}):
            for file, index in self.world.called(name):
                func = file.calls[index].func
                if not isinstance(func, Attribute) or func.attr != "start":
                    continue
                values = self.world.values.evaluate(func.value, self.world.call_site(file, index, None))
                made = {
                    (value.file.path, value.call)
                    for value in values
                    if isinstance(value, Instance) and value.file is not None
                }
                for process in sorted(made):
                    found.setdefault(process, []).append((file, index))
        return found

    def daemonic(self, launch: Launch) -> bool:
        """Whether the processes of a launch are daemonic, and so cannot have children.

        That is true of processes of a pool, and of those created with `daemon=True` or with `daemon` set to True before
        they start.
        """
        if launch.daemonic:
            return not self._own_context(launch)
        given = self.world.actuals(launch.file, launch.call, launch.frame).keywords.get("daemon")
        if given is not None and given.expr == Constant(True):
            return True
        for file, store in self.world.stores.outside_stores("daemon"):
            if store.value == Constant(True):
                at = store.event.span.start
                site = Site(file, store.scope, store.event.region, at, None)
                if any(
                    isinstance(value, Instance) and value.file is launch.file and value.call == launch.call
                    for value in self.world.values.evaluate(store.base, site)
                ):
                    return True
        return False

    def _own_context(self, launch: Launch) -> bool:
        """Whether a pool uses a context that may create processes that are not daemonic."""
        func = launch.file.calls[launch.call].func
        site = self.world.call_site(launch.file, launch.call, launch.frame)
        for value in self.world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ():
            if isinstance(value, Instance) and value.file is not None and value.call >= 0:
                context = self.world.made_with(value).keywords.get("context")
                if context is not None and context.expr is not None and context.site is not None:
                    values = self.world.values.evaluate(context.expr, context.site)
                    return not all(isinstance(one, External) for one in values)
        return False

    # Loaders

    @cached_property
    def _looped(self) -> dict[tuple[str, int], list[_Loop]]:
        return {}

    @cached_property
    def _loaders(self) -> dict[tuple[str, int], Loader]:
        return {(loader.file.path, loader.call): loader for loader in self.project.loaders}

    def iterations(self, file: SourceFile, scope: int, frame: Frame | None) -> Iterator[Iteration]:
        """The places where a scope itself iterates loaders."""
        loops = self._loops(file, scope)
        inside = {one.index for loop in loops for one in walk(loop.expr, file) if isinstance(one, CallRef)}
        begun = {index: list(self._begun(file, index, frame)) for index in file.calls_of(scope) if index not in inside}
        starting = {(file, index) for index, loaders in begun.items() if loaders}
        for loop in loops:
            site = Site(file, scope, loop.region, loop.statement.start, frame)
            # A function that returns a pair of loaders, or one alone for some data, is asked for a pair here.
            if loop.unpacked and any(isinstance(one, Display) for one in self.world.values.evaluate(loop.expr, site)):
                continue
            # The loop over `batches = enumerate(loader)` starts nothing itself.
            if not (starting and isinstance(loop.expr, Name) and self._is_begun(loop.expr, site, starting)):
                for loader in self.iterated(loop.expr, site):
                    yield Iteration(loader, file, scope, loop.region, loop.span, loop.statement, -1, loop.unpacked)
        for index in file.calls_of(scope):
            call = file.calls[index]
            for loader in (*self.consumed(file, index, frame), *begun.get(index, ())):
                yield Iteration(loader, file, scope, call.region, call.span, call.statement, index)

    def _is_begun(self, expr: Expr, site: Site, begun: set[tuple[SourceFile, int]], depth: int = 0) -> bool:
        """Whether an expression is what one of some calls made, also inside a progress bar."""
        made = (one for one in self.world.values.evaluate(expr, site) if isinstance(one, Instance) and one.call >= 0)
        for value in () if limits.COUNTING_DEPTH.exceeded(depth) else made:
            assert value.file is not None
            where = self.world.call_site(value.file, value.call, _activation(value, site))
            inner = value.file.calls[value.call].args if self._goes_on(value, in_place=False) else ()
            if (value.file, value.call) in begun or any(
                self._is_begun(one.value, where, begun, depth + 1) for one in inner
            ):
                return True
        return False

    def _begun(self, file: SourceFile, index: int, frame: Frame | None) -> Iterator[Loader]:
        """The loaders from which a call makes iterators, whoever reads these: `batches = enumerate(loader)`."""
        func = file.calls[index].func
        if isinstance(func, Name) and func.id in BEGINNING:
            site = self.world.call_site(file, index, frame)
            if External(func.id) not in self.world.values.evaluate(func, site):
                return
            given = [one.value for one in file.calls[index].args if one.keyword is None]
            for expr in given[BEGINNING[func.id]]:
                yield from self.iterated(expr, site)

    def consumed(self, file: SourceFile, index: int, frame: Frame | None) -> Iterable[Loader]:
        """The loaders that a call itself iterates."""
        site = self.world.call_site(file, index, frame)
        consumed = list(self._consumed(file, index, site))
        found = [loader for expr in consumed for loader in self.iterated(expr, site)]
        if isinstance(file.calls[index].func, Attribute):
            # Frameworks accept lists and dicts of loaders too.
            found += [loader for expr in consumed for loader in self.among(self.held(expr, site))]
        found += framework_loaders.read(self, file, index, site) if self._loaders else ()
        return {(loader.file.path, loader.call): loader for loader in found}.values()

    def _loops(self, file: SourceFile, scope: int) -> list[_Loop]:
        """The expressions that a scope iterates without a call: `for`, `yield from`, `[*batches]`,
        `print(*batches)`."""
        found = self._looped.get((file.path, scope))
        if found is None:
            found = self._looped[file.path, scope] = [
                _Loop(expr, span, region.number, statement, unpacked)
                for expr, span, region, statement, unpacked in file.derived(looped_in, scope)
            ]
        return found

    def iterated_in(self, file: SourceFile, scope: int) -> Iterator[tuple[Expr, Site]]:
        """The expressions that a scope itself iterates, or passes to what does, in any activation."""
        for loop in self._loops(file, scope):
            yield loop.expr, Site(file, scope, loop.region, loop.statement.start, None)
        for index in file.calls_of(scope):
            func = file.calls[index].func
            if last_name(func) in framework_loaders.TRAINING or last_name(func) in ITERATING or func == Name("next"):
                for argument in file.calls[index].args:
                    yield argument.value, self.world.call_site(file, index, None)

    def _consumed(self, file: SourceFile, index: int, site: Site) -> Iterator[Expr]:
        """The arguments that a call itself iterates."""
        call = file.calls[index]
        if isinstance(call.func, Name) and call.func.id in ITERATING:
            yield from (argument.value for argument in call.args[:1] if argument.keyword is None)
        elif call.func == Name("next") and call.args and not call.args[0].keyword:
            # An iterator from `iter` started its workers there; a lazy wrapper starts them here.
            values = self.world.values.evaluate(call.args[0].value, site)
            if not any(self.among(values, idle=True)):
                yield call.args[0].value
        elif isinstance(call.func, Attribute) and any(framework_loaders.trainers(self.world, call.func, site)):
            yield from (argument.value for argument in call.args if argument.keyword not in ("*", "**"))

    def held(self, expr: Expr, site: Site) -> Iterator[Value]:
        """The elements of containers."""
        for value in self.world.values.evaluate(expr, site):
            yield from self.world.mappings.flattened(value) if isinstance(value, (Display, Mapping)) else ()

    def among(self, values: Iterable[Value], idle: bool = False, site: Site | None = None) -> Iterator[Loader]:
        """The loaders among values; with `idle`, also those whose constructing call sets zero workers.

        `site` is where they are read.
        """
        return (one.loader for one in self._objects(values, idle, site))

    def _objects(self, values: Iterable[Value], idle: bool, site: Site | None = None) -> Iterator[Read]:
        for value in values:
            if isinstance(value, Instance) and value.file is not None:
                loader = self._loaders.get((value.file.path, value.call))
                frame = _activation(value, site) if site is not None else value.frame
                # The constructing call on this path may rule workers out even if others do not.
                works = idle or loader is None or frame is None or loader.workers(frame).kind != "none"
                lost = frame is None or self.world.forgets(frame)
                if lost and loader is not None and site is not None and works and not idle:
                    works = may_work(self.world, loader, site)
                if loader is not None and works:
                    yield Read(loader, frame)

    def iterated(self, expr: Expr, site: Site) -> Iterator[Loader]:
        """The loaders that iterating an expression iterates, also inside wrappers such as `enumerate` and `tqdm`."""
        return (one.loader for one in self._iterated(expr, site, 0, False))

    def _iterated(self, expr: Expr, site: Site, depth: int, idle: bool) -> Iterator[Read]:
        """With `idle`, also the loaders constructed with zero workers."""
        if not self._loaders or limits.COUNTING_DEPTH.exceeded(depth):
            return
        for value in self.world.values.evaluate(expr, site):
            if not isinstance(value, Instance) or value.file is None:
                continue
            loader = self._loaders.get((value.file.path, value.call))
            if loader is not None and loader.api.dataset:
                yield from self._objects((value,), idle, site)
            elif loader is None and self._goes_on(value, in_place=expr == CallRef(value.call)):
                where = self.world.call_site(value.file, value.call, _activation(value, site))
                inside = isinstance(value.of, External) and canonical(value.of.name) in GOES_INSIDE
                for argument in value.file.calls[value.call].args:
                    if argument.keyword == "*":
                        yield from self._objects(self.held(argument.value, where), idle)
                    elif argument.keyword in (None, "iterable", "iterables"):
                        yield from self._iterated(argument.value, where, depth + 1, idle)
                        yield from self._objects(self.held(argument.value, where), idle) if inside else ()
            elif loader is None and isinstance(value.of, Class):
                yield from self._iterated_by(value, value.of, depth, idle)

    def gone_through(self, expr: Expr, site: Site, depth: int = 0) -> Iterator[Read]:
        """The loaders that iterating an expression reaches, also through the `__iter__` of the project's own classes
        and its generators."""
        yield from self._iterated(expr, site, 0, True)
        if limits.COUNTING_DEPTH.exceeded(depth):
            return
        for function, frame in self.iterating(expr, site):
            file, scope = function.file, function.scope
            for event in file.scopes[scope].events:
                inner = event.value if event.kind == "for" and event.detail != "comp" else None
                if event.kind == "yield" and isinstance(event.value, Starred):
                    inner = event.value.value
                if inner is not None:
                    at = event.span.start
                    yield from self.gone_through(inner, Site(file, scope, event.region, at, frame), depth + 1)
            for index in file.calls_of(scope):
                call = file.calls[index]
                if call.func == Name("iter") and len(call.args) == 1:
                    here = self.world.call_site(file, index, frame)
                    yield from self.gone_through(call.args[0].value, here, depth + 1)

    def iterating(self, expr: Expr, site: Site, depth: int = 0) -> Iterator[tuple[Function, Frame | None]]:
        """The functions of the project that run when an expression is iterated, also inside wrappers such as
        `enumerate` and `tqdm`."""
        for value in self.world.values.evaluate(expr, site):
            if not isinstance(value, Instance) or value.file is None or value.call < 0:
                continue
            if isinstance(value.of, Class):
                method = self.world.hierarchy.method(value.of, "__iter__")
                if method is not None and (value.file.path, value.call) not in self._loaders:
                    yield method.bound_to(value), self.world.receiver_frame(value)
                continue
            yield from generators.runs(self.world, value)
            if self._goes_on(value, expr == CallRef(value.call)) and not limits.COUNTING_DEPTH.exceeded(depth):
                where = self.world.call_site(value.file, value.call, _activation(value, site))
                for argument in value.file.calls[value.call].args:
                    if argument.keyword in (None, "iterable", "iterables"):
                        yield from self.iterating(argument.value, where, depth + 1)

    def _iterated_by(self, value: Instance, cls: Class, depth: int, idle: bool) -> Iterator[Read]:
        """The loaders that an iteration reads through an object whose class inherits from a progress bar or similar
        iterator."""
        if value.file is None or value.call < 0 or self.world.hierarchy.method(cls, "__iter__") is not None:
            return
        making = (value.file, value.call, value.frame)
        found = reaching(self.world, cls, self.world.made_with(value), making, _is_iterator)
        for actual in (*found.actuals.positional, found.actuals.keywords.get("iterable")) if found is not None else ():
            if actual is not None and actual.expr is not None and actual.site is not None:
                yield from self._iterated(actual.expr, actual.site, depth + 1, idle)

    @staticmethod
    def _goes_on(value: Instance, in_place: bool) -> bool:
        """Whether iterating the result of an external call iterates its arguments.

        The callee must be known if the result is kept under a name. A call written directly in a loop's header is there
        to be iterated.
        """
        if not isinstance(value.of, External):
            return False
        name = canonical(value.of.name)
        return name in HANDING_ON or (name not in _MEASURING and (in_place or keeps_arguments(name)))

    def described(self, iteration: Iteration) -> str:
        """The iteration as messages name it: "this loop over a DataLoader", or the call."""
        if iteration.call < 0:
            return f"this {'unpacking of' if iteration.unpacked else 'loop over'} a {iteration.loader.name}"
        return f"`{render(iteration.file.calls[iteration.call].func, iteration.file)}`"


def _activation(value: Instance, site: Site) -> Frame | None:
    """The activation in which a value is made that is read at a site.

    A value keeps less of a deep call stack than the place where the call that makes it is written.
    """
    here = value.file is site.file and site.file.calls[value.call].scope == site.scope
    return site.frame if here and value.frame is None else value.frame


def _is_iterator(value: Value) -> bool:
    return isinstance(value, External) and canonical(value.name) in HANDING_ON
