"""When a program counts as hung: workers that are still starting keep it alive, however long that takes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dllint.observation import Epoch, Iteration, Launch, Record, Worker
from dllint.runtime.launch import Watch
from dllint.runtime.progress import shown
from dllint.runtime.signals import Signals

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processor time is read from /proc")


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    (tmp_path / "records").mkdir()
    return Watch(str(tmp_path), 60.0, shown(False, None, None), Signals())


@pytest.fixture
def busy() -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield process.pid
    process.kill()
    process.wait()


def given(watch: Watch, monkeypatch: pytest.MonkeyPatch, *records: Record) -> None:
    monkeypatch.setattr(watch.tail, "fresh", lambda: records)
    watch._follow()


def starting(watch: Watch) -> bool:
    watch._workers_are_starting()
    time.sleep(0.2)
    return watch._workers_are_starting()


def test_a_worker_that_imports(watch: Watch, busy: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given(watch, monkeypatch, Launch(1, 0.0, api="DataLoader", child=busy))
    assert starting(watch)


def test_a_worker_that_has_reached_its_loop(watch: Watch, busy: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its record may come before that of its start."""
    given(watch, monkeypatch, Worker(busy, 0.0), Launch(1, 0.0, api="DataLoader", child=busy))
    assert not starting(watch)


def test_a_worker_that_waits(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        given(watch, monkeypatch, Launch(1, 0.0, api="DataLoader", child=process.pid))
        time.sleep(1)
        assert not starting(watch)


def test_another_process_that_is_busy(watch: Watch, busy: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given(watch, monkeypatch, Launch(1, 0.0, api="Process", child=busy))
    assert not starting(watch)


def test_a_worker_that_is_gone(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    given(watch, monkeypatch, Launch(1, 0.0, api="DataLoader", child=os.getpid() + 10_000_000))
    assert not starting(watch) and not watch.starting


def computing(watch: Watch, main: int) -> bool:
    watch._computes(main)
    time.sleep(0.2)
    return watch._computes(main)


def test_a_program_that_computes_or_ends(watch: Watch, busy: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert computing(watch, busy)
    given(watch, monkeypatch, Iteration(busy, 0.0, loader="1.1", number=0), Epoch(busy, 1.0, loader="1.1", number=0))
    assert computing(watch, busy)


def test_a_program_that_waits_for_a_batch(watch: Watch, busy: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given(watch, monkeypatch, Iteration(busy, 0.0, loader="1.1", number=0))
    assert not computing(watch, busy)


def test_a_loader_that_did_not_start_is_not_waited_for(
    watch: Watch, busy: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(watch, monkeypatch, Iteration(busy, 0.0, loader="1.1", number=0, error="TypeError"))
    assert computing(watch, busy)


def test_a_program_that_waits_at_its_end(watch: Watch) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        time.sleep(1)
        assert not computing(watch, process.pid)
