"""DLL402: handles that the parent opens when it reads a subset of the dataset, goes through a loader without workers,
or asks for a length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
import lmdb
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, random_split

class Reader:
    def __init__(self, path):
        self.path = path
        self.db = None

    def _connect(self):
        self.db = lmdb.open(self.path, lock=False, readonly=True)

    def __len__(self):
        if self.db is None:
            self._connect()
        return 9

    def __getitem__(self, index):
        if self.db is None:
            self._connect()
        return self.db.begin().get(str(index).encode())

class Rows(Dataset):
    def __init__(self, path):
        self.reader = Reader(path)

    def __len__(self):
        return LENGTH

    def __getitem__(self, index):
        return self.reader[index]

def names(items):
    return [str(items[i]) for i in range(2)]

def run(path):
    rows = Rows(path)
    BEFORE
    for batch in DataLoader(TRAINED, num_workers=4):
        print(batch)
    AFTER

if __name__ == "__main__":
    run("rows.lmdb")
"""


def has(findings: Callable[..., Any], before: str, trained: str, after: str = "pass", length: str = "9") -> bool:
    indented = "\n    ".join(before.split("; "))
    source = PROGRAM.replace("BEFORE", indented).replace("TRAINED", trained)
    return bool(findings({"train.py": source.replace("AFTER", after).replace("LENGTH", length)}, select=["DLL402"]))


@pytest.mark.parametrize(
    ("before", "trained", "found"),
    [
        ("part = Subset(rows, [1, 2]); print([one for one in part])", "part", True),
        ("part = Subset(rows, [1, 2]); print(part[0])", "part", True),
        ("part = Subset(rows, [1, 2]); print(list(part))", "part", True),
        ("part = Subset(rows, [1, 2]); names(part)", "rows", True),
        ("part = Subset(rows, [1, 2]); print(len(part))", "part", False),
        ("part = Subset(rows, [1, 2]); print(part.indices[0])", "part", False),
        ("part = Subset(Rows(path), [1, 2]); print(part[0])", "rows", False),
        ("for one in DataLoader(rows, batch_size=4): print(one)", "rows", True),
        ("part = Subset(rows, [1, 2])\n    for one in DataLoader(part): print(one)", "part", True),
        ("for one in DataLoader(rows, num_workers=2): print(one)", "rows", False),
        ("loader = DataLoader(rows)", "rows", False),
        ("for one in DataLoader(Rows(path)): print(one)", "rows", False),
    ],
)
def test_a_subset_and_a_loader_without_workers_read_the_dataset(
    before: str, trained: str, found: bool, findings: Callable[..., Any]
) -> None:
    assert has(findings, before, trained) is found


@pytest.mark.parametrize(
    ("trained", "length", "found"),
    [
        ("rows", "9", False),
        ("rows", "len(self.reader)", True),
        ("rows", "len(self.reader.path)", False),
        ("Subset(rows, [1, 2])", "len(self.reader)", False),
        ("random_split(rows, [5, 4])[0]", "len(self.reader)", True),
        ("ConcatDataset([rows, rows])", "len(self.reader)", True),
    ],
)
def test_a_length_that_opens_the_handle(trained: str, length: str, found: bool, findings: Callable[..., Any]) -> None:
    assert has(findings, "pass", trained, length=length) is found


def test_what_the_parent_reads_after_the_workers_start_is_their_own(findings: Callable[..., Any]) -> None:
    assert not has(findings, "pass", "rows", "print(Subset(rows, [1])[0])")
