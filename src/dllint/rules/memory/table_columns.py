"""Expressions that select a column of a table, judged by their syntax."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, CallRef, Constant, Subscript
from dllint.facts.schema import Expr
from dllint.libraries.pandas import NO_COLUMNS
from dllint.linking.source import SourceFile, last_name

_LISTING = frozenset({"list", "tuple", "array", "asarray"})
"""Functions that take a column, and return its cells."""
_OF_COLUMN = frozenset({"tolist", "to_list", "to_numpy", "astype", "fillna", "replace", "strip", "lower", "dropna"})
"""Methods of columns that return its cells, or those that they make of each."""


def without_values(expr: Expr) -> Expr:
    """The column whose array an expression is: `table["text"]` of `table["text"].values`."""
    return expr.value if isinstance(expr, Attribute) and expr.attr == "values" else expr


def column_name(expr: Expr | None, file: SourceFile) -> str:
    """The name of the column that a list or an array is made of: "text" of `list(table["text"])` and
    `table.text.astype(str).tolist()`. Empty for anything else."""
    while expr is not None:
        match expr:
            case CallRef(index):
                call = file.calls[index]
                given = call.args[0].value if call.args else None
                of_column = isinstance(call.func, Attribute) and call.func.attr in _OF_COLUMN
                expr = call.func.value if of_column and isinstance(call.func, Attribute) else given
                if not of_column and last_name(call.func) not in _LISTING:
                    return ""
            case Attribute(value, "values" | "str"):
                expr = value
            case Attribute(_, name) | Subscript(_, Constant(str() as name)):
                return name if is_column(expr) else ""
            case _:
                return ""
    return ""


def is_column(expr: Expr | None) -> bool:
    """Whether an expression selects a column of a table, judged by its syntax: `table.text`, `table["text"]`."""
    if isinstance(expr, Attribute):
        return expr.attr not in NO_COLUMNS
    return isinstance(expr, Subscript) and isinstance(expr.index, Constant)
