"""DLL302: records that an item reads in a loop over a list of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
import json
import random
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.rows = json.load(open(path))  # DLL302
        self.names = ["a", "b"]

    def __len__(self):
        return 9

    def __getitem__(self, index):
        texts = []
        READING
        return texts

def main(path):
    return DataLoader(Rows(path), num_workers=4)
"""
KEEPS = "            texts.append(self.rows[one]['text'])"


@pytest.mark.parametrize(
    "reading",
    [
        f"for one in [index, 3]:\n{KEEPS}",
        f"for one in (index, index + 1):\n{KEEPS}",
        f"many = [index] + random.sample(range(9), 2)\n        for one in many:\n{KEEPS}",
        f"many = [index] + random.sample(range(9), 2)\n        for i, one in enumerate(many):\n{KEEPS}",
        f"many = np.random.randint(0, len(self.rows), 9)\n        for one in many:\n{KEEPS}",
        f"many = []\n        many = many + [index]\n        for one in many:\n{KEEPS}",
        "many = [index, random.randrange(9)]\n        texts = [self.rows[one]['text'] for one in many]",
    ],
)
def test_numbers_one_of_which_is_that_of_the_item(
    reading: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"data.py": PROGRAM.replace("READING", reading)}
    assert findings(files, select=["DLL302"]) == marks(files)


@pytest.mark.parametrize(
    "reading",
    [
        f"for one in [0, 1]:\n{KEEPS}",
        f"many = range(3)\n        for one in many:\n{KEEPS}",
        "for one in self.names:\n            texts.append(self.rows[one]['text'])",
    ],
)
def test_numbers_that_are_the_same_for_all_items(reading: str, findings: Callable[..., Any]) -> None:
    assert findings({"data.py": PROGRAM.replace("READING", reading)}, select=["DLL302"]) == set()
