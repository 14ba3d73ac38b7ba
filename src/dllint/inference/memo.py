"""Memo tables that separate complete answers from ones cut off by the depth limit.

The possible values of a parameter depend on all callers, whose arguments may be parameters again, and so on through the
whole program. Such queries are followed to a fixed depth. An answer that reached the limit is stored together with its
remaining depth; a later query with more remaining depth recomputes it.

A recursive query returns what is known so far: nothing. Results derived from that are correct for the recursive query
itself once it is answered, but not for the queries between: their answers are provisional. They are recomputed later,
unless the recursive query has no other answer than nothing.

Each query may lead to a limited number of others (`limits.QUESTIONS`), nested to a limited depth
(`limits.QUESTION_DEPTH`). After that, expressions are unknown: until the outermost query is answered, or on this level.
The answers that rest on one of them are dropped once after the outermost query, so that a later query computes them
again, perhaps from nearer. The second time they are stored, like answers that reached the limit on callers of callers.

Some answers rest on a premise that may still change, such as which processes are known to start a function. Until all
premises are final, every query that rests on one records those that it made and that rest on one too, so that a changed
premise invalidates only the answers that rest on it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from dllint import profiling
from dllint.inference import interruption, limits
from dllint.inference.answers import NOWHERE, Answer, Kept, KeptTable, Table

T = TypeVar("T")


class Memory:
    """The state shared by all memo tables of a project.

    `room` is how many more levels of callers may be asked, `asked` how many answers have been worked out. `exhausted`:
    the outermost query in progress has led to as many others as it may, so that expressions are unknown.
    """

    def __init__(self) -> None:
        self.room = limits.CALLER_LEVELS.most
        self.asked = 0
        self.exhausted = False
        self._limit = limits.QUESTIONS
        self._most = self._limit.most
        self._short: list[Answer[Any]] = []
        self._blocks = 0
        self._cut = False
        self._anew = False
        self._asking: list[Answer[Any]] | None = []
        self._notes: dict[Answer[Any], tuple[Answer[Any], ...]] = {}
        self._premises: dict[Hashable, Answer[None]] = {}
        self._open = 0
        self._passing: list[Answer[Any]] = []
        self._reach = NOWHERE
        self._near = -1
        self._revised = 0
        self._begun: list[int] = []
        self._stale = False
        self._stop = interruption.current()
        self._profile = profiling.current()

    def rest_on(self, premise: Hashable) -> None:
        """Record that the query in progress rests on a premise that may still change."""
        if self._asking is not None:
            self._asking.append(self._premises.setdefault(premise, Answer()))

    def revise(self, premises: Iterable[Hashable]) -> None:
        """Drop all answers that rest on changed premises. Must not be called while a query is in progress."""
        todo: list[Answer[Any]] = [self._premises[one] for one in premises if one in self._premises]
        users: dict[Answer[Any], list[Answer[Any]]] = {}
        for question, asked in self._notes.items() if todo else ():
            for one in asked:
                users.setdefault(one, []).append(question)
        while todo:
            for question in users.pop(todo.pop(), ()):
                question.known = False
                todo.append(question)

    def settle(self) -> None:
        """Declare all premises final: nothing is recorded from here on."""
        self._asking = None
        self._notes.clear()
        self._premises.clear()

    def enter(self) -> bool:
        """Go one level of callers up. Returns False if the limit is reached, and marks all queries in progress as
        incomplete."""
        if self.room <= 0:
            limits.CALLER_LEVELS.met()
            self.cut_short()
            return False
        self.room -= 1
        return True

    def cut_short(self) -> None:
        """Mark all queries in progress as incomplete."""
        self._cut = True

    def ask_anew(self) -> None:
        """Mark all queries in progress as incomplete, to be computed again after the outermost one."""
        self._cut = self._anew = True

    def is_settled(self, table: Table[T], key: Hashable) -> bool:
        """Whether a query is answered for good: its answer rests on no query in progress, and no later one can get
        further."""
        answer = table.get(key)
        if answer is None or not answer.known or answer.reach != NOWHERE:
            return False
        return answer.room is None or answer.tried or (not answer.short and answer.room >= limits.CALLER_LEVELS.most)

    def is_whole(self, table: Table[T], key: Hashable) -> bool:
        """Whether a query is answered, and no limit cut the answer short."""
        answer = table.get(key)
        return answer is not None and answer.known and answer.reach == NOWHERE and answer.room is None

    def leave(self) -> None:
        self.room += 1

    @contextmanager
    def apart(self, most: limits.Limit) -> Iterator[None]:
        """Count the queries of the `with` block by themselves, up to `most`, and not for the query in progress: for
        answers that all queries share."""
        before, left, limit, exhausted = self.asked, self._most, self._limit, self.exhausted
        self._most, self._limit, self.exhausted = before + most.most, most, False
        self._blocks += 1
        try:
            yield
        finally:
            self._blocks -= 1
            self._most, self._limit, self.exhausted = left + self.asked - before, limit, exhausted
            if not self._open and not self._blocks:
                self._reopen()

    @contextmanager
    def share(self, most: limits.Limit) -> Iterator[None]:
        """Let the `with` block lead to `most` queries at most, of those that are left to the query in progress: for one
        of the many places that it examines."""
        left, limit, exhausted = self._most, self._limit, self.exhausted
        if self.asked + most.most < left:
            self._most, self._limit = self.asked + most.most, most
        try:
            yield
        finally:
            self.exhausted = exhausted or self.asked > left
            self._most, self._limit = left, limit

    def narrow(self) -> int:
        """Lower the remaining levels from here on. Returns the value that `widen` needs to undo it."""
        outer = self.room
        self.room = min(self.room, limits.RESOLVING_LEVELS.most)
        return outer

    def widen(self, outer: int) -> None:
        self.room = outer

    def remember(self, table: Table[T], key: Hashable, compute: Callable[[], T], unfinished: T) -> T:
        """Return the answer to the query `key`: stored, or computed now.

        A recursive query returns `unfinished`. Answers that rest on it are provisional: they are stored until the
        enclosing query is answered, and no longer.
        """
        answer = table.get(key)
        if answer is None:
            answer = table[key] = Answer()
        elif answer.final:
            return answer.value
        asking = self._asking
        if answer.opened >= 0:
            if asking is not None:
                asking.append(answer)
            if answer.opened < self._reach:
                self._reach = answer.opened
            if answer.opened > self._near:
                self._near = answer.opened
            answer.recursive = True
            return unfinished
        if answer.known:
            if answer.revisable and asking is not None:
                asking.append(answer)
            if answer.reach != NOWHERE:
                if answer.reach < self._reach:
                    self._reach = answer.reach
                if answer.reach > self._near:
                    self._near = answer.reach
            if answer.stale:
                self._stale = True
            if answer.room is None:
                answer.final = asking is None and answer.reach == NOWHERE
                return answer.value
            if answer.room >= self.room:
                self._cut = True
                self._anew = self._anew or answer.short
                return answer.value
            self._revised += 1
        if self._stop.wanted:
            raise interruption.Interrupted
        self.asked += 1
        depth = answer.opened = self._open
        if depth < len(self._begun):
            self._begun[depth] = self.asked
        else:
            self._begun.append(self.asked)
        if not depth and not self._blocks:
            self._most = self.asked + limits.QUESTIONS.most
        elif self.asked > self._most and not self.exhausted:
            self._limit.met()
            self.exhausted = True
        self._open += 1
        first = len(self._passing)
        outer, self._cut = self._cut, False
        anew, self._anew = self._anew, False
        around, self._reach = self._reach, NOWHERE
        near, self._near = self._near, -1
        stale, self._stale = self._stale, False
        answer.recursive = False
        if asking is not None:
            self._asking = []
        try:
            value = compute() if self._profile is None else self._profile.question(key, compute)
        except BaseException:
            answer.known = False
            self._cut, self._anew, self._reach, self._near, self._stale = outer, anew, around, near, stale
            self._drop_passing(first, most=sys.maxsize)
            if not depth and not self._blocks:
                self._reopen()
            raise
        finally:
            answer.opened = -1
            self._open = depth
            if asking is not None:
                if self._asking:
                    self._note(answer, self._asking)
                    answer.revisable = True
                    asking.append(answer)
                self._asking = asking
        answer.short = (self.exhausted or self._anew) and not answer.tried
        if self.exhausted or self._anew:
            self._cut = True
            self._short.append(answer)
        answer.value = value
        answer.known = True
        answer.room = self.room if self._cut else None
        self._cut = outer or self._cut
        self._anew = anew or answer.short
        passing = self._passing
        resting = self._reach < depth
        if answer.recursive and len(passing) > first and (value != unfinished or (resting and self._stale)):
            for one in passing[first:]:
                one.stale = True
        if resting:
            # It rests on an enclosing query that is not answered yet, so it is provisional.
            if answer.reach == NOWHERE:
                passing.append(answer)
                answer.stale = self._stale
            else:
                # It may rest on queries that were opened after its first provisional answer.
                answer.stale = True
            answer.reach = self._reach
            self._stale = stale or answer.stale
        else:
            self._reach = NOWHERE
            self._stale = stale
            answer.final = answer.room is None and answer.reach == NOWHERE and not answer.revisable
            if len(passing) > first:
                self._drop_passing(first, limits.ATTEMPTS.most)
        self._near = near
        if self._reach != NOWHERE and self._reach > near:
            self._near = self._reach
        if around < self._reach:
            self._reach = around
        if not depth and self._short and not self._blocks:
            self._reopen()
        return value

    def keep(self, table: KeptTable[T], key: Hashable, compute: Callable[[], T]) -> T:
        """Return the result of a computation which makes queries, but is none itself: stored as long as computing it
        again would only find the stored answers to the same queries, and the same ones still in progress.

        So it gives what `compute` gives, with the same effect on the query in progress, and counts towards no limit.
        """
        if self.exhausted:
            return compute()
        kept = table.get(key)
        asking = self._asking
        if kept is None:
            kept = table[key] = Kept()
        elif kept.final:
            return kept.value
        elif kept.known and self._still_holds(kept):
            if kept.revisable and asking is not None:
                asking.append(kept)
            if kept.until is not None:
                self._reach = min(self._reach, kept.reach)
                self._near = max(self._near, kept.until[0])
                self._stale = self._stale or kept.stale
            else:
                kept.final = kept.room is None and (asking is None or not kept.revisable)
            self._cut = self._cut or kept.room is not None
            return kept.value
        cut, self._cut = self._cut, False
        anew, self._anew = self._anew, False
        around, self._reach = self._reach, NOWHERE
        near, self._near = self._near, -1
        stale, self._stale = self._stale, False
        if asking is not None:
            self._asking = []
        kept.known = False
        try:
            value = kept.value = compute()
            kept.known = not (self.exhausted or self._anew)
            kept.room, kept.since = (self.room if self._cut else None), self._revised
            kept.reach, kept.stale, kept.until = self._reach, self._stale, None
            if self._reach != NOWHERE:
                kept.until = (self._near, self._begun[self._near])
                if kept.known:
                    self._passing.append(kept)
        finally:
            if asking is not None:
                if self._asking:
                    self._note(kept, self._asking)
                    kept.revisable = True
                    asking.append(kept)
                self._asking = asking
            self._cut, self._anew, self._stale = self._cut or cut, self._anew or anew, self._stale or stale
            self._reach, self._near = min(self._reach, around), max(self._near, near)
        return value

    def _still_holds(self, kept: Kept[Any]) -> bool:
        """Whether a kept result is what would be computed now."""
        if kept.room is not None and (kept.room != self.room or kept.since != self._revised):
            return False
        if kept.until is None:
            return True
        position, number = kept.until
        return position < self._open and self._begun[position] == number

    def _note(self, answer: Answer[Any], asked: list[Answer[Any]]) -> None:
        """Record what an answer rests on, beside what it rested on when it was computed before: answers that used the
        earlier value may still be stored."""
        noted = self._notes.get(answer)
        if noted is None:
            self._notes[answer] = tuple(dict.fromkeys(asked))
        elif new := set(asked).difference(noted):
            self._notes[answer] = (*noted, *new)

    def _reopen(self) -> None:
        """Drop the answers that were cut short, once each, after the outermost query."""
        self.exhausted = self._cut = self._anew = False
        for answer in self._short:
            if not answer.tried:
                answer.tried = True
                answer.known = False
        self._short.clear()

    def _drop_passing(self, first: int, most: int) -> None:
        """Drop the provisional answers from a position on that are stale, unless they were dropped too often before;
        the others are right."""
        while len(self._passing) > first:
            passing = self._passing.pop()
            passing.reach = NOWHERE
            if not passing.stale and most < sys.maxsize:
                passing.final = passing.known and passing.room is None and not passing.revisable
                if isinstance(passing, Kept):
                    passing.until = None
                continue
            passing.stale = False
            if isinstance(passing, Kept):
                passing.known = False
                continue
            passing.dropped += 1
            if passing.dropped <= most:
                passing.known = False
