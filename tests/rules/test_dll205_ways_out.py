"""DLL205: values that an item gets on its way out of a function."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import os

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
"""
FOUND: dict[str, str] = {
    "returned by a method that it calls": """
class D(Dataset):
    def __init__(self):
        self.d = {"a": 1}
    def f(self):
        return self.d.keys()
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.f()  # DLL205
def collate(b):
    return b
def main(args):
    for b in DataLoader(D(), num_workers=2, collate_fn=collate):
        pass
""",
    "added to a dict": """
class D(Dataset):
    def __init__(self):
        self.d = {"a": 1}
    def __len__(self):
        return 3
    def __getitem__(self, i):
        sample = {"x": 1}
        sample["inv"] = lambda x: x + i
        return sample  # DLL205
def main(args):
    for b in DataLoader(D(), num_workers=2, batch_size=None):
        pass
""",
    "passed on by list": """
class D(Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return {"inv": lambda x: x + i, "x": 1}  # DLL205
def main(args):
    for b in DataLoader(D(), num_workers=2, collate_fn=list):
        pass
""",
}
SILENT: dict[str, str] = {
    "conditional add": """
class D(Dataset):
    def __init__(self, debug):
        self.debug = debug
    def __len__(self):
        return 3
    def __getitem__(self, i):
        sample = {"x": 1}
        if self.debug:
            sample["inv"] = lambda x: x + i
        return sample
def main(args):
    for b in DataLoader(D(args.debug), num_workers=2, batch_size=None):
        pass
""",
    "removed again": """
class D(Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, i):
        sample = {"x": 1}
        sample["fn"] = lambda x: x + i
        sample["y"] = sample["fn"](3)
        del sample["fn"]
        return sample
def main(args):
    for b in DataLoader(D(), num_workers=2, batch_size=None):
        pass
""",
    "popped again": """
class D(Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, i):
        sample = {"x": 1}
        sample["fn"] = lambda x: x + i
        sample["y"] = sample.pop("fn")(3)
        return sample
def main(args):
    for b in DataLoader(D(), num_workers=2, batch_size=None):
        pass
""",
    "helper returns list of generator": """
class D(Dataset):
    def __len__(self):
        return 3
    def f(self, i):
        return (x for x in range(i))
    def __getitem__(self, i):
        return list(self.f(i))
def main(args):
    for b in DataLoader(D(), num_workers=2, batch_size=None):
        pass
""",
    "overwritten key": """
class D(Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, i):
        sample = {"x": 1}
        sample["fn"] = lambda x: x + i
        sample["fn"] = sample["fn"](3)
        return sample
def main(args):
    for b in DataLoader(D(), num_workers=2, batch_size=None):
        pass
""",
}

test_found, test_silent = in_one_file("DLL205", FOUND, SILENT, HEAD)
