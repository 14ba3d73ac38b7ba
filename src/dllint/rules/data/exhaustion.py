"""Iterators that code of a map-style dataset keeps and asks for the next item without minding their end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Constant, Name
from dllint.facts.schema import Expr
from dllint.inference.values import Class, Data, Display, External, Function, Instance, Mapping, Site, Value
from dllint.libraries.builtins import BUILTINS
from dllint.libraries.random import ENDLESS, HANDING_ON, UNSPLITTING_PACKAGES
from dllint.libraries.torch import canonical
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerRun
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_CATCHING = frozenset({"StopIteration", "Exception", "BaseException"})
DEEPEST = 8


@dataclass(frozen=True)
class BareNext:
    """`next(self.attr)` in code that `__getitem__` runs. `made` is where the iterator is made."""

    run: WorkerRun
    call: int
    attr: str
    made: tuple[SourceFile, Span]


class Exhaustion:
    """Answers about one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    def bare(self, loader: Loader) -> Iterator[BareNext]:
        """The bare `next` calls of a loader's map-style datasets."""
        for value in self.project.dataset_objects(loader):
            cls = value.of
            if not isinstance(cls, Class) or self.world.hierarchy.method(cls, "__iter__") is not None:
                continue
            for run in self.project.workers.of_dataset(value):
                if run.entry in ("__getitem__", "__getitems__"):
                    yield from self._in(run, value, cls)

    def _in(self, run: WorkerRun, value: Instance, cls: Class) -> Iterator[BareNext]:
        # Inside a generator Python turns a StopIteration into a RuntimeError, which no loop swallows.
        if run.file.scopes[run.scope].is_generator or self._caught_on_the_way(run):
            return
        for index in run.file.calls_of(run.scope):
            call = run.file.calls[index]
            if call.func != Name("next") or len(call.args) != 1 or call.args[0].value[0] != "attr":
                continue
            written = call.args[0].value
            receiver = run.file.scopes[run.scope].params[:1]
            if not receiver or written[1] != Name(receiver[0].name) or self._caught(run.file, call.region):
                continue
            made = self._made(written[2], value, cls)
            if made is not None:
                yield BareNext(run, index, written[2], made)

    def _caught_on_the_way(self, run: WorkerRun) -> bool:
        """Whether a call between `__getitem__` and the function stands in a `try` that catches it."""
        for hop in run.hops:
            for call in hop.file.calls:
                if call.span == hop.span and self._caught(hop.file, call.region):
                    return True
        return False

    def _caught(self, file: SourceFile, region: int) -> bool:
        for index in file.regions(region):
            entry = file.facts.regions[index]
            if entry.kind != "try":
                continue
            for other in file.facts.regions:
                if other.kind == "handler" and other.parent == entry.parent and other.span > entry.span:
                    names = [other.expr] if other.expr is not None and other.expr[0] != "tuple" else []
                    names += other.expr[1] if other.expr is not None and other.expr[0] == "tuple" else []
                    if other.expr is None or any(name[-1] in _CATCHING for name in names):
                        return True
        return False

    def _made(self, attr: str, value: Instance, cls: Class) -> tuple[SourceFile, Span] | None:
        """Where the attribute gets an iterator that comes to an end; None where one of its values may have none."""
        found: tuple[SourceFile, Span] | None = None
        for owner in self.world.hierarchy.line(cls):
            for store in self.world.stores.own_stores(owner).get(attr, ()) if isinstance(owner, Class) else ():
                if not isinstance(owner, Class) or store.value is None:
                    return None
                if store.value == Constant(None):
                    continue
                if not self._ends(store.value, self.world.stores.store_site(value, owner, store), DEEPEST):
                    return None
                found = (owner.file, store.event.value_span or store.event.span)
        return found

    def _ends(self, expr: Expr, site: Site, left: int) -> bool:
        """Whether an expression is an iterator that surely comes to an end."""
        if left <= 0:
            return False
        if expr[0] == "comp":
            return bool(expr[1] == "generator") and self._sized(expr[3][0][1], site, left - 1)
        if expr[0] != "call":
            return False
        call = site.file.calls[expr[1]]
        here = self.world.call_site(site.file, expr[1], site.frame)
        for value in self.world.calls.callees(site.file, expr[1], site.frame):
            if isinstance(value, External) and canonical(value.name) in HANDING_ON:
                given = [argument.value for argument in call.args if argument.keyword is None]
                parts = given[HANDING_ON[canonical(value.name)]]
                return bool(parts) and all(self._sized(part, here, left - 1) for part in parts)
            if isinstance(value, External):
                return canonical(value.name) in ("csv.reader", "csv.DictReader", "open", "os.scandir", "os.walk")
            if isinstance(value, Function):
                return self._generator_ends(value)
        return False

    def _sized(self, expr: Expr, site: Site, left: int) -> bool:
        """Whether iterating an expression comes to an end: nothing endless, and no unknown iterator."""
        if expr[0] in ("list", "tuple", "set", "dict", "const"):
            return True
        if expr[0] == "comp" and expr[1] != "generator":
            return True
        if expr[0] == "call":
            func = site.file.calls[expr[1]].func
            if func in (Name("range"), Name("len")) or func[-1] in ("items", "keys", "values", "listdir"):
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
                self.project.libraries.is_loader_name(name) or head in UNSPLITTING_PACKAGES or head in BUILTINS
            )
        method = self.world.hierarchy.method(value.of, "__iter__")
        if method is None:
            return self.world.hierarchy.method(value.of, "__getitem__") is not None
        return self._generator_ends(method)

    def _generator_ends(self, function: Function) -> bool:
        """Whether a generator function has no `while` loop around a `yield` and hands on none that may not end."""
        file, scope = function.file, function.file.scopes[function.scope]
        if not scope.is_generator:
            return False
        return not any(
            file.facts.regions[index].kind == "while"
            for event in scope.events
            if event.kind == "yield"
            for index in file.regions(event.region)
        )
