"""Arithmetic on abstract values."""

from __future__ import annotations

from pathlib import PurePath
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
from dllint.linking.arithmetic import OPERATORS, combined, signed


def is_member(value: Value) -> bool:
    """Whether a value is one known member of an enumeration."""
    return isinstance(value, Instance) and value.file is not None and value.call in value.file.member_names


def is_text(value: Value) -> bool:
    """Whether a value is certainly a string."""
    return isinstance(value, Pattern) or (isinstance(value, Const) and isinstance(value.value, str))


def truth(values: Values) -> bool | None:
    """Return the truth value that all the values share; None if they differ or are unknown."""
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
    found = (_constant(signed(op, value.value)) if isinstance(value, Const) else UNKNOWN for value in values)
    return tuple(dict.fromkeys(found)) or (UNKNOWN,)


def binary(op: str, lefts: Values, rights: Values) -> Values:
    """Return all results of an operator; Unknown if an operand is, or the result is not a plain constant.

    If an operand has no values, the operand is the result itself, as with a counter in a loop, and the result is
    unknown.
    """
    if not lefts or not rights:
        return () if any(isinstance(one, Display) for one in (*lefts, *rights)) else (UNKNOWN,)
    if op not in OPERATORS or limits.PAIRS.exceeded(len(lefts) * len(rights)):
        return (UNKNOWN,)
    found: dict[Value, None] = {}
    for left in lefts:
        for right in rights:
            found[_one(op, left, right)] = None
    return tuple(found)


def _one(op: str, left: Value, right: Value) -> Value:
    if isinstance(left, Const) and isinstance(right, Const):
        return _constant(combined(op, left.value, right.value))
    if op in ("is", "is not", "==", "!="):
        if _never_none(left, right) or _unequal_members(left, right):
            return const(op in ("is not", "!="))
        if left == right and is_member(left):
            return const(op in ("is", "=="))
    if isinstance(left, Const) and isinstance(left.value, str):
        if op == "%" and "%s" in left.value and left.value.count("%") == left.value.count("%s"):
            prefix, *inner, suffix = left.value.split("%s")
            return Pattern(prefix, suffix, "".join(inner))
        if op == "%":
            return Pattern(left.value.partition("%")[0], "")
        if op == "+":
            return Pattern(left.value, right.suffix if isinstance(right, Pattern) else "")
    if isinstance(right, Const) and isinstance(right.value, str) and op == "+":
        return Pattern(left.prefix if isinstance(left, Pattern) else "", right.value)
    return UNKNOWN


_MAKING = frozenset({"numpy.random.default_rng", "numpy.array", "numpy.zeros", "torch.tensor", "torch.zeros"})
"""Functions that create a new object at each call, though they are not named like classes."""


def _never_none(left: Value, right: Value) -> bool:
    """Whether one side is None and the other certainly is not."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and one.value is None:
            return isinstance(other, (Class, Function, Display)) or (
                isinstance(other, Instance) and (isinstance(other.of, Class) or _constructor(other.of))
            )
    return False


def _unequal_members(left: Value, right: Value) -> bool:
    """Whether one side is a member of an enumeration, and the other a different member or a constant."""
    if is_member(left) and is_member(right):
        return left != right and not _same_value(left, right)
    return (is_member(left) and isinstance(right, Const)) or (isinstance(left, Const) and is_member(right))


def _same_value(left: Value, right: Value) -> bool:
    """Whether two members are written with the same value, so that one name is an alias of the other's."""
    assert isinstance(left, Instance) and isinstance(right, Instance) and left.file is not None
    if left.of != right.of or left.file is not right.file:
        return False
    one, other = ([argument.value for argument in left.file.calls[index].args] for index in (left.call, right.call))
    return one == other


def _constructor(name: External) -> bool:
    last = name.name.rsplit(".", 1)[-1]
    return (last[:1].isupper() and last.isidentifier()) or name.name in _MAKING


def _constant(result: Any) -> Value:
    return constant(result) if isinstance(result, (bool, int, float, str, PurePath)) else UNKNOWN
