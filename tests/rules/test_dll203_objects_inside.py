"""DLL203: handles that objects inside a dataset open because the parent reads an item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

HEAD = """\
import os

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
"""
FOUND: dict[str, str] = {
    "a connection of the base class and its cursor": """
import sqlite3
class Base(Dataset):
    def __init__(self, db):
        super().__init__()
        self.conn = self._connect(db)
    def _connect(self, db):
        return sqlite3.connect(db, check_same_thread=False)  # DLL203
class Child(Base):
    def __init__(self, db):
        super().__init__(db)
        self.cur = self.conn.cursor()
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.cur.execute("select * from t where id=?", (i,)).fetchone()
def main():
    for b in DataLoader(Child("a"), num_workers=4):
        pass
""",
    "an environment and its transaction": """
import lmdb
class D(Dataset):
    def __init__(self, path):
        try:
            self.env = lmdb.open(path, readonly=True, lock=False)  # DLL203
        except Exception:
            raise RuntimeError("no db")
        self.txn = self.env.begin()
    def __len__(self):
        return 10
    def __getitem__(self, i):
        with self.env.begin() as t:
            return t.get(b"x")
def main():
    for b in DataLoader(D(["x"]), num_workers=2):
        pass
""",
    "lazily opened in inner object touched by ds[0]": """
import h5py
class Reader:
    def __init__(self, path):
        self.path = path
        self._f = None
    def get(self, i):
        if self._f is None:
            self._f = h5py.File(self.path, "r")  # DLL203
        return self._f["x"][i]
class D(Dataset):
    def __init__(self, path):
        self.reader = Reader(path)
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.reader.get(i)
def main(cfg):
    ds = D("x")
    dim = ds[0].shape[-1]
    for b in DataLoader(ds, num_workers=4):
        pass
""",
    "opened by load method called after construction": """
class D(Dataset):
    def __init__(self):
        self.f = None
    def load(self, path):
        self.f = open(path, "rb")  # DLL203
        return self
    def __len__(self):
        return 3
    def __getitem__(self, i):
        self.f.seek(i)
        return self.f.read(4)
def main(cfg):
    ds = D().load("x")
    for b in DataLoader(ds, num_workers=4):
        pass
""",
}
SILENT: dict[str, str] = {
    "lazily opened in inner object not touched": """
import h5py
class Reader:
    def __init__(self, path):
        self.path = path
        self._f = None
    def get(self, i):
        if self._f is None:
            self._f = h5py.File(self.path, "r")
        return self._f["x"][i]
class D(Dataset):
    def __init__(self, path):
        self.reader = Reader(path)
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.reader.get(i)
def main(cfg):
    ds = D("x")
    for b in DataLoader(ds, num_workers=4):
        pass
""",
    "plain load and release before loader": """
class D(Dataset):
    def __init__(self):
        self.f = None
    def load(self, path):
        self.f = open(path, "rb")
        self.n = len(self.f.read())
        self.f.close()
        self.f = None
    def __len__(self):
        return 3
    def __getitem__(self, i):
        if self.f is None:
            self.f = open("x", "rb")
        return self.f.read(4)
def main(cfg):
    ds = D()
    ds.load("x")
    for b in DataLoader(ds, num_workers=4):
        pass
""",
}

test_found, test_silent = in_one_file("DLL203", FOUND, SILENT, HEAD)


TWO_OBJECTS = """\
import h5py
from torch.utils.data import DataLoader, IterableDataset

class Rows(IterableDataset):
    def __init__(self, path):
        self.path = path

    @classmethod
    def made(cls, path):
        return cls(path)

    def open(self, worker):
        self.file = h5py.File(self.path)

    def __iter__(self):
        return iter(self.file["x"])

def build(path, workers):
    if workers == 0:
        rows = Rows.made(path)
        rows.open(0)
        return rows
    rows = Rows.made(path)
    OPENED
    return DataLoader(rows, num_workers=workers, multiprocessing_context="spawn", worker_init_fn=rows.open)

for row in build("x", 2):
    print(row)
"""


@pytest.mark.parametrize(("opened", "codes"), [("print(path)", set()), ("rows.open(0)", {"DLL203"})])
def test_a_method_prepares_only_the_object_that_it_is_called_on(
    opened: str, codes: set[str], findings: Callable[..., Any]
) -> None:
    found = findings({"data.py": TWO_OBJECTS.replace("OPENED", opened)}, select=["DLL203"])
    assert {code for _, _, code in found} == codes


LAZY = """\
import os
from torch.utils.data import DataLoader, Dataset

class Table:
    def __init__(self, path):
        self.path = path
        self.file = None

    def __len__(self):
        return 3

    def seek(self, row):
        self.ensure()
        self.file.seek(row)
        return self.file.readline()

    def ensure(self):
        if self.file is None:
            self.file = open(self.path)
            self.pid = os.getpid()
        if self.pid != os.getpid():
            self.file = open(self.path)
            self.pid = os.getpid()

class Rows(Dataset):
    def __init__(self, path, labels=None):
        self.labels = None if not labels else Table(labels)
        self.table = Table(path)
        self.keys = READ

    def valid(self):
        return self.labels or self.table

    def prepare(self):
        table = self.valid()
        return [table.seek(row)[0] for row in range(len(table))]

    def __getitem__(self, index):
        return self.table.seek(index)

for rows in DataLoader(Rows("x"), num_workers=4, multiprocessing_context="spawn"):
    print(rows)
"""


@pytest.mark.parametrize(
    ("read", "lines"),
    [
        ("self.prepare()", [19]),
        ("[self.table.seek(0)]", [19]),
        ("[Table(path).seek(0)]", []),
        ("[open(path).readline()]", []),
        ("len(self.table)", []),
    ],
)
def test_construction_opens_what_an_object_inside_opens_on_first_use(
    read: str, lines: list[int], findings: Callable[..., Any]
) -> None:
    found = findings({"data.py": LAZY.replace("READ", read)}, select=["DLL203"])
    assert sorted(line for _, line, _ in found) == lines
