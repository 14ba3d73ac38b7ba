"""Lookups in containers, and the operations that mutate containers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dllint.facts.schema import Expr
from dllint.inference.values import UNKNOWN, Frame, Site, Values
from dllint.linking.source import SourceFile
from dllint.span import Span


@dataclass(frozen=True)
class Found:
    """The values under a key. `absent`: the key may be missing; `written`: even so, an entry of the source names it."""

    values: Values
    absent: bool
    written: bool = False

    @property
    def named(self) -> bool:
        """Whether an entry of the source is known to name the key, whatever its value."""
        return self.written or not self.absent


LOOKING_UP = frozenset({"get", "pop", "setdefault"})
METHODS = LOOKING_UP | {"items", "values", "keys", "copy", "clone", "update"}
"""Methods of a dict, which attributes of the same name do not hide."""
ABSENT = Found((), True)
OPAQUE = Found((UNKNOWN,), True)


class Change(NamedTuple):
    """A mutation of the container that `base` evaluates to. By `kind`:

    "set"        assigns `value` under the key, or at the position
    "default"    does so if the key is missing
    "merge"      adds all entries of the mapping, or of the pairs, `value`
    "add"        adds an element, at the position `key` if given, otherwise at the end
    "extend"     adds the elements of the sequence `value`
    "remove"     removes the entry under `key`; without a key the last element, or any entry
    "discard"    removes the element that equals `key`
    "clear"      removes all
    "sort" "reverse"
    "opaque"     changes it in a way that is not modelled
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
        """Return the site of the mutation in an activation."""
        return Site(self.file, self.scope, self.region, self.at, frame)

    def statement(self) -> Span | None:
        """Return the statement that contains the mutation; None for one in a comprehension, for example."""
        spans = [event.span for event in self.file.scopes[self.scope].events]
        spans += [self.file.calls[index].statement for index in self.file.calls_of(self.scope)]
        return next((span for span in spans if span.start == self.at), None)

    def place(self) -> tuple[SourceFile, Span]:
        """Return the file and the statement that contains the mutation, or the loop or comprehension around it."""
        return self.file, self.statement() or self.file.facts.regions[self.region].span


FILLING = frozenset({"set", "default", "merge", "add", "extend"})
"""Kinds of mutations that add elements or entries to a container."""
