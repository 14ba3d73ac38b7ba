"""Attributes that are let go before `__init__` is done: which rules take them for kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import json
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
"""
TAIL = """
    def __getitem__(self, index):
        return self.rows[index]

    def read(self, path):
        self.rows = np.load(path)

    def free(self):
        self.rows = None

    def free_again(self):
        self.free()

def build(path, flag):
    return DataLoader(Rows(path, flag), num_workers=4, multiprocessing_context="spawn")
"""


def dataset(init: str, base: str = "Dataset", more: str = "") -> str:
    body = "".join(f"        {line}\n" for line in init.splitlines())
    return f"{HEAD}{more}\nclass Rows({base}):\n    def __init__(self, path, flag):\n{body}{TAIL}"


BASE = """
class Base(Dataset):
    def __init__(self, path):
        self.rows = np.load(path)
"""

RELEASED: dict[str, str] = {
    "deleted": dataset("self.rows = np.load(path)\ndel self.rows"),
    "set by a helper, deleted after it": dataset("self.read(path)\nself.count = len(self.rows)\ndel self.rows"),
    "deleted by a helper": dataset("self.rows = np.load(path)\nself.free()"),
    "deleted two calls deep": dataset("self.rows = np.load(path)\nself.free_again()"),
    "set and deleted by helpers": dataset("self.read(path)\nself.free()"),
    "set by the base class": dataset("super().__init__(path)\nself.rows = None", "Base", BASE),
    "under the same condition": dataset(
        "if flag:\n    self.rows = np.load(path)\nself.count = 3\nif flag:\n    del self.rows"
    ),
    "under the same condition by a helper": dataset(
        "self.flag = flag\nif self.flag:\n    self.read(path)\nif self.flag:\n    self.rows = None"
    ),
    "under a condition of the two": dataset(
        "if flag and path:\n    self.rows = np.load(path)\nif path:\n    self.rows = None"
    ),
    "under a condition that is always met": dataset(
        "ready = False\nself.rows = np.load(path)\nif not ready:\n    del self.rows"
    ),
    "in a with block": dataset("self.rows = np.load(path)\nwith open(path):\n    self.rows = None"),
}

KEPT: dict[str, str] = {
    "not deleted": dataset("self.rows = np.load(path)  # DLL301"),
    "set again afterwards": dataset("self.free()\nself.rows = np.load(path)  # DLL301"),
    "deleted by a helper that runs before": dataset("del self.rows\nself.free()\nself.rows = np.load(path)  # DLL301"),
    "another attribute": dataset("self.rows = np.load(path)  # DLL301\nself.others = 1\ndel self.others"),
    "another object's": dataset("self.rows = np.load(path)  # DLL301\npath.rows = None\ndel path.rows"),
    "the other branch": dataset("if flag:\n    self.rows = np.load(path)  # DLL301\nelse:\n    self.rows = None"),
    "under a condition that may not be met": dataset(
        "self.rows = np.load(path)  # DLL301\nif flag:\n    del self.rows"
    ),
    "under a condition that is never met": dataset(
        "ready = False\nself.rows = np.load(path)  # DLL301\nif ready:\n    del self.rows"
    ),
}


@pytest.mark.parametrize("source", RELEASED.values(), ids=RELEASED)
def test_what_is_let_go_is_not_kept(source: str, findings: Callable[..., Any]) -> None:
    assert findings({"data.py": source}, select=["DLL301"]) == set()


@pytest.mark.parametrize("source", KEPT.values(), ids=KEPT)
def test_what_stays_is_kept(source: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"data.py": source}

    assert findings(files, select=["DLL301"]) == marks(files)


def test_what_may_be_let_go_is_no_info(told: Callable[..., Any]) -> None:
    perhaps = KEPT["under a condition that may not be met"].replace('"spawn"', '"fork"')
    sure = KEPT["not deleted"].replace('"spawn"', '"fork"')

    assert [finding.severity for finding in told({"data.py": sure}, select=["DLL301"])] == ["info"]
    assert told({"data.py": perhaps}, select=["DLL301"]) == ()


@pytest.mark.parametrize(("end", "count"), [("pass", 1), ("if flag:\n    del self.rows", 0)])
def test_records_that_may_be_let_go_are_no_info(end: str, count: int, told: Callable[..., Any]) -> None:
    source = dataset(f"self.rows = json.load(open(path))\n{end}")

    assert len(told({"data.py": source}, select=["DLL302"])) == count


def test_a_helper_that_sets_it_again_later_counts_then(told: Callable[..., Any]) -> None:
    """A handle that `__init__` closes again is opened anew by the parent's first access."""
    source = """\
import h5py
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.open()
        self.count = len(self.file["rows"])
        self.file = None

    def open(self):
        self.file = h5py.File(self.path, "r")

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.file is None:
            self.open()
        return self.file["rows"][index]

def build(path):
    rows = Rows(path)
    FIRST
    return DataLoader(rows, num_workers=4, multiprocessing_context="fork")
"""

    assert told({"data.py": source.replace("FIRST", "print(len(rows))")}, select=["DLL402"]) == ()
    assert len(told({"data.py": source.replace("FIRST", "print(rows[0])")}, select=["DLL402"])) == 1
