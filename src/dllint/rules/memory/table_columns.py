"""Expressions that select a column of a table, judged by their syntax."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, Constant, Subscript
from dllint.facts.schema import Expr
from dllint.libraries.pandas import NO_COLUMNS


def without_values(expr: Expr) -> Expr:
    """The column whose array an expression is: `table["text"]` of `table["text"].values`."""
    return expr.value if isinstance(expr, Attribute) and expr.attr == "values" else expr


def is_column(expr: Expr | None) -> bool:
    """Whether an expression selects a column of a table, judged by its syntax: `table.text`, `table["text"]`."""
    if isinstance(expr, Attribute):
        return expr.attr not in NO_COLUMNS
    return isinstance(expr, Subscript) and isinstance(expr.index, Constant)
