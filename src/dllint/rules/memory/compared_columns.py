"""Columns of tables that workers compare with a text of the item: each comparison reads the text of every row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp, CallRef, Compare, Constant, FString, Name, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import Class, Instance
from dllint.libraries.builtin_functions import OF_STRING, PARTING, SPLITTING
from dllint.linking.source import last_name

if TYPE_CHECKING:
    from dllint.project.item_code import ItemCode
    from dllint.project.item_run import ItemRun

_TEXTS = (OF_STRING - {"encode", "replace"}) | {"str", "basename", "join", "format", "splitext"}
"""Last names of functions and methods that return a string."""
_OF_PATH = frozenset({"stem", "suffix"})
"""Attributes of a path that are strings."""
_FEW = re.compile(
    r"label|target|class|categor|type|kind|split|fold|gender|sex|lang|speaker|chain|plane|side|mode|subset|phase",
    re.IGNORECASE,
)
"""Names of columns with few different texts. Pandas keeps each text once for all rows of a chunk."""


def compared_with_texts(code: ItemCode, value: Instance, attr: str, holder: Class) -> bool:
    """Whether workers look for the rows of an item by a text: `self.table[self.table["name"] == path.stem]`."""
    for run in code.runs(value, holder):
        names = run.aliases({attr})
        for expr in run.expressions:
            for column, other in _compared(expr):
                if (
                    isinstance(column, (Attribute, Subscript))
                    and not _FEW.search(_name(column))
                    and run.part_of(column.value, {attr}, names)
                    and _is_text(run, other)
                ):
                    return True
    return False


def _compared(expr: Expr) -> Iterator[tuple[Expr, Expr]]:
    if isinstance(expr, Compare) and len(expr.comparisons) == 1 and expr.comparisons[0][0] == "==":
        right = expr.comparisons[0][1]
        yield expr.left, right
        yield right, expr.left


def _name(column: Attribute | Subscript) -> str:
    """The name of a column; the one of a class of its own kind, where a variable names it."""
    if isinstance(column, Attribute):
        return column.attr
    return column.index.value if isinstance(column.index, Constant) and isinstance(column.index.value, str) else "label"


def _is_text(run: ItemRun, expr: Expr, seen: frozenset[str] = frozenset()) -> bool:
    """Whether an expression is surely a text that differs from item to item. `seen` are the variables that it is the
    value of."""
    match expr:
        case FString():
            return True
        case Attribute(_, attr):
            return attr in _OF_PATH
        case CallRef(index):
            return last_name(run.file.calls[index].func) in _TEXTS
        case Subscript(CallRef(index), _):
            return last_name(run.file.calls[index].func) in SPLITTING | PARTING
        case BinOp("+", left, right):
            sides = (left, right)
            return any(isinstance(one, Constant) and isinstance(one.value, str) for one in sides) or any(
                _is_text(run, one, seen) for one in sides
            )
        case Name(name):
            return name not in seen and any(_bound(run, name, seen | {name}))
    return False


def _bound(run: ItemRun, name: str, seen: frozenset[str]) -> Iterator[bool]:
    """Whether each assignment of a variable gives it a text."""
    for event in run.events:
        if event.kind != "assign" or event.value is None:
            continue
        if event.target == Name(name):
            yield _is_text(run, event.value, seen)
        elif isinstance(event.target, Tuple) and Name(name) in event.target.elements:
            call = run.file.calls[event.value.index] if isinstance(event.value, CallRef) else None
            yield call is not None and last_name(call.func) in SPLITTING | PARTING
