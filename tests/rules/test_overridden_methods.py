"""A base class's method that calls another, which the classes below have each for themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL101"]}

HEAD = """\
from torch.utils.data import DataLoader

class Batches:
    def __init__(self, rows):
        self.rows = rows

    def start(self):
        return self.make()

    def make(self):
        return DataLoader(self.rows, num_workers=2)  # DLL101
"""
MAIN = """\
import sys
import torch.multiprocessing as mp
from picking import pick

def main(rank, kind):
    for batch in pick(kind).start():
        print(batch)

if __name__ == "__main__":
    mp.spawn(main, args=(sys.argv[1],), nprocs=2)
"""

CLASSES: dict[str, tuple[str, str]] = {
    "one below": (
        """
class Grouped(Batches):
    def make(self):
        return DataLoader(list(self.rows), num_workers=2)  # DLL101
""",
        "Grouped([1]) if kind == 'grouped' else Batches([1])",
    ),
    "two below one another": (
        """
class Grouped(Batches):
    def make(self):
        return DataLoader(list(self.rows), num_workers=2)  # DLL101

class Sorted(Grouped):
    def make(self):
        return DataLoader(sorted(self.rows), num_workers=2)  # DLL101
""",
        "{'plain': Batches, 'grouped': Grouped, 'sorted': Sorted}[kind]([1])",
    ),
    "six beside one another": (
        "".join(
            f"""
class Kind{number}(Batches):
    def make(self):
        return DataLoader(self.rows[{number}:], num_workers=2)  # DLL101
"""
            for number in range(6)
        ),
        "[Batches, Kind0, Kind1, Kind2, Kind3, Kind4, Kind5][int(kind)]([1])",
    ),
    "an alias of a class": (
        """
class Grouped(Batches):
    def make(self):
        return DataLoader(list(self.rows), num_workers=2)  # DLL101

Default = Grouped
""",
        "Default([1]) if kind else Batches([1])",
    ),
    "what `make` calls in turn": (
        """
class Grouped(Batches):
    def make(self):
        return self.inner()

    def inner(self):
        return DataLoader(list(self.rows), num_workers=2)  # DLL101
""",
        "Grouped([1]) if kind == 'grouped' else Batches([1])",
    ),
    "one that is never made": (
        """
class Grouped(Batches):
    def make(self):
        return DataLoader(list(self.rows), num_workers=2)
""",
        "Batches([kind])",
    ),
    "one that is made elsewhere": (
        """
class Grouped(Batches):
    def make(self):
        return DataLoader(list(self.rows), num_workers=2)

def other():
    return Grouped([1]).start()
""",
        "Batches([kind])",
    ),
}


@pytest.mark.parametrize(("classes", "picked"), CLASSES.values(), ids=CLASSES)
def test_each_class_is_followed_into_its_own_method(
    classes: str, picked: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {
        "batches.py": HEAD + classes,
        "picking.py": f"from batches import *\n\ndef pick(kind):\n    return {picked}\n",
        "train.py": MAIN,
    }
    assert findings(files, **SELECT) == marks(files)
