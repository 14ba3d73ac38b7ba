"""Names under which one thing may be found: what assignments, arguments, containers and results pass on."""

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
)
from dllint.linking.source import SourceFile, last_name

_NAMED = (Name, Attribute)
_PUT_IN = frozenset({"append", "add", "insert", "appendleft", "setdefault"})
_TAKEN_OUT = frozenset({"get", "pop", "items", "values", "setdefault"})
_SAME_FUNCTION = frozenset({"partial", "staticmethod", "classmethod"})
_GONE_THROUGH = frozenset({"enumerate", "zip", "reversed", "sorted", "list", "tuple", "iter", "next"})


def lambda_name(path: str, scope: int) -> str:
    """What stands for the name of a lambda, which has none."""
    return f"<lambda {path}:{scope}>"


def result_name(name: str) -> str:
    """What stands for the results of all that has a last name."""
    return f"{name}()"


def aliases_in(file: SourceFile) -> Iterator[tuple[str, str]]:
    """Pairs of last names, of which the second may be bound to what the first names, or hold it."""
    for scope in range(len(file.scopes)):
        yield from aliases_of(file, scope)
    for _, event in file.imports():
        if event.detail[1] and event.detail[2]:
            yield event.detail[1], event.detail[2]


def aliases_of(file: SourceFile, scope: int) -> Iterator[tuple[str, str]]:
    """The pairs of one scope, those by imports apart."""
    entry = file.scopes[scope]
    for event in entry.events:
        if event.value is None:
            continue
        if event.kind == "return" and not isinstance(event.value, CallRef):
            yield from ((source, result_name(entry.name)) for source in _sources(event.value, file))
        elif event.target is not None:
            names = dict.fromkeys(_held_by(event.target))
            for source in _sources(event.value, file) if names else ():
                yield from ((source, name) for name in names)
    for param in entry.params:
        if param.default is not None:
            yield from ((source, param.name) for source in _sources(param.default, file))
    for index in file.calls_of(scope):
        call = file.calls[index]
        into = last_name(call.func.value) if isinstance(call.func, Attribute) and call.func.attr in _PUT_IN else ""
        for argument in call.args:
            name = argument.keyword if argument.keyword not in (None, "*", "**") else into
            if name:
                yield from ((source, name) for source in _sources(argument.value, file))


def _held_by(target: Expr) -> Iterator[str]:
    """The last names of what an assignment binds or fills."""
    if isinstance(target, _NAMED):
        yield last_name(target)
    elif isinstance(target, (Tuple, List)):
        for element in target.elements:
            yield from _held_by(element)
    elif isinstance(target, (Subscript, Starred)) and isinstance(target.value, _NAMED):
        yield last_name(target.value)


def _sources(expr: Expr | None, file: SourceFile) -> Iterator[str]:
    """The last names of what an expression may stand for, or hold."""
    if isinstance(expr, _NAMED):
        yield last_name(expr)
    elif isinstance(expr, LambdaRef):
        yield lambda_name(file.path, expr.scope)
    elif isinstance(expr, IfExp):
        yield from _sources(expr.body, file)
        yield from _sources(expr.orelse, file)
    elif isinstance(expr, BoolOp):
        for part in expr.values:
            yield from _sources(part, file)
    elif isinstance(expr, (List, Tuple, Set)):
        for part in expr.elements:
            yield from _sources(part, file)
    elif isinstance(expr, Dict):
        for _, value in expr.items:
            yield from _sources(value, file)
    elif isinstance(expr, (Subscript, Starred, Element, Entered)):
        yield from _sources(expr.value, file)
    elif isinstance(expr, CallRef):
        yield from _given(expr, file)


def _given(expr: CallRef, file: SourceFile) -> Iterator[str]:
    """The last names of what a call may give."""
    call = file.calls[expr.index]
    name = last_name(call.func)
    if name in _SAME_FUNCTION:
        if call.args and call.args[0].keyword is None:
            yield from _sources(call.args[0].value, file)
    elif isinstance(call.func, Attribute) and name in _TAKEN_OUT:
        yield from _sources(call.func.value, file)
        for argument in call.args[1:]:
            yield from _sources(argument.value, file)
    elif name in _GONE_THROUGH:
        for argument in call.args:
            yield from _sources(argument.value, file)
    elif name:
        yield result_name(name)
