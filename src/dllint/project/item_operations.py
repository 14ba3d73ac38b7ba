"""Items that workers apply operations to which only lists and strings have: no array or tensor is meant then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp, List, Name
from dllint.facts.schema import Expr, Operator
from dllint.inference.values import Class, Instance
from dllint.libraries.builtin_functions import OF_STRING, PARTING, SPLITTING

if TYPE_CHECKING:
    from dllint.project.item_code import ItemCode
    from dllint.project.item_run import ItemRun

_OF_STRINGS = (OF_STRING | SPLITTING | PARTING) - {"replace"}
"""Methods that strings have, and neither arrays nor tables."""


def are_lists_or_strings(code: ItemCode, value: Instance, attr: str, holder: Class | None = None) -> bool:
    """Whether workers make `self.attr[index]` longer by a list, or call a method of strings on it."""
    return any(
        _is_list_or_string(run, items)
        for reader, found in code.items(value, attr, holder)
        for run, items in ((reader, found), *code.handed_on(value, reader, found))
    )


def _is_list_or_string(run: ItemRun, items: list[Expr]) -> bool:
    known = [*items, *bound(run, items)]
    for expr in run.expressions:
        if isinstance(expr, BinOp) and expr.op == "+" and _joins(expr, known):
            return True
    for index in run.file.calls_of(run.scope):
        func = run.file.calls[index].func
        if isinstance(func, Attribute) and func.attr in _OF_STRINGS and func.value in known:
            return True
    return any(
        event.detail == Operator("+") and event.target in known and event.value is not None and _repeats(event.value)
        for event in run.events
    )


def _joins(expr: BinOp, known: list[Expr]) -> bool:
    """Whether a sum joins lists: `row + [0] * n`, `[first] + row + [last]`. To an array, `row + [0.5, 0.5]` adds
    numbers."""
    parts = list(_summands(expr))
    lists = sum(isinstance(one, List) for one in parts)
    return any(one in known for one in parts) and (lists > 1 or any(map(_repeats, parts)))


def adds_a_list(expr: BinOp) -> bool:
    """Whether one of the parts of a sum is written as a list."""
    return any(isinstance(one, List) or _repeats(one) for one in _summands(expr))


def _summands(expr: Expr) -> Iterator[Expr]:
    while isinstance(expr, BinOp) and expr.op == "+":
        yield expr.right
        expr = expr.left
    yield expr


def _repeats(expr: Expr) -> bool:
    """Whether an expression is a list that is repeated: `[0] * (9 - len(row))`."""
    return isinstance(expr, BinOp) and expr.op == "*" and (isinstance(expr.left, List) or isinstance(expr.right, List))


def bound(run: ItemRun, exprs: Sequence[Expr]) -> list[Expr]:
    """The names that a function binds to one of these expressions."""
    return [
        event.target
        for event in run.events
        if event.kind == "assign" and isinstance(event.target, Name) and event.value in exprs
    ]
