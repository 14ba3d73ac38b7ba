"""Kept answers, with questions that were cut short told apart from those that were answered in full.

Answering what a parameter can be means asking all callers, whose arguments may be parameters again, and so on through
the whole program. Such questions are followed to a fixed depth. An answer that met the limit is kept together with
the depth at which it was asked: asked again with more room, it is worked out anew.

Some answers rest on a premise that may still change, such as which processes are known to start a function. Until all
premises are final, every question notes what it asked in turn, so that a premise that changes costs no more than the
answers that rest on it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from dllint.inference import limits

T = TypeVar("T")
Asked = tuple[int, Hashable]
"""A question: its table (by identity) and its key. A premise has table 0."""
_NEW: Any = object()


class Memory:
    """The state that all memoised questions of a project share.

    `room` is how many more levels of callers may be asked.
    """

    def __init__(self) -> None:
        self.room = limits.CALLER_LEVELS.most
        self._cut = False
        self._tables: dict[int, dict[Hashable, object]] = {}
        self._asking: list[Asked] | None = []
        self._notes: list[tuple[Asked, list[Asked]]] = []

    def rest_on(self, premise: Hashable) -> None:
        """Note that the question under way is answered by something that may still change."""
        if self._asking is not None:
            self._asking.append((0, premise))

    def revise(self, premises: Iterable[Hashable]) -> None:
        """Drop all answers that rest on premises that have changed. Not while a question is under way."""
        todo: list[Asked] = [(0, premise) for premise in premises]
        users: dict[Asked, list[Asked]] = {}
        for question, asked in self._notes if todo else ():
            for one in asked:
                users.setdefault(one, []).append(question)
        while todo:
            for question in users.pop(todo.pop(), ()):
                self._tables[question[0]].pop(question[1], None)
                todo.append(question)

    def settle(self) -> None:
        """All premises are final: nothing is noted from here on."""
        self._asking = None
        self._notes.clear()

    def enter(self) -> bool:
        """Go one level of callers up; False where there is no room left, which marks all questions under way."""
        if self.room <= 0:
            limits.CALLER_LEVELS.met()
            self.cut_short()
            return False
        self.room -= 1
        return True

    def cut_short(self) -> None:
        """Mark all questions under way as not answered in full."""
        self._cut = True

    def leave(self) -> None:
        self.room += 1

    def narrow(self) -> int:
        """Leave less room from here on; gives what `widen` needs to undo it."""
        outer = self.room
        self.room = min(self.room, limits.RESOLVING_LEVELS.most)
        return outer

    def widen(self, outer: int) -> None:
        self.room = outer

    def remember(
        self, table: dict[Hashable, tuple[T, int | None] | None], key: Hashable, compute: Callable[[], T], unfinished: T
    ) -> T:
        """The answer to the question `key`: kept, or worked out now. A question inside itself gives `unfinished`."""
        asking = self._asking
        if asking is not None:
            asking.append((id(table), key))
        kept: tuple[T, int | None] | None = table.get(key, _NEW)
        if kept is not _NEW:
            if kept is None:
                return unfinished
            value, room = kept
            if room is None:
                return value
            if room >= self.room:
                self._cut = True
                return value
        table[key] = None
        outer, self._cut = self._cut, False
        if asking is not None:
            self._tables[id(table)] = table  # type: ignore[assignment]
            self._asking = []
        try:
            value = compute()
        except BaseException:
            del table[key]
            raise
        finally:
            if asking is not None:
                assert self._asking is not None
                self._notes.append(((id(table), key), self._asking))
                self._asking = asking
        table[key] = (value, self.room if self._cut else None)
        self._cut = outer or self._cut
        return value
