"""DLL302: what a dataset keeps for another one, which holds it and reads it by methods of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL302"]}
HEAD = """\
import json
import random
from dataclasses import dataclass
from pycocotools.coco import COCO
from torch.utils.data import DataLoader, Dataset

class Base(Dataset):
    def __getitem__(self, index):
        return None

class Tracks(Base):
    def __init__(self, path):
        self.tracks = json.load(open(path))  # MARK

    def count(self):
        return len(self.tracks)

    def info(self, number):
        return self.tracks[number]["boxes"]

class Images(Base):
    def __init__(self, path):
        self.coco = COCO(path)  # MARK
        self.numbers = [one for one in self.coco.anns if self.coco.anns[one]["iscrowd"] == 0]

    def count(self):
        return len(self.numbers)

    def info(self, number):
        return self.coco.anns[self.numbers[number]]["bbox"]

def made(names):
    found = []
    for name in names:
        if name == "tracks":
            found.append(Tracks("tracks.json"))
        if name == "images":
            found.append(Images("images.json"))
    return found

"""
LOADER = """
def build(names):
    return DataLoader(Draws(made(names)), num_workers=4)
"""
FOUND = {
    "one of several, drawn at random": """
class Draws(Dataset):
    def __init__(self, datasets):
        self.datasets = datasets

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.item()

    def item(self):
        dataset = random.choices(self.datasets, [2, 1])[0]
        return self.drawn(dataset)

    def drawn(self, dataset):
        number = random.randint(0, dataset.count() - 1)
        return dataset.info(number)
""",
    "the first, by the index": """
class Draws(Dataset):
    def __init__(self, datasets):
        self.datasets = datasets

    def __getitem__(self, index):
        for dataset in self.datasets:
            if index < dataset.count():
                return dataset.info(index)
            index -= dataset.count()
""",
}
SILENT = {
    "only counted": """
class Draws(Dataset):
    def __init__(self, datasets):
        self.datasets = datasets

    def __getitem__(self, index):
        return sum(dataset.count() for dataset in self.datasets) + index
""",
    "read before the workers start": """
class Draws(Dataset):
    def __init__(self, datasets):
        self.sums = [sum(dataset.info(0)) for dataset in datasets]

    def __getitem__(self, index):
        return self.sums[index]
""",
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND)
def test_found(source: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"data.py": (HEAD + source + LOADER).replace("MARK", "DLL302")}

    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(source: str, findings: Callable[..., Any]) -> None:
    assert findings({"data.py": HEAD + source + LOADER}, **SELECT) == set()


RECORDS = """
@dataclass
class Record:
    path: str
    seconds: float
    rate: int

    @classmethod
    def of(cls, fields):
        return cls(**fields)

def read(path):
    found = []
    for line in open(path):
        found.append(Record.of(json.loads(line)))
    return found

class Sounds(Dataset):
    def __init__(self, records: list[Record]):
        self.records = [one for one in records if one.seconds > 1]  # DLL302

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        return self.records[index].path, self.records[index].rate

def build(path):
    return DataLoader(Sounds(read(path)), num_workers=4)
"""


def test_records_of_a_class_that_a_dict_is_unpacked_into(
    findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"data.py": HEAD.replace("  # MARK", "") + RECORDS}

    assert findings(files, **SELECT) == marks(files)


CHOSEN = """\
import json
import sys
from torch.utils.data import DataLoader, Dataset

class Part(Dataset):
    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        return self.dataset[index]

class Whole:
    def part(self):
        return Part(self)

CLASSES
def choose(name):
CHOICES
def main():
    for batch in DataLoader(choose(sys.argv[1]).part(), num_workers=4):
        print(batch)

if __name__ == "__main__":
    main()
"""
ROWS = """\
class Rows_N(Whole):
    def __init__(self):
        self.rows_N = [json.loads(line) for line in open("rows")]  # DLL302

    def __len__(self):
        return len(self.rows_N)

    def __getitem__(self, index):
        return self.rows_N[index]["text"]

"""


def test_each_dataset_that_a_wrapper_gets_counts(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    """However many a name chooses from, one that is kept by a wrapper of the same class displaces no other."""
    names = ("birds", "cars", "dogs", "fish", "maps", "news", "oaks", "pets", "roads")
    classes = "".join(ROWS.replace("_N", name.title()) for name in names)
    choices = "".join(f"    if name == '{name}':\n        return Rows{name.title()}()\n" for name in names)
    files = {"train.py": CHOSEN.replace("CLASSES", classes).replace("CHOICES", choices)}

    assert findings(files, **SELECT) == marks(files)
