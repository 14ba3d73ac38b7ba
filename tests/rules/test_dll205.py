"""DLL205: what workers cannot send back, and what they can or never do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL205"]}
ROWS = """\
from torch.utils.data import DataLoader, Dataset
import torch

def same(rows):
    return rows

class Rows(Dataset):
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        {body}

def build(path):
    return DataLoader(Rows(path), num_workers=2, {arguments})
"""

ITEMS = {
    "lambda": "return index, lambda: index  # DLL205",
    "local function": "def later():\n            return index\n        return later  # DLL205",
    "generator": "return (row for row in [index])  # DLL205",
    "open file": 'return {"index": index, "file": open(self.path)}  # DLL205',
    "view of a dict": 'return {"a": index}.values()  # DLL205',
    "tensor with a graph": "return torch.zeros(2, requires_grad=True) * index  # DLL205",
    "object of a local class": "class Row:\n            pass\n        row = Row()\n        return row  # DLL205",
}
FINE = {
    "list": "return [row for row in [index]]",
    "detached": "return (torch.zeros(2, requires_grad=True) * index).detach()",
    "without gradients": "with torch.no_grad():\n            return torch.zeros(2, requires_grad=True) * index",
    "contents": "return open(self.path).read()",
    "list of a view": 'return list({"a": index}.values())',
    "called": "return (lambda: index)()",
    "caught": (
        "class No(Exception):\n            pass\n"
        "        try:\n            raise No\n        except No:\n            return index"
    ),
}
PASSING = ["collate_fn=same", "collate_fn=lambda rows: list(zip(*rows))", "batch_size=None"]


@pytest.mark.parametrize("arguments", PASSING)
@pytest.mark.parametrize("body", ITEMS.values(), ids=ITEMS)
def test_items(
    body: str, arguments: str, findings: Callable[..., set[tuple[str, int, str]]], marks: Callable[..., Any]
) -> None:
    files = {"data.py": ROWS.format(body=body, arguments=arguments)}
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("body", FINE.values(), ids=FINE)
def test_what_can_be_sent(body: str, findings: Callable[..., set[tuple[str, int, str]]]) -> None:
    assert findings({"data.py": ROWS.format(body=body, arguments="collate_fn=same")}, **SELECT) == set()


@pytest.mark.parametrize("arguments", ["", "collate_fn=sum", 'multiprocessing_context="fork"'])
@pytest.mark.parametrize("body", ITEMS.values(), ids=ITEMS)
def test_the_default_collate_function_raises_and_others_are_not_known(
    body: str, arguments: str, findings: Callable[..., set[tuple[str, int, str]]]
) -> None:
    text = ROWS.format(body=body.replace("  # DLL205", ""), arguments=arguments)
    assert findings({"data.py": text}, **SELECT) == set()


OTHERS: dict[str, dict[str, str]] = {
    "yielded by an iterable dataset": {
        "data.py": """\
from torch.utils.data import DataLoader, IterableDataset

class Rows(IterableDataset):
    def __iter__(self):
        for row in range(3):
            yield row, lambda: row  # DLL205

def build():
    return DataLoader(Rows(), batch_size=None, num_workers=2)
"""
    },
    "collate object of another file, in a keyword dict": {
        "collate.py": """\
class Collate:
    def __call__(self, rows):
        return {"rows": rows, "file": open("rows")}  # DLL205
""",
        "data.py": """\
from torch.utils.data import DataLoader as Loader
from collate import Collate

def build(rows):
    options = dict(num_workers=2, collate_fn=Collate())
    return Loader(rows, **options)
""",
    },
    "local exception raised by a helper": {
        "data.py": """\
from torch.utils.data import DataLoader, Dataset

def read(index):
    class Missing(Exception):
        pass

    raise Missing(index)  # DLL205

class Rows(Dataset):
    def __getitem__(self, index):
        return read(index)

def build():
    return DataLoader(Rows(), num_workers=2)
"""
    },
}


@pytest.mark.parametrize("files", OTHERS.values(), ids=OTHERS)
def test_found(
    files: dict[str, str], findings: Callable[..., set[tuple[str, int, str]]], marks: Callable[..., Any]
) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


def test_what_only_other_callers_pass(findings: Callable[..., set[tuple[str, int, str]]]) -> None:
    text = ROWS.format(body="return index", arguments="collate_fn=same")
    text += "\ndef elsewhere():\n    return same((row for row in [1])), same(lambda: 1)\n"
    assert findings({"data.py": text}, **SELECT) == set()


def test_no_workers(findings: Callable[..., set[tuple[str, int, str]]]) -> None:
    text = ROWS.format(body="return lambda: index", arguments="collate_fn=same").replace("=2", "=0")
    assert findings({"data.py": text}, **SELECT) == set()


@pytest.mark.parametrize("python", ["3.11", "3.13", "3.14"])
def test_the_words_are_those_of_the_target(python: str, told: Callable[..., Any]) -> None:
    text = ROWS.format(body="return lambda: index", arguments="batch_size=None")
    words = {
        "3.11": "AttributeError: Can't pickle",
        "3.13": "AttributeError: Can't get",
        "3.14": "PicklingError: Can't",
    }
    (found,) = told({"data.py": text}, target_python=python, **SELECT)
    assert f"{words[python]} " in found.text
    assert "'Rows.__getitem__.<locals>.<lambda>'" in found.text
    assert found.severity == "error"
