"""DLL402: what a dataset keeps of an open HDF5 file reads through the file; what it has read of it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
import h5py
import numpy as np
import sys
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path, names, memory, number):
        file = h5py.File(path, "r")
        STATEMENT

    def group(self, path):
        file = found = h5py.File(path, "r")
        return file, found

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return np.array(self.rows[index])

def run(memory, number):
    return DataLoader(Rows(sys.argv[1], sys.argv[2:], memory, number), num_workers=4)
"""


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("self.rows = file['images']", True),
        ("self.rows = file.get('images')", True),
        ("self.rows = np.array(file['images']) if memory else file['images']", True),
        ("self.rows = {name: file[name] for name in names}", True),
        ("self.rows = [file[name] for name in names]", True),
        ("self.rows = {}; self.rows['a'] = {name: file[name] for name in names}", True),
        ("self.rows = {}; opened, group = self.group(path); self.rows['a'] = group['images']", True),
        ("self.rows = file['images'][:]", False),
        ("self.rows = file['images'][()]", False),
        ("self.rows = file['images'][...]", False),
        ("self.rows = file['images'][0]", False),
        ("self.rows = file['images'][number]", False),
        ("self.rows = file['images'][number, :]", False),
        ("self.rows = np.array(file['images'])", False),
        ("self.rows = np.asarray(file.get('images'))", False),
        ("self.rows = file['images'].shape", False),
        ("self.rows = file['images'].attrs['names']", False),
        ("self.rows = file.attrs['names']", False),
        ("self.rows = list(file['images'])", False),
        ("self.rows = {name: file[name][:] for name in names}", False),
        ("self.rows = {}; opened, group = self.group(path); self.rows['a'] = group['images'][:]", False),
    ],
)
def test_what_reads_through_an_hdf5_file(statement: str, found: bool, findings: Callable[..., Any]) -> None:
    source = PROGRAM.replace("STATEMENT", "\n        ".join(statement.split("; ")))

    assert bool(findings({"train.py": source}, select=["DLL402"])) is found


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("self.rows = file['images']; self.labels = file['labels']", 1),
        ("self.rows = h5py.File(names[0])['images']; self.labels = h5py.File(names[1])['labels']", 1),
        ("self.rows = h5py.File(names[0])['images']; self.labels = open(names[1], 'rb')", 2),
        ("self.rows = h5py.File(names[0])['images']; self.more = self.group(path)[0]", 2),
    ],
)
def test_files_that_one_function_opens_are_one_finding(
    statement: str, count: int, findings: Callable[..., Any]
) -> None:
    text = "\n        ".join(statement.split("; "))
    source = PROGRAM.replace("STATEMENT", text).replace("self.rows[index]", "self.rows[index], self.labels, self.more")

    assert len(findings({"train.py": source}, select=["DLL402"])) == count
