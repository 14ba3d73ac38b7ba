"""Kept answers: a premise that changes costs the answers that rest on it, and no others; an answer that a bound cut
short is not kept as a whole one."""

from __future__ import annotations

import pytest

from dllint.config import Settings
from dllint.facts.extract import extract
from dllint.inference import limits
from dllint.inference.engine import World
from dllint.inference.memo import Memory, Table
from dllint.inference.values import Const
from dllint.libraries.knowledge import Libraries
from dllint.linking.source import last_name
from dllint.linter.rule_runs import room_for_questions


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


class Chain:
    """Functions that return what the next one returns, and the last one a text."""

    def __init__(self, length: int) -> None:
        lines = [f"def step{number}(rows):\n    return step{number + 1}(rows)\n" for number in range(length)]
        lines += [f"def step{length}(rows):\n    return 'end'\n"]
        lines += [f"from{number} = step{number}([1])" for number in range(length + 1)]
        self.world = World({"run.py": extract("\n".join(lines))}, Settings(), Libraries)

    def given_by(self, number: int) -> tuple[object, ...]:
        """What the call of one of the functions at the end of the module gives."""
        file = self.world.files["run.py"]
        call = next(index for index in file.calls_of(0) if last_name(file.calls[index].func) == f"step{number}")
        with room_for_questions(last=False):
            values = self.world.values.call(call, self.world.call_site(file, call, None))
        return tuple(value.value if isinstance(value, Const) else value for value in values)


def test_a_question_at_the_end_of_a_long_chain_is_answered_in_full_after_one_from_its_start() -> None:
    length = limits.QUESTION_DEPTH.most + 20
    chain = Chain(length)
    assert chain.given_by(0) != ("end",)
    assert chain.world.limits[limits.QUESTION_DEPTH.name] > 0
    assert [chain.given_by(number) for number in range(length - 30, length)] == [("end",)] * 30


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
