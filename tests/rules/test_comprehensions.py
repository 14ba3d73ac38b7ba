"""The targets of comprehensions hold in them alone: which dataset a name means around one, and in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

DATA = """\
import torch
from torch.utils.data import Dataset

torch.cuda.set_device(0)

class Data(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return torch.zeros(3).cuda()  # DLL103

class Plain(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return index
"""
TRAIN = """\
from torch.utils.data import ConcatDataset, DataLoader

from data import Data, Plain

def load(dataset):
    return DataLoader(dataset, num_workers=2, multiprocessing_context="fork")

"""
PLACES = {
    "an element, after a variable of that name": """
def main():
    dataset = Plain()
    load(dataset)
    load(ConcatDataset([dataset for dataset in [Data()]]))
""",
    "an element of a list that is kept": """
def main():
    dataset = Plain()
    sets = [dataset for dataset in [Data()]]
    load(sets[0])
""",
    "a value of a dict that is kept": """
def main(names):
    dataset = Plain()
    sets = {"one": Data()}
    others = {name: dataset for name, dataset in sets.items()}
    load(others["one"])
""",
    "a call in an element": """
def main():
    dataset = Plain()
    return [load(dataset) for dataset in [Data()]]
""",
    "a call in an element, in a loop": """
def main(names):
    for name in names:
        dataset = Plain()
        loaders = [load(dataset) for dataset in [Data()]]
        print(name, dataset, loaders)
""",
    "the second clause": """
def main(dataset=Plain()):
    return [load(dataset) for sets in [[Data()]] for dataset in sets]
""",
    "a lambda in an element": """
def main():
    dataset = Plain()
    makers = [lambda: load(dataset) for dataset in [Data()]]
    return dataset, [maker() for maker in makers]
""",
    "what it goes through has the name of its target": """
def main():
    dataset = [Data()]
    return [load(dataset) for dataset in dataset]
""",
    "a variable of that name after it": """
def main():
    others = [dataset for dataset in [Plain()]]
    dataset = Data()
    load(dataset)
    return others
""",
    "a module's name": """
dataset = Data()

def main():
    sizes = [len(dataset) for dataset in [Plain()]]
    load(dataset)
    return sizes
""",
    "a nested function": """
def main():
    dataset = Data()

    def run():
        return load(dataset)

    sizes = [len(dataset) for dataset in [Plain()]]
    return run(), sizes
""",
}


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES)
def test_found(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"data.py": DATA, "train.py": TRAIN + text}

    assert findings(files, select=["DLL103"]) == marks(files)


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES)
def test_silent_the_other_way_round(text: str, findings: Callable[..., Any]) -> None:
    swapped = text.replace("Data(", "Other(").replace("Plain(", "Data(").replace("Other(", "Plain(")
    assert swapped != text
    files = {
        "data.py": DATA,
        "train.py": TRAIN + swapped.replace("    load(dataset)\n    load(Concat", "    load(Concat"),
    }

    assert findings(files, select=["DLL103"]) == set()
