"""Members of multiprocessing that do not exist, calls with arguments that it does not accept, and functions that are
called where they should be passed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dllint.facts.nodes import Attribute, CallRef, Constant, Name
from dllint.facts.schema import Event, Expr
from dllint.inference.values import NONE, Const, External, Function, Site, Value
from dllint.libraries.index import canonical
from dllint.libraries.multiprocessing import SIMPLE_QUEUE
from dllint.linking.conditions import render
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile
from dllint.project.loaders import written
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_QUEUES = ("multiprocessing.Queue", "multiprocessing.JoinableQueue", "multiprocessing.SimpleQueue")
_EXCEPTIONS = ("Empty", "Full")
Called = Literal["called", "result", "seeding"]
"""Kinds of functions that are called where they should be passed."""


@dataclass(frozen=True)
class Misuse:
    """A member or an argument that multiprocessing does not have.

    Attributes:
        kind: "exception" (`mp.Queue.Empty`), "array" (`manager.Array("d", 4)`), "simple" (`SimpleQueue.get_nowait`),
            "called" (`Process(target=train())`), "result" (`mp.spawn(train())`), "seeding"
            (`worker_init_fn=np.random.seed(1)`).
        what: the member or argument as written.
        exact: whether the span covers the expression alone.
    """

    kind: Literal["exception", "array", "simple"] | Called
    file: SourceFile
    span: Span
    statement: Span
    what: Expr
    name: str
    exact: bool


class Misuses:
    """Finds the members and arguments that multiprocessing does not have, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    def all(self) -> Iterator[Misuse]:
        """Every misuse, in the order of files."""
        for file in self.project.files:
            if "multiprocessing" in file.imported_packages() or "torch" in file.imported_packages():
                yield from self._exceptions(file)
                yield from self._calls(file)
        for launch in self.project.launches.blind():
            if launch.target is not None and launch.target.expr is not None and launch.target.site is not None:
                kind: Called = "called" if launch.api.endswith("Process") else "result"
                yield from self._called(kind, launch.file, launch.call, launch.target.expr, launch.target.site)
        for loader in self.project.loaders:
            given = written(loader, "worker_init_fn")
            if given is not None:
                yield from self._called("seeding", loader.file, loader.call, given, loader.site)

    def _called(self, kind: Called, file: SourceFile, index: int, given: Expr, site: Site) -> Iterator[Misuse]:
        """The misuse in a call that passes the result of a function, None, in place of the function. A method may have
        another result in a subclass, and a decorated function any."""
        call = file.calls[index]
        if not isinstance(given, CallRef) or site.file is not file:
            return
        callees = self.world.calls.callees(file, given.index, site.frame)
        if (
            callees
            and all(map(_returns_as_written, callees))
            and set(self.world.values.evaluate(given, site)) == {NONE}
        ):
            span = next((one.value_span for one in call.args if one.value == given), call.span)
            yield Misuse(kind, file, span, call.statement, file.calls[given.index].func, "target", True)

    def _exceptions(self, file: SourceFile) -> Iterator[Misuse]:
        """The misuses in `except mp.Queue.Empty:` and `raise mp.Queue.Full`."""
        for _, region in file.regions_of("handler"):
            if region.expr is not None:
                scope = self._scope_at(file, region.span)
                site = Site(file, scope, region.parent, region.span.start, None)
                span = _within_header(region.span, render(region.expr, file, 200))
                yield from self._named(file, region.expr, site, region.span, span)
        for scope, raised in file.each(raising):
            for event in raised:
                if event.value is not None:
                    site = Site(file, scope, event.region, event.span.start, None)
                    yield from self._named(file, event.value, site, event.span, event.value_span)

    def _named(self, file: SourceFile, expr: Expr, site: Site, statement: Span, span: Span | None) -> Iterator[Misuse]:
        for part in walk(expr, file):
            if isinstance(part, Attribute) and part.attr in _EXCEPTIONS and self._is_queue(part.value, site):
                exact = span is not None and part == expr
                yield Misuse("exception", file, span or statement, statement, part, part.attr, exact)

    @staticmethod
    def _scope_at(file: SourceFile, span: Span) -> int:
        """The innermost scope that contains a place: scopes are in source order, so the last one that covers it."""
        return max(file.scopes_around(span), default=0)

    def _is_queue(self, expr: Expr, site: Site) -> bool:
        if not isinstance(expr, (Attribute, Name)):
            return False
        values = self.world.values.evaluate(expr, site)
        return bool(values) and all(
            isinstance(value, External) and canonical(value.name) in _QUEUES for value in values
        )

    def _calls(self, file: SourceFile) -> Iterator[Misuse]:
        for name in ("Array", *SIMPLE_QUEUE):
            for index in file.facts.called.get(name, ()):
                call = file.calls[index]
                if not isinstance(call.func, Attribute):
                    continue
                site = self.world.call_site(file, index, None)
                values = self.world.values.evaluate(call.func, site)
                names = {canonical(value.name) if isinstance(value, External) else "" for value in values}
                if names == {"multiprocessing.Manager().Array"} and self._number(file, index, site):
                    span = call.args[1].value_span
                    yield Misuse("array", file, span, call.statement, call.args[1].value, "Array", True)
                elif names == {f"multiprocessing.SimpleQueue().{name}"}:
                    refused = SIMPLE_QUEUE[name]
                    given = [argument.keyword for argument in call.args]
                    if refused is None or any(keyword in refused for keyword in given if keyword):
                        yield Misuse("simple", file, call.span, call.statement, call.func, name, True)

    def _number(self, file: SourceFile, index: int, site: Site) -> bool:
        """Whether the second argument is a number rather than a sequence."""
        args = file.calls[index].args
        if len(args) < 2 or args[1].keyword not in (None, "sequence"):
            return False
        values = self.world.values.evaluate(args[1].value, site)
        return bool(values) and all(isinstance(value, Const) and value.kind in ("int", "float") for value in values)


def _returns_as_written(callee: Value) -> bool:
    """Whether a call of a function has the result that its `return` statements show. One that says `return None` makes
    a function, and here none."""
    if not isinstance(callee, Function):
        return isinstance(callee, External)
    scope = callee.file.scopes[callee.scope]
    if any(event.value == Constant(None) for event in scope.events_of("return")):
        return False
    return callee.receiver is None and not (scope.decorators or scope.is_async or scope.is_generator)


def raising(file: SourceFile, scope: int) -> list[Event]:
    """Return the `raise` statements of a scope."""
    return file.scopes[scope].events_of("raise")


def _within_header(header: Span, text: str) -> Span | None:
    """The span of the expression in `except EXPRESSION:`; None if the header contains anything else."""
    start, end = header.column + len("except "), header.end_column - 1
    if header.line != header.end_line or end - start != len(text):
        return None
    return Span(header.line, start, header.line, end)
