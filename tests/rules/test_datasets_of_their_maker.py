"""Datasets that hold the object that makes them, and call its methods: `Rows(self)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import lightning.pytorch as pl
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, task):
        self.task = task

    def __getitem__(self, index):
        return self.task.item(index)

    def __len__(self):
        return 9


class Task(pl.LightningDataModule):
    def __init__(self, path):
        super().__init__()
        self.path = path
        {base}

    def setup(self, stage=None):
        {setup}

    def item(self, index):
        {item}

    def train_dataloader(self):
        return DataLoader({made}, num_workers=2, multiprocessing_context="spawn")

"""
HEIR = """
class {name}(Task):
    def __init__(self, path):
        super().__init__(path)
        self.change = {kept}

    def item(self, index):
        return self.change(index)

"""
LAMBDA = "self.change = lambda row: row"
READS = "self.rows = np.load(self.path)"


def text(base: str = "pass", setup: str = "pass", item: str = "return index", made: str = "Rows(self)") -> str:
    return HEAD.format(base=base, setup=setup, item=item, made=made)


FOUND = {
    "kept by its constructor": (text(base=LAMBDA), [("DLL201", "error")]),
    "kept by a hook": (text(setup=LAMBDA), [("DLL201", "error")]),
    "by a keyword": (text(base=LAMBDA, made="Rows(task=self)"), [("DLL201", "error")]),
    "an array": (text(setup=READS, item="return self.rows[index]"), [("DLL301", "warning")]),
    "kept by a subclass": (text() + HEIR.format(name="First", kept="lambda row: row"), [("DLL201", "warning")]),
    "kept by one of two": (
        text() + HEIR.format(name="First", kept="abs") + HEIR.format(name="Second", kept="lambda row: row"),
        [("DLL201", "warning")],
    ),
    "an array that a subclass reads": (
        text(setup=READS, item="raise NotImplementedError")
        + HEIR.format(name="First", kept="abs").replace("self.change(index)", "self.rows[index]"),
        [("DLL301", "warning")],
    ),
}
SILENT = {
    "not kept": text(base="change = lambda row: row"),
    "made of something else": text(base=LAMBDA, made="Rows(self.path)"),
    "dropped": text(base=LAMBDA).replace(
        "    def setup", "    def __getstate__(self):\n        return {'path': self.path}\n\n    def setup"
    ),
    "kept by a later method": text().replace("    def item", f"    def test(self):\n        {LAMBDA}\n\n    def item"),
    "another class": text() + HEIR.format(name="First", kept="lambda row: row").replace("(Task)", ""),
}


@pytest.mark.parametrize(("text", "expected"), FOUND.values(), ids=FOUND)
def test_what_the_maker_keeps_is_sent(text: str, expected: Any, told: Callable[..., Any]) -> None:
    found = told({"task.py": text}, select=["DLL201", "DLL203", "DLL301"])

    assert [(one.code, one.severity) for one in found] == expected


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_what_it_does_not_keep_is_not(text: str, told: Callable[..., Any]) -> None:
    assert told({"task.py": text}, select=["DLL201", "DLL203", "DLL301"]) == ()
