"""What a lookup in a container finds, and what changes a container."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dllint.facts.schema import Expr
from dllint.inference.values import UNKNOWN, Values


@dataclass(frozen=True)
class Found:
    """What is under a key. `absent`: the key may be missing; `written`: an entry of the source names it even so."""

    values: Values
    absent: bool
    written: bool = False

    @property
    def named(self) -> bool:
        """Whether an entry of the source is known to name the key, whatever its value is."""
        return self.written or not self.absent


ABSENT = Found((), True)
OPAQUE = Found((UNKNOWN,), True)


class Change(NamedTuple):
    """A change of a container: "set" one key, "merge" another mapping, "add" an element, "extend" by a sequence,
    "default" a key that may be missing."""

    kind: str
    scope: int
    region: int
    at: tuple[int, int]
    key: Expr | str | None
    value: Expr | None
