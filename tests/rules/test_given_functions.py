"""Functions that call what they are given: what each call gives runs where that call is made, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

APPLY = """\
import collections
from functools import partial

import torch

def apply(change, rows):
    if not len(rows):
        return {}

    def inner(row):
        if torch.is_tensor(row):
            return change(row)
        if isinstance(row, dict):
            return {key: inner(value) for key, value in row.items()}
        if isinstance(row, list):
            return [inner(one) for one in row]
        return row

    return inner(rows)

def on_gpu(row):
    return row.cuda()MARK

def on_cpu(row):
    return row.cpu()

def halved(row):
    return row / 2

def each(rows, change=halved):
    return apply(change, rows)

class Mover:
    def __call__(self, row):
        return on_gpu(row)

class Halver:
    def __call__(self, row):
        return halved(row)
"""
TRAIN = """\
import torch
from torch.utils.data import DataLoader, Dataset

from changes import Halver, Mover, apply, each, halved, on_cpu, on_gpu, partial

class Rows(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        BODY

def main(names):
    torch.cuda.set_device(0)
    for rows in DataLoader(Rows(), num_workers=2, multiprocessing_context="fork"):
        names.append(apply(on_gpu, rows))
"""
STEPS = "\n".join(
    f"def step{number}(rows):\n    return apply(on_gpu, rows), each(rows, on_gpu)\n" for number in range(20)
)
MANY = f"""
{STEPS}
def run(rank):
    main([])
    return [{", ".join(f"step{number}([])" for number in range(20))}]

if __name__ == "__main__":
    torch.multiprocessing.spawn(run)
"""

FOUND = {
    "a function": "return apply(on_gpu, [torch.ones(3)])",
    "the second of two": "return apply(on_gpu, apply(on_cpu, [torch.ones(3)]))",
    "one after another": "rows = apply(halved, [torch.ones(3)])\n        return apply(on_gpu, rows)",
    "a lambda": "return apply(lambda row: on_gpu(row), [torch.ones(3)])",
    "a partial": "return apply(partial(on_gpu), [torch.ones(3)])",
    "an object": "return apply(Mover(), apply(Halver(), [torch.ones(3)]))",
    "by keyword": "return apply(rows=[torch.ones(3)], change=on_gpu)",
    "handed on": "return each(each([torch.ones(3)], on_cpu), on_gpu)",
}
SILENT = {
    "a function": "return apply(on_cpu, [torch.ones(3)])",
    "one after another": "rows = apply(halved, [torch.ones(3)])\n        return apply(on_cpu, rows)",
    "a lambda": "return apply(lambda row: halved(row), [torch.ones(3)])",
    "a partial": "return apply(partial(halved), [torch.ones(3)])",
    "an object": "return apply(Halver(), [torch.ones(3)])",
    "by keyword": "return apply(rows=[torch.ones(3)], change=halved)",
    "handed on": "return each([torch.ones(3)], on_cpu)",
    "a default": "return each([torch.ones(3)])",
}


@pytest.mark.parametrize("more", ["", MANY], ids=["few calls", "many calls"])
@pytest.mark.parametrize("body", FOUND.values(), ids=FOUND)
def test_found(body: str, more: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"changes.py": APPLY.replace("MARK", "  # DLL103"), "train.py": TRAIN.replace("BODY", body) + more}

    assert marks(files)
    assert findings(files, select=["DLL103"]) == marks(files)


@pytest.mark.parametrize("more", ["", MANY], ids=["few calls", "many calls"])
@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, more: str, findings: Callable[..., Any]) -> None:
    files = {"changes.py": APPLY.replace("MARK", ""), "train.py": TRAIN.replace("BODY", body) + more}

    assert findings(files, select=["DLL103"]) == set()
