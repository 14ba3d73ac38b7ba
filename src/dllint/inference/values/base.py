"""The base of all abstract values."""

from __future__ import annotations

from dataclasses import dataclass


class Value:
    """An abstract value: an object, or a set of objects, that an expression can evaluate to."""

    __slots__ = ()

    @property
    def nesting(self) -> int:
        """How many objects, each created by a method of another, lead to this one."""
        return 0


def store(value: Value, **fields: object) -> None:
    """Set fields of a frozen value, for a `__new__` that returns one object per combination of parts."""
    for name, field in fields.items():
        object.__setattr__(value, name, field)


Values = tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Unknown(Value):
    """The unknown value: no rule reports anything that depends on it. There are two objects, compared by identity."""

    why: str = ""


UNKNOWN = Unknown()
CHOSEN = Unknown("chosen by a name")
"""Added to the classes and functions that an unknown name can select."""
