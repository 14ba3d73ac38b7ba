"""The files that a program wrote behind its layers, as they are listed and copied."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dllint.runtime.isolation import writes

LEFT = ("torch_8318_1146067593_0", "cuda.shm.0.1f64.1")
"""What a run with a GPU left in shared memory (torch 2.11)."""


@pytest.fixture
def layer(tmp_path: Path) -> int:
    upper = tmp_path / "upper"
    upper.mkdir()
    for name in (*LEFT, "results.npy"):
        (upper / name).write_text("1")
    return os.open(upper, os.O_RDONLY)


def test_segments_of_torch_and_cuda_are_no_files_of_the_program(layer: int, tmp_path: Path) -> None:
    kept = tmp_path / "kept"

    assert [one.path for one in writes.listed([("/dev/shm", layer)], ())] == ["/dev/shm/results.npy"]
    writes.keep([("/dev/shm", layer)], (), str(kept))
    assert os.listdir(kept / "dev" / "shm") == ["results.npy"]


def test_elsewhere_such_names_are_files(layer: int) -> None:
    assert len(writes.listed([("/somewhere", layer)], ())) == 3
