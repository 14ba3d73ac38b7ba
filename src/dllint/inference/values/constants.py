"""Constants, and partially known strings."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from dllint.inference.values.base import UNKNOWN, Value

_BIGGEST = 2**63
"""The largest absolute number kept: no program counts more items, bytes or workers."""
_LONGEST = 1 << 16
"""The most characters of a concatenated string; names and paths are shorter."""


_SHARED = 1 << 16
"""The most constants of one type that are kept, to be found again instead of made again."""
_SHORT = 200
"""The most characters of a string that is kept so."""
_kept: dict[type[object], dict[object, Const]] = {}
"""Constants by type and value, since 1 == True."""


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Const(Value):
    """A constant: None, a bool, a number, a string, or a path of pathlib with its parents. `kind` is the name of its
    type."""

    value: Any
    kind: str
    _hash: int = field(repr=False)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(other) is Const and self.kind == other.kind and bool(self.value == other.value)

    def __hash__(self) -> int:
        return self._hash


def const(value: object) -> Const:
    """Return the constant of a value. Arithmetic makes the same few of them again and again."""
    kind = type(value)
    kept = _kept.get(kind)
    if kept is None:
        kept = _kept.setdefault(kind, {})
    found = kept.get(value)
    if found is None:
        found = object.__new__(Const)
        for name, part in (("value", value), ("kind", kind.__name__), ("_hash", hash((value, kind.__name__)))):
            object.__setattr__(found, name, part)
        # 0.0 == -0.0
        long = isinstance(value, (str, bytes)) and len(value) > _SHORT
        if not long and not (isinstance(value, float) and value == 0.0):
            if len(kept) >= _SHARED:
                kept.clear()
            kept[value] = found
    return found


def constant(value: object) -> Value:
    """Return the abstract constant of a value from the source, a file or arithmetic; Unknown if it is not usable as a
    count or name: NaN, infinity, a number or string of absurd size."""
    if isinstance(value, (int, float)) and not -_BIGGEST < value < _BIGGEST:
        return UNKNOWN
    text = str(value) if isinstance(value, PurePath) else value
    if isinstance(text, (str, bytes)) and len(text) > _LONGEST:
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
