"""Kept answers: a premise that changes costs the answers that rest on it, and no others."""

from __future__ import annotations

from collections.abc import Hashable

from dllint.inference.memo import Memory

Table = dict[Hashable, "tuple[int, int | None] | None"]


class Sums:
    """Sums of a premise and of other sums, that count how often they are worked out."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.table: Table = {}
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
