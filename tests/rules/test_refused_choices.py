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


OPTIONS = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--threads", action="store_true")
options = parser.parse_args()
"""
READER = """\
from multiprocessing import Process
from threading import Thread

from options import options


class Reader:
    def __init__(self):
        self.file = open("rows")

    def start(self):
        if options.threads:
            Thread(target=self.read).start()
        else:
            Process(target=self.read).start()

    def read(self):
        print(self.file)
"""
PROGRAM_OF_OPTIONS = """\
import multiprocessing

from options import options
from reader import Reader


def main():
    Reader().start()


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    options.threads = True
    main()
"""
OPENED = {("reader.py", 9, "DLL209")}


def _programs(**more: str) -> dict[str, str]:
    files = {"options.py": OPTIONS, "reader.py": READER, "main.py": PROGRAM_OF_OPTIONS}
    return {**files, **{f"{name}.py": text for name, text in more.items()}}


def test_an_option_that_every_program_sets(findings: Callable[..., Any]) -> None:
    other = "from options import options\nfrom reader import Reader\n\noptions.threads = True\n\n"
    tool = other + 'def tool():\n    Reader().start()\n\nif __name__ == "__main__":\n    tool()\n'
    script = "from tool import tool\n\ntool()\n"

    assert findings(_programs(tool=tool, script=script), select=["DLL209"]) == set()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    options.threads = True\n", ""),
        ("    options.threads = True\n    main()\n", "    main()\n    options.threads = True\n"),
        ("    options.threads = True\n", "    if input():\n        options.threads = True\n"),
        ("def main():\n", "def main():\n    options.threads = False\n"),
    ],
)
def test_an_option_that_a_program_may_not_set(old: str, new: str, findings: Callable[..., Any]) -> None:
    assert findings(_programs(main=PROGRAM_OF_OPTIONS.replace(old, new)), select=["DLL209"]) == OPENED


def test_an_option_that_only_one_program_sets(findings: Callable[..., Any]) -> None:
    other = PROGRAM_OF_OPTIONS.replace("    options.threads = True\n", "")

    assert findings(_programs(other=other), select=["DLL209"]) == OPENED


TRAINER = """\
import multiprocessing as mp


class Plotter:
    def start(self):
        self.process = mp.Process(target=self.draw)
        self.process.start()

    def draw(self):
        pass


class Trainer:
    def __init__(self):
        self.plot = False

    def begin(self):
        if self.plot:
            Plotter().start()

    def train(self, epochs, plot=False):
        self.plot = plot
        self.begin()


def quiet(epochs):
    Trainer().train(epochs)


def drawn(epochs, plot):
    Trainer().train(epochs, plot=plot)
"""
QUIET = "from trainer import quiet\n\nquiet(4)\n"
DRAWN = "from trainer import drawn\n\ndrawn(4, True)\n"


def test_an_attribute_that_the_calling_method_sets(findings: Callable[..., Any]) -> None:
    files = {"trainer.py": TRAINER, "quiet.py": QUIET, "drawn.py": DRAWN}

    assert findings(files, select=["DLL102"]) == {("drawn.py", 3, "DLL102")}


SETTING = "        self.plot = plot\n        self.begin()\n"


@pytest.mark.parametrize(
    "setting",
    [
        "        if epochs:\n            self.plot = plot\n        self.begin()\n",
        "        self.begin()\n        self.plot = plot\n",
        (
            "        self.plot = plot\n        self.choose()\n        self.begin()\n\n"
            "    def choose(self):\n        self.plot = bool(input())\n"
        ),
    ],
)
def test_an_attribute_that_may_be_set_otherwise(setting: str, findings: Callable[..., Any]) -> None:
    trainer = TRAINER.replace(SETTING, setting).replace("self.plot = False", "self.plot = bool(input())")

    assert findings({"trainer.py": trainer, "quiet.py": QUIET}, select=["DLL102"]) == {("quiet.py", 3, "DLL102")}


MODES = """\
import cv2
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, mode):
        self.mode = mode

    def __getitem__(self, index):
        row = np.load(str(index))
        if self.mode == "train":
            row = self.augment(row)
        return row

    def augment(self, row):
        return cv2.GaussianBlur(row, (5, 5), 1)

    def __len__(self):
        return 9


def main():
    FIRST = DataLoader(Rows("FIRST"), num_workers=4)
    SECOND = DataLoader(Rows("SECOND"), num_workers=4)
    for row in FIRST:
        print(row)
    for row in SECOND:
        print(row)


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("first", "second", "line"), [("train", "test", 24), ("test", "train", 25)])
def test_what_objects_of_one_class_run_in_workers(first: str, second: str, line: int, told: Callable[..., Any]) -> None:
    """Each by the values of its own attributes."""
    (finding,) = told({"main.py": MODES.replace("FIRST", first).replace("SECOND", second)}, select=["DLL501"])

    assert [place.span.line for place in finding.related if "DataLoader" in place.message] == [line]


def test_what_no_object_of_a_class_runs_in_workers(told: Callable[..., Any]) -> None:
    assert told({"main.py": MODES.replace("FIRST", "val").replace("SECOND", "test")}, select=["DLL501"]) == ()


BRANCHES = MODES.replace(
    "        self.mode = mode\n",
    '        if mode == "train":\n            self.mode = "train"\n            self.size = 4\n'
    '        else:\n            self.mode = "plain"\n',
)


def test_an_attribute_that_each_object_sets_in_another_branch(told: Callable[..., Any]) -> None:
    (finding,) = told({"main.py": BRANCHES.replace("FIRST", "test").replace("SECOND", "train")}, select=["DLL501"])
    assert len([place for place in finding.related if "DataLoader" in place.message]) == 1
    assert told({"main.py": BRANCHES.replace("FIRST", "val").replace("SECOND", "test")}, select=["DLL501"]) == ()
