"""The entries of memo tables: what is stored with an answer, so that `memo.Memory` can tell how long it holds."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")
NOWHERE = sys.maxsize
"""The position of no query in progress."""


class Answer(Generic[T]):
    """An entry of a memo table.

    Attributes:
        value: the computed answer.
        known: whether `value` is valid. It is not before the first answer, and after the answer was dropped.
        opened: the position among the queries in progress; -1 if this one is not in progress.
        room: how many more levels of callers could be followed; None if the answer does not depend on that limit.
        reach: the position of the outermost query in progress that the answer rests on; `NOWHERE` if there is none.
        recursive: whether a query that this one led to has asked for it again.
        stale: whether a provisional answer rests on one that a recursive query was given and that has turned out wrong.
        dropped: how often the answer was dropped because it rested on an enclosing query.
        revisable: whether the answer may rest on a premise that may still change.
        short: whether the answer rests on an expression that is unknown because its query led to too many others, or
            too deep; such an answer is dropped after the outermost query.
        tried: whether the answer was dropped for that reason.
        final: whether no later query can change the answer, and asking for it has no effect. Frequent queries look here
            before they call `Memory.remember`.
    """

    __slots__ = (
        *("dropped", "final", "known", "opened", "reach", "recursive", "revisable", "room", "short", "stale"),
        *("tried", "value"),
    )

    def __init__(self) -> None:
        self.value: T = None  # type: ignore[assignment]
        self.known = False
        self.opened = -1
        self.room: int | None = None
        self.reach = NOWHERE
        self.recursive = False
        self.stale = False
        self.dropped = 0
        self.revisable = False
        self.short = False
        self.tried = False
        self.final = False


class Kept(Answer[T]):
    """A result of `Memory.keep`.

    Attributes:
        until: the position and the number of the innermost query in progress that it rests on; None if there is none.
        since: how many answers that reached the limit on callers had been worked out again before it.
    """

    __slots__ = ("since", "until")

    def __init__(self) -> None:
        super().__init__()
        self.until: tuple[int, int] | None = None
        self.since = 0


Table = dict[Hashable, Answer[T]]
"""Query → answer, as filled by `Memory.remember`."""
KeptTable = dict[Hashable, Kept[T]]
"""Computation → result, as filled by `Memory.keep`."""
