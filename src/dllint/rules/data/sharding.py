"""Whether an iterable dataset yields each worker its part of the data, or all of it in every worker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dllint.facts.nodes import (
    Attribute,
    CallRef,
    Comprehension,
    Constant,
    Dict,
    Entered,
    FString,
    IfExp,
    List,
    Name,
    Opaque,
    Set,
    Slice,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Event, Expr, Region
from dllint.finding import Place
from dllint.inference import limits
from dllint.inference.origins import Origins, Step
from dllint.inference.values import (
    Class,
    Const,
    Data,
    Display,
    External,
    Frame,
    Function,
    Instance,
    Mapping,
    Site,
    Unknown,
    Value,
)
from dllint.libraries.builtins import BUILTINS
from dllint.libraries.index import (
    DRAWING_PREFIXES,
    ENDLESS,
    HANDING_ON,
    ITERABLE_BASES,
    PLAIN_BASES,
    REORDERING,
    SEEDERS,
    UNSPLITTING_PACKAGES,
    WORKER_INFO,
    canonical,
)
from dllint.linking.conditions import render
from dllint.linking.expressions import walk
from dllint.linking.implicit_calls import expressions
from dllint.linking.source import SourceFile, last_name
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerRun
from dllint.rules.data.worker_init_functions import asks_which_worker, own_expressions

if TYPE_CHECKING:
    from dllint.project.model import Project

Reading = Literal["whole", "unknown"]
_OF_WORKERS = re.compile(r"worker|getpid|current_process", re.IGNORECASE)
_SHARDING = re.compile(r"shard|split_by|partition", re.IGNORECASE)
_HUB = frozenset({"datasets.load_dataset", "datasets.load_dataset[]", "datasets.load_from_disk"})


@dataclass(frozen=True)
class Unsharded:
    """An `__iter__` that yields all data in every worker.

    Attributes:
        iter: the `__iter__`.
        name: the dataset's class.
        source: the expression that it iterates, as written.
        asked: a call of `get_worker_info` in code that `__init__` runs, where it returns None; None without one.
    """

    iter: Function
    name: str
    source: str
    asked: Place | None


class Sharding:
    """Finds the iterable datasets of one project that are not split between workers."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.origins = Origins(project.world)
        self._found: dict[Instance, Unsharded | None] = {}

    def unsharded(self, loader: Loader) -> list[Unsharded]:
        """The iterable datasets that the loader passes whole to each of its workers."""
        if self._split_outside(loader):
            return []
        found = []
        for value in self.project.datasets.unchained(loader.datasets()):
            if isinstance(value, Instance) and isinstance(value.of, Class):
                judged = self._judged(value, value.of)
                if judged is not None and judged not in found:
                    found.append(judged)
        return found

    def _split_outside(self, loader: Loader) -> bool:
        """Whether a `worker_init_fn` splits the data or may do so, or the worker count depends on the dataset's
        class."""
        for value in (*loader.argument("worker_init_fn").values, *self.project.callables(loader, "worker_init_fn")):
            if isinstance(value, Unknown) or (isinstance(value, External) and canonical(value.name) not in SEEDERS):
                return True
            for run in self.project.workers.of_callable(value, ""):
                own = isinstance(value, Function) and (run.file.path, run.scope) == value.key
                if asks_which_worker(run) if own else self._speaks_of_workers(run, False):
                    return True
        file, call = loader.file, loader.file.calls[loader.call]
        tests = [file.facts.regions[index].expr for index in file.regions(call.region)]
        given = [argument.value for argument in call.args if argument.keyword == "num_workers"]
        given += [
            binding.expr
            for expr in given
            if isinstance(expr, Name)
            for binding in file.bindings(call.scope).get(expr.id, [])
            if binding.expr is not None
        ]
        return any(
            isinstance(part, CallRef) and file.calls[part.index].func == Name("isinstance")
            for expr in (*tests, *given)
            if expr is not None
            for part in walk(expr, file)
        )

    def _judged(self, value: Instance, cls: Class) -> Unsharded | None:
        """Judge a dataset object: what a wrapper iterates differs from one object of its class to the next."""
        if value not in self._found:
            self._found[value] = None
            self._found[value] = self._judge(value, cls)
        return self._found[value]

    def _judge(self, value: Instance, cls: Class) -> Unsharded | None:
        bases = {canonical(name) for name in self.world.hierarchy.externals(cls)}
        if not bases & ITERABLE_BASES or bases - ITERABLE_BASES - PLAIN_BASES:
            return None
        method = self.world.hierarchy.method(cls, "__iter__")
        if method is None:
            return None
        runs = self.project.workers.of_dataset(value)
        if any(self._speaks_of_workers(run, True) for run in runs):
            return None
        sources = list(self._sources(method, self.world.receiver_frame(value)))
        readings = [self._reading(expr, site, limits.SHARDING_DEPTH.most) for expr, site in sources]
        if not sources or any(reading != "whole" for reading in readings):
            return None
        if self._draws(runs) and all(_counts(expr, site.file) for expr, site in sources):
            return None
        expr, site = sources[0]
        return Unsharded(method, cls.name, render(expr, site.file), self._asked_in_init(cls))

    def _speaks_of_workers(self, run: WorkerRun, sharding: bool) -> bool:
        """Whether a function asks which worker it runs in, or uses a name that suggests workers (with `sharding`,
        also a function name that suggests sharding)."""
        for expr in own_expressions(run.file, run.scope):
            for part in walk(expr, run.file):
                if isinstance(part, (Name, Attribute)) and _OF_WORKERS.search(last_name(part)):
                    return True
                if isinstance(part, CallRef):
                    name = str(last_name(run.file.calls[part.index].func))
                    if name in WORKER_INFO or (sharding and _SHARDING.search(name)):
                        return True
        return False

    def _asked_in_init(self, cls: Class) -> Place | None:
        for path, scope in self.project.datasets.construction.of_class(cls):
            file = self.world.files[path]
            for index in file.calls_of(scope):
                if last_name(file.calls[index].func) in WORKER_INFO:
                    return Place(
                        path,
                        file.calls[index].span,
                        "`get_worker_info()` returns None here: `__init__` runs in the main process",
                    )
        return None

    def _draws(self, runs: Iterable[WorkerRun]) -> bool:
        return any(
            canonical(name) not in REORDERING
            for run in runs
            for prefix in DRAWING_PREFIXES
            for _, name in self.project.workers.external_calls(run, prefix)
        )

    # What is iterated

    def _sources(self, function: Function, frame: Frame | None) -> Iterator[tuple[Expr, Site]]:
        """The expressions that a function iterates to produce its items: the outermost loop around each `yield`, or the
        returned value.

        An endless loop, or a `yield` outside of loops, is an unknown source (`Opaque`).
        """
        file, scope = function.file, function.file.scopes[function.scope]
        for event in scope.events:
            if event.kind not in ("yield", "return") or (scope.is_generator and event.kind == "return"):
                continue
            outer = self._outermost(file, event)
            if outer is not None and outer.kind == "for" and outer.expr is not None:
                at = outer.span.start
                yield outer.expr, Site(file, function.scope, outer.parent, at, frame)
                continue
            at = event.span.start
            site = Site(file, function.scope, event.region, at, frame)
            if outer is not None or event.value is None:
                yield Opaque(), site
            elif event.kind == "return" and self._is_receiver(event.value, function):
                yield from self._read_by_next(function, frame)
            elif event.kind == "return":
                yield event.value, site
            elif isinstance(event.value, Starred):
                yield event.value.value, site

    @staticmethod
    def _is_receiver(expr: Expr, function: Function) -> bool:
        params = function.file.scopes[function.scope].params
        return bool(params) and expr == Name(params[0].name)

    def _read_by_next(self, function: Function, frame: Frame | None) -> Iterator[tuple[Expr, Site]]:
        """What `__next__` reads if `__iter__` returns its own object: the sequences that it indexes by a position that
        `__iter__` sets to a constant, as in `self.rows[self.position]`."""
        owner = function.file.method_of(function.scope)
        receiver = Name(function.file.scopes[function.scope].params[0].name)
        method = self.world.hierarchy.method(Class(function.file, owner), "__next__") if owner is not None else None
        starts = {
            store.key
            for store in function.file.stores(function.scope)
            if store.base == receiver and isinstance(store.value, Constant)
        }
        if method is None or not method.file.scopes[method.scope].params:
            return
        # One that never ends may draw, or go round, as each worker likes.
        if method.scope not in method.file.facts.loaded.get("StopIteration", ()) and not any(
            method.file.calls[index].scope == method.scope
            for index in method.file.facts.called.get("StopIteration", ())
        ):
            return
        own = Name(method.file.scopes[method.scope].params[0].name)
        for expr, span, region, _ in expressions(method.file, method.scope):
            for part in walk(expr, method.file):
                if isinstance(part, Subscript) and isinstance(part.value, Attribute) and part.value.value == own:
                    counts = (one for one in walk(part.index, method.file) if isinstance(one, Attribute))
                    if any(one.value == own and one.attr in starts for one in counts):
                        yield part.value, Site(method.file, method.scope, region, span.start, frame)

    @staticmethod
    def _outermost(file: SourceFile, event: Event) -> Region | None:
        loops = [file.facts.regions[index] for index in file.regions(event.region)]
        loops = [region for region in loops if region.kind in ("for", "while")]
        return loops[-1] if loops else None

    def _reading(self, expr: Expr, site: Site, left: int) -> Reading:
        """ "whole" if iterating an expression provably reads the same data in every worker, otherwise "unknown"."""
        if left <= 0:
            limits.SHARDING_DEPTH.met()
            return "unknown"
        match expr:
            case Constant() | List() | Tuple() | Set() | Dict() | FString():
                return "whole"
            case Comprehension():
                return self._reading(expr.clauses[0].iterable, site, left - 1)
            case Subscript(value, Slice()) | Entered(value):
                return self._reading(value, site, left - 1)
            case CallRef(index):
                return self._of_call(index, site, left)
            case Name() | IfExp():
                return _all(
                    self._reading(one.expr, one.site, left - 1)
                    if isinstance(one, Step)
                    else self._of_value(one.value, left)
                    for one in self.origins.gives(expr, site)
                )
        if not isinstance(expr, (Attribute, Subscript)):
            return "unknown"
        values = self.world.values.evaluate(expr, site)
        return _all(
            "whole" if isinstance(value, Unknown) and self._is_sequence(expr, site) else self._of_value(value, left)
            for value in values
        )

    def _of_call(self, index: int, site: Site, left: int) -> Reading:
        file, call = site.file, site.file.calls[index]
        here = self.world.call_site(file, index, site.frame)
        readings: list[Reading] = []
        for value in self.world.calls.callees(file, index, site.frame):
            if isinstance(value, External):
                name = canonical(value.name)
                if name in ENDLESS:
                    return "unknown"
                if name in HANDING_ON:
                    parts = [argument.value for argument in call.args if argument.keyword is None][HANDING_ON[name]]
                    readings.append(_all(self._reading(part, here, left - 1) for part in parts))
                else:
                    readings.append(_of_package(name))
            elif isinstance(value, Function):
                frame = self.world.frame(file, index, site.frame, value)
                readings += [self._reading(expr, where, left - 2) for expr, where in self._sources(value, frame)]
            elif isinstance(value, Class):
                readings.append(self._of_value(Instance(value, file, index, site.frame), left))
            else:
                readings.append("unknown")
        return _all(readings)

    def _of_value(self, value: Value, left: int) -> Reading:
        if isinstance(value, (Const, Data, Display, Mapping)):
            return "whole"
        if not isinstance(value, Instance):
            return "unknown"
        if isinstance(value.of, External):
            return "whole" if self._of_hub(value) else _of_package(canonical(value.of.name))
        bases = {canonical(name) for name in self.world.hierarchy.externals(value.of)}
        if bases - ITERABLE_BASES - PLAIN_BASES:
            return "unknown"
        method = self.world.hierarchy.method(value.of, "__iter__")
        if method is None:
            return "whole" if self.world.hierarchy.method(value.of, "__getitem__") is not None else "unknown"
        if any(self._speaks_of_workers(run, True) for run in self.project.workers.of_dataset(value)):
            return "unknown"
        frame = self.world.receiver_frame(value)
        return _all(self._reading(expr, site, left - 2) for expr, site in self._sources(method, frame))

    def _of_hub(self, value: Instance) -> bool:
        """Whether a value is a dataset of the Hugging Face hub that is not streamed: only streamed ones split their
        data between workers (datasets 4, `IterableDataset.__iter__`)."""
        assert isinstance(value.of, External)
        if canonical(value.of.name) not in _HUB or value.file is None or value.call < 0:
            return False
        if any(argument.keyword == "**" for argument in value.file.calls[value.call].args):
            return False
        given = self.project.evaluate_argument(value.file, value.call, -1, "streaming", value.frame)
        return given is None or (bool(given) and all(isinstance(one, Const) and not one.value for one in given))

    def _is_sequence(self, expr: Expr, site: Site) -> bool:
        """Whether the class uses an attribute with unknown contents as a sequence: takes its length, indexes or
        shuffles it, or opens each element as a file."""
        owner = site.file.enclosing_class(site.scope)
        if not isinstance(expr, Attribute) or owner is None:
            return False
        file = site.file
        for scope in range(len(file.scopes)):
            if file.enclosing_class(scope) != owner:
                continue
            for index in file.calls_of(scope):
                call = file.calls[index]
                first = call.args[0].value if call.args else None
                if first == expr and last_name(call.func) in ("len", "shuffle", "permutation", "sorted", "range"):
                    return True
            for part in (part for one in own_expressions(file, scope) for part in walk(one, file)):
                if isinstance(part, Subscript) and part.value == expr:
                    return True
        return self._opens_each(expr, site)

    def _opens_each(self, expr: Expr, site: Site) -> bool:
        file = site.file
        for event in file.scopes[site.scope].events:
            if event.kind == "for" and event.value == expr and isinstance(event.target, Name):
                for index in file.calls_of(site.scope):
                    call = file.calls[index]
                    if call.args and call.args[0].value == event.target:
                        for value in self.world.values.evaluate(call.func, self.world.call_site(file, index, None)):
                            if isinstance(value, External) and _of_package(canonical(value.name)) == "whole":
                                return True
        return False


def _of_package(name: str) -> Reading:
    """How a reader from outside the project reads, according to its package."""
    head = re.split(r"[.(\[]", name, maxsplit=1)[0]
    return "whole" if head in UNSPLITTING_PACKAGES or head in BUILTINS else "unknown"


def _counts(expr: Expr, file: SourceFile) -> bool:
    return isinstance(expr, CallRef) and file.calls[expr.index].func == Name("range")


def _all(readings: Iterable[Reading]) -> Reading:
    collected = list(readings)
    return "whole" if collected and all(reading == "whole" for reading in collected) else "unknown"
