"""Datasets that are one of many classes among which a name chooses: what comes to a loader, and with which weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dllint.finding import Finding

ROWS = """\
from torch.utils.data import Dataset


class Component:
    def __init__(self, name, options):
        self.name = name
        self.options = options


class Rows(Component, Dataset):
    def __init__(self, name, options):
        super().__init__(name, options)
        self.change = lambda row: row  # DLL201

    def __getitem__(self, index):
        return self.change(index)

    def __len__(self):
        return 9


class Settings(Component):
    def __getitem__(self, key):
        return self.options[key]

    def __iter__(self):
        return iter(self.options)


class Report(Component):
    def __init__(self, name, options):
        super().__init__(name, options)
        self.file = open(options["path"], "w")
        self.form = lambda row: str(row)

    def __getitem__(self, index):
        return self.form(index)
""" + "".join(f"\n\nclass Step{number}(Component):\n    pass\n" for number in range(60))
LOADING = """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Subset

import {imported}


def build(name, options):
    {chosen}
    return cls(name, options)


def train(rank, options):
    loader = DataLoader({dataset}, num_workers=2)
    for batch in loader:
        print(batch)


def main(options):
    mp.spawn(train, args=(options,), nprocs=2)
"""
MADE = 'build("rows", options)'
BY_GETATTR = "cls = getattr(rows, options['type'])"
FOUND = {
    "getattr of a module": (BY_GETATTR, MADE),
    "with a default": ("cls = getattr(rows, options['type'], None)", MADE),
    "the dict of the module": ("cls = vars(rows)[options['type']]", MADE),
    "the subclasses of a class": (
        "cls = {one.__name__: one for one in rows.Component.__subclasses__()}[options['type']]",
        MADE,
    ),
    "inside a subset": (BY_GETATTR, f"Subset({MADE}, range(3))"),
    "in a list": (BY_GETATTR, f"[{MADE}][0]"),
}


@pytest.mark.parametrize(("chosen", "dataset"), FOUND.values(), ids=FOUND)
def test_only_the_datasets_of_a_choice_come_to_a_loader(
    chosen: str, dataset: str, told: Callable[..., tuple[Finding, ...]], marks: Callable[..., Any]
) -> None:
    files = {"rows.py": ROWS, "train.py": LOADING.format(imported="rows", chosen=chosen, dataset=dataset)}

    found = told(files, select=["DLL201", "DLL203"])

    assert [(one.code, one.span.line, one.severity) for one in found] == [
        (code, line, "warning") for _, line, code in marks(files)
    ]


def test_a_package_exports_the_classes(told: Callable[..., tuple[Finding, ...]]) -> None:
    files = {
        "package/__init__.py": "from .rows import *\n",
        "package/rows.py": ROWS,
        "train.py": LOADING.format(imported="package", chosen="cls = getattr(package, options['type'])", dataset=MADE),
    }

    found = told(files, select=["DLL201", "DLL203"])

    assert [(one.code, one.severity) for one in found] == [("DLL201", "warning")]


def test_a_name_that_is_known_makes_it_sure(told: Callable[..., tuple[Finding, ...]]) -> None:
    chosen = 'cls = getattr(rows, "Rows")'
    files = {"rows.py": ROWS, "train.py": LOADING.format(imported="rows", chosen=chosen, dataset=MADE)}

    found = told(files, select=["DLL201", "DLL203"])

    assert [(one.code, one.severity) for one in found] == [("DLL201", "error")]


def test_without_datasets_any_class_with_items_is_meant(told: Callable[..., tuple[Finding, ...]]) -> None:
    rows = ROWS.replace("(Component, Dataset)", "(Component)")
    files = {"rows.py": rows, "train.py": LOADING.format(imported="rows", chosen=BY_GETATTR, dataset=MADE)}

    found = told(files, select=["DLL201"])

    assert {(one.span.line, one.severity) for one in found} == {(13, "warning"), (34, "warning")}


def test_a_method_of_the_chosen_class_is_none_of_another_module(told: Callable[..., tuple[Finding, ...]]) -> None:
    files = {
        "samplers.py": """\
import numpy as np
from torch.utils.data import Sampler


class Starts(Sampler):
    def __init__(self, size, seed):
        self.size = size
        self.draws = np.random.RandomState(seed)

    def __iter__(self):
        return iter(self.draws.randint(0, self.size, size=(self.size,)))

    def __len__(self):
        return self.size

    @staticmethod
    def create(rows, options):
        return Starts(len(rows), options["seed"])
""",
        "rows.py": """\
import numpy as np
from torch.utils.data import Dataset


class Rows(Dataset):
    def __init__(self, paths, seed):
        self.paths = paths
        self.noise = np.random.RandomState(seed)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.noise.rand(3)

    @staticmethod
    def create(options):
        return Rows(options["paths"], options["seed"])
""",
        "loading.py": """\
from torch.utils.data import DataLoader

import rows
import samplers


def load(options):
    data = getattr(rows, options["rows"]["name"]).create(options["rows"])
    order = getattr(samplers, options["order"]["name"]).create(data, options["order"])
    return DataLoader(data, batch_size=4, sampler=order, num_workers=4)
""",
    }

    assert [(one.path.rpartition("/")[2], one.code) for one in told(files, select=["DLL602"])] == [
        ("rows.py", "DLL602")
    ]


@pytest.mark.parametrize(
    "chosen",
    ['globals()[f"get_{name}"](name, root, **options)', "(get_rows if name else get_dataset)(name, root, **options)"],
)
def test_a_function_that_may_call_itself_with_its_keywords(
    chosen: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    text = f"""\
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10


def get_dataset(name, root, **options):
    return {chosen}


def get_rows(name, root, **options):
    return CIFAR10(root, **options)


def main(name):
    return DataLoader(get_dataset(name, "data", transform=lambda image: image), num_workers=4)  # DLL201
"""
    assert findings({"train.py": text}, select=["DLL201"]) == marks({"train.py": text})
