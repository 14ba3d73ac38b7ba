"""Memo tables that separate complete answers from ones cut off by the depth limit.

Answering what a parameter can be means asking all callers, whose arguments may be parameters again, and so on through
the whole program. Such questions are followed to a fixed depth. An answer that met the limit is kept together with
the depth at which it was asked: asked again with more room, it is worked out again.

A question that is met inside itself, in a loop or a recursion, is answered with what is known so far: nothing. What
follows from that is right for the question itself once it is answered, but not for those on the way there: theirs pass
with it, and are worked out again.

Some answers rest on a premise that may still change, such as which processes are known to start a function. Until all
premises are final, every question notes what it asked in turn, so that a premise that changes costs no more than the
answers that rest on it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from dllint import profiling
from dllint.inference import interruption, limits

T = TypeVar("T")
Asked = tuple[int, Hashable]
"""A question: its table (by identity) and its key. A premise has table 0."""
_NEW: Any = object()
_NOWHERE = sys.maxsize


class Memory:
    """The state that all memo tables of a project share.

    `room` is how many more levels of callers may be asked.
    """

    def __init__(self) -> None:
        self.room = limits.CALLER_LEVELS.most
        self._cut = False
        self._tables: dict[int, dict[Hashable, object]] = {}
        self._asking: list[Asked] | None = []
        self._notes: list[tuple[Asked, list[Asked]]] = []
        self._open: dict[Asked, int] = {}
        self._dropped: dict[Asked, int] = {}
        self._passing: dict[Asked, int] = {}
        self._reach = _NOWHERE
        self._stop = interruption.current()
        self._profile = profiling.current()

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
        """The answer to the question `key`: kept, or worked out now. A question inside itself gives `unfinished`; what
        rests on that is kept until the outer question is answered, and no longer."""
        asking = self._asking
        if asking is not None:
            asking.append((id(table), key))
        kept: tuple[T, int | None] | None = table.get(key, _NEW)
        if kept is not _NEW:
            if kept is None:
                self._reach = min(self._reach, self._open[id(table), key])
                return unfinished
            value, room = kept
            if self._passing:
                self._reach = min(self._reach, self._passing.get((id(table), key), _NOWHERE))
            if room is None:
                return value
            if room >= self.room:
                self._cut = True
                return value
        if self._stop.wanted:
            raise interruption.Interrupted
        table[key] = None
        question = (id(table), key)
        depth = self._open[question] = len(self._open)
        first = len(self._passing)
        outer, self._cut = self._cut, False
        around, self._reach = self._reach, _NOWHERE
        if asking is not None:
            self._asking = []
        self._tables[id(table)] = table  # type: ignore[assignment]
        try:
            value = compute() if self._profile is None else self._profile.question(key, compute)
        except BaseException:
            del table[key]
            raise
        finally:
            del self._open[question]
            if asking is not None:
                assert self._asking is not None
                self._notes.append((question, self._asking))
                self._asking = asking
        table[key] = (value, self.room if self._cut else None)
        self._cut = outer or self._cut
        self._settle_passing(question, depth, first)
        self._reach = min(around, self._reach)
        return value

    def _settle_passing(self, question: Asked, depth: int, first: int) -> None:
        """Mark the answer as a passing one where it rests on a question around it, which is not answered yet; drop
        those that rested on this one otherwise."""
        if self._reach < depth:
            self._passing[question] = self._reach
            return
        self._reach = _NOWHERE
        while len(self._passing) > first:
            passing, _ = self._passing.popitem()
            dropped = self._dropped[passing] = self._dropped.get(passing, 0) + 1
            if dropped <= limits.ATTEMPTS.most:
                self._tables[passing[0]].pop(passing[1], None)
