"""DLL102: starts that many calls lead to, where limits leave open what a function calls or iterates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = "from torch.utils.data import DataLoader\n"
LOADER = "DataLoader([1, 2], num_workers=2, multiprocessing_context='spawn')"
DEPTH = 8


def handing(name: str, iterated: str) -> str:
    """Functions that each hand their argument to the next one; the last one iterates it."""
    calls = "".join(f"def {name}{n}(given):\n    return {name}{n + 1}(given)\n" for n in range(DEPTH))
    return (
        f"import torch.utils.data\n{calls}def {name}{DEPTH}(given):\n    for row in {iterated}:\n        print(row)\n"
    )


KINDS = (
    "import torch.utils.data\nclass Kind:\n    def run(self, rows):\n        return self.go(rows)\n"
    "    def go(self, rows):\n        return len(rows)\n"
    + "".join(f"class Kind{n}(Kind):\n    def go(self, rows):\n        return {n}\n" for n in range(20))
    + "class Last(Kind):\n    def go(self, rows):\n        for row in rows: print(row)\n"
)
NAMES = ("take", "through", "more", "most", "utmost")
THROUGH = "".join(
    f"def {name}(kind, rows):\n    return {f'{inner}(kind, rows)' if inner else 'kind.run(rows)'}\n"
    for name, inner in zip(NAMES, (*NAMES[1:], ""), strict=True)
)
PROGRAMS: dict[str, dict[str, str]] = {
    "a loader that eight functions hand on": {
        "steps.py": handing("step", "given"),
        "run.py": f"{HEAD}from steps import step0\nloader = {LOADER}\nstep0(loader)  # DLL102\n",
    },
    "an object with a loader that eight functions hand on": {
        "holds.py": handing("hold", "given.loader"),
        "run.py": f"{HEAD}from holds import hold0\nclass Box:\n    def __init__(self, loader):\n"
        f"        self.loader = loader\nhold0(Box({LOADER}))  # DLL102\n",
    },
    "the one of twenty classes whose method iterates": {
        "many.py": KINDS,
        "run.py": f"{HEAD}from many import Last\nloader = {LOADER}\nLast().run(loader)  # DLL102\n",
    },
    "an object of such a class that five functions hand on": {
        "many.py": KINDS,
        "run.py": f"{HEAD}from many import Last\n{THROUGH}loader = {LOADER}\ntake(Last(), loader)  # DLL102\n",
    },
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS)
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]) -> None:
    assert findings(files, select=["DLL102"]) == marks(files) != set()


BASE = """\
import torch


def split(function, **kwargs):
    names = function.__annotations__
    return {k: v for k, v in kwargs.items() if k in names}, {k: v for k, v in kwargs.items() if k not in names}


def make(data, batch_size, **options):
    return torch.utils.data.DataLoader(data, batch_size=batch_size, **options)


def show(loader, count):
    for number, row in enumerate(loader):
        print(number < count, row)
"""
SETS = """\
import base


def rows(path, size=1):
    return [path, size]


def get_rows(path, batch_size, **kwargs):
    data_options, options = base.split(rows, **kwargs)
    return base.make(rows(path, **data_options), batch_size, **options)
"""
CHECK = """\
from base import show
from sets import get_rows


def check(split):
    loader = get_rows(split, batch_size=1OPTIONS)
    SHOW


check("train")
"""


@pytest.mark.parametrize("show", ["print(next(iter(loader)))", "show(loader, 8)"])
def test_the_worker_count_of_a_merged_activation(
    show: str, monkeypatch: pytest.MonkeyPatch, findings: Callable[..., Any]
) -> None:
    """Where the calls on the way to a loader are too many to keep apart, those written on this way still count."""
    monkeypatch.setattr("dllint.inference.engine.World.forgets", lambda world, frame: True)
    quiet = CHECK.replace("OPTIONS", ", size=3").replace("SHOW", show)
    working = CHECK.replace("OPTIONS", ", num_workers=3").replace("SHOW", show)
    files = {"base.py": BASE, "sets.py": SETS, "quiet.py": quiet, "working.py": working}

    assert findings(files, select=["DLL102"]) == {("working.py", 10, "DLL102")}
