"""How many tensors a loader can send: predicted, against a real loader that is driven to failure."""

from __future__ import annotations

from typing import Any

import pytest

from dllint.evidence.storage_limits import Wall, walls
from dllint.observation import Storages

MOST_MAPS = 65530


def tightest(told: dict[str, Any], method: str, strategy: str, workers: int, nofile: int) -> Wall:
    return walls(
        Storages(1, 0.0),
        method,
        strategy,
        workers=workers,
        nofile=nofile,
        fds=told["fds"],
        max_map_count=MOST_MAPS,
        maps=told["maps"],
    )[0]


@pytest.mark.parametrize("workers", [1, 3])
def test_open_files_under_spawn(program: Any, workers: int) -> None:
    """Within 2 %: it starts below, and fails above."""
    nofile = 1024
    words = ("spawn", "file_descriptor")
    predicted = tightest(program("drive.py", *words, -1, workers, nofile, 0), *words, workers, nofile)
    assert predicted.limit == "RLIMIT_NOFILE"
    assert program("drive.py", *words, int(predicted.most * 0.98), workers, nofile, 0)["outcome"] == "started"
    failed = program("drive.py", *words, int(predicted.most * 1.02) + 1, workers, nofile, 0)["outcome"]
    assert "Too many open files" in failed


def test_descriptors_of_a_message_under_forkserver(program: Any) -> None:
    words = ("forkserver", "file_descriptor")
    predicted = tightest(program("drive.py", *words, -1, 1, 0, 0), *words, 1, 100_000)
    assert predicted == Wall("SCM_MAX_FD", 245)
    assert program("drive.py", *words, 245, 1, 0, 0)["outcome"] == "started"
    failed = program("drive.py", *words, 246, 1, 0, 0)["outcome"]
    assert failed == "OSError: [Errno 22] Invalid argument"
    assert "too many fds" in program("drive.py", *words, 248, 1, 0, 0)["outcome"]


def test_maps_under_spawn(program: Any) -> None:
    """The parent has many maps already, so that a few thousand storages reach the limit."""
    words = ("spawn", "file_system")
    predicted = tightest(program("drive.py", *words, -1, 1, 0, 60_000), *words, 1, 100_000)
    assert predicted.limit == "vm.max_map_count"
    assert 4500 < predicted.most < 5400
    assert program("drive.py", *words, int(predicted.most * 0.98), 1, 0, 60_000)["outcome"] == "started"
    failed = program("drive.py", *words, int(predicted.most * 1.02) + 1, 1, 0, 60_000)["outcome"]
    assert "Cannot allocate memory" in failed


@pytest.mark.slow
def test_all_maps_under_spawn(program: Any) -> None:
    words = ("spawn", "file_system")
    predicted = tightest(program("drive.py", *words, -1, 1, 0, 0), *words, 1, 100_000)
    assert program("drive.py", *words, int(predicted.most * 0.98), 1, 0, 0)["outcome"] == "started"
    assert program("drive.py", *words, int(predicted.most * 1.02), 1, 0, 0)["outcome"] != "started"


def test_forked_workers_are_sent_nothing(program: Any) -> None:
    assert walls(Storages(1, 0.0), "fork", "file_descriptor", workers=1, nofile=64, fds=3) == []
    assert program("drive.py", "fork", "file_descriptor", 500, 1, 64, 0)["outcome"] == "started"
