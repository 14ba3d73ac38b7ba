"""DLL402: handles that other code than the constructor opens before the workers start."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import os

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
"""
FOUND: dict[str, str] = {
    "opened by setter property": """
class D(Dataset):
    def __init__(self, path):
        self.path = path
    @property
    def path(self):
        return self._path
    @path.setter
    def path(self, value):
        self._path = value
        self._f = open(value, "rb")  # DLL402
    def __len__(self):
        return 3
    def __getitem__(self, i):
        self._f.seek(i)
        return self._f.read(4)
def main(cfg):
    for b in DataLoader(D("a"), num_workers=4):
        pass
""",
    "opened by load method called after construction": """
class D(Dataset):
    def __init__(self):
        self.f = None
    def load(self, path):
        self.f = open(path, "rb")  # DLL402
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
    "handle set from outside": """
class D(Dataset):
    def __init__(self):
        self.f = None
    def __len__(self):
        return 3
    def __getitem__(self, i):
        self.f.seek(i)
        return self.f.read(4)
def main(cfg):
    ds = D()
    ds.f = open("x", "rb")  # DLL402
    for b in DataLoader(ds, num_workers=4):
        pass
""",
    "handle passed with statement around training": """
import zipfile
class D(Dataset):
    def __init__(self, zf):
        self.zf = zf
        self.names = zf.namelist()
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        return self.zf.read(self.names[i])
def main(cfg):
    with zipfile.ZipFile("x") as zf:  # DLL402
        for b in DataLoader(D(zf), num_workers=4):
            pass
""",
}
SILENT: dict[str, str] = {
    "with block then dataset of names": """
import zipfile
class D(Dataset):
    def __init__(self, names):
        self.names = names
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        return self.names[i]
def main(cfg):
    with zipfile.ZipFile("x") as zf:
        ds = D(zf.namelist())
    for b in DataLoader(ds, num_workers=4):
        pass
""",
    "setter keeps path only": """
class D(Dataset):
    def __init__(self, path):
        self.path = path
    @property
    def path(self):
        return self._path
    @path.setter
    def path(self, value):
        with open(value) as f:
            self.n = len(f.read())
        self._path = value
    def __len__(self):
        return self.n
    def __getitem__(self, i):
        return self.n
def main(cfg):
    for b in DataLoader(D("a"), num_workers=4):
        pass
""",
    "set from outside but reopened in workers": """
class D(Dataset):
    def __init__(self):
        self.f = None
    def __len__(self):
        return 3
    def __getitem__(self, i):
        self.f = open("x", "rb")
        return self.f.read(4)
def main(cfg):
    ds = D()
    ds.f = open("x", "rb")
    for b in DataLoader(ds, num_workers=4):
        pass
""",
    "load called in worker init only": """
class D(Dataset):
    def __init__(self):
        self.f = None
    def load(self, path):
        self.f = open(path, "rb")
        return self
    def __len__(self):
        return 3
    def __getitem__(self, i):
        self.f.seek(i)
        return self.f.read(4)
def init(wid):
    torch.utils.data.get_worker_info().dataset.load("x")
def main(cfg):
    ds = D()
    for b in DataLoader(ds, num_workers=4, worker_init_fn=init):
        pass
""",
    "load and release before loader": """
class D(Dataset):
    def __init__(self):
        self.f = None
    def load(self, path):
        self.f = open(path, "rb")
        self.n = len(self.f.read())
        self.f.close()
        self.f = None
        return self
    def __len__(self):
        return 3
    def __getitem__(self, i):
        if self.f is None:
            self.f = open("x", "rb")
        return self.f.read(4)
def main(cfg):
    ds = D().load("x")
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

test_found, test_silent = in_one_file("DLL402", FOUND, SILENT, HEAD)
