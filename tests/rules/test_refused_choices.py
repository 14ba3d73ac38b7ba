"""Code that runs only with a choice which the command line refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MAIN = """\
import argparse

from sub.program import Program

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="rows", choices=["rows", "files"])
    args = parser.parse_args()
    Program(args).run()
"""
PROGRAM = """\
from sub import base


class Program(base.Base):
    def run(self):
        for one in self.load():
            print(one)
"""
BASE = """\
import lmdb
import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self):
        self.names = "a"

    def __getitem__(self, i):
        return self.names[i]


class Records(torch.utils.data.Dataset):
    def __init__(self):
        self.records = lmdb.open("records")

    def __getitem__(self, i):
        return self.records.begin().get(i)


class Base:
    def __init__(self, args):
        self.args = args
        if self.args.data == "rows":
            self.make = Rows
        elif TEST:
            self.make = Records
        else:
            self.make = Rows

    def load(self):
        return torch.utils.data.DataLoader(self.make(), num_workers=2)
"""
FOUND = {("sub/base.py", 15, "DLL203")}


def _files(test: str, main: str = MAIN) -> dict[str, str]:
    return {
        "main.py": main,
        "sub/__init__.py": "",
        "sub/program.py": PROGRAM,
        "sub/base.py": BASE.replace("TEST", test),
    }


@pytest.mark.parametrize(
    "test", ['self.args.data == "records"', 'self.args.data in ("records", "tables")', 'not args.data != "records"']
)
def test_a_choice_that_is_refused(test: str, findings: Callable[..., Any]) -> None:
    assert findings(_files(test), select=["DLL203"]) == set()


@pytest.mark.parametrize("test", ['self.args.data == "files"', 'self.args.data in ("records", "files")', "args.size"])
def test_a_choice_that_is_accepted(test: str, findings: Callable[..., Any]) -> None:
    assert findings(_files(test), select=["DLL203"]) == FOUND


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (', choices=["rows", "files"]', ""),
        ('"files"]', '"files", *MORE]'),
        ("    Program", '    args.data = "records"\n    Program'),
        ("    Program", '    for name in ("data", "size"):\n        setattr(args, name, "records")\n    Program'),
        ("    args =", '    parser.set_defaults(data="records")\n    args ='),
    ],
)
def test_other_ways_to_a_choice(old: str, new: str, findings: Callable[..., Any]) -> None:
    assert findings(_files('self.args.data == "records"', MAIN.replace(old, new)), select=["DLL203"]) == FOUND
