"""A part of what the dataset keeps, as item code takes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from dllint.facts.schema import Event, Expr
from dllint.inference.values import Class
from dllint.linking.source import SourceFile

Kind = Literal["array", "tensor", "container", "object", "unpickled", "cut", "listed", "copied", "in copy"]
"""What a part is: an array of NumPy's, a tensor, a list or dict, an object of the project, or what a pickle holds: any
of these, or a number. "cut": a slice of that, a view if it is an array or a new list. "listed": no part, but a new list
or dict of parts. "copied": that, or a new array; "in copy": a part or, of such an array, none."""
NEW = frozenset({"cut", "listed", "copied"})
"""Kinds of what an item makes for itself, so that it may change which elements there are."""


@dataclass(frozen=True)
class Taken:
    """Where item code takes a part of what the dataset keeps: `row = self.rows[index]`."""

    file: SourceFile
    event: Event
    expr: Expr


@dataclass(frozen=True)
class Part:
    """A part of what an object keeps as `attr`, without a copy.

    Attributes:
        holder: the class of the object.
        depth: how many elements of elements it is; 0 for the attribute itself.
        arrayed: whether it is an array of at least one dimension, rather than maybe a number.
        in_tensor: whether the dataset keeps it in a tensor, also where item code views that as an array.
        taken: the first statement that binds it to a name; None if it has no name yet.
    """

    holder: Class
    attr: str
    kind: Kind
    depth: int = 0
    arrayed: bool = False
    in_tensor: bool = False
    taken: Taken | None = None

    @property
    def key(self) -> tuple[tuple[str, int], str]:
        return self.holder.key, self.attr

    @property
    def is_array(self) -> bool:
        return self.kind in ("array", "tensor")


def in_common(parts: list[Part | None]) -> Part | None:
    """The first of several parts, if all ways lead to one; those of different kinds may be a number."""
    known = [one for one in parts if one is not None]
    if not known or len(known) < len(parts):
        return None
    first = known[0]
    if any(one.key != first.key for one in known):
        return None
    return replace(first, arrayed=all(one.arrayed for one in known))
