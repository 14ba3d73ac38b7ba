"""What operators make of constants, as far as the result stays small."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

ANY: Any = object()
"""What is not known."""
_LARGEST = 1 << 64
"""Numbers from here on are not reckoned with, in either direction."""
_HIGHEST = 64
"""The largest exponent, and the most bits that a number is shifted by."""
_WIDE = re.compile(r"%[^%a-zA-Z]*(?:\d{4}|\*)")
"""A field that is filled up to a width of thousands."""
_FAILURES = (TypeError, ValueError, ArithmeticError, RecursionError, MemoryError)


def _same(left: Any, right: Any) -> bool:
    """Whether `is` holds: of equal constants Python makes one object, of displays never."""
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
OPERATORS = frozenset(_ARITHMETIC) | frozenset(_COMPARISONS) - _MEMBERSHIP
"""The operators of two values. Membership is apart: what it tests is most often part of a name that a user gives."""


def combined(op: str, left: Any, right: Any) -> Any:
    """What a binary operator makes of two constants; `ANY` where it is not known, fails, or the result may be large."""
    function = _COMPARISONS.get(op)
    if function is None and _stays_small(op, left, right):
        function = _ARITHMETIC.get(op)
    return done(function, left, right)


def signed(op: str, value: Any) -> Any:
    """What a sign makes of a number; `ANY` of anything else."""
    return done(_SIGNS.get(op), value) if isinstance(value, (int, float)) else ANY


def done(function: Callable[..., Any] | None, *given: Any) -> Any:
    """What a function gives; `ANY` where there is none, or it fails."""
    if function is None:
        return ANY
    try:
        return function(*given)
    except _FAILURES:
        return ANY


def _stays_small(op: str, left: Any, right: Any) -> bool:
    if isinstance(left, str):
        return (op == "+" and isinstance(right, str)) or (op == "%" and not _WIDE.search(left))
    if not all(isinstance(one, (int, float)) and abs(one) < _LARGEST for one in (left, right)):
        return False
    return op not in ("**", "<<") or abs(right) <= _HIGHEST
