"""Iterators that a map-style dataset keeps and passes to `next` without handling StopIteration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Comprehension, Constant, Dict, List, Name, Set, Subscript, Tuple
from dllint.facts.schema import Call, Event, Expr, Param
from dllint.inference import limits
from dllint.inference.origins import Origins
from dllint.inference.values import Class, Data, Display, External, Function, Instance, Mapping, Site, Value
from dllint.libraries.builtins import BUILTINS
from dllint.libraries.index import ENDLESS, HANDING_ON, READERS, UNSPLITTING_PACKAGES, canonical
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.attribute_contents import contents_of, iterates_loader
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerRun
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_CATCHING = frozenset({"StopIteration", "Exception", "BaseException"})


@dataclass(frozen=True)
class BareNext:
    """`next(self.attr)` in code that `__getitem__` runs.

    `made` is where the iterator is created. `copied`: it is one of several iterators that are copied to each worker;
    whether one runs out depends on how often it is used.
    """

    run: WorkerRun
    call: int
    made: tuple[SourceFile, Span]
    copied: bool = False


class Exhaustion:
    """Finds the calls of `next` whose StopIteration nothing handles, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.origins = Origins(project.world)

    def bare(self, loader: Loader) -> Iterator[BareNext]:
        """The bare `next` calls of a loader's map-style datasets."""
        if not self._kept:
            return
        for value in self.project.read_objects(loader):
            cls = value.of
            if not isinstance(cls, Class) or self.world.hierarchy.method(cls, "__iter__") is not None:
                continue
            for run in self.project.workers.of_dataset(value):
                if run.entry in ("__getitem__", "__getitems__"):
                    yield from self._in(run, value)

    def raised(self, loader: Loader) -> Iterator[tuple[WorkerRun, Event]]:
        """The `raise StopIteration` statements that a loader's map-style datasets run, except those for an index that
        is too large: a sampler draws none."""
        for value in self.project.read_objects(loader) if self._raising else ():
            cls = value.of
            if not isinstance(cls, Class) or self.world.hierarchy.method(cls, "__iter__") is not None:
                continue
            for run in self.project.workers.of_dataset(value):
                scope = run.file.scopes[run.scope]
                if (run.file.path, run.scope) not in self._raising or run.entry not in ("__getitem__", "__getitems__"):
                    continue
                # An iterator's own end is for the loop that reads it.
                if scope.is_generator or scope.name in ("__next__", "next") or self._caught_on_the_way(run):
                    continue
                for event in scope.events:
                    if event.kind != "raise" or not _stops(event, run.file) or self._caught(run.file, event.region):
                        continue
                    if not _depends_on(scope.params, run.file, event.region):
                        yield run, event

    @cached_property
    def _raising(self) -> set[tuple[str, int]]:
        """The functions that read the name `StopIteration`, or call it."""
        found: set[tuple[str, int]] = set()
        for file in self.world.files.values():
            found |= {(file.path, scope) for scope in file.facts.loaded.get("StopIteration", ())}
            found |= {(file.path, file.calls[index].scope) for index in file.facts.called.get("StopIteration", ())}
        return found

    @cached_property
    def _kept(self) -> bool:
        """Whether any code of the project assigns an attribute that a bare `next` advances: in most projects none does,
        and their datasets need no look."""
        advanced = (_advanced(file.calls[index])[1] for file, index in self.world.called("next"))
        names = {one.attr for one in advanced if one is not None}
        return bool(names) and any(
            store.key in names
            for file in self.world.files.values()
            for scope in range(len(file.scopes))
            for store in file.stores(scope)
            if isinstance(store.key, str)
        )

    def _in(self, run: WorkerRun, value: Instance) -> Iterator[BareNext]:
        # Inside a generator Python turns StopIteration into RuntimeError, which no loop swallows.
        if run.file.scopes[run.scope].is_generator or self._caught_on_the_way(run):
            return
        receiver = run.file.scopes[run.scope].params[:1]
        for index in run.file.calls_of(run.scope) if receiver else ():
            call = run.file.calls[index]
            written, kept_in = _advanced(call)
            if kept_in is None or kept_in.value != Name(receiver[0].name) or self._caught(run.file, call.region):
                continue
            single = kept_in is written
            made = self._made(kept_in.attr, value) if single else self._one_of_many(kept_in.attr, value)
            if made is not None:
                yield BareNext(run, index, made, not single)

    def _caught_on_the_way(self, run: WorkerRun) -> bool:
        """Whether a call between `__getitem__` and the function is inside a `try` that catches StopIteration."""
        for hop in run.hops:
            index = hop.file.call_at(hop.span)
            if index is not None and self._caught(hop.file, hop.file.calls[index].region):
                return True
        return False

    def _caught(self, file: SourceFile, region: int) -> bool:
        for index in file.regions(region):
            entry = file.facts.regions[index]
            if entry.kind != "try":
                continue
            for other in file.facts.regions:
                if other.kind == "handler" and other.parent == entry.parent and other.span > entry.span:
                    kinds = other.expr.elements if isinstance(other.expr, Tuple) else (other.expr,)
                    if any(kind is None or last_name(kind) in _CATCHING for kind in kinds):
                        return True
        return False

    def _made(self, attr: str, value: Instance) -> tuple[SourceFile, Span] | None:
        """Where the attribute is assigned an iterator that ends; None if one of its values may be endless."""
        found: tuple[SourceFile, Span] | None = None
        for one in self.origins.kept(value, attr):
            if one.expr == Constant(None):
                continue
            if not self._ends(one.expr, one.site, limits.EXHAUSTION_DEPTH.most):
                return None
            found = (one.here.file, one.here.span)
        return found

    def _one_of_many(self, attr: str, value: Instance) -> tuple[SourceFile, Span] | None:
        """Where the loader iterators in an attribute's list or dict are created; None if it may hold others, or if
        workers create them."""
        assert isinstance(value.of, Class)
        in_workers = [(run.file, run.scope) for run in self.project.workers.of_dataset(value)]
        if any(store.key == attr for file, scope in in_workers for store in file.stores(scope)):
            return None
        made: tuple[SourceFile, Span] | None = None
        for kept in self.project.datasets.kept(value):
            if kept.attr != attr:
                continue
            for content in contents_of(self.world, kept):
                if not content.inside:
                    continue
                file = content.site.file
                if (file, content.site.scope) in in_workers or not iterates_loader(self.world, content):
                    return None
                assert isinstance(content.expr, CallRef)
                made = file, file.calls[content.expr.index].span
        return made

    def _ends(self, expr: Expr, site: Site, left: int) -> bool:
        """Whether an expression is an iterator that provably ends."""
        if left <= 0:
            limits.EXHAUSTION_DEPTH.met()
            return False
        if isinstance(expr, Comprehension):
            return bool(expr.kind == "generator") and self._sized(expr.clauses[0][1], site, left - 1)
        if not isinstance(expr, CallRef):
            return False
        call = site.file.calls[expr.index]
        here = self.world.call_site(site.file, expr.index, site.frame)
        for value in self.world.calls.callees(site.file, expr.index, site.frame):
            if isinstance(value, External) and canonical(value.name) in HANDING_ON:
                given = [argument.value for argument in call.args if argument.keyword is None]
                parts = given[HANDING_ON[canonical(value.name)]]
                return bool(parts) and all(self._sized(part, here, left - 1) for part in parts)
            if isinstance(value, External):
                return _reads_once(canonical(value.name))
            if isinstance(value, Function):
                return self._generator_ends(value)
        return False

    def _sized(self, expr: Expr, site: Site, left: int) -> bool:
        """Whether iterating an expression ends: it is neither endless nor an unknown iterator."""
        if isinstance(expr, (List, Tuple, Set, Dict, Constant)):
            return True
        if isinstance(expr, Comprehension) and expr.kind != "generator":
            return True
        if isinstance(expr, CallRef):
            func = site.file.calls[expr.index].func
            if func in (Name("range"), Name("len")) or last_name(func) in ("items", "keys", "values", "listdir"):
                return True
            if self._ends(expr, site, left - 1):
                return True
        values = self.world.values.evaluate(expr, site)
        return bool(values) and all(self._value_ends(value) for value in values)

    def _value_ends(self, value: Value) -> bool:
        if isinstance(value, (Display, Mapping, Data)):
            return True
        if not isinstance(value, Instance):
            return False
        if isinstance(value.of, External):
            name = canonical(value.of.name)
            head = re.split(r"[.(\[]", name, maxsplit=1)[0]
            return name not in ENDLESS and (
                _reads_once(name)
                or self.project.libraries.is_loader_name(name)
                or head in UNSPLITTING_PACKAGES
                or head in BUILTINS
            )
        method = self.world.hierarchy.method(value.of, "__iter__")
        if method is None:
            return self.world.hierarchy.method(value.of, "__getitem__") is not None
        return self._generator_ends(method)

    def _generator_ends(self, function: Function) -> bool:
        """Whether a generator function has no `yield` inside a `while` loop."""
        file, scope = function.file, function.file.scopes[function.scope]
        if not scope.is_generator:
            return False
        return not any(
            file.facts.regions[index].kind == "while"
            for event in scope.events
            if event.kind == "yield"
            for index in file.regions(event.region)
        )


def _reads_once(name: str) -> bool:
    """Whether a function reads a file or a directory to its end."""
    return name in READERS or name in ("open", "os.scandir", "os.walk")


def _stops(event: Event, file: SourceFile) -> bool:
    """Whether a statement raises StopIteration."""
    raised = event.value
    if isinstance(raised, CallRef):
        raised = file.calls[raised.index].func
    return raised == Name("StopIteration")


def _depends_on(params: Sequence[Param], file: SourceFile, region: int) -> bool:
    """Whether a test of a parameter is in force in a region."""
    names = {Name(param.name) for param in params[1:]}
    tests = (file.facts.regions[one].expr for one in file.regions(region))
    return any(part in names for test in tests if test is not None for part in walk(test, file))


def _advanced(call: Call) -> tuple[Expr | None, Attribute | None]:
    """What `next(self.readers[index])` advances: its argument, and the attribute `self.readers` that keeps it; None as
    the attribute if the call is another."""
    written = call.args[0].value if call.func == Name("next") and len(call.args) == 1 else None
    kept_in = written
    while isinstance(kept_in, Subscript):
        kept_in = kept_in.value
    return written, kept_in if isinstance(kept_in, Attribute) else None
