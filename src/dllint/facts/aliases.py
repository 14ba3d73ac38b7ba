"""Aliases within one file: pairs of names between which an assignment, argument, container or result passes a value."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import (
    Attribute,
    BoolOp,
    CallRef,
    Dict,
    Element,
    Entered,
    Expr,
    IfExp,
    LambdaRef,
    List,
    Name,
    Set,
    Starred,
    Subscript,
    Tuple,
    last_name,
)
from dllint.facts.schema import Call, ImportedName, Scope

_NAMED = (Name, Attribute)
_PUT_IN = frozenset({"append", "add", "insert", "appendleft", "setdefault"})
_TAKEN_OUT = frozenset({"get", "pop", "items", "values", "setdefault"})
_SAME_FUNCTION = frozenset({"partial", "staticmethod", "classmethod"})
_GONE_THROUGH = frozenset({"enumerate", "zip", "reversed", "sorted", "list", "tuple", "iter", "next"})


def lambda_name(scope: int) -> str:
    """Return a unique name for a lambda, which has none."""
    return f"<lambda {scope}>"


def result_name(name: str) -> str:
    """Return the name that stands for the results of anything with this last name."""
    return f"{name}()"


def aliases(scopes: list[Scope], calls: list[Call]) -> Iterator[tuple[str, str]]:
    """Yield pairs of last names: the second may be bound to the object that the first names, or contain it."""
    for scope in scopes:
        yield from aliases_of(scope, calls)
        for decorator in scope.decorators:
            if name := last_name(decorator.expr):
                yield result_name(name), scope.name
        for param in scope.params:
            if param.default is not None:
                yield from ((source, param.name) for source in _sources(param.default, calls))
    for call in calls:
        yield from aliases_by(call, calls)


def aliases_of(scope: Scope, calls: list[Call]) -> Iterator[tuple[str, str]]:
    """Yield the pairs from the statements of a scope."""
    for event in scope.events:
        if isinstance(event.detail, ImportedName):
            if event.detail.name and event.detail.alias:
                yield event.detail.name, event.detail.alias
        elif event.kind == "return" and event.value is not None and not isinstance(event.value, CallRef):
            yield from ((source, result_name(scope.name)) for source in _sources(event.value, calls))
        elif event.target is not None and event.value is not None:
            names = dict.fromkeys(_held_by(event.target))
            for source in _sources(event.value, calls) if names else ():
                yield from ((source, name) for name in names)


def aliases_by(call: Call, calls: list[Call]) -> Iterator[tuple[str, str]]:
    """Yield the pairs from the arguments of a call: keyword arguments, and elements that it adds to a container."""
    into = last_name(call.func.value) if isinstance(call.func, Attribute) and call.func.attr in _PUT_IN else ""
    for argument in call.args:
        name = argument.keyword if argument.keyword not in (None, "*", "**") else into
        if name:
            yield from ((source, name) for source in _sources(argument.value, calls))


def _held_by(target: Expr) -> Iterator[str]:
    """Yield the last names that an assignment binds, or whose container it fills."""
    if isinstance(target, _NAMED):
        yield last_name(target)
    elif isinstance(target, (Tuple, List)):
        for element in target.elements:
            yield from _held_by(element)
    elif isinstance(target, (Subscript, Starred)) and isinstance(target.value, _NAMED):
        yield last_name(target.value)


def _sources(expr: Expr | None, calls: list[Call]) -> Iterator[str]:
    """Yield the last names of the objects that an expression may evaluate to, or contain."""
    if isinstance(expr, _NAMED):
        yield last_name(expr)
    elif isinstance(expr, LambdaRef):
        yield lambda_name(expr.scope)
    elif isinstance(expr, IfExp):
        yield from _sources(expr.body, calls)
        yield from _sources(expr.orelse, calls)
    elif isinstance(expr, BoolOp):
        for part in expr.values:
            yield from _sources(part, calls)
    elif isinstance(expr, (List, Tuple, Set)):
        for part in expr.elements:
            yield from _sources(part, calls)
    elif isinstance(expr, Dict):
        for _, value in expr.items:
            yield from _sources(value, calls)
    elif isinstance(expr, (Subscript, Starred, Element, Entered)):
        yield from _sources(expr.value, calls)
    elif isinstance(expr, CallRef):
        yield from _given(expr, calls)


def _given(expr: CallRef, calls: list[Call]) -> Iterator[str]:
    """Yield the last names of the objects that a call may return."""
    call = calls[expr.index]
    name = last_name(call.func)
    if name in _SAME_FUNCTION:
        if call.args and call.args[0].keyword is None:
            yield from _sources(call.args[0].value, calls)
    elif isinstance(call.func, Attribute) and name in _TAKEN_OUT:
        yield from _sources(call.func.value, calls)
        for argument in call.args[1:]:
            yield from _sources(argument.value, calls)
    elif name in _GONE_THROUGH:
        for argument in call.args:
            yield from _sources(argument.value, calls)
    elif name:
        yield result_name(name)
