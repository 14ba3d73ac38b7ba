"""Draws that decide nothing: a probability of 0 for a data set that is only read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
import random
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, files, flip=0.0):
        self.files = files
        self.flip = flip
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        x = np.load(self.files[i])
        if {test}:
            x = x[::-1]
        return x


def main(files, given):
    for batch in DataLoader(Images(files{flip}), num_workers=4, multiprocessing_context="fork"):
        pass
"""
TESTS = [
    "np.random.rand() < self.flip",
    "self.flip > np.random.random()",
    "np.random.uniform() < self.flip",
    "self.rng.random() < self.flip",
]
OTHERS = ["np.random.rand() <= self.flip + 0.5", "np.random.rand() > self.flip", "np.random.randn() < self.flip"]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("flip", ["", ", 0", ", flip=0.0"])
def test_silent(test: str, flip: str, told: Callable[..., Any]) -> None:
    files = {"train.py": PROGRAM.format(test=test, flip=flip), "requirements.txt": "torch==1.7.1\n"}

    assert told(files, select=["DLL602"]) == ()


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("flip", [", 0.5", ", given", ", flip=given or 0"])
def test_found(test: str, flip: str, told: Callable[..., Any]) -> None:
    files = {"train.py": PROGRAM.format(test=test, flip=flip), "requirements.txt": "torch==1.7.1\n"}

    assert [one.code for one in told(files, select=["DLL602"])] == ["DLL602"]


@pytest.mark.parametrize("test", OTHERS)
def test_other_comparisons_are_found(test: str, told: Callable[..., Any]) -> None:
    files = {"train.py": PROGRAM.format(test=test, flip=""), "requirements.txt": "torch==1.7.1\n"}

    assert [one.code for one in told(files, select=["DLL602"])] == ["DLL602"]


def test_one_of_two_data_sets(told: Callable[..., Any]) -> None:
    both = (
        PROGRAM.format(test=TESTS[0], flip="")
        + """\


def train(files):
    for batch in DataLoader(Images(files, 0.5), num_workers=4, multiprocessing_context="fork"):
        pass
"""
    )
    (found,) = told({"train.py": both, "requirements.txt": "torch==1.7.1\n"}, select=["DLL602"])

    lines = both.splitlines()
    assert ["0.5" in lines[one.span.line - 1] for one in found.related if "DataLoader" in one.message] == [True]
