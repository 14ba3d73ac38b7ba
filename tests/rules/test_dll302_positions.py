"""DLL302: unpickled records that workers look up by lists of positions, one list for each item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

DATASET = """\
import pickle
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Drives(Dataset):
    def __init__(self, rows, camera="front"):
        self.camera = camera
        self.rows = rows
        self.windows = self.positions()

    def positions(self):
        found = []
        for start in range({count}):
            found.append([start + step for step in range(8)])
        return np.asarray(found)

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, index):
        poses = []
        {reading}
        return poses


def main(path):
    with open(path, "rb") as f:
        rows = pickle.load(f)
    return DataLoader(Drives(rows), batch_size=4, num_workers=4)
"""


def dataset(*lines: str, count: str = "len(self.rows)") -> str:
    return DATASET.format(count=count, reading="\n        ".join(lines))


KEEPING = '    poses.append(self.rows[number]["pose"])'
FOUND: dict[str, str] = {
    "a loop over the list": dataset("for number in self.windows[index]:", KEEPING),
    "a loop over a part of it": dataset("for number in self.windows[index][:4]:", KEEPING),
    "a part that has a name": dataset("own = self.windows[index][:4]", "for number in own:", KEEPING),
    "a loop that also counts": dataset("for step, number in enumerate(self.windows[index]):", KEEPING),
    "a comprehension": dataset('poses = [self.rows[number]["pose"] for number in self.windows[index]]'),
    "a field that an attribute names": dataset(
        "for number in self.windows[index]:",
        "    row = self.rows[number][self.camera]",
        '    poses.append(row["pose"])',
    ),
}

SILENT: dict[str, str] = {
    "numbers of something else": dataset("for number in self.windows[index]:", KEEPING, count="100"),
    "rows that may be arrays": dataset("for number in self.windows[index]:", "    poses.append(self.rows[number][0])"),
    "the number of the step": dataset("for number, _ in enumerate(self.windows[index]):", KEEPING),
    "the same rows for all items": dataset("for number in self.windows[0]:", KEEPING),
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND)
def test_found(findings: Callable[..., Any], source: str) -> None:
    line = 1 + source[: source.index("self.rows = ")].count("\n")
    assert findings({"data.py": source}, select=["DLL302"]) == {("data.py", line, "DLL302")}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings({"data.py": source}, select=["DLL302"]) == set()
