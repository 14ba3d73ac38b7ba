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


LOADERS = """\
import json
from torch.utils.data import DataLoader, Dataset

class Captions(Dataset):
    def __init__(self, path):
        self.rows = json.load(open(path))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]["caption"]

def create(kind, config):
    if kind in ("pt_train", "ret_train"):
        return [Captions(one) for one in config.train]
    if kind in ("pt_eval", "ret_eval"):
        return [Captions(one) for one in config.test.values()], list(config.test)
    return Captions(config.test)

def load(datasets):
    return [DataLoader(one, num_workers=4) for one in datasets]

def main(config):
    {used}
"""


@pytest.mark.parametrize(
    ("used", "found"),
    [
        ('parts, names = create(f"{config.mode}_eval", config)\n    return load(parts)', [6]),
        ('return load(create(f"{config.mode}_eval", config)[0])', [6]),
        ('for one in create(f"{config.mode}_eval", config):\n        load(one)', [6]),
        ("parts, names = create(config.mode, config)\n    return load([create('mc', config)] + parts)", [6]),
        ("part = create('mc', config)\n    return load([part])", [6]),
        # Nothing but parts of a file: those are the datasets.
        ('return load([json.load(open(config.train))["train"]])', [20]),
        ("return load([json.load(open(config.train))])", [20]),
    ],
)
def test_a_part_of_a_record_among_datasets(used: str, found: list[int], findings: Callable[..., Any]) -> None:
    assert [row for _, row, _ in findings({"main.py": LOADERS.replace("{used}", used)}, select=["DLL302"])] == found
