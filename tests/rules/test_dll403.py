"""DLL403: where pinned batches come from a mapped store, and where they do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL403"]}

HEAD = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
"""
ROWS = """
class Rows(Dataset):
    def __init__(self, path):
        self.rows = np.memmap(path)

    def __getitem__(self, index):
        return self.rows[index]
"""

FOUND: dict[str, dict[str, str]] = {
    "a memory map": {"data.py": HEAD + ROWS + "\nDataLoader(Rows('a'), num_workers=2, pin_memory=True)  # DLL403\n"},
    "opened on the first item": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.rows = None

    def __getitem__(self, index):
        if self.rows is None:
            self.rows = np.load(self.path, mmap_mode="r")
        return self.rows[index]

DataLoader(Rows("a"), num_workers=2, pin_memory=True)  # DLL403
"""
    },
    "in a base class of another file, by a keyword dict": {
        "base.py": HEAD + ROWS.replace("Rows", "Base"),
        "data.py": HEAD
        + """
from base import Base

class Rows(Base):
    pass

OPTIONS = dict(num_workers=2)
OPTIONS["pin_memory"] = True
DataLoader(Rows("a"), **OPTIONS)  # DLL403
""",
    },
    "a subclass of DataLoader, under Subset": {
        "data.py": HEAD
        + ROWS
        + """
from torch.utils.data import Subset

class PinnedLoader(DataLoader):
    def __init__(self, dataset, **options):
        super().__init__(dataset, pin_memory=True, **options)

PinnedLoader(Subset(Rows("a"), [0]), num_workers=2)  # DLL403
"""
    },
    "mapped tensors, through a parameter": {
        "data.py": HEAD
        + ROWS.replace("np.memmap(path)", "torch.load(path, mmap=True)")
        + """
def build(pin):
    return DataLoader(Rows("a"), num_workers=2, pin_memory=pin)  # DLL403

build(True)
"""
    },
}

SILENT: dict[str, str] = {
    "not pinned": HEAD + ROWS + "\nDataLoader(Rows('a'), num_workers=2)\n",
    "pinning switched off": HEAD + ROWS + "\nDataLoader(Rows('a'), num_workers=2, pin_memory=False)\n",
    "no workers": HEAD + ROWS + "\nDataLoader(Rows('a'), pin_memory=True)\n",
    "nothing known of pinning": HEAD
    + ROWS
    + "\nDataLoader(Rows('a'), num_workers=2, pin_memory=torch.cuda.is_available())\n",
    "read whole": HEAD
    + ROWS.replace("np.memmap(path)", "np.load(path)")
    + "\nDataLoader(Rows('a'), num_workers=2, pin_memory=True)\n",
    "a map that is not kept": HEAD
    + ROWS.replace("np.memmap(path)", "len(np.memmap(path))").replace("self.rows[index]", "index")
    + "\nDataLoader(Rows('a'), num_workers=2, pin_memory=True)\n",
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_pinned_batches_of_mapped_stores_are_found(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_others_are_silent(findings: Callable[..., Any], text: str) -> None:
    assert findings({"data.py": text}, **SELECT) == set()


def test_it_is_an_info_that_shows_the_store(told: Callable[..., Any]) -> None:
    (finding,) = told(FOUND["a memory map"], **SELECT)

    assert (finding.severity, [place.span.line for place in finding.related]) == ("info", [7])
