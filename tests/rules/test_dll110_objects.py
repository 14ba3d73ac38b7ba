"""DLL110: objects of modules that the main program changes after the imports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL110"]}
OPTIONS = """\
class Options:
    scale = 1

    def __init__(self):
        self.shift = 0
        self.paths = []

    def load(self, path):
        self.shift = int(open(path).read())

    def parse(self, kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def start(self, path):
        self.load(path)

opt = Options()
"""
MAIN = """\
import torch
from torch.utils.data import DataLoader, Dataset
{imports}

class Rows(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return index * {read}

def main(**kwargs):
    {change}
    for batch in DataLoader(Rows(), num_workers=2):
        print(batch)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("imports", "change", "read"),
    [
        ("from options import opt", "opt.scale = 3", "opt.scale"),
        ("from options import opt", "opt.shift = 3", "opt.shift"),
        ("from options import opt as o", "o.load('x')", "o.shift"),
        ("from options import opt as o", "o.scale = 3", "o.scale"),
        ("from options import opt as o", "o.parse(kwargs)", "o.scale"),
        ("import options", "options.opt.load('x')", "options.opt.shift"),
        ("from options import opt", "opt.start('x')", "opt.shift"),
        ("from options import opt", "opt.parse(kwargs)", "opt.scale"),
        ("import options\nfrom options import opt", "setattr(options.opt, 'scale', 3)", "opt.scale"),
    ],
)
def test_an_object_that_main_changes(imports: str, change: str, read: str, told: Callable[..., Any]) -> None:
    text = MAIN.format(imports=imports, change=change, read=read)

    found = told({"main.py": text, "options.py": OPTIONS}, **SELECT)

    line = text.splitlines().index(f"    {change}") + 1
    assert [(one.span.line, one.severity, one.values["name"]) for one in found] == [
        (line, "warning", f"opt.{read.rpartition('.')[2]}")
    ]


@pytest.mark.parametrize(
    ("imports", "change", "read"),
    [
        # another attribute, or nothing that main changes
        ("from options import opt", "opt.load('x')", "opt.scale"),
        ("from options import opt", "print(opt.scale)", "opt.scale"),
        # workers import the change
        ("from options import opt\nopt.load('x')", "opt.load('y')", "opt.shift"),
        # an object of the main program
        ("from options import Options", "opt = Options(); opt.load('x')", "Options().shift"),
        # a method, and one that workers call too
        ("from options import opt", "opt.parse(kwargs)", "(opt.load is None)"),
        ("from options import opt", "opt.load('x')", "(opt.load('x') or opt.shift)"),
    ],
)
def test_an_object_that_workers_see_as_it_is(imports: str, change: str, read: str, told: Callable[..., Any]) -> None:
    text = MAIN.format(imports=imports, change=change, read=read)

    assert told({"main.py": text, "options.py": OPTIONS}, **SELECT) == ()


@pytest.mark.parametrize(("given", "count"), [("", 1), ("'defaults'", 0)])
def test_a_constructor_that_may_change_the_object_itself(given: str, count: int, told: Callable[..., Any]) -> None:
    options = OPTIONS.replace(
        "def __init__(self):",
        "def __init__(self, path=None):\n        if path is not None:\n            self.load(path)",
    ).replace("Options()", f"Options({given})")
    text = MAIN.format(imports="from options import opt", change="opt.load('x')", read="opt.shift")

    assert len(told({"main.py": text, "options.py": options}, **SELECT)) == count


def test_an_object_that_the_dataset_takes_along(told: Callable[..., Any]) -> None:
    text = MAIN.format(imports="from options import opt", change="opt.load('x')", read="self.opt.shift")
    kept = "class Rows(Dataset):\n    def __init__(self):\n        self.opt = opt\n\n    def __len__"

    files = {"main.py": text.replace("class Rows(Dataset):\n    def __len__", kept), "options.py": OPTIONS}
    assert told(files, **SELECT) == ()


def test_an_object_in_a_pool(told: Callable[..., Any]) -> None:
    text = (
        "from multiprocessing import Pool\nfrom options import opt\n\n"
        "def work(index):\n    return index * opt.shift\n\n"
        'if __name__ == "__main__":\n    opt.load("x")\n    with Pool(2) as pool:\n        pool.map(work, range(3))\n'
    )

    (found,) = told({"main.py": text, "options.py": OPTIONS}, **SELECT)

    assert (found.span.line, found.values["name"]) == (8, "opt.shift")


def test_all_changes_of_one_program_are_told_together(told: Callable[..., Any]) -> None:
    change = "opt.parse(kwargs)\n    opt.load('x')\n    opt.scale = 3"
    text = MAIN.format(imports="from options import opt", change=change, read="(opt.scale + opt.shift)")
    other = MAIN.format(imports="from options import opt", change="opt.load('y')", read="0")

    (found,) = told({"main.py": text, "other.py": other, "options.py": OPTIONS}, **SELECT)

    line = text.splitlines().index("    opt.parse(kwargs)") + 1
    also = sorted(place.span.line for place in found.related if place.message == "changed here too")
    assert (found.path[-7:], found.span.line, also) == ("main.py", line, [line + 1, line + 2])
