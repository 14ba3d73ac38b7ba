"""Constants, and strings of which a part is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dllint.inference.values.base import Value


@dataclass(frozen=True)
class Const(Value):
    """A constant: None, a bool, a number or a string. `kind` is the name of its type, since 1 == True."""

    value: Any
    kind: str


def const(value: object) -> Const:
    return Const(value, type(value).__name__)


NONE = const(None)


@dataclass(frozen=True)
class Pattern(Value):
    """A string of which only the ends are known: f"init_dist_{launcher}".

    `inner` is what is known between the ends, in order: "." for f"models.{kind}.{name}".
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
