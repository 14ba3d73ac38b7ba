"""Kept answers, with questions that were cut short told apart from those that were answered in full.

Answering what a parameter can be means asking all callers, whose arguments may be parameters again, and so on through
the whole program. Such questions are followed to a fixed depth. An answer that met the limit is kept together with
the depth at which it was asked: asked again with more room, it is worked out anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

T = TypeVar("T")
DEEPEST = 4
"""Callers of callers that a question about a parameter may ask for."""
DEEPEST_RESOLVING = 1
"""The same while callers themselves are looked for: which method a call means, by what its receiver can be."""


class Memory:
    """The state that all memoised questions of a project share.

    `room` is how many more levels of callers may be asked.
    """

    def __init__(self) -> None:
        self.room = DEEPEST
        self._cut = False
        self._tables: dict[int, dict[Hashable, object]] = {}

    def forget(self) -> None:
        """Drop all answers: more is known now than when they were given. Not while a question is under way."""
        for table in self._tables.values():
            table.clear()

    def enter(self) -> bool:
        """Go one level of callers up; False where there is no room left, which marks all questions under way."""
        if self.room <= 0:
            self._cut = True
            return False
        self.room -= 1
        return True

    def leave(self) -> None:
        self.room += 1

    def narrow(self) -> int:
        """Leave less room from here on; gives what `widen` needs to undo it."""
        outer = self.room
        self.room = min(self.room, DEEPEST_RESOLVING)
        return outer

    def widen(self, outer: int) -> None:
        self.room = outer

    def remember(
        self, table: dict[Hashable, tuple[T, int | None] | None], key: Hashable, compute: Callable[[], T], unfinished: T
    ) -> T:
        """The answer to the question `key`: kept, or worked out now. A question inside itself gives `unfinished`."""
        if key in table:
            entry = table[key]
            if entry is None:
                return unfinished
            value, room = entry
            if room is None:
                return value
            if room >= self.room:
                self._cut = True
                return value
        self._tables[id(table)] = table  # type: ignore[assignment]
        table[key] = None
        outer, self._cut = self._cut, False
        try:
            value = compute()
        except BaseException:
            del table[key]
            raise
        table[key] = (value, self.room if self._cut else None)
        self._cut = outer or self._cut
        return value
