"""The functions that run in the workers of a loader, with the calls that reach them."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Compare, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.activations import Seen
from dllint.inference.edges import Target
from dllint.inference.values import (
    Actual,
    Actuals,
    Class,
    Const,
    External,
    Frame,
    Function,
    Instance,
    Partial,
    Site,
    Value,
)
from dllint.libraries.index import is_dataset_base
from dllint.linking.conditions import render
from dllint.linking.expressions import walk, without_calls
from dllint.linking.implicit_calls import expressions
from dllint.linking.reads import RegionRef, ScopeRef
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrivals import Hop
from dllint.project.in_workers import InWorkers
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.inference.engine import World

ENTRIES = ("__getitem__", "__getitems__", "__iter__", "__next__")


@dataclass(frozen=True)
class WorkerRun:
    """A function that runs in a worker, with the chain of calls to it from the entry point (the function `root`)."""

    file: SourceFile
    scope: int
    frame: Frame | None
    hops: tuple[Hop, ...]
    entry: str
    root: tuple[str, int]


def called_names(runs: Iterable[WorkerRun]) -> set[str]:
    """The last names of all that worker code calls. Each function is read once, however often it runs."""
    places = dict.fromkeys((run.file, run.scope) for run in runs)
    return {last_name(file.calls[index].func) for file, scope in places for index in file.calls_of(scope)}


class WorkerCode:
    """Finds the functions that are reachable from the entry points of workers."""

    def __init__(self, world: World, in_workers: InWorkers) -> None:
        self.world = world
        self.in_workers = in_workers
        self._of_dataset: dict[object, list[WorkerRun]] = {}
        self._kinds: dict[Class, dict[frozenset[Hashable], list[WorkerRun]]] = {}
        self._tests: dict[Class, list[str]] = {}
        self._of_objects: dict[Instance, list[WorkerRun]] = {}
        self._external: dict[tuple[SourceFile, int, Frame | None], list[tuple[int, list[str]]]] = {}

    def of_dataset(self, value: Instance) -> list[WorkerRun]:
        """All functions that reading an item of the dataset runs, nearest first.

        Objects of one class share the answer, unless they hold other functions to call or pass other objects to them,
        or differ in what they test before they call.
        """
        found = self._of_objects.get(value)
        if found is None:
            found = self._of_objects[value] = self._of_kind(value)
        return found

    def _of_kind(self, value: Instance) -> list[WorkerRun]:
        assert isinstance(value.of, Class)
        starts = self._starts(value)
        kinds = self._kinds.setdefault(value.of, {})
        given = (part for start in starts for part in self._given(start[0], start[1]))
        kind: frozenset[Hashable] = frozenset((*given, *self._asked(value, starts), *self._tested(value)))
        if kind not in kinds and limits.WORKER_KINDS.reached(len(kinds)):
            # What an object of any kind may run.
            kind, starts = frozenset(("any",)), self._starts(Instance(value.of))
        if kind not in kinds:
            kinds[kind] = list(self._reach(starts))
        return kinds[kind]

    def _starts(self, value: Instance) -> list[tuple[Function, Frame | None, str]]:
        assert isinstance(value.of, Class)
        return [start for name in ENTRIES for start in self._starts_of(value, name)]

    def _starts_of(self, value: Instance, name: str) -> list[tuple[Function, Frame | None, str]]:
        """The methods that `name` may mean on the object: several where a base of its class has alternatives."""
        assert isinstance(value.of, Class)
        return [
            (Function(method.file, method.scope, value), self.world.receiver_frame(value), name)
            for method in self.world.hierarchy.methods(value.of, name)
        ]

    def _tested(self, value: Instance) -> Iterator[Hashable]:
        """The attributes that the methods of an object test before they call, with their values, if these are
        constants: they decide what runs."""
        assert isinstance(value.of, Class)
        attrs = self._tests.get(value.of)
        if attrs is None:
            line = (one for one in self.world.hierarchy.line(value.of) if isinstance(one, Class))
            attrs = self._tests[value.of] = list(
                dict.fromkeys(attr for one in line for attr in one.file.derived(tests_in, one.scope))
            )
        for attr in attrs:
            found = self.world.objects.attribute(value, attr)
            if found and all(isinstance(one, Const) for one in found):
                yield attr, found
        yield from self._untaken(value)

    def _untaken(self, value: Instance) -> Iterator[Hashable]:
        """The branches in the methods of an object that are not taken for it."""
        assert isinstance(value.of, Class)
        if value.call < 0:
            return
        frame = self.world.receiver_frame(value)
        line = [one for one in self.world.hierarchy.line(value.of) if isinstance(one, Class)]
        for file, branch in ((one.file, each) for one in line for each in one.file.derived(branches_in, one.scope)):
            scope, (region,), span = branch
            if self.world.untaken(Site(file, scope, region, span.start, frame)):
                yield file.path, scope, region

    def _given(self, entry: Function, frame: Frame | None) -> Iterator[tuple[str, int]]:
        """The functions that an entry calls through attributes of its object that are no methods, and the classes of
        the objects that it passes to them."""
        file, params = entry.file, entry.file.scopes[entry.scope].params
        owner = file.method_of(entry.scope)
        if owner is None or not params:
            return
        receiver = Name(params[0].name)
        for index in file.calls_of(entry.scope):
            call = file.calls[index]
            if not isinstance(call.func, Attribute) or call.func.value != receiver:
                continue
            if self.world.hierarchy.method(Class(file, owner), call.func.attr) is not None:
                continue
            yield from (target.function.key for target in self.world.calls.targets(file, index, frame))
            site = self.world.call_site(file, index, frame)
            for argument in call.args:
                for one in self.world.values.evaluate(argument.value, site):
                    for part in self.world.mappings.flattened(one):
                        if isinstance(part, Instance) and isinstance(part.of, Class):
                            yield part.of.key

    def _asked(
        self, value: Instance, starts: Iterable[tuple[Function, Frame | None, str]]
    ) -> Iterator[tuple[str, int]]:
        """The classes of the objects whose methods the dataset's own methods call: `self.sampler.draw()`,
        `self.dataset[index]`."""
        assert isinstance(value.of, Class)
        asked: dict[str, None] = {}
        line = self.world.hierarchy.line(value.of) if starts else ()
        for owner in (one for one in line if isinstance(one, Class)):
            asked.update(dict.fromkeys(owner.file.derived(asked_in, owner.scope)))
        for attr in asked:
            for held in self.world.objects.attribute(value, attr):
                for one in self.world.mappings.flattened(held):
                    if isinstance(one, Instance) and isinstance(one.of, Class):
                        yield one.of.key

    def of_method(self, value: Instance, name: str) -> list[WorkerRun]:
        """All functions that calling a method of a project object in the parent runs. Objects of one class share the
        answer, unless they differ in what they test before they call."""
        assert isinstance(value.of, Class)
        key = ("method", value.of, name, frozenset(self._tested(value)))
        found = self._of_dataset.get(key)
        if found is None:
            found = self._of_dataset[key] = list(self._reach(self._starts_of(value, name), in_parent=True))
        return found

    def of_callable(self, value: Value, entry: str) -> list[WorkerRun]:
        """All functions that calling the value (a collate_fn, a worker_init_fn) runs."""
        key = (value, entry)
        found = self._of_dataset.get(key)
        if found is None:
            starts: list[tuple[Function, Frame | None, str]] = []
            bound = None
            if isinstance(value, Partial):
                # What the partial binds is known; what the worker passes, the batch or its number, is not.
                bound = self.world.made_with(value).then(Actuals([Actual(None, None, None)]))
            while isinstance(value, Partial):
                value = value.function
            if isinstance(value, Function):
                starts.append((value, self.world.intern(("worker", *key), bound, value, None), entry))
            elif isinstance(value, Instance) and isinstance(value.of, Class):
                method = self.world.hierarchy.method(value.of, "__call__")
                if method is not None:
                    starts.append((Function(method.file, method.scope, value), self.world.receiver_frame(value), entry))
            found = self._of_dataset[key] = list(self._reach(starts))
        return found

    def _reach(
        self, starts: Sequence[tuple[Function, Frame | None, str]], in_parent: bool = False
    ) -> Iterator[WorkerRun]:
        seen = Seen(self.world)
        queue: deque[WorkerRun] = deque(
            WorkerRun(f.file, f.scope, frame, (), entry, f.key) for f, frame, entry in starts
        )
        while queue and not limits.WORKER_FUNCTIONS.reached(len(seen)):
            run = queue.popleft()
            if not seen.add(run.file, run.scope, run.frame):
                continue
            yield run
            for target, hop in (*self._called(run, in_parent), *self._subscripted(run)):
                function = target.function
                if seen.may_add(function):
                    hops = (*run.hops, hop)
                    queue.append(WorkerRun(function.file, function.scope, target.frame, hops, run.entry, run.root))

    def _called(self, run: WorkerRun, in_parent: bool) -> Iterator[tuple[Target, Hop]]:
        for index in run.file.calls_of(run.scope):
            call = run.file.calls[index]
            if call.region and self.world.impossible(site := self.world.call_site(run.file, index, run.frame)):
                continue
            if call.region and in_parent and self.in_workers.only(site):
                continue
            for target in self.world.calls.targets(run.file, index, run.frame):
                frame = self.world.told_apart(run.file, index, target.function, target.frame)
                hop = Hop(run.file, call.span, f"calls {render(call.func, run.file)}", target.guessed)
                yield target._replace(frame=frame), hop
            yield from self._measured(run, index)

    def _measured(self, run: WorkerRun, index: int) -> Iterator[tuple[Target, Hop]]:
        """The `__len__` that `len(self.reader)` runs, unless a dataset's."""
        call = run.file.calls[index]
        if call.func != Name("len") or len(call.args) != 1 or not _may_be_object(run, call.args[0].value):
            return
        for one in self.world.values.evaluate(call.args[0].value, self.world.call_site(run.file, index, run.frame)):
            if isinstance(one, Instance) and isinstance(one.of, Class):
                method = self.world.hierarchy.method(one.of, "__len__")
                if method is not None and not any(map(is_dataset_base, self.world.hierarchy.externals(one.of))):
                    bound = Function(method.file, method.scope, one)
                    hop = Hop(run.file, call.span, f"calls {render(call.func, run.file)}")
                    yield Target(bound, self.world.receiver_frame(one)), hop

    def _subscripted(self, run: WorkerRun) -> Iterator[tuple[Target, Hop]]:
        """The `__getitem__` that `self.reader[key]` runs. A dataset inside another one is queried on its own."""
        seen: list[Expr] = []
        for expr, span, region, statement in expressions(run.file, run.scope):
            for part in without_calls(expr):
                if not isinstance(part, Subscript) or part.value in seen or not _may_be_object(run, part.value):
                    continue
                seen.append(part.value)
                site = Site(run.file, run.scope, region, statement.start, run.frame)
                for one in self.world.values.evaluate(part.value, site):
                    if not isinstance(one, Instance) or not isinstance(one.of, Class):
                        continue
                    method = self.world.hierarchy.method(one.of, "__getitem__")
                    if method is None or any(map(is_dataset_base, self.world.hierarchy.externals(one.of))):
                        continue
                    bound = Function(method.file, method.scope, one)
                    text = f"reads {render(part, run.file)}"
                    key = ("subscript", run.file.path, span.start, part.index, bound, run.frame)
                    frame = self.world.intern(key, Actuals([Actual(part.index, site, span)]), bound, run.frame)
                    yield Target(bound, frame), Hop(run.file, span, text)

    def external_calls(self, run: WorkerRun, *prefixes: str) -> Iterator[tuple[int, str]]:
        """Calls in the function of APIs whose name begins with one of the prefixes, in source order, each as call
        index and full name.

        A file can have a package from another file: by `from common import *`, or as `common.cv2`.
        """
        if self.world.import_graph.packages.isdisjoint(prefix.partition(".")[0] for prefix in prefixes):
            return
        for index, names in self._external_calls(run):
            name = next((name for name in names if name.startswith(prefixes)), None)
            if name is not None:
                yield index, name

    def _external_calls(self, run: WorkerRun) -> list[tuple[int, list[str]]]:
        """The calls in the function of anything outside the project, each with the names that it may have there."""
        key = (run.file, run.scope, run.frame)
        found = self._external.get(key)
        if found is None:
            found = self._external[key] = []
            for index in run.file.calls_of(run.scope):
                call = run.file.calls[index]
                if not isinstance(call.func, (Name, Attribute)):
                    continue
                site = Site(run.file, call.scope, call.region, call.statement.start, run.frame)
                if call.region and self.world.impossible(site):
                    continue
                values = self.world.values.evaluate(call.func, site)
                called = (value.plain if isinstance(value, Partial) else value for value in values)
                names = [one.name for one in called if isinstance(one, External)]
                if names:
                    found.append((index, names))
        return found


def asked_in(file: SourceFile, cls: int) -> list[str]:
    """Return the attributes of the receiver whose methods a class calls, or of which it takes elements."""
    found: dict[str, None] = {}
    for scope in file.children.get(cls, ()):
        params = file.scopes[scope].params
        for index in file.calls_of(scope) if params else ():
            match file.calls[index].func:
                case Attribute(Attribute(Name(name), attr), _) if name == params[0].name:
                    found[attr] = None
        for part in (part for expr, *_ in expressions(file, scope) for part in walk(expr, file)) if params else ():
            match part:
                case Subscript(Attribute(Name(name), attr)) if name == params[0].name:
                    found[attr] = None
    return [*found]


def tests_in(file: SourceFile, cls: int) -> list[str]:
    """Return the attributes of the receiver in the tests and comparisons of a class."""
    found: dict[str, None] = {}
    for scope in file.children.get(cls, ()):
        params = file.scopes[scope].params
        receiver = Name(params[0].name) if params else None
        regions = [file.calls[index].region for index in file.calls_of(scope)]
        regions += [event.region for event in file.scopes[scope].events]
        around = dict.fromkeys(one for region in dict.fromkeys(regions) for one in file.regions(region))
        tests = [test for region in around if (test := file.facts.regions[region].expr) is not None]
        parts = (part for expr, _, _, _ in expressions(file, scope) for part in walk(expr, file))
        tests += (part for part in parts if isinstance(part, Compare))
        for part in (part for test in tests for part in walk(test, file)):
            if isinstance(part, Attribute) and part.value == receiver:
                found[part.attr] = None
    return [*found]


def branches_in(file: SourceFile, cls: int) -> list[tuple[ScopeRef, RegionRef, Span]]:
    """Return the branches in the methods of a class that depend on attributes of the receiver, each with its method and
    the first call or assignment in it."""
    found: dict[int, tuple[ScopeRef, RegionRef, Span]] = {}
    for scope in file.children.get(cls, ()):
        params = file.scopes[scope].params
        if not params or file.scopes[scope].name == "__init__":
            continue
        receiver = Name(params[0].name)
        places = [(file.calls[index].region, file.calls[index].statement) for index in file.calls_of(scope)]
        places += [(store.event.region, store.event.span) for store in file.stores(scope)]
        for region, span in places:
            if region and region not in found and any(_asks(file, one, receiver) for one in file.regions(region)):
                found[region] = (ScopeRef(scope), RegionRef(region), span)
    return [*found.values()]


def _asks(file: SourceFile, region: int, receiver: Name) -> bool:
    test = file.facts.regions[region].expr
    return test is not None and any(isinstance(part, Attribute) and part.value == receiver for part in walk(test, file))


def _may_be_object(run: WorkerRun, base: Expr) -> bool:
    """Whether the value before a subscript is stored in an object, a container or the module."""
    if isinstance(base, (Attribute, Subscript)):
        return True
    if not isinstance(base, Name):
        return False
    bindings = run.file.bindings(run.scope).get(base.id)
    return not bindings or any(isinstance(one.expr, (Attribute, Subscript)) for one in bindings)
