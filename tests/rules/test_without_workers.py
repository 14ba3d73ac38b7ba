"""What a dataset does only in runs without workers is no matter of workers: `if args.num_workers == 0: open(…)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
import argparse
import zipfile

from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, args, count):
        self.path = args.path
        self.count = args.workers
{opening}
    def open(self):
        self.handle = zipfile.ZipFile(self.path)

    def alone(self):
        return self.count == 0

    def __len__(self):
        return 9

    def __getitem__(self, index):
        if self.handle is None:
            return zipfile.ZipFile(self.path).read("a")
        return self.handle.read("a")

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--path")
    parser.add_argument("--few", type=int, default=1)
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    for batch in DataLoader(Rows(args, {count}), num_workers=args.workers, multiprocessing_context="fork"):
        print(batch)

if __name__ == "__main__":
    main()
"""
OPEN, NONE = "self.handle = zipfile.ZipFile(self.path)", "self.handle = None"
WITHOUT = [
    "if args.workers > 0:\n    NONE\nelse:\n    OPEN",
    "if self.count > 0:\n    NONE\nelse:\n    OPEN",
    "if count > 0:\n    NONE\nelse:\n    OPEN",
    "if self.count == 0:\n    OPEN\nelse:\n    NONE",
    "if not args.workers:\n    OPEN\nelse:\n    NONE",
    "if args.workers:\n    NONE\nelse:\n    OPEN",
    "if 0 < count:\n    NONE\nelse:\n    OPEN",
    "if count >= 1:\n    NONE\nelse:\n    OPEN",
    "NONE\nif count < 1:\n    OPEN",
    "NONE\nif count == 0 and self.path:\n    OPEN",
    "NONE\nalone = count == 0\nif alone:\n    OPEN",
    "NONE\nself.alone = self.count == 0\nif self.alone:\n    OPEN",
    "NONE\nif self.count == 0:\n    self.open()",
    "NONE\nif self.alone():\n    OPEN",
    "NONE\nif self.count != 0:\n    return\nOPEN",
    "self.handle = None if self.count else zipfile.ZipFile(self.path)",
]
WITH = [
    "if args.workers > 0:\n    OPEN\nelse:\n    NONE",
    "if args.workers > 1:\n    NONE\nelse:\n    OPEN",
    "if args.few == 0:\n    OPEN\nelse:\n    NONE",
    "if self.path == 0:\n    OPEN\nelse:\n    NONE",
    "NONE\nif count == 0 or self.path:\n    OPEN",
    "NONE\nif self.count:\n    self.open()",
]


def _program(opening: str, count: str = "args.workers") -> str:
    lines = opening.replace("OPEN", OPEN).replace("NONE", NONE).splitlines()
    return PROGRAM.format(opening="".join(f"        {line}\n" for line in lines), count=count)


@pytest.mark.parametrize("opening", WITHOUT)
def test_only_without_workers(told: Callable[..., Any], opening: str) -> None:
    assert told({"main.py": _program(opening)}, select=["DLL402", "DLL203"]) == ()


@pytest.mark.parametrize("opening", WITH)
def test_with_workers_too(told: Callable[..., Any], opening: str) -> None:
    assert [one.code for one in told({"main.py": _program(opening)}, select=["DLL402"])] == ["DLL402"]


def test_a_count_in_a_dict(told: Callable[..., Any]) -> None:
    direct = 'num_workers=args.workers, multiprocessing_context="fork"'
    packed = '**{"num_workers": args.workers, "multiprocessing_context": "fork"}'
    program = _program("NONE\nif self.count == 0:\n    OPEN").replace(direct, packed)

    assert packed in program
    assert told({"main.py": program}, select=["DLL402"]) == ()


def test_a_constant_that_the_loader_does_not_get(told: Callable[..., Any]) -> None:
    program = _program("if count > 0:\n    NONE\nelse:\n    OPEN", "0")

    assert [one.code for one in told({"main.py": program}, select=["DLL402"])] == ["DLL402"]


UNTYPED = """\
import argparse

from torch.utils.data import DataLoader

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", OPTION)
    args = parser.parse_args()
    CHANGED
    for batch in DataLoader([1, 2], num_workers=COUNT, collate_fn=lambda rows: rows):
        print(batch)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("option", "changed", "count", "found"),
    [
        ("default=0", "pass", "args.workers", False),
        ("default=0, help='processes'", "pass", "args.workers", False),
        ("dest='workers', default=0", "pass", "args.workers", False),
        ("default=0, type=int", "pass", "args.workers", True),
        ("default=0, choices=(0, 4)", "pass", "args.workers", True),
        ("default=4", "pass", "args.workers", True),
        ("default=0", "pass", "int(args.workers)", True),
        ("default=0", "args.workers = int(args.workers)", "args.workers", True),
        ("default=0", "workers = int(args.workers)", "workers", True),
        ("default=0", "parser.set_defaults(workers=2)", "args.workers", True),
        ("default=0", "vars(args).update(read())", "args.workers", True),
        ("default=0", "args.__dict__.update(**read())", "args.workers", True),
        ("default=0", "for key, value in read().items():\n        setattr(args, key, value)", "args.workers", True),
        ("default=0", "parser.set_defaults(**read())\n    args = parser.parse_args()", "args.workers", True),
    ],
)
def test_an_option_without_a_type(
    option: str, changed: str, count: str, found: bool, findings: Callable[..., Any]
) -> None:
    """A text from the command line is refused by DataLoader (TypeError), so that its default is all that works."""
    text = UNTYPED.replace("OPTION", option).replace("CHANGED", changed).replace("COUNT", count)

    assert bool(findings({"train.py": text}, select=["DLL204"])) is found
