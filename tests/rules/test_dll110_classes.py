"""DLL110: attributes of classes that only the main program sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
from torch.utils.data import DataLoader, Dataset

class Vocabulary:
    words = None

    def __init__(self, path):
        Vocabulary.words = open(path).read().split()

    @classmethod
    def load(cls, path):
        cls.words = open(path).read().split()

class Rows(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return Vocabulary.words.index(str(index))

def main():
    Vocabulary("words.txt")
    for batch in DataLoader(Rows(9), num_workers=4):
        print(batch)

if __name__ == "__main__":
    main()
"""

CHANGED = {
    "by the constructor": (("", ""), [7]),
    "read by a test": (
        (
            "        return Vocabulary.words.index(str(index))",
            "        if index in Vocabulary.words:\n            return 3",
        ),
        [7],
    ),
    "by a class method": (('Vocabulary("words.txt")', 'Vocabulary.load("words.txt")'), [11]),
    "by the program": (('Vocabulary("words.txt")', 'Vocabulary.words = ["a"]'), [24]),
    "of the dataset's own class": (
        (
            "    def __init__(self, count):\n",
            "    words = None\n\n    def __init__(self, count):\n        Rows.words = [str(count)]\n",
        ),
        [17],
    ),
}


@pytest.mark.parametrize(("change", "lines"), CHANGED.values(), ids=CHANGED)
def test_a_class_attribute_that_workers_see_unchanged(
    change: tuple[str, str], lines: list[int], told: Callable[..., Any]
) -> None:
    text = PROGRAM.replace(*change) if change[0] else PROGRAM
    if "Rows.words" in text:
        text = text.replace("return Vocabulary.words", "return self.words.index('a') + Vocabulary.words")
    found = told({"train.py": text}, select=["DLL110"])
    assert sorted(one.span.line for one in found) == lines
    assert {one.severity for one in found} == {"warning"}


SILENT = {
    "workers set it themselves": (
        "return Vocabulary.words",
        'Vocabulary("words.txt")\n        return Vocabulary.words',
    ),
    "the module sets it": ('    Vocabulary("words.txt")\n', ""),
    "no workers": ("num_workers=4", "num_workers=0"),
    "workers that are forked": ("num_workers=4", 'num_workers=4, multiprocessing_context="fork"'),
}


@pytest.mark.parametrize(("old", "new"), SILENT.values(), ids=SILENT)
def test_a_class_attribute_that_workers_see_as_it_is(old: str, new: str, told: Callable[..., Any]) -> None:
    text = PROGRAM.replace(old, new)
    if old.startswith("    Vocabulary("):
        text = text.replace("class Rows", 'Vocabulary("words.txt")\n\nclass Rows')
    assert told({"train.py": text}, select=["DLL110"]) == ()


def test_an_attribute_that_objects_have_of_their_own(told: Callable[..., Any]) -> None:
    text = PROGRAM.replace("self.count = count", "self.count, self.words = count, ['a']").replace(
        "class Rows(Dataset):\n", "class Rows(Dataset):\n    words = None\n\n"
    )
    text = text.replace("return Vocabulary.words", "return self.words").replace(
        'Vocabulary("words.txt")', "Rows.words = ['b']"
    )
    assert told({"train.py": text}, select=["DLL110"]) == ()


STARTED = """\
import torch.multiprocessing as mp

class State:
    manager = None

    @staticmethod
    def use():
        State.manager = object()

def work(rank):
    print(State.manager)
    {inside}

def launch(many):
    {before}
    if many:
        mp.spawn(work, nprocs=2)
    else:
        work(0)

def single():
    {beside}

if __name__ == "__main__":
    launch(True)
    {after}
"""


@pytest.mark.parametrize(
    ("place", "count"),
    [("before", 1), ("after", 0), ("inside", 0), ("beside", 0)],
)
def test_what_no_process_above_them_changes(place: str, count: int, told: Callable[..., Any]) -> None:
    places = dict.fromkeys(("inside", "before", "beside", "after"), "pass")

    found = told({"train.py": STARTED.format(**{**places, place: "State.use()"})}, select=["DLL110"])

    assert len(found) == count


@pytest.mark.parametrize(("here", "count"), [(False, 1), (True, 0)])
def test_what_another_script_does_at_its_top_level_changes_nothing(
    here: bool, count: int, told: Callable[..., Any]
) -> None:
    module, _, rest = PROGRAM.partition("class Rows")
    main = "from words import Vocabulary\nfrom torch.utils.data import DataLoader, Dataset\n\nclass Rows" + rest
    load = 'Vocabulary("words.txt")\n'
    main = main.replace("def main", f"{load if here else ''}\ndef main")
    other = f"from words import Vocabulary\n\n{load}print(Vocabulary.words)\n"

    assert len(told({"words.py": module, "main.py": main, "other.py": other}, select=["DLL110"])) == count


SINGLETON = """\
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

class Status:
    instance = None

    @staticmethod
    def get():
        if Status.instance is None:
            Status.instance = Status()
        return Status.instance

def report(row):
    print({read}, row)

def work(row):
    report(row)

def main():
    multiprocessing.set_start_method("spawn")
    Status.get()
    with multiprocessing.Pool(4) as pool:
        pool.map(steps, [1])
    with ProcessPoolExecutor(4) as pool:
        pool.map(work, [1])

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("read", "count"), [("Status.get()", 0), ("Status.instance", 1)])
def test_what_a_process_makes_once_among_processes_that_run_much(
    read: str, count: int, findings: Callable[..., Any]
) -> None:
    many = "".join(f"def step_{number}(row):\n    return row\n\n" for number in range(500))
    steps = "def steps(row):\n" + "".join(f"    step_{number}(row)\n" for number in range(500))
    text = f"{many}{steps}\n{SINGLETON.format(read=read)}"

    assert len(findings({"train.py": text}, select=["DLL110"])) == count
