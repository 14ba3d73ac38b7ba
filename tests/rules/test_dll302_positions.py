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

OF_ROWS = """\
    def pairs_of(self, rows):
        size = len(rows)
        found = []
        for start in range(size):
            found.append([start, (start + 1) % size])
        return found
"""


def counted_elsewhere(given: str) -> str:
    """The dataset whose method counts the rows that it is given under another name."""
    text = dataset("for number in self.windows[index]:", KEEPING)
    start, end = text.index("    def positions"), text.index("    def __len__")
    text = text[:start] + OF_ROWS + "\n" + text[end:]
    return text.replace("self.positions()", f"self.pairs_of({given})")


HELPER = """\
    def pose_of(self, number):
        return self.{kept}[number]["pose"]

    def __len__"""


def read_by_helper(kept: str) -> str:
    """The dataset whose loop hands each position to a method that looks it up."""
    text = dataset("for number in self.windows[index]:", "    poses.append(self.pose_of(number))")
    return text.replace("    def __len__", HELPER.format(kept=kept), 1)


FOUND |= {
    "a method that looks it up": read_by_helper("rows"),
    "a method of the base": read_by_helper("rows")
    .replace("    def pose_of", "    def __getitem__")
    .replace("self.pose_of", "super().__getitem__", 1)
    .replace("    def __len__", "\n\nclass Drives(Poses):\n    def __len__", 1)
    .replace("class Drives(Dataset)", "class Poses(Dataset)"),
    "a list made by a function that it is given to": counted_elsewhere("self.rows"),
}

SILENT: dict[str, str] = {
    "a list of the numbers of something else, by a function": counted_elsewhere("self.cameras"),
    "a method that looks up something else": read_by_helper("cameras"),
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


MADE = """\
import json
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Poses(Dataset):
    def __getitem__(self, index):
        row = self.rows[index]
        return open(row["image"]).read(), row["pose"]


class Views(Poses):
    def __init__(self, path):
        self.rows = self.read(path)
        self.groups = self.group()

    def read(self, path):
        with open(path) as file:
            found = json.load(file)
        rows = []
        for one in found:
            pose = np.array(one["pose"])
            rows.append({entries})
        return rows

    def group(self):
        groups = []
        count = len(self.rows)
        for number in range(count // 4):
            groups.append([number * 4 + view for view in range(4)])
        return groups

    def __len__(self):
        return len(self.groups)

    def __getitem__(self, index):
        return [super(Views, self).__getitem__(number) for number in self.groups[index]]


loader = DataLoader(Views("a.json"), num_workers=4)
"""
FIELDS = """{"image": one["image"], "pose": pose, "scale": pose * 2, "center": one["center"]}"""


@pytest.mark.parametrize(("count", "lines"), [("len(self.rows)", {14}), ("self.count", set())])
def test_records_that_the_program_makes(findings: Callable[..., Any], count: str, lines: set[int]) -> None:
    source = MADE.replace("{entries}", FIELDS).replace("len(self.rows)", count)

    assert findings({"data.py": source}, select=["DLL302"]) == {("data.py", line, "DLL302") for line in lines}
