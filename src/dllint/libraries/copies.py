"""Copies of containers and of other objects."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, CallRef
from dllint.facts.schema import Expr
from dllint.linking.source import SourceFile, last_name

_COPIES = frozenset({"copy", "deepcopy", "dict", "list", "tuple"})
"""Last names of functions that copy what they are given."""


def copied(file: SourceFile, expr: Expr | None) -> Expr | None:
    """What an expression copies: `copy.deepcopy(row)`, `row.copy()`, `dict(row)`; None for other expressions.

    A copy has the fields of the record, and making it touches the record's objects.
    """
    if not isinstance(expr, CallRef):
        return None
    call = file.calls[expr.index]
    if not call.args:
        return call.func.value if isinstance(call.func, Attribute) and call.func.attr == "copy" else None
    plain = len(call.args) == 1 and call.args[0].keyword is None
    return call.args[0].value if plain and last_name(call.func) in _COPIES else None
