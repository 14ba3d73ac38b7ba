"""Lists and dicts of open files that the constructor empties again, and those that it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SOURCE = """\
import h5py
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, paths):
        self.files = {}
        for at in range(0, len(paths)):
            self.files[at] = h5py.File(paths[at])
        self.sizes = [self.files[at]["rows"].shape[0] for at in self.files]
EMPTY

    def __getitem__(self, index):
        if self.files[index] is None:
            self.files[index] = h5py.File(str(index))
        return self.files[index]["rows"][index]

for rows in DataLoader(Rows(["a", "b"]), num_workers=4, multiprocessing_context="spawn"):
    print(rows)
"""
EMPTIED = [
    "for at in range(0, len(self.files)):\n    if self.files[at]:\n        self.files[at] = None",
    "for at in range(len(self.files)):\n    self.files[at] = None",
    "for key in self.files:\n    self.files[key].close()\n    self.files[key] = None",
    "for key in list(self.files.keys()):\n    if self.files[key] is not None:\n        self.files[key] = None",
    "self.files.clear()",
]
KEPT = [
    "",
    "for at in range(1, len(self.files)):\n    self.files[at] = None",
    "for at in range(len(paths)):\n    self.files[0] = None",
    "for key in self.files:\n    if self.sizes[key]:\n        self.files[key] = None",
    "for key in self.sizes:\n    self.files[key] = None",
    "if paths:\n    self.files.clear()",
    "for key in self.files:\n    self.files[key] = None\nself.files[0] = h5py.File(paths[0])",
    "for key in self.files:\n    if not self.files[key]:\n        self.files[key] = None",
]


def found(findings: Callable[..., Any], statements: str) -> set[str]:
    inside = "".join(f"        {line}\n" for line in statements.splitlines())
    return {code for _, _, code in findings({"demo.py": SOURCE.replace("EMPTY\n", inside)}, select=["DLL203"])}


@pytest.mark.parametrize("statements", EMPTIED)
def test_nothing_is_left_in_it(statements: str, findings: Callable[..., Any]) -> None:
    assert found(findings, statements) == set()


@pytest.mark.parametrize("statements", KEPT)
def test_something_may_be_left_in_it(statements: str, findings: Callable[..., Any]) -> None:
    assert found(findings, statements) == {"DLL203"}
