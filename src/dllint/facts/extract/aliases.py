"""Other names that a file gives to what has one: by assignments, imports, parameters and arguments."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, BoolOp, CallRef, IfExp, Name, last_name
from dllint.facts.schema import Call, Expr, ImportedName, Scope


def aliases(scopes: list[Scope], calls: list[Call]) -> Iterator[tuple[str, str]]:
    """Pairs of last names, of which the second may be bound to what the first names."""
    for scope in scopes:
        for event in scope.events:
            value, target = event.value, event.target
            if event.kind == "assign" and value is not None and target is not None:
                if isinstance(value, _ALIASED) and isinstance(target, _NAMED):
                    name = last_name(target)
                    for source in _sources(value, calls):
                        yield source, name
            elif isinstance(event.detail, ImportedName) and event.detail.name and event.detail.alias:
                yield event.detail.name, event.detail.alias
        for param in scope.params:
            if isinstance(param.default, _NAMED):
                yield last_name(param.default), param.name
    for call in calls:
        for argument in call.args:
            keyword = argument.keyword
            if keyword is not None and isinstance(argument.value, _NAMED) and keyword not in ("*", "**"):
                yield last_name(argument.value), keyword


_NAMED = (Name, Attribute)
_ALIASED = (Name, Attribute, IfExp, BoolOp, CallRef)


def _sources(expr: Expr, calls: list[Call]) -> Iterator[str]:
    if isinstance(expr, _NAMED):
        yield last_name(expr)
    elif isinstance(expr, IfExp):
        yield from _sources(expr.body, calls)
        yield from _sources(expr.orelse, calls)
    elif isinstance(expr, BoolOp):
        for part in expr.values:
            yield from _sources(part, calls)
    elif isinstance(expr, CallRef):
        call = calls[expr.index]
        if last_name(call.func) == "partial" and call.args and call.args[0].keyword is None:
            yield from _sources(call.args[0].value, calls)
