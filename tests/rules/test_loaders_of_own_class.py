"""Loader classes of the project that construct themselves: `cls(…)` in a class method, `self.__class__(…)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import torch.utils.data
from torch.utils.data import Dataset

class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index

"""
METHOD = """\
class Loader(torch.utils.data.DataLoader):
    @classmethod
    def of(cls, rows, workers=1, **options):
        return cls(dataset=rows, num_workers=workers, collate_fn=lambda rows: rows, **options)  # DLL204
"""
INHERITED = """\
class Making:
    @classmethod
    def of(cls, rows, workers=1):
        made = cls(rows, num_workers=workers, collate_fn=lambda rows: rows)  # DLL204
        return made

class Loader(Making, torch.utils.data.DataLoader):
    pass
"""
SAME = """\
class Loader(torch.utils.data.DataLoader):
    def again(self):
        return self.__class__(self.dataset, num_workers=2, collate_fn=lambda rows: rows)  # DLL204

    @classmethod
    def of(cls, rows, workers):
        return Loader(rows, num_workers=workers).again()
"""
OTHER = """\
class Loader(torch.utils.data.DataLoader):
    pass

class Reader:
    def __init__(self, rows, num_workers, collate_fn):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)

    @classmethod
    def of(cls, rows, workers):
        return cls(rows, num_workers=workers, collate_fn=lambda rows: rows)

Loader = Reader
"""
NONE = METHOD.replace("num_workers=workers", "num_workers=0").replace("  # DLL204", "")
USE = """
def main():
    for row in Loader.of(Rows(), workers=2):
        print(row)
"""


@pytest.mark.parametrize(
    "text",
    [METHOD, INHERITED, SAME, OTHER, NONE],
    ids=["class method", "inherited", "same class", "another class", "no workers"],
)
def test_class(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"rows.py": HEAD + text + USE}

    assert findings(files, select=["DLL204"]) == marks(files)
