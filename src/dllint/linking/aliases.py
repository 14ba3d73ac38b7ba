"""Names that stand for something of another name."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, BoolOp, CallRef, IfExp, Name
from dllint.facts.schema import Expr
from dllint.linking.source import SourceFile, last_name


def aliases_in(file: SourceFile) -> Iterator[tuple[str, str]]:
    """Pairs of last names, of which the second may be bound to what the first names."""
    for scope in file.scopes:
        for event in scope.events:
            value, target = event.value, event.target
            if event.kind == "assign" and value is not None and target is not None:
                if isinstance(value, _ALIASED) and isinstance(target, _NAMED):
                    name = last_name(target)
                    for source in _sources(value, file):
                        yield source, name
            elif event.kind == "import" and event.detail[1] and event.detail[2]:
                yield event.detail[1], event.detail[2]
        for param in scope.params:
            if isinstance(param.default, _NAMED):
                yield last_name(param.default), param.name
    for call in file.calls:
        for argument in call.args:
            keyword = argument.keyword
            if keyword is not None and isinstance(argument.value, _NAMED) and keyword not in ("*", "**"):
                yield last_name(argument.value), keyword


_NAMED = (Name, Attribute)
_ALIASED = (Name, Attribute, IfExp, BoolOp, CallRef)


def _sources(expr: Expr, file: SourceFile) -> Iterator[str]:
    if isinstance(expr, _NAMED):
        yield last_name(expr)
    elif isinstance(expr, IfExp):
        yield from _sources(expr.body, file)
        yield from _sources(expr.orelse, file)
    elif isinstance(expr, BoolOp):
        for part in expr.values:
            yield from _sources(part, file)
    elif isinstance(expr, CallRef):
        call = file.calls[expr.index]
        if last_name(call.func) == "partial" and call.args and call.args[0].keyword is None:
            yield from _sources(call.args[0].value, file)
