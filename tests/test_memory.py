"""Kept answers: a premise that changes costs the answers that rest on it, and no others; a question that is
interrupted leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from dllint.inference import limits
from dllint.inference.answers import KeptTable, Table
from dllint.inference.memo import Memory


class Sums:
    """Sums of a premise and of other sums, that count how often they are worked out."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.table: Table[int] = {}
        self.premises = {"left": 1, "right": 10}
        self.worked_out: list[str] = []

    def of(self, *names: str) -> int:
        def add() -> int:
            self.worked_out.append("+".join(names))
            if len(names) > 1:
                return sum(self.of(name) for name in names)
            self.memory.rest_on(names[0])
            return self.premises[names[0]]

        return self.memory.remember(self.table, names, add, 0)


def test_a_revised_premise_drops_what_rests_on_it_alone() -> None:
    sums = Sums()
    assert (sums.of("left", "right"), sums.of("right")) == (11, 10)
    sums.premises["left"] = 2
    sums.memory.revise(["left"])
    sums.worked_out.clear()
    assert (sums.of("right"), sums.of("left", "right")) == (10, 12)
    assert sums.worked_out == ["left+right", "left"]


def test_what_was_kept_before_still_counts_as_asked() -> None:
    sums = Sums()
    sums.of("left")
    sums.of("left", "right")
    sums.premises["left"] = 5
    sums.memory.revise(["left"])
    assert sums.of("left", "right") == 15


def test_settled_answers_stay() -> None:
    sums = Sums()
    sums.of("left")
    sums.memory.settle()
    sums.memory.revise(["left"])
    sums.worked_out.clear()
    assert sums.of("left") == 1
    assert sums.worked_out == []


def test_an_interrupted_question_leaves_nothing_behind() -> None:
    """A rule that meets the limit of the stack is run again with more of it."""
    memory = Memory()
    table: Table[int] = {}
    stack = [True]

    def inner() -> int:
        return memory.remember(table, "outer", lambda: 0, 0) + 1

    def outer() -> int:
        found = memory.remember(table, "inner", inner, 0)
        if stack.pop():
            raise RecursionError
        return found + 10

    with pytest.raises(RecursionError):
        memory.remember(table, "outer", outer, 0)
    stack.append(False)
    assert memory.remember(table, "outer", outer, 0) == 11
    stack.append(False)
    assert memory.remember(table, "inner", inner, 0) == 12


class Numbers:
    """A question that leads to others until it is exhausted."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.table: Table[int] = {}
        self.worked_out: list[object] = []

    def one(self, name: object) -> int:
        return self.memory.remember(self.table, name, lambda: self.worked_out.append(name) or 1, 0)

    def up_to(self, most: int) -> int:
        def add() -> int:
            self.worked_out.append("all")
            return sum(self.one(number) for number in range(most) if not self.memory.exhausted)

        return self.memory.remember(self.table, ("up to", most), add, 0)


def test_a_question_that_leads_to_too_many_others_goes_on_when_it_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "QUESTIONS", limits.Limit("questions", 3))
    numbers = Numbers()
    met = limits.count()
    assert numbers.up_to(5) == 4
    assert met == {"questions": 1}
    assert not numbers.memory.exhausted
    numbers.worked_out.clear()
    assert numbers.up_to(5) == 5
    assert numbers.worked_out == ["all", 3, 4]


def test_the_second_answer_that_is_cut_short_is_kept_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUESTIONS", limits.Limit("questions", 3))
    numbers = Numbers()
    assert [numbers.up_to(50) for _ in range(3)] == [4, 7, 7]
    assert numbers.table["up to", 50].room == numbers.memory.room
    assert numbers.worked_out.count("all") == 2


def test_what_is_asked_apart_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUESTIONS", limits.Limit("questions", 3))
    numbers = Numbers()

    def add() -> int:
        with numbers.memory.apart(limits.Limit("apart", 6)):
            found = sum(numbers.one(number) for number in range(5))
        return found + numbers.one("last")

    assert numbers.memory.remember(numbers.table, "all", add, 0) == 6
    assert numbers.table["all"].room is None


def test_one_place_may_use_only_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUESTIONS", limits.Limit("questions", 12))
    numbers = Numbers()

    def add() -> list[int]:
        found = []
        for place in range(4):
            with numbers.memory.share(limits.Limit("share", 4)):
                found.append(numbers.up_to(10 * place + 10))
        return found

    # The third place has what the others left, and the fourth nothing.
    assert numbers.memory.remember(numbers.table, "all", add, []) == [4, 8, 10, 0]  # type: ignore[arg-type]


def test_a_block_bounds_all_that_is_asked_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = Numbers()
    with numbers.memory.apart(limits.Limit("apart", 3)):
        assert [numbers.up_to(2), numbers.up_to(4), numbers.up_to(6)] == [2, 0, 0]
    assert not numbers.memory.exhausted
    assert [numbers.up_to(2), numbers.up_to(4), numbers.up_to(6)] == [2, 4, 6]


def test_what_was_cut_inside_a_question_is_asked_anew_after_it() -> None:
    """An answer that rests on one that was cut short is dropped with it."""
    memory = Memory()
    table: Table[int] = {}
    cut = [True]

    def inner() -> int:
        if cut:
            memory.ask_anew()
            return 0
        return 5

    def middle() -> int:
        return memory.remember(table, "inner", inner, 0)

    def outer() -> int:
        found = memory.remember(table, "middle", middle, 0)
        assert not memory.is_settled(table, "middle")
        return found + memory.remember(table, "middle", middle, 0)

    assert memory.remember(table, "outer", outer, 0) == 0
    assert memory.remember(table, "apart", lambda: 1, 0) == 1
    assert memory.is_settled(table, "apart")
    cut.clear()
    assert memory.remember(table, "middle", middle, 0) == 5
    assert memory.is_settled(table, "middle")
    assert memory.remember(table, "outer", lambda: 10, 0) == 10


def test_only_what_rests_on_a_premise_is_noted() -> None:
    sums = Sums()
    plain: Table[int] = {}

    def both() -> int:
        return sum(sums.memory.remember(plain, number, lambda: 1, 0) for number in range(3)) + sums.of("left")

    assert sums.memory.remember(plain, "both", both, 0) == 4
    sums.premises["left"] = 2
    sums.memory.revise(["left"])
    assert not sums.memory.is_settled(plain, "both")
    assert sums.memory.is_settled(plain, 0)
    assert sums.memory.remember(plain, "both", both, 0) == 5


class Circles:
    """Questions that ask one another: each adds the answers of others to a number of its own, times a factor."""

    def __init__(self, **asking: tuple[int, int, list[str]]) -> None:
        self.memory = Memory()
        self.table: Table[int] = {}
        self.asking = asking
        self.worked_out: list[str] = []

    def of(self, name: str) -> int:
        def add() -> int:
            self.worked_out.append(name)
            own, factor, others = self.asking[name]
            return own + factor * sum(self.of(one) for one in others)

        return self.memory.remember(self.table, name, add, 0)


def test_an_answer_from_within_a_circle_stays_where_the_circle_adds_nothing() -> None:
    circles = Circles(outer=(0, 1, ["inner"]), inner=(0, 1, ["outer"]))
    assert [circles.of(one) for one in ("outer", "inner")] == [0, 0]
    assert circles.worked_out == ["outer", "inner"]
    assert circles.memory.is_settled(circles.table, "inner")


def test_an_answer_from_within_a_circle_is_worked_out_again_where_the_circle_adds_something() -> None:
    circles = Circles(outer=(1, 1, ["inner"]), inner=(0, 1, ["outer"]))
    assert [circles.of(one) for one in ("outer", "inner")] == [1, 1]
    assert circles.worked_out == ["outer", "inner", "inner"]


def test_what_used_a_wrong_answer_from_within_a_circle_is_worked_out_again_too() -> None:
    circles = Circles(
        outer=(0, 0, ["circle", "user"]),
        circle=(5, 1, ["member"]),
        member=(0, 1, ["circle", "outer"]),
        user=(0, 1, ["member"]),
    )
    assert circles.of("outer") == 0
    circles.worked_out.clear()
    assert [circles.of(one) for one in ("user", "member", "circle")] == [5, 5, 5]
    assert circles.worked_out == ["user", "member"]


def test_a_wrong_answer_that_a_circle_rests_on_makes_its_own_members_wrong() -> None:
    # `circle` gives nothing as long as `wrong` does, which is known only when `late` is.
    circles = Circles(
        outer=(0, 0, ["late", "circle"]),
        late=(3, 1, ["wrong"]),
        wrong=(0, 1, ["late", "outer"]),
        circle=(0, 1, ["member", "wrong"]),
        member=(0, 1, ["circle"]),
    )
    assert circles.of("outer") == 0
    assert [circles.of(one) for one in ("circle", "member")] == [3, 3]


class Keeping:
    """Queries that lead to one another, and a computation that some of them share."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.table: Table[int] = {}
        self.kept: KeptTable[int] = {}
        self.worked_out = 0

    def ask(self, name: str, compute: Callable[[], int]) -> int:
        return self.memory.remember(self.table, name, compute, 0)

    def share(self, compute: Callable[[], int]) -> int:
        def count() -> int:
            self.worked_out += 1
            return compute()

        return self.memory.keep(self.kept, "shared", count)


def test_what_is_kept_is_computed_once() -> None:
    keeping = Keeping()
    shared = partial(keeping.share, lambda: keeping.ask("leaf", lambda: 3))
    assert (keeping.ask("one", shared), keeping.ask("other", shared)) == (3, 3)
    assert keeping.worked_out == 1
    assert keeping.memory.asked == 3


def test_what_is_kept_within_a_circle_holds_until_the_circle_is_answered() -> None:
    keeping = Keeping()

    def shared() -> int:
        return keeping.share(lambda: 10 + keeping.ask("circle", circle))

    def circle() -> int:
        return max(5, keeping.ask("one", shared) // 10, keeping.ask("other", shared) // 10)

    assert keeping.ask("circle", circle) == 5
    assert keeping.worked_out == 1
    assert (keeping.ask("one", shared), keeping.ask("other", shared)) == (15, 15)
    assert keeping.worked_out == 2


def test_what_rests_on_an_inner_circle_is_computed_again_after_it() -> None:
    keeping = Keeping()

    def shared() -> int:
        return keeping.share(lambda: keeping.ask("inner", inner) + keeping.ask("outer", outer))

    def inner() -> int:
        return 7 + shared()

    def outer() -> int:
        return keeping.ask("inner", inner) + shared()

    # The inner answer, 7, was not there when the shared part was computed for it.
    assert keeping.ask("outer", outer) == 14
    assert keeping.worked_out == 2


def test_what_is_kept_at_one_level_of_callers_is_not_what_another_gets() -> None:
    keeping = Keeping()

    def climb() -> int:
        if not keeping.memory.enter():
            return 0
        try:
            return 1 + keeping.ask(f"level {keeping.memory.room}", climb)
        finally:
            keeping.memory.leave()

    whole = keeping.share(climb)
    outer = keeping.memory.narrow()
    try:
        narrowed = keeping.share(climb)
    finally:
        keeping.memory.widen(outer)
    assert whole == limits.CALLER_LEVELS.most
    assert narrowed == limits.RESOLVING_LEVELS.most
    assert keeping.share(climb) == whole


def test_what_is_kept_rests_on_premises_too() -> None:
    sums = Sums()
    kept: KeptTable[int] = {}

    def total() -> int:
        return sums.memory.keep(kept, "total", lambda: sums.of("left") + 1)

    assert total() == 2
    sums.premises["left"] = 2
    sums.memory.revise(["left"])
    assert total() == 3
