"""DLL301: pictures that datasets of torchvision keep in one array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import torch.multiprocessing as mp
import torchvision
from torch.utils.data import DataLoader, Dataset, Subset
from torchvision import datasets
from torchvision.datasets import CIFAR10, SVHN

class Labelled(Dataset):
    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        return self.dataset[index][0]

class Own(CIFAR10):
    def __getitem__(self, index):
        return self.data[index]

class Factory:
    def __init__(self):
        self.train = CIFAR10("data", train=True)

    def split(self):
        return Labelled(self.train)

def train(rank):
    data = MADE
    for batch in DataLoader(data, num_workers=8):
        print(batch)

if __name__ == "__main__":
    START
"""
SPAWNED = "mp.spawn(train, nprocs=2)"


def _program(made: str, start: str = SPAWNED) -> str:
    return HEAD.replace("MADE", made).replace("START", start)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ('datasets.CIFAR10("data")', "Memory grows by 146 MiB × 8 workers = 1.1 GiB"),
        ('torchvision.datasets.CIFAR100(root="data", train=True)', "Memory grows by 146 MiB × 8 workers = 1.1 GiB"),
        ('SVHN("data", split="extra")', "Memory grows by 1.5 GiB × 8 workers = 12.2 GiB"),
        ('SVHN("data", "extra")', "Memory grows by 1.5 GiB × 8 workers = 12.2 GiB"),
        ('Labelled(datasets.STL10("data", split="unlabeled"))', "Memory grows by 2.6 GiB × 8 workers = 20.6 GiB"),
        ('Subset(CIFAR10("data"), [0, 1])', "Memory grows by 146 MiB × 8 workers = 1.1 GiB"),
        ('Own("data")', "Memory grows by 146 MiB × 8 workers = 1.1 GiB"),
        ("Factory().split()", "Memory grows by 146 MiB × 8 workers = 1.1 GiB"),
    ],
)
def test_each_spawned_worker_gets_a_copy(told: Callable[..., Any], made: str, expected: str) -> None:
    found = told({"train.py": _program(made)}, select=["DLL301"])

    assert [one.severity for one in found] == ["warning"]
    assert found[0].text.startswith(expected)


@pytest.mark.parametrize(
    ("made", "start"),
    [
        pytest.param('CIFAR10("data")', "train(0)", id="only a default of Python"),
        pytest.param('CIFAR10("data", train=False)', SPAWNED, id="a small split"),
        pytest.param('datasets.MNIST("data")', SPAWNED, id="a tensor"),
        pytest.param('datasets.ImageFolder("data")', SPAWNED, id="files"),
        pytest.param('CIFAR10("data")', 'mp.start_processes(train, nprocs=2, start_method="fork")', id="fork"),
    ],
)
def test_nothing_large_is_copied(told: Callable[..., Any], made: str, start: str) -> None:
    assert told({"train.py": _program(made, start)}, select=["DLL301"]) == ()


def test_few_workers_get_little(told: Callable[..., Any]) -> None:
    text = _program('CIFAR10("data")').replace("num_workers=8", "num_workers=1")

    assert told({"train.py": text}, select=["DLL301"]) == ()
