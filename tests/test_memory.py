"""Kept answers: a premise that changes costs the answers that rest on it, and no others; a question that is
interrupted leaves nothing behind."""

from __future__ import annotations

import pytest

from dllint.inference.memo import Memory, Table


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
