"""How many elements a part of a list has: of a slice, of what `train_test_split` returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

ROWS = """\
import math

from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, share=0.5):
        rows = [{{"name": str(index), "number": index}} for index in range(1000000)]
        cut = int(0.5 * len(rows))
        {}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


for row in DataLoader(Rows(), num_workers=4):
    print(row)
"""
WHOLE, MOST, HALF = "231 MiB × 4", "173 MiB × 4", "115 MiB × 4"
LARGE = {
    "self.rows = rows": WHOLE,
    "self.rows = rows[:]": WHOLE,
    "self.rows = rows[::2]": HALF,
    "self.rows = rows[:500000]": HALF,
    "self.rows = rows[:len(rows) // 2]": HALF,
    "self.rows = rows[:round(len(rows) * share)]": HALF,
    "self.rows = rows[:cut]": HALF,
    "self.rows = rows[math.floor(cut / 2.0) :]": MOST,
    "self.rows, test = train_test_split(rows, test_size=0.5)": HALF,
    "self.rows, test = train_test_split(rows, random_state=0)": MOST,
    "self.rows = train_test_split(rows, test_size=500000)[0]": HALF,
    "train, test, self.rows, labels = train_test_split(list(range(9)), rows, train_size=0.5)": HALF,
}
SMALL = [
    "self.rows = rows[:100]",
    "self.rows = rows[-100:]",
    "self.rows = rows[int(len(rows) * 0.9999):]",
    "train, self.rows = train_test_split(rows, test_size=100)",
    "self.rows, test = train_test_split(rows, train_size=0.0001)",
    "self.rows = rows[5:5]",
]


@pytest.mark.parametrize("statement", LARGE)
def test_a_large_part(statement: str, told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": ROWS.format(statement)}, select=["DLL302"], target_python="3.12")

    assert (found.severity, LARGE[statement] in found.text) == ("warning", True), found.text


@pytest.mark.parametrize("statement", SMALL)
def test_a_small_part(statement: str, told: Callable[..., Any]) -> None:
    assert told({"train.py": ROWS.format(statement)}, select=["DLL302"], target_python="3.12") == ()


def test_a_part_of_unknown_size(told: Callable[..., Any]) -> None:
    statement = "self.rows = rows[: int(input())]"

    (found,) = told({"train.py": ROWS.format(statement)}, select=["DLL302"], target_python="3.12")

    assert (found.severity, "MiB" in found.text) == ("info", False)
