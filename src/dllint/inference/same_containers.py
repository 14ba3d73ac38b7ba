"""Which values are, or may be, one and the same container."""

from __future__ import annotations

from collections.abc import Hashable

from dllint.inference.values import Class, Display, Instance, Keywords, Mapping, Parsed, Value, Values, Written


def identity(value: Value) -> Hashable:
    """Return the identity of a container: the expression and site that create it."""
    if isinstance(value, (Display, Mapping)):
        return value.made or value.written
    return value


def stands_for(base: Value, value: Value) -> bool:
    """Whether a base is any object of a value's class: that on which a method is called."""
    if not isinstance(base, Instance) or base.file is not None or not isinstance(value, Instance):
        return False
    return isinstance(base.of, Class) and base.of == value.of


def among(value: Value, others: Values) -> bool:
    """Whether one of the values may be the same container."""
    kind = type(value)
    if not isinstance(value, (Display, Mapping)):
        return any(type(one) is kind and same(one, value) for one in others)
    made = value.made or value.written
    # A hot path: inlined, as each call would cost time.
    return any(type(one) is kind and (one.made or one.written).may_be(made) for one in others)  # type: ignore[attr-defined]


def same(one: Value, other: Value) -> bool:
    """Whether two values may be one container."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (Display, Mapping)):
        mine, made = identity(one), identity(other)
        return isinstance(mine, Written) and isinstance(made, Written) and mine.may_be(made)
    if isinstance(one, Keywords) and isinstance(other, Keywords):
        apart = one.frame is not None and other.frame is not None and one.frame.is_apart(other.frame)
        return one.function.key == other.function.key and not apart
    if isinstance(one, (Parsed, Instance)) and isinstance(other, (Parsed, Instance)):
        apart = one.frame is not None and other.frame is not None and one.frame.is_apart(other.frame)
        return one.call >= 0 and (one.file, one.call) == (other.file, other.call) and not apart
    return one == other
