"""What Linux says of this process and of others."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dllint.probe import procfs

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc")

MIB = 1 << 20
GONE = 1 << 30


def test_descriptors(tmp_path: Path) -> None:
    before = procfs.descriptors()
    assert before is not None
    with open(tmp_path / "file", "w"):
        assert procfs.descriptors() == procfs.descriptors(os.getpid()) == before + 1
    assert procfs.descriptors() == before


def test_threads() -> None:
    before = procfs.threads()
    assert before is not None
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    assert procfs.threads() == before + 1
    assert len(procfs.thread_names()) == before + 1
    end.set()
    thread.join()


def test_maps() -> None:
    before = procfs.maps()
    assert before is not None
    kept = [mmap.mmap(-1, mmap.PAGESIZE) for _ in range(50)]
    assert abs((procfs.maps() or 0) - before - 50) <= 3
    del kept


def test_memory_grows_by_what_is_touched() -> None:
    # A mapping of its own: what an allocator keeps of what was freed does not count.
    held = mmap.mmap(-1, 32 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    content = os.urandom(32 * MIB)
    before = procfs.memory()
    assert before is not None
    held.write(content)
    after = procfs.memory()
    assert after is not None
    assert {"rss", "pss", "uss", "pss_anon", "pss_file"} <= set(after)
    for name in ("rss", "pss", "uss", "pss_anon"):
        assert 30 * MIB < after[name] - before[name] < 36 * MIB  # type: ignore[literal-required]
    held.close()


def test_mapped_files_count_once_and_no_further_than_the_file(tmp_path: Path) -> None:
    before = procfs.mapped_files()
    assert before is not None
    path = tmp_path / "store"
    path.write_bytes(os.urandom(2 * MIB))
    with open(path, "r+b") as file:
        file.truncate(64 * MIB)  # As LMDB makes its map: far larger than what it holds.
        os.fsync(file.fileno())
        with mmap.mmap(file.fileno(), 64 * MIB), mmap.mmap(file.fileno(), 64 * MIB):
            assert 2 * MIB <= (procfs.mapped_files() or 0) - before < 3 * MIB


def test_processes_that_are_gone() -> None:
    assert procfs.memory(GONE) is None
    assert procfs.descriptors(GONE) is None
    assert procfs.maps(GONE) is None
    assert procfs.threads(GONE) is None
    assert procfs.mapped_files(GONE) is None
    assert procfs.session(GONE) == []


def test_sessions() -> None:
    sleeping = (
        "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'input()']); print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", sleeping], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as leader:
        assert leader.stdout is not None
        leader.stdout.readline()
        found = procfs.session(leader.pid)
        assert len(found) == 2
        assert leader.pid in dict(found)
        assert any("input()" in command for _, command in found)
        leader.kill()
