"""The base of all abstract values."""

from __future__ import annotations

from dataclasses import dataclass


class Value:
    """What an expression may stand for."""

    __slots__ = ()

    @property
    def nesting(self) -> int:
        """How many objects, each made by a method of another, lead to it."""
        return 0


Values = tuple[Value, ...]


@dataclass(frozen=True)
class Unknown(Value):
    """Nothing is known; what depends on it stays silent."""

    why: str = ""


UNKNOWN = Unknown()
CHOSEN = Unknown("chosen by a name")
"""Stands beside the classes and functions of which a name that is not known chooses one."""
