"""Datasets from outside the project: parts of them, and what is put on them after they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

GRAPHS = """\
from torch_geometric.data import InMemoryDataset
from torch_geometric.datasets import TUDataset
from torch_geometric.loader import DataLoader


class Rows(InMemoryDataset):
    def __init__(self, root, transform=None):
        super().__init__(root, transform)


class Whole(InMemoryDataset):
    def __getitem__(self, index):
        return index


def main():
    LINES
    for batch in DataLoader(given, num_workers=4):
        print(batch)


if __name__ == "__main__":
    main()
"""
IMAGES = """\
import copy

from torch.utils.data import DataLoader, Subset, random_split
from torchvision.datasets import CIFAR10


class Settings:
    pass


def main():
    LINES
    for batch in DataLoader(given, num_workers=4):
        print(batch)


if __name__ == "__main__":
    main()
"""


def program(text: str, *lines: str) -> dict[str, str]:
    return {"main.py": text.replace("LINES", "\n    ".join(lines))}


MADE = 'rows = Rows("r", transform=lambda row: row)'


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param((MADE, "given = rows[:10]"), id="a slice"),
        pytest.param((MADE, "given = rows[rows.get_idx_split()['train']]"), id="indices of a split"),
        pytest.param((MADE, "given = rows[[1, 2]]"), id="a list"),
        pytest.param((MADE, "given = rows.shuffle()[10:]"), id="shuffled"),
        pytest.param((MADE, "given = rows.index_select([1, 2])"), id="selected"),
        pytest.param((MADE.replace("Rows", "TUDataset"), "rows = rows.copy()", "given = rows"), id="a library's"),
        pytest.param(('rows = Rows("r")', "rows.transform = lambda row: row", "given = rows[:10]"), id="assigned"),
        pytest.param(
            ('rows = TUDataset("r")', "rows.transform = lambda row: row", "given = rows"), id="to a library's"
        ),
    ],
)
def test_a_part_of_a_graph_dataset_keeps_what_the_whole_keeps(lines: tuple[str, ...], told: Callable[..., Any]) -> None:
    found = told(program(GRAPHS, *lines), select=["DLL201"])

    assert [one.severity for one in found] == ["warning"]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param((MADE, "given = [rows[0], rows[1]]"), id="items"),
        pytest.param(("rows = Whole('r')", "rows.transform = lambda row: row", "given = rows[:10]"), id="own items"),
        pytest.param((MADE, "given = [len(rows.shuffle())]"), id="its length"),
    ],
)
def test_an_item_of_a_graph_dataset_is_not_the_dataset(lines: tuple[str, ...], told: Callable[..., Any]) -> None:
    assert not told(program(GRAPHS, *lines), select=["DLL201"])


SPLIT = "given, rest = random_split(rows, [8, 2])"


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(("given = CIFAR10('r')", "given.transform = lambda row: row"), id="the dataset"),
        pytest.param(("rows = CIFAR10('r')", "rows.transform = lambda row: row", SPLIT), id="before it is split"),
        pytest.param(("rows = CIFAR10('r')", SPLIT, "given.dataset.transform = lambda row: row"), id="through a split"),
        pytest.param(
            ("given = Subset(CIFAR10('r'), [1])", "given.dataset.transform = lambda row: row"), id="through a subset"
        ),
        pytest.param(
            ("rows = CIFAR10('r')", "given = copy.copy(rows)", "given.target_transform = lambda row: row"), id="a copy"
        ),
    ],
)
def test_what_is_put_on_a_dataset_is_kept_by_it(lines: tuple[str, ...], told: Callable[..., Any]) -> None:
    found = told(program(IMAGES, *lines), select=["DLL201"])

    assert [one.severity for one in found] == ["warning"]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(
            ("given = CIFAR10('r')", "other = CIFAR10('o')", "other.transform = lambda row: row"), id="another dataset"
        ),
        pytest.param(
            ("given = CIFAR10('r')", "settings = Settings()", "settings.change = lambda row: row"), id="no dataset"
        ),
        pytest.param(
            ("given = CIFAR10('r')", "rows = Subset(CIFAR10('o'), [1])", "rows.dataset.transform = lambda row: row"),
            id="a part of another one",
        ),
    ],
)
def test_what_is_put_on_something_else_is_not_kept(lines: tuple[str, ...], told: Callable[..., Any]) -> None:
    assert not told(program(IMAGES, *lines), select=["DLL201"])
