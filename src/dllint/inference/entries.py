"""Lookups in containers, and the operations that mutate containers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dllint.facts.schema import Expr
from dllint.inference.values import UNKNOWN, Frame, Site, Values
from dllint.linking.source import SourceFile


@dataclass(frozen=True)
class Found:
    """The values under a key. `absent`: the key may be missing; `written`: an entry of the source names it even so."""

    values: Values
    absent: bool
    written: bool = False

    @property
    def named(self) -> bool:
        """Whether an entry of the source is known to name the key, whatever its value is."""
        return self.written or not self.absent


METHODS = frozenset({"get", "items", "values", "keys", "pop", "copy", "clone", "update", "setdefault"})
"""Methods of a dict, which its attributes do not hide."""
ABSENT = Found((), True)
OPAQUE = Found((UNKNOWN,), True)


class Change(NamedTuple):
    """A mutation of the container that `base` names. By `kind`:

    "set"        `value` under the key, or at the position
    "default"    the same where the key is missing
    "merge"      all entries of the mapping, or of the pairs, `value`
    "add"        an element, at the position `key` where there is one and at the end otherwise
    "extend"     by the elements of the sequence `value`
    "remove"     what is under `key`; without one the last element, or any entry
    "discard"    the element that equals `key`
    "clear"      all
    "sort" "reverse"
    "opaque"     in a way that is not followed
    """

    kind: str
    file: SourceFile
    scope: int
    region: int
    at: tuple[int, int]
    base: Expr
    key: Expr | str | None
    value: Expr | None

    def site(self, frame: Frame | None) -> Site:
        """Where it is made in an activation."""
        return Site(self.file, self.scope, self.region, self.at, frame)


FILLING = frozenset({"set", "default", "merge", "add", "extend"})
"""Kinds of changes that put something into a container."""
