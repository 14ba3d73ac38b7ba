"""How the parent process uses a dataset before the workers of a loader start."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.names import CONSTRUCTORS
from dllint.inference.values import UNKNOWN, Class, External, Function, Instance, Site, Value
from dllint.libraries.index import RUNS_BEFORE_LOADING, canonical
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile
from dllint.project.arrivals import Hop
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.project.model import Project

_NEVER = (sys.maxsize, 0)
"""A position after the end of any file."""
_EARLY = frozenset(chain(CONSTRUCTORS, *RUNS_BEFORE_LOADING.values()))
"""Names of methods that have run when another method of the same object makes a loader."""
_LENGTH, _ITEM, _ITERATION = "__len__", "__getitem__", "__iter__"
_BUILTINS = {"len": (_LENGTH,), "iter": (_ITERATION, _ITEM), "list": (_ITERATION, _ITEM), "next": (_ITERATION,)}


def _is_subset(value: Value) -> bool:
    of = value.of if isinstance(value, Instance) else None
    return isinstance(of, External) and canonical(of.name) == "torch.utils.data.Subset"


def _are_same(one: Instance, other: Instance) -> bool:
    return one.of == other.of and one.call >= 0 and (one.file, one.call) == (other.file, other.call)


class ParentTouches:
    """Finds the uses in the parent process, for one loader and one of its datasets."""

    def __init__(self, project: Project, loader: Loader, dataset: Instance) -> None:
        self.project = project
        self.world = project.world
        self.loader = loader
        self.dataset = dataset
        assert isinstance(dataset.of, Class)
        self.cls: Class = dataset.of

    def of(self, functions: set[tuple[str, int]]) -> Hop | None:
        """The first place where the parent process runs one of the functions on the dataset; None if it does not."""
        return next((hop for method, hop in self._touches() if self._runs(method, functions)), None)

    def of_held(self, held: Instance, functions: set[tuple[str, int]]) -> Hop | None:
        """The first place where constructing the dataset runs one of the functions on an object that it keeps."""
        for path, scope in self.project.datasets.construction.of_class(self.cls):
            file = self.world.files[path]
            for index in file.calls_of(scope):
                call = file.calls[index]
                if not isinstance(call.func, Attribute):
                    continue
                made = self.world.values.evaluate(call.func.value, self.world.call_site(file, index, None))
                same = (isinstance(one, Instance) and _are_same(one, held) for one in made)
                if any(same) and self._runs(call.func.attr, functions, held):
                    return Hop(file, call.span, f"`{call.func.attr}` is called here")
        return None

    def _runs(self, method: str, functions: set[tuple[str, int]], on: Instance | None = None) -> bool:
        """Whether calling a method runs one of the functions, directly or through the methods that it calls on its
        own object."""
        asked = [method]
        for name in asked:
            for run in self.project.workers.of_method(on or self.dataset, name):
                if (run.file.path, run.scope) in functions:
                    return True
                asked += [other for other, _ in self._in_scope(run.file, run.scope, own=True) if other not in asked]
        return False

    def _touches(self) -> Iterator[tuple[str, Hop]]:
        """Methods that the parent process calls explicitly or implicitly, each with the place."""
        for file, scope in self.project.datasets.construction.of_class(self.cls):
            where = self.world.files[file]
            for method, span_of in self._in_scope(where, scope, own=True):
                yield method, span_of
        for file_, scope, until in self._scopes():
            for method, hop in self._in_scope(file_, scope, own=False):
                if hop.span.start < until:
                    yield method, hop
            yield from self._in_called(file_, scope, until)
        if self._measured():
            yield _LENGTH, Hop(self.loader.file, self.loader.span, "the DataLoader asks for the length here")

    def _measured(self) -> bool:
        """Whether the loader's default sampler calls `len(dataset)`, which happens in the parent process. A subset
        counts its own indices."""
        given = [self.loader.argument(name) for name in ("sampler", "batch_sampler")]
        if not all(found.absent for found in given) or self.world.hierarchy.method(self.cls, _ITEM) is None:
            return False
        return not all(map(_is_subset, self.project.served(self.loader) or (UNKNOWN,)))

    def _scopes(self) -> Iterator[tuple[SourceFile, int, tuple[int, int]]]:
        """The scope of the loader and the scope that constructs the dataset, each with the position up to which it
        counts.

        That is the loader's position, or where the function that constructs the dataset calls or returns to the
        loader's function.
        """
        file, call = self.loader.file, self.loader.file.calls[self.loader.call]
        yield file, call.scope, call.span.start
        made = self.dataset.file
        if made is None or self.dataset.call < 0:
            return
        scope = made.calls[self.dataset.call].scope
        if self._runs_before(made, scope):
            yield made, scope, _NEVER
            return
        if (made, scope) == (file, call.scope) or file.scopes[call.scope].kind != "function":
            return
        for caller in self.world.calls.callers(Function(file, call.scope)):
            if caller.call >= 0 and caller.file is made and made.calls[caller.call].scope == scope:
                span = made.calls[caller.call].span
                yield made, scope, span.start
                return
        for event in made.scopes[scope].events if scope > 0 else ():
            site = Site(made, scope, event.region, event.span.start, None)
            if event.kind == "return" and event.value is not None and self._is_it(event.value, site, own=False):
                yield made, scope, event.span.start
                return

    def _runs_before(self, file: SourceFile, scope: int) -> bool:
        """Whether a method that makes the dataset has ended when another method of the same object makes the
        loader."""
        here = self.loader.file.calls[self.loader.call].scope
        owner = self.loader.file.method_of(here)
        makers = file.method_of(scope)
        if owner is None or scope == here or makers is None:
            return False
        line = self.world.hierarchy.line(Class(self.loader.file, owner))
        return file.scopes[scope].name in _EARLY and Class(file, makers) in line

    def _in_called(self, file: SourceFile, scope: int, until: tuple[int, int]) -> Iterator[tuple[str, Hop]]:
        """Uses of the dataset in functions that a scope passes it to: `mean = average(dataset)`."""
        seen = {(file.path, scope), (self.loader.file.path, self.loader.file.calls[self.loader.call].scope)}
        todo: list[tuple[SourceFile, int, tuple[int, int], Hop | None]] = [(file, scope, until, None)]
        while todo and not limits.TOUCHING_FUNCTIONS.reached(len(seen)):
            file, scope, until, first = todo.pop(0)
            for index in file.calls_of(scope):
                call = file.calls[index]
                builtin = isinstance(call.func, Name) and call.func.id in _BUILTINS
                if builtin or call.span.start >= until:
                    continue
                site = self.world.call_site(file, index, None)
                if not any(self._is_given(one.value, site) for one in call.args):
                    continue
                for target in self.world.calls.targets(file, index, None):
                    function = target.function
                    if target.guessed or function.key in seen:
                        continue
                    seen.add(function.key)
                    hop = first or Hop(file, call.span, f"`{function.name}` reads the dataset here")
                    for method, _ in self._in_scope(function.file, function.scope, own=False):
                        yield method, hop
                    todo.append((function.file, function.scope, _NEVER, hop))

    def _in_scope(self, file: SourceFile, scope: int, own: bool) -> Iterator[tuple[str, Hop]]:
        """Uses of the dataset in a scope; with `own`, of a method's receiver, whose explicit calls are already
        known."""
        for index in file.calls_of(scope):
            call = file.calls[index]
            site = self.world.call_site(file, index, None)
            if isinstance(call.func, Name) and call.func.id in _BUILTINS and len(call.args) == 1:
                given = call.args[0].value
                hop = Hop(file, call.span, f"`{call.func.id}` of the dataset")
                if self._is_it(given, site, own) or (not own and self._reads_it(given, site)):
                    yield from ((method, hop) for method in _BUILTINS[call.func.id])
                elif _ITEM in _BUILTINS[call.func.id] and self._wraps_it(given, site, own):
                    yield _ITEM, hop
            elif isinstance(call.func, Attribute) and not own and self._is_it(call.func.value, site, own):
                yield call.func.attr, Hop(file, call.span, f"`{call.func.attr}` of the dataset is called here")
        for event in file.scopes[scope].events:
            site = Site(file, scope, event.region, event.span.start, None)
            looped = event.value if event.kind == "for" else None
            if looped is not None and (self._is_it(looped, site, own) or (not own and self._reads_it(looped, site))):
                yield from ((name, Hop(file, event.span, "the dataset is read here")) for name in (_ITERATION, _ITEM))
            elif looped is not None and self._wraps_it(looped, site, own):
                yield _ITEM, Hop(file, event.span, "the dataset is read here")
            parts = (
                [part.value for part in walk(event.value, file) if isinstance(part, Subscript)] if event.value else []
            )
            if any(self._is_it(part, site, own) or self._wraps_it(part, site, own) for part in parts):
                yield _ITEM, Hop(file, event.value_span or event.span, "an item of the dataset is read here")

    def _is_it(self, expr: Expr, site: Site, own: bool = False) -> bool:
        if not isinstance(expr, (Name, Attribute, CallRef)):
            return False
        if own:
            params = site.file.scopes[site.scope].params
            return bool(params) and expr == Name(params[0].name) and self._is_method(site.file, site.scope)
        return any(
            isinstance(value, Instance)
            and value.of == self.cls
            and (value.file, value.call) == (self.dataset.file, self.dataset.call)
            and not (self.dataset.frame is not None and self.dataset.frame.is_apart(value.frame))
            for value in self.world.values.evaluate(expr, site)
        )

    def _is_method(self, file: SourceFile, scope: int) -> bool:
        """Whether a function is a method of the dataset: its construction also calls functions of other objects."""
        owner = file.method_of(scope)
        return (
            owner is not None
            and self.world.hierarchy.receiver_kind(Function(file, scope)) == "self"
            and Class(file, owner) in self.world.hierarchy.line(self.cls)
        )

    def _is_given(self, expr: Expr, site: Site) -> bool:
        return self._is_it(expr, site) or self._wraps_it(expr, site) or self._reads_it(expr, site)

    def _wraps_it(self, expr: Expr, site: Site, own: bool = False) -> bool:
        """Whether an expression is torch's subset of the dataset: its items are items of the dataset."""
        if own or not isinstance(expr, (Name, Attribute, CallRef)):
            return False
        return any(
            isinstance(one, Instance) and (one.file, one.call) == (self.dataset.file, self.dataset.call)
            for value in self.world.values.evaluate(expr, site)
            if _is_subset(value)
            for one in self.project.datasets.expand((value,))
        )

    def _reads_it(self, expr: Expr, site: Site) -> bool:
        """Whether an expression is a loader without workers, which reads the dataset in the parent process."""
        if not isinstance(expr, (Name, Attribute, CallRef)) or not self._without_workers:
            return False
        return any(
            isinstance(value, Instance) and (value.file, value.call) in self._without_workers
            for value in self.world.values.evaluate(expr, site)
        )

    @cached_property
    def _without_workers(self) -> set[tuple[SourceFile | None, int]]:
        """The calls that make loaders of the dataset that surely have no workers."""
        return {
            (loader.file, loader.call)
            for loader in self.project.loaders
            if not loader.workers().possible
            and any(
                (one.file, one.call) == (self.dataset.file, self.dataset.call)
                for one in self.project.datasets.expand(loader.datasets())
            )
        }
