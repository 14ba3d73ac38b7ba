"""The throwaway fork, without torch: what comes back from it, and that nothing of it stays."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from dllint.probe import procfs, trials

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sessions are looked up in /proc")

Report = Callable[[str], None]


def ended(work: Callable[[Report], Any], seconds: float = 30.0) -> tuple[trials._Ended, int]:
    born: list[int] = []
    found = trials._in_fork(work, seconds, None, born.append)
    assert procfs.session(born[0]) == []
    with pytest.raises(ChildProcessError):
        os.waitpid(born[0], os.WNOHANG)
    return found, born[0]


def test_a_result() -> None:
    found, _ = ended(lambda report: {"answer": 42})
    assert (found.result, found.error, found.late) == ({"answer": 42}, None, False)


def test_an_exception_and_its_stage() -> None:
    def work(report: Report) -> None:
        report("next")
        raise KeyError("missing")

    found, _ = ended(work)
    assert found.error == {"exception": "KeyError", "text": "'missing'"}
    assert found.stage == "next"


def test_an_end_by_exit_is_an_exception_too() -> None:
    found, _ = ended(lambda report: sys.exit(3))
    assert found.error == {"exception": "SystemExit", "text": "3"}


def test_a_crash() -> None:
    found, _ = ended(lambda report: os.kill(os.getpid(), signal.SIGSEGV))
    assert (found.result, found.error) == (None, None)
    assert found.reason == "the process was killed by SIGSEGV"
    assert "Segmentation fault" in found.stderr


def test_a_hang_ends_in_time_and_takes_its_children_along() -> None:
    def work(report: Report) -> None:
        if not os.fork():
            time.sleep(1000)
        time.sleep(1000)

    since = time.monotonic()
    found, _ = ended(work, 0.5)
    assert found.late
    assert found.reason == "no answer within 0.5 s"
    assert time.monotonic() - since < 10


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_have_servers_of_their_own(method: str) -> None:
    """This process's fork server and resource tracker are not asked; what the fork started ends with it."""
    first = multiprocessing.get_context(method).Process(target=time.sleep, args=(0,))
    first.start()
    first.join()

    def work(report: Report) -> int | None:
        process = multiprocessing.get_context(method).Process(target=time.sleep, args=(0,))
        process.start()
        process.join()
        return process.exitcode

    found, _ = ended(work)
    assert (found.result, found.error, found.stderr) == (0, None, "")
    again = multiprocessing.get_context(method).Process(target=time.sleep, args=(0,))
    again.start()
    again.join()
    assert again.exitcode == 0


def test_what_was_not_flushed_is_written_once(capfd: pytest.CaptureFixture[str]) -> None:
    sys.stdout.write("once")
    found, _ = ended(lambda report: print("nowhere") or sys.stderr.write("kept"))
    sys.stdout.flush()
    assert capfd.readouterr().out == "once"
    assert found.stderr == "kept"


def test_descriptors_are_given_back() -> None:
    before = procfs.descriptors()
    ended(lambda report: None)
    assert procfs.descriptors() == before
