"""What a caller sets on an object before it hands it to the function with the loader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL201"]}

LOADING = """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, step):
        self.step = step

    def __getitem__(self, index):
        return self.step(index)

def build(args, step):
    return DataLoader(Rows(step), num_workers=args.workers)

def prepare(options, step):
    return build(options, step)

class Builder:
    def __init__(self, args):
        self.args = args

    def build(self, args, step):
        return build(args, step)
"""
HEAD = """\
import argparse
from loading import Builder, Rows, build, prepare

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    return parser.parse_args()
"""

SILENT: dict[str, str] = {
    "the call's own argument": """
def main():
    args = parse()
    args.workers = 0
    build(args, lambda row: row)
""",
    "as a keyword": """
def main():
    args = parse()
    args.workers = 0
    build(step=lambda row: row, args=args)
""",
    "by another name, two calls up": """
def main():
    given = parse()
    given.workers = 0
    prepare(given, lambda row: row)
""",
    "through a method": """
def main():
    args = parse()
    args.workers = 0
    Builder(None).build(args, lambda row: row)
""",
    "an attribute of an attribute": """
class Holder:
    def __init__(self):
        self.args = parse()

    def run(self):
        self.args.workers = 0
        build(self.args, lambda row: row)
""",
    "by setattr": """
def main():
    args = parse()
    setattr(args, "workers", 0)
    build(args, lambda row: row)
""",
    "by every caller": """
def once():
    args = parse()
    args.workers = 0
    build(args, lambda row: row)

def twice():
    args = parse()
    args.workers = 0
    build(args, lambda row: row + 1)
""",
}

FOUND: dict[str, str] = {
    "never": """
def main():
    args = parse()
    build(args, lambda row: row)  # DLL201
""",
    "after the call": """
def main():
    args = parse()
    build(args, lambda row: row)  # DLL201
    args.workers = 0
""",
    "on some ways only": """
def main(debug):
    args = parse()
    if debug:
        args.workers = 0
    build(args, lambda row: row)  # DLL201
""",
    "another attribute": """
def main():
    args = parse()
    args.threads = 0
    build(args, lambda row: row)  # DLL201
""",
    "on another object": """
def main():
    args, other = parse(), parse()
    other.workers = 0
    build(args, lambda row: row)  # DLL201
""",
    "to a number of workers": """
def main():
    args = parse()
    args.workers = 3
    build(args, lambda row: row)  # DLL201
""",
    "by one of two callers": """
def once():
    args = parse()
    args.workers = 0
    build(args, lambda row: row)

def twice():
    args = parse()
    build(args, lambda row: row + 1)  # DLL201
""",
    "the function sets it on some ways": """
def again(args, step):
    if args.fast:
        args.workers = 2
    build(args, step)

def main():
    args = parse()
    args.workers = 0
    again(args, lambda row: row)  # DLL201
""",
    "the function sets it again": """
def again(args, step):
    args.workers = 2
    build(args, step)

def main():
    args = parse()
    args.workers = 0
    again(args, lambda row: row)  # DLL201
""",
}


@pytest.mark.parametrize("program", SILENT.values(), ids=SILENT)
def test_no_workers_where_the_caller_sets_none(program: str, findings: Callable[..., Any]) -> None:
    assert findings({"loading.py": LOADING, "train.py": HEAD + program}, **SELECT) == set()


@pytest.mark.parametrize("program", FOUND.values(), ids=FOUND)
def test_workers_where_it_does_not(program: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"loading.py": LOADING, "train.py": HEAD + program}
    assert findings(files, **SELECT) == marks(files)
