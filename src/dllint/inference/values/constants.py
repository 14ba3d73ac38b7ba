"""Constants, and partially known strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dllint.inference.values.base import UNKNOWN, Value

_BIGGEST = 2**63
"""The largest absolute number kept: no program counts more items, bytes or workers."""
_LONGEST = 1 << 16
"""The most characters of a concatenated string; names and paths are shorter."""


@dataclass(frozen=True)
class Const(Value):
    """A constant: None, a bool, a number or a string. `kind` is the name of its type, since 1 == True."""

    value: Any
    kind: str


def const(value: object) -> Const:
    return Const(value, type(value).__name__)


def constant(value: object) -> Value:
    """Return the abstract constant of a value from the source, a file or arithmetic; Unknown if it is not usable as a
    count or name: NaN, infinity, a number or string of absurd size."""
    if isinstance(value, (int, float)) and not -_BIGGEST < value < _BIGGEST:
        return UNKNOWN
    if isinstance(value, (str, bytes)) and len(value) > _LONGEST:
        return UNKNOWN
    return const(value)


NONE = const(None)


@dataclass(frozen=True)
class Pattern(Value):
    """A string with a known beginning and end: f"init_dist_{launcher}".

    `inner` is the known text between the ends, in order: "." for f"models.{kind}.{name}".
    """

    prefix: str
    suffix: str
    inner: str = ""

    def fits(self, text: str) -> bool:
        return (
            len(text) >= len(self.prefix) + len(self.suffix)
            and text.startswith(self.prefix)
            and text.endswith(self.suffix)
        )
