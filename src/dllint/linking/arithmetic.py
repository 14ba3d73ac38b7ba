"""Operators applied to constants, as long as the result stays small."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

ANY: Any = object()
"""The unknown result."""
_LARGEST = 1 << 64
"""Numbers of this magnitude or more are not computed with."""
_HIGHEST = 64
"""The largest exponent, and the most bits that a number is shifted by."""
_WIDE = re.compile(r"%[^%a-zA-Z]*(?:\d{4}|\*)")
"""Matches a format field padded to a width of thousands."""
_FAILURES = (TypeError, ValueError, ArithmeticError, LookupError, RecursionError, MemoryError)


def _same(left: Any, right: Any) -> bool:
    """Whether `is` is true: Python interns equal constants, but each display creates a new object."""
    return left is right or (type(left) is type(right) and left == right and not isinstance(left, (list, dict, set)))


_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "|": operator.or_,
    "&": operator.and_,
    "^": operator.xor,
}
_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": _same,
    "is not": lambda left, right: not _same(left, right),
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
}
_SIGNS: Mapping[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
_MEMBERSHIP = frozenset({"in", "not in"})
ORDERING = frozenset({"<", "<=", ">", ">="})
NUMERIC = frozenset({"+", "-", "*", "/", "//", "%", "**"})
"""The operators on two numbers. On two arrays, or an array and a number, they give one element per element."""
OPERATORS = frozenset(_ARITHMETIC) | frozenset(_COMPARISONS) - _MEMBERSHIP
"""The operators on two values. Membership is excluded: it mostly tests for a part of a name that a user passes."""


def combined(op: str, left: Any, right: Any) -> Any:
    """Apply a binary operator to two constants; `ANY` if it is unknown or fails, or if the result may be large."""
    function = _COMPARISONS.get(op)
    if function is None and _stays_small(op, left, right):
        function = _ARITHMETIC.get(op)
    return done(function, left, right)


def signed(op: str, value: Any) -> Any:
    """Apply a sign to a number; `ANY` for anything else."""
    return done(_SIGNS.get(op), value) if isinstance(value, (int, float)) else ANY


def done(function: Callable[..., Any] | None, *given: Any) -> Any:
    """Call a function; `ANY` if there is none, or if it fails."""
    if function is None:
        return ANY
    try:
        return function(*given)
    except _FAILURES:
        return ANY


def _stays_small(op: str, left: Any, right: Any) -> bool:
    if isinstance(left, PurePath) or isinstance(right, PurePath):
        return op == "/"
    if isinstance(left, str):
        return (op == "+" and isinstance(right, str)) or (op == "%" and not _WIDE.search(left))
    if not all(isinstance(one, (int, float)) and abs(one) < _LARGEST for one in (left, right)):
        return False
    return op not in ("**", "<<") or abs(right) <= _HIGHEST
