"""Tests that show that a program expects to run without workers: `persistent_workers=count > 0`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BoolOp, Compare, Constant, IfExp, Name, Not, Subscript
from dllint.facts.schema import Expr
from dllint.finding import Place
from dllint.inference.values import Class, Function
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader
from dllint.project.without_workers import OTHER, ZERO
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_LEAVING = frozenset({"raise", "return", "continue", "break"})


def expects_none(project: Project, loader: Loader, count: Expr) -> Place | None:
    """The test that distinguishes 0 from other worker counts, in the function that makes the loader or in one that
    receives the count.

    None if there is no such test, or if 0 is replaced or rejected.
    """
    if not isinstance(count, (Name, Attribute, Subscript)):
        return None
    file, scope = loader.file, loader.site.scope
    places: list[Place | str | None] = [_tested(file, scope, count)]
    for index in file.calls_of(scope):
        if index != loader.call:
            places += [
                _tested(one.file, one.scope, Name(param)) for one, param in _given(project, loader, index, count)
            ]
    if any(place == _REPLACED for place in places):
        return None
    return next((place for place in places if isinstance(place, Place)), None)


_REPLACED = "0 is replaced or refused"


def _tested(file: SourceFile, scope: int, count: Expr) -> Place | str | None:
    """Where a function tests whether a number is 0; `_REPLACED` if it then replaces or rejects that number."""
    found: Place | None = None
    events = file.scopes[scope].events
    regions = {number for event in events for number in file.regions(event.region)}
    regions |= {number for index in file.calls_of(scope) for number in file.regions(file.calls[index].region)}
    for number in sorted(regions):
        region = file.facts.regions[number]
        if region.kind not in ("if", "while") or region.expr is None:
            continue
        if any(_is_test(part, count) for part in _parts(region.expr)):
            inside = [event for event in events if number in file.regions(event.region)]
            if any(event.kind in _LEAVING or event.target == count for event in inside):
                return _REPLACED
            found = found or _place(file, region.span)
    for event in events:
        if event.value is not None and any(_asks(part, count) for part in _parts(event.value)):
            if event.target == count or event.kind == "assert":
                return _REPLACED
            found = found or _place(file, event.span)
    for index in file.calls_of(scope):
        call = file.calls[index]
        if any(_asks(part, count) for argument in call.args for part in _parts(argument.value)):
            found = found or _place(file, call.span)
    return found


def _place(file: SourceFile, span: Span) -> Place:
    return Place(file.path, span, "0 is expected here")


def _asks(expr: Expr, count: Expr) -> bool:
    """Whether an expression compares the number with 0, or selects a value by it."""
    if isinstance(expr, IfExp):
        return _is_test(expr.test, count)
    return isinstance(expr, Compare) and _is_test(expr, count)


def _is_test(expr: Expr, count: Expr) -> bool:
    """Whether a test is true for 0 alone, or for all numbers but 0."""
    if isinstance(expr, Not):
        return expr.operand == count
    if isinstance(expr, Compare):
        return expr.left == count and any(
            isinstance(right, Constant) and (operator, right.value) in ZERO | OTHER
            for operator, right in expr.comparisons
        )
    return expr == count


def _parts(expr: Expr) -> Iterator[Expr]:
    """An expression and its parts that can be a test."""
    yield expr
    if isinstance(expr, (BoolOp, Not, IfExp)):
        for part in expr.children():
            yield from _parts(part)


def _given(project: Project, loader: Loader, index: int, count: Expr) -> Iterator[tuple[Function, str]]:
    """The functions of the project that a call passes the number to, each with the receiving parameter."""
    file = loader.file
    call = file.calls[index]
    if not any(argument.value == count for argument in call.args):
        return
    for value in project.world.values.evaluate(call.func, project.world.call_site(file, index, None)):
        init = project.world.hierarchy.method(value, "__init__") if isinstance(value, Class) else value
        if not isinstance(init, Function):
            continue
        params = [one.name for one in init.file.scopes[init.scope].params]
        skipped = int(isinstance(value, Class) or init.receiver is not None)
        for position, argument in enumerate(call.args):
            if argument.value != count or argument.keyword in ("*", "**"):
                continue
            if argument.keyword is not None:
                yield init, argument.keyword
            elif position + skipped < len(params):
                yield init, params[position + skipped]
