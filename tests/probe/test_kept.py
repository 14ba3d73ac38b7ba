"""What the looks at a loop's descriptors and shared tensors say of the batches that it keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.observation import Kept, read
from dllint.probe import events, recorder
from dllint.probe.measures import memory

Looks = list[tuple[int, int, int | None]]


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("directory", "_path", "_pid"):
        monkeypatch.setattr(recorder, name, getattr(recorder, name))
    monkeypatch.setattr(memory, "_points", {})
    monkeypatch.setattr(memory, "_looked_at", set())
    recorder.begin(str(tmp_path))


def kept(directory: Path, looks: Looks) -> Kept:
    iteration = events.Iteration("70.1", 1)
    iteration.workers = 8
    memory._points["70.1", 1] = looks
    memory._looked_at.add(("70.1", 1))
    memory.epoch_ended(iteration)
    (found,) = read(str(directory)).of(Kept)
    return found


def test_batches_that_are_kept(tmp_path: Path) -> None:
    found = kept(tmp_path, [(1, 40, 2), (2, 42, 4), (4, 46, 8), (8, 54, 16), (16, 70, 32)])
    assert (found.batches, found.fds_a_batch, found.maps_a_batch, found.gained) == (16, 2.0, 2.0, 28)


def test_batches_that_wait_for_their_turn_come_and_go(tmp_path: Path) -> None:
    """Those of 8 workers, of which one was slow at first and at the end; tensors were counted at the last looks."""
    found = kept(tmp_path, [(1, 40, None), (2, 68, None), (4, 66, None), (8, 44, 4), (16, 68, 28)])
    assert found.fds_a_batch < 0.25 and (found.maps_a_batch, found.gained) == (0.0, 0)
