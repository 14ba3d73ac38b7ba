"""DLL302: datasets that a program makes from the records of a configuration are no records themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PARTS = """\
from torch.utils.data import Dataset, IterableDataset

class Rows(Dataset):
    def __init__(self, path, split="train"):
        self.path, self.split = path, split
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return open(f"{self.path}/{index}").read()

class MoreRows(Rows):
    pass

class Stream(IterableDataset):
    def __init__(self, path):
        self.path = path
    def __iter__(self):
        return iter(open(self.path))

class Row:
    def __init__(self, path, split="train"):
        self.path, self.split = path, split
"""
MIX = """\
import json
from torch.utils.data import DataLoader, Dataset
from parts import MoreRows, Row, Rows, Stream

KINDS = {"rows": Rows, "more": MoreRows}

class Mix(Dataset):
    def __init__(self, records):
        {made}
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return self.parts[index % len(self.parts)]

def main(path):
    with open(path) as file:
        records = json.load(file)
    return DataLoader(Mix(records["mix"]), num_workers=4)
"""
LOOP = (
    "self.parts = []\n        for one in records:\n            one = one.copy()\n            self.parts.append({item})"
)


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (LOOP.replace("{item}", "Rows(**one)"), False),
        (LOOP.replace("{item}", "KINDS[one.pop('kind')](**one)"), False),
        (LOOP.replace("{item}", "MoreRows(one['path'], split=one['split'])"), False),
        (LOOP.replace("{item}", "Stream(one['path'])"), False),
        ("self.parts = [Rows(one['path']) for one in records]", False),
        ("self.parts = {one['path']: Rows(**one) for one in records}", False),
        (LOOP.replace("{item}", "Row(**one)"), True),
        (LOOP.replace("{item}", "(Rows(**one), one)"), True),
        ("self.parts = [Row(one['path']) for one in records]", True),
    ],
)
def test_datasets_in_a_dataset(made: str, found: bool, findings: Callable[..., Any]) -> None:
    files = {"parts.py": PARTS, "mix.py": MIX.replace("{made}", made)}

    assert {path for path, _, _ in findings(files, select=["DLL302"])} == ({"mix.py"} if found else set())
