"""What datasets keep in fields that a generated constructor sets: dataclasses, attrs, named tuples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import typing
from dataclasses import InitVar, dataclass, field
from typing import Callable, ClassVar, NamedTuple

import attr
import attrs
from torch.utils.data import DataLoader, Dataset

"""
ROWS = """
class Rows(Dataset):
    def __init__(self, options):
        self.options = options

    def __getitem__(self, index):
        return self.options.change(index)
"""
ITEMS = """
    def __getitem__(self, index):
        return self.change(index)
"""
LOADER = """
def main(change):
    for batch in DataLoader({made}, num_workers=2, multiprocessing_context="spawn"):
        print(batch)
"""
OPTIONS = HEAD + "{options}\n" + ROWS + LOADER.format(made="Rows(Options())")
DATASET = HEAD + "@dataclass\nclass Rows(Dataset):\n{fields}" + ITEMS + LOADER
MADE = "Rows()"
FOUND = {
    "a default": DATASET.format(fields="    change: Callable = lambda row: row  # DLL201\n", made=MADE),
    "a default by field": DATASET.format(
        fields="    change: Callable = field(default=lambda row: row)  # DLL201\n", made=MADE
    ),
    "a factory": DATASET.format(
        fields="    change: Callable = field(default_factory=lambda: lambda row: row)  # DLL201\n", made=MADE
    ),
    "an argument": DATASET.format(fields="    change: Callable = abs\n", made="Rows(lambda row: row)").replace(
        'spawn"):', 'spawn"):  # DLL201'
    ),
    "another field's argument": DATASET.format(
        fields="    size: int\n    change: Callable = lambda row: row  # DLL201\n", made="Rows(3)"
    ),
    "inherited": HEAD
    + "@dataclass\nclass Base(Dataset):\n    change: Callable = lambda row: row  # DLL201\n"
    + ITEMS
    + "\n@dataclass\nclass Rows(Base):\n    size: int = 3\n"
    + LOADER.format(made=MADE),
    "of options": OPTIONS.replace(
        "{options}", "@dataclass\nclass Options:\n    change: Callable = lambda row: row  # DLL201"
    ),
    "of attrs": OPTIONS.replace(
        "{options}", "@attr.s\nclass Options:\n    change = attr.ib(default=lambda row: row)  # DLL201"
    ),
    "of new attrs": OPTIONS.replace(
        "{options}",
        "@attrs.define\nclass Options:\n    change: Callable = attrs.field(default=lambda row: row)  # DLL201",
    ),
    "of a named tuple": OPTIONS.replace(
        "{options}", "class Options(NamedTuple):\n    change: Callable = lambda row: row  # DLL201"
    ),
}
SILENT = {
    "another argument": DATASET.format(fields="    change: Callable = lambda row: row\n", made="Rows(abs)"),
    "another keyword": DATASET.format(fields="    change: Callable = lambda row: row\n", made="Rows(change=abs)"),
    "a class variable": DATASET.format(fields="    change: ClassVar[Callable] = lambda row: row\n", made=MADE),
    "a class variable as text": DATASET.format(
        fields='    change: "typing.ClassVar[Callable]" = lambda row: row\n', made=MADE
    ),
    "no annotation": DATASET.format(fields="    change = staticmethod(lambda row: row)\n", made=MADE),
    "for __post_init__ alone": DATASET.format(fields="    make: InitVar[Callable] = lambda row: row\n", made=MADE),
    "not in the constructor": DATASET.format(
        fields="    change: Callable = field(default=lambda row: row, init=False)\n", made=MADE
    ),
    "a factory of lists": DATASET.format(fields="    change: list = field(default_factory=lambda: [1])\n", made=MADE),
    "replaced": DATASET.format(
        fields="    change: Callable = lambda row: row\n\n    def __post_init__(self):\n        self.change = abs\n",
        made=MADE,
    ),
    "no dataclass": HEAD
    + "class Rows(Dataset):\n    change: Callable = staticmethod(lambda row: row)\n"
    + ITEMS
    + LOADER.format(made=MADE),
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_lambdas_in_fields_are_sent_to_workers(
    text: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"train.py": text}

    assert findings(files, select=["DLL201"]) == marks(files) != set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_other_variables_of_classes_are_not(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": text}, select=["DLL201"]) == set()
