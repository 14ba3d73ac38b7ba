"""Arithmetic on abstract values."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from dllint.inference import limits
from dllint.inference.values import (
    UNKNOWN,
    Class,
    Const,
    Display,
    External,
    Function,
    Instance,
    Pattern,
    Value,
    Values,
    const,
    constant,
)

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
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
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
}
_WIDE = re.compile(r"%[^%a-zA-Z]*(?:\d{4}|\*)")
"""A field that is filled up to a width of thousands."""
_SIGNS: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.inv}


def is_member(value: Value) -> bool:
    """Whether it is one known member of an enumeration."""
    return isinstance(value, Instance) and value.file is not None and value.call in value.file.member_names


def truth(values: Values) -> bool | None:
    """Whether all the values are true, or all false; None where that is not known."""
    seen: set[bool] = set()
    for value in values:
        if isinstance(value, Const):
            seen.add(bool(value.value))
        elif isinstance(value, (Class, Function)) or (isinstance(value, Instance) and isinstance(value.of, Class)):
            seen.add(True)
        else:
            return None
    return seen.pop() if len(seen) == 1 else None


def unary(op: str, values: Values) -> Values:
    found: list[Value] = []
    for value in values:
        if isinstance(value, Const) and isinstance(value.value, (int, float)) and op in "+-~":
            try:
                found.append(constant(_SIGNS[op](value.value)))
            except TypeError:
                found.append(UNKNOWN)
        else:
            found.append(UNKNOWN)
    return tuple(dict.fromkeys(found)) or (UNKNOWN,)


def binary(op: str, lefts: Values, rights: Values) -> Values:
    """All results of an operator; Unknown where an operand is, or the result is no plain constant. An operand without
    values is the result itself, as in a loop that counts: what it comes to is not known."""
    function = OPERATORS.get(op)
    if not lefts or not rights:
        return () if any(isinstance(one, Display) for one in (*lefts, *rights)) else (UNKNOWN,)
    if function is None or limits.PAIRS.exceeded(len(lefts) * len(rights)):
        return (UNKNOWN,)
    found: dict[Value, None] = {}
    for left in lefts:
        for right in rights:
            found[_one(op, function, left, right)] = None
    return tuple(found)


def _one(op: str, function: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
    if isinstance(left, Const) and isinstance(right, Const):
        return _constant(op, function, left.value, right.value)
    if op in ("is", "is not", "==", "!="):
        if _never_none(left, right) or _unequal_members(left, right):
            return const(op in ("is not", "!="))
        if left == right and is_member(left):
            return const(op in ("is", "=="))
    if isinstance(left, Const) and isinstance(left.value, str):
        if op == "%" and "%s" in left.value and left.value.count("%") == left.value.count("%s"):
            prefix, *inner, suffix = left.value.split("%s")
            return Pattern(prefix, suffix, "".join(inner))
        if op == "+":
            return Pattern(left.value, right.suffix if isinstance(right, Pattern) else "")
    if isinstance(right, Const) and isinstance(right.value, str) and op == "+":
        return Pattern(left.prefix if isinstance(left, Pattern) else "", right.value)
    return UNKNOWN


def _never_none(left: Value, right: Value) -> bool:
    """Whether one side is None and the other surely something else."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and one.value is None:
            return isinstance(other, (Class, Function, Display)) or (
                isinstance(other, Instance) and (isinstance(other.of, Class) or _constructor(other.of))
            )
    return False


def _unequal_members(left: Value, right: Value) -> bool:
    """Whether one side is a member of an enumeration, and the other another or a constant."""
    if is_member(left) and is_member(right):
        return left != right
    return (is_member(left) and isinstance(right, Const)) or (isinstance(left, Const) and is_member(right))


def _constructor(name: External) -> bool:
    last = name.name.rsplit(".", 1)[-1]
    return last[:1].isupper() and last.isidentifier()


def _constant(op: str, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Value:
    if op == "**" and (not isinstance(right, (int, float)) or abs(right) > 64):
        return UNKNOWN
    if op == "<<" and (not isinstance(right, int) or not 0 <= right < 64):
        return UNKNOWN
    if op == "*" and isinstance(left, str) | isinstance(right, str):
        return UNKNOWN
    if op == "%" and isinstance(left, str) and _WIDE.search(left):
        return UNKNOWN
    try:
        result = function(left, right)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError, MemoryError):
        return UNKNOWN
    return constant(result) if isinstance(result, (bool, int, float, str)) else UNKNOWN
