"""What a fork shares with its parent: maps that are made private, and files whose position it moves."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dllint.observation import Handle, read
from dllint.probe import inherited_files, private_memory, recorder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="maps and descriptors are looked up in /proc")


def in_fork(work: Callable[[], object]) -> None:
    pid = os.fork()
    if not pid:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_what_a_fork_writes_stays_its_own(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    array, counter, lock = context.RawArray("d", 1000), context.Value("i", 3), context.Lock()
    named = tmp_path / "rows.bin"
    named.write_bytes(b"\1" * 8192)
    with named.open("r+b") as file, tempfile.TemporaryFile() as other, mmap.mmap(-1, 4096) as anonymous:
        other.truncate(4096)
        with mmap.mmap(file.fileno(), 8192) as rows, mmap.mmap(other.fileno(), 4096) as unnamed:

            def write() -> None:
                private_memory.separate()
                assert (array[3], counter.value, rows[5], unnamed[0]) == (0.0, 3, 1, 0)
                array[3], counter.value, rows[5], unnamed[0], anonymous[0] = 5.0, 9, 7, 7, 7
                assert lock.acquire(timeout=1)
                assert (array[3], counter.value, rows[5], unnamed[0], anonymous[0]) == (5.0, 9, 7, 7, 7)

            in_fork(write)
            assert (array[3], counter.value, rows[5], unnamed[0], anonymous[0]) == (0.0, 3, 1, 0, 0)
            assert lock.acquire(timeout=1)
    assert named.read_bytes() == b"\1" * 8192


def test_a_map_that_may_only_be_read_is_left(tmp_path: Path) -> None:
    named = tmp_path / "rows.bin"
    named.write_bytes(b"\1" * 4096)
    with named.open("rb") as file, mmap.mmap(file.fileno(), 4096, access=mmap.ACCESS_READ) as rows:
        assert str(named) not in {one[4] for one in private_memory._shared()}
        assert rows[0] == 1


def moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: Callable[[Any], object]) -> list[Handle]:
    """What a fork records of a file that its parent opened."""
    named = tmp_path / "rows.bin"
    named.write_bytes(b"\1" * 64)
    records = tmp_path / "records"
    records.mkdir()
    with named.open("rb", buffering=0) as file:

        def work() -> None:
            recorder.begin(str(records))
            watch = inherited_files.Watch(os.getppid())
            use(file)
            watch.look()
            watch.look()

        in_fork(work)
    return [one for one in read(str(records)).of(Handle) if one.path == str(named)]


def test_a_file_whose_position_a_fork_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (handle,) = moved(tmp_path, monkeypatch, lambda file: file.read(8))
    assert handle.moved and handle.shared is not False


def test_a_file_that_is_read_by_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert moved(tmp_path, monkeypatch, lambda file: os.pread(file.fileno(), 8, 8)) == []


def test_a_file_that_the_fork_opens_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def use(file: Any) -> None:
        with open(file.name, "rb") as own:
            own.read(8)

    assert moved(tmp_path, monkeypatch, use) == []
