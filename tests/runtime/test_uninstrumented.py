"""Which Python processes of a run count as uninstrumented."""

from __future__ import annotations

import pytest

from dllint.observation import Launch, Observation, Process, Throwaway
from dllint.runtime.launch import Watched
from dllint.runtime.population import Member
from dllint.runtime.run import _uninstrumented

COMMAND = ("/usr/bin/python3", "train.py")


def member(pid: int, parent: int, session: int) -> Member:
    return Member(pid, "1", parent, session, COMMAND, "/usr/bin/python3")


def told(*members: Member) -> list[int]:
    watched = Watched(1, seen={one.pid: one for one in members}, parents={one.pid: one.ppid for one in members})
    seen = Observation([Process(pid=1, t=0.0), Throwaway(pid=1, t=0.0, session=10)])
    return [one.pid for one in _uninstrumented(watched, seen)]


def test_a_process_that_recorded_nothing() -> None:
    assert told(member(1, 0, 1), member(2, 1, 1), member(3, 1, 3)) == [2, 3]


def test_a_throwaway_fork_and_what_is_in_its_session() -> None:
    assert told(member(1, 0, 1), member(10, 1, 10), member(11, 10, 10)) == []


def test_a_fork_with_a_session_of_its_own_that_a_throwaway_process_made() -> None:
    assert told(member(1, 0, 1), member(10, 1, 10), member(11, 10, 10), member(12, 11, 12)) == []


def test_processes_that_are_each_the_parent_of_the_other() -> None:
    assert told(member(1, 0, 1), member(2, 3, 2), member(3, 2, 3)) == [2, 3]


@pytest.mark.parametrize(
    ("api", "method", "expected"),
    [
        ("Pool", "fork", []),
        ("Process", "spawn", [2]),
        ("Pool", "forkserver", [2]),
        ("Process", None, [2]),
        ("os.fork", "fork", [2]),
    ],
)
def test_a_fork_that_was_ended_before_it_recorded_anything(api: str, method: str | None, expected: list[int]) -> None:
    watched = Watched(1, seen={one.pid: one for one in (member(1, 0, 1), member(2, 1, 1))}, parents={1: 0, 2: 1})
    launch = Launch(pid=1, t=0.0, api=api, method=method, child=2, target="multiprocessing.process.BaseProcess.run")
    seen = Observation([Process(pid=1, t=0.0), launch])

    assert [one.pid for one in _uninstrumented(watched, seen)] == expected
