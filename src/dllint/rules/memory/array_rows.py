"""NumPy arrays whose rows a list is extended by: those of an array with one dimension are numbers, which hold no
storage."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import Expr
from dllint.linking.source import SourceFile, last_name

_ARRAYS = frozenset({"numpy", "asarray", "array", "__array__"})
"""Last names of the functions and methods that make an array of a tensor."""


def may_be_numbers(file: SourceFile, scope: int, expr: Expr, seen: frozenset[str] = frozenset()) -> bool:
    """Whether going through a value may give numbers: it is an array, whose dimensions nothing tells. One that is
    assigned under a name, `labels = labels.numpy()`, counts in the whole function."""
    if isinstance(expr, Name):
        return expr.id not in seen and any(
            event.kind == "assign"
            and event.target == expr
            and event.value is not None
            and may_be_numbers(file, scope, event.value, seen | {expr.id})
            for event in file.scopes[scope].events
        )
    if isinstance(expr, Attribute):
        return expr.attr in ("T", "data", "real") and may_be_numbers(file, scope, expr.value, seen)
    if not isinstance(expr, CallRef):
        return False
    func = file.calls[expr.index].func
    if last_name(func) in _ARRAYS:
        return True
    return (
        isinstance(func, Attribute)
        and func.attr in ("astype", "ravel", "flatten", "reshape")
        and may_be_numbers(file, scope, func.value, seen)
    )
