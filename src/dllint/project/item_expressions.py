"""Expressions in the functions that read items: names for them, what they are composed of, and sums of lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from string import whitespace
from typing import TYPE_CHECKING

from dllint.facts.nodes import BinOp, Comprehension, Constant, Dict, FString, List, Name, Set, Starred, Tuple
from dllint.facts.schema import Expr
from dllint.libraries.copies import copied

if TYPE_CHECKING:
    from dllint.project.item_run import ItemRun


def joins_lists(expr: BinOp, known: list[Expr]) -> bool:
    """Whether a sum joins lists: `row + [0] * n`, `[first] + row + [last]`. To an array, `row + [0.5, 0.5]` adds
    numbers."""
    parts = list(_summands(expr))
    lists = sum(isinstance(one, List) for one in parts)
    return any(one in known for one in parts) and (lists > 1 or any(map(repeats_list, parts)))


def adds_a_list(expr: BinOp) -> bool:
    """Whether one of the parts of a sum is written as a list."""
    return any(isinstance(one, List) or repeats_list(one) for one in _summands(expr))


def calculates(expr: BinOp) -> bool:
    """Whether an operation calculates with a number that is written there: `number + 1`, `size / 2`, `index % 4`."""
    sides = (expr.right,) if expr.op == "%" else (expr.left, expr.right)
    return any(isinstance(one, Constant) and isinstance(one.value, (int, float)) for one in sides)


def may_join_paths(expr: Expr) -> bool:
    """Whether an expression may put a path together: no list, no number, and no text with words in it: `" " + word`,
    `f"Question: {text}"`."""
    if isinstance(expr, FString):
        return len(expr.values) > 1 and not _has_words(expr.values)
    if not isinstance(expr, BinOp) or expr.op not in ("/", "+", "%") or adds_a_list(expr) or calculates(expr):
        return False
    return not _has_words([expr.left] if expr.op == "%" else list(_summands(expr)))


def _has_words(parts: Iterable[Expr]) -> bool:
    """Whether white space is written between parts of a text."""
    written = (one.value for one in parts if isinstance(one, Constant) and isinstance(one.value, str))
    return any(set(one) & set(whitespace) and not set(one) & set("/\\") for one in written)


def _summands(expr: Expr) -> Iterator[Expr]:
    while isinstance(expr, BinOp) and expr.op == "+":
        yield expr.right
        expr = expr.left
    yield expr


def repeats_list(expr: Expr) -> bool:
    """Whether an expression is a list that is repeated: `[0] * (9 - len(row))`."""
    return isinstance(expr, BinOp) and expr.op == "*" and (isinstance(expr.left, List) or isinstance(expr.right, List))


def bound(run: ItemRun, exprs: Sequence[Expr]) -> list[Expr]:
    """The names that a function binds to one of these expressions, or to a copy of what such a name holds."""
    assigned = [
        (event.target, event.value)
        for event in run.events
        if event.kind == "assign" and isinstance(event.target, Name) and event.value is not None
    ]
    wanted = set(exprs) if assigned else ()
    names: list[Expr] = [target for target, value in assigned if value in wanted]
    known = set(names)
    if known:
        names += [target for target, value in assigned if copied(run.file, value) in known]
    return names


def leaves(expr: Expr) -> Iterator[Expr]:
    """An expression, or the elements of a display or dict; a generator counts as one expression."""
    if isinstance(expr, (List, Tuple, Set)):
        for element in expr.elements:
            if not isinstance(element, Starred):
                yield from leaves(element)
    elif isinstance(expr, Dict):
        for _, value in expr.items:
            yield from leaves(value)
    elif isinstance(expr, Comprehension) and expr.kind != "generator":
        yield from leaves(expr.element)
    else:
        yield expr
