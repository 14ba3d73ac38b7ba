"""DLL203: handles that objects inside a dataset open because the parent reads an item."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import os

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
"""
FOUND: dict[str, str] = {
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
