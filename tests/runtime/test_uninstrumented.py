"""Which Python processes of a run count as uninstrumented."""

from __future__ import annotations

from dllint.observation import Observation, Process, Throwaway
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
