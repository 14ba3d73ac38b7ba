"""Datasets and their methods that reach a loader through dicts and lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

DATA = """\
import torch
from torch.utils.data import Dataset

torch.cuda.set_device(0)

class Data(Dataset):
    def __init__(self, name=""):
        self.name = name

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return torch.zeros(3).cuda()  # DLL103

class Plain(Dataset):
    def __init__(self, name=""):
        self.name = name

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return index
"""
TRAIN = """\
from collections import OrderedDict
from torch.utils.data import ConcatDataset, DataLoader, Subset

from data import Data, Plain

def load(dataset):
    return DataLoader(dataset, num_workers=2, multiprocessing_context="fork")

"""

WAYS = {
    "items of a dict filled in a loop": """
def main(names):
    sets = {}
    for name in names:
        sets[name] = Data(name)
    for name, dataset in sets.items():
        load(dataset)
""",
    "values of a dict filled in a loop": """
def main(names):
    sets = {}
    for name in names:
        sets[name] = Data(name)
    return [load(dataset) for dataset in sets.values()]
""",
    "sorted items": """
def main(names):
    sets = {name: Data(name) for name in names}
    for name, dataset in sorted(sets.items()):
        load(dataset)
""",
    "a dict of another's items": """
def main(names):
    sets = {name: Data(name) for name in names}
    parts = {name: Subset(dataset, [1, 2]) for name, dataset in sets.items()}
    load(parts[names[0]])
""",
    "an ordered dict of pairs": """
def main(names):
    sets = OrderedDict([(name, Data(name)) for name in names])
    load(sets[names[0]])
""",
    "a copy of a dict": """
def main(names):
    sets = {name: Data(name) for name in names}
    copied = OrderedDict(sets)
    for dataset in copied.values():
        load(dataset)
""",
    "an updated dict": """
def main(names):
    sets = {}
    sets.update({name: Data(name) for name in names})
    for dataset in sets.values():
        load(dataset)
""",
    "a merged dict": """
def main(names):
    more = {name: Data(name) for name in names}
    sets = {"valid": Plain(), **more}
    for dataset in sets.values():
        load(dataset)
""",
    "concatenated lists": """
def main(names):
    for dataset in [Plain(name) for name in names] + [Data(name) for name in names]:
        load(dataset)
""",
    "a list that a function gives, and one more": """
def more(names):
    return [Data(name) for name in names]

def main(names):
    load(ConcatDataset([Plain()] + more(names)))
""",
    "concatenated pairs": """
def main(names):
    made = {}
    for name in names:
        made[name] = Data(name)
    sets = OrderedDict([(name, Plain(name)) for name in names] + [(name, one) for name, one in made.items()])
    load(sets[names[0]])
""",
    "enumerated": """
def main(names):
    sets = [Data(name) for name in names]
    for number, dataset in enumerate(sets):
        load(dataset)
""",
    "zipped": """
def main(names):
    sets = [Data(name) for name in names]
    for name, dataset in zip(names, sets):
        load(dataset)
""",
    "an attribute that a method fills": """
class Task:
    def __init__(self):
        self.sets = {}

    def prepare(self, split):
        self.sets[split] = Data(split)

    def dataset(self, split):
        return self.sets[split]

def main(names):
    task = Task()
    task.prepare("train")
    load(task.dataset("train"))
""",
    "an attribute that a subclass fills": """
class Task:
    def __init__(self):
        self.sets = dict()

    def dataset(self, split):
        return self.sets[split]

class Own(Task):
    def prepare(self, split):
        self.sets[split] = Data(split)

TASKS = {}

def register(name):
    def add(cls):
        TASKS[name] = cls
        return cls
    return add

@register("other")
class Other(Task):
    def prepare(self, split):
        self.sets[split] = Data(split)

def main(config):
    task = TASKS[config.task]()
    task.prepare("train")
    load(task.dataset("train"))
""",
    "a list that a function gives back": """
def made(names):
    sets = []
    for name in names:
        sets.append(Data(name))
    return sets

def main(names):
    for dataset in made(names):
        load(dataset)
""",
    "pairs that a function gives back": """
def made(names):
    sets = {}
    for name in names:
        sets[name] = Data(name), name
    return sets

def main(names):
    for key, (dataset, name) in made(names).items():
        load(dataset)
""",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_found(way: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"data.py": DATA, "train.py": TRAIN + way}

    assert marks(files)
    assert findings(files, select=["DLL103"]) == marks(files)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_silent_with_another_dataset(way: str, findings: Callable[..., Any]) -> None:
    files = {"data.py": DATA, "train.py": TRAIN + way.replace("Data(", "Plain(")}

    assert findings(files, select=["DLL103"]) == set()


SILENT = {
    "another key": """
def main(names):
    sets = {"train": Plain(), "valid": Data()}
    load(sets["train"])
""",
    "a key that is not there": """
def main(names):
    sets = {"train": Data()}
    load(sets.get("valid"))
""",
    "the other part of a pair": """
def main(names):
    for first, second in zip([Data()], [Plain()]):
        load(second)
""",
    "a name of a comprehension before": """
def main(names, dataset):
    sizes = [len(dataset) for dataset in [Data()]]
    load(dataset)
""",
    "a name that a comprehension uses again": """
def main(names):
    dataset = Data()
    others = [dataset for dataset in [Plain()]]
    load(others[0])
""",
    "keywords under keys that are not known": """
def main(names):
    options = {}
    for name in names:
        options[name] = Data(name)
    DataLoader(Plain(), num_workers=2, multiprocessing_context="fork", **options)
""",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"data.py": DATA, "train.py": TRAIN + text}, select=["DLL103"]) == set()


def test_none_is_crowded_out_by_what_another_holds(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    held = "".join(f"class Part{number}(Plain):\n    pass\n\n" for number in range(180))
    first, second = (", ".join(f"Part{number}()" for number in range(start, 180, 2)) for start in (0, 1))
    made = f"        self.first = [{first}]\n        self.second = [{second}]\n"
    many = f"class Many(Plain):\n    def __init__(self):\n{made}"
    train = """
from data import Many

def main(names):
    load(Many() if names else Data())
"""
    files = {"data.py": DATA + held + many, "train.py": TRAIN + train}

    assert marks(files)
    assert findings(files, select=["DLL103"]) == marks(files)


def test_collate_method_of_held_datasets(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    data = (
        DATA.replace(".cuda()  # DLL103", "")
        + """
    def collater(self, rows):
        return torch.stack(rows)

class Back(Plain):
    def __init__(self, dataset, cuda=True):
        self.dataset = dataset
        self.cuda = cuda if torch.cuda.is_available() else False

    def collater(self, rows):
        return moved(rows) if self.cuda else rows

def moved(rows, device=None):
    device = device or torch.cuda.current_device()  # DLL103
    return [row.to(device) for row in rows]

class Zipped(Dataset):
    def __init__(self, sets, key=None):
        if isinstance(sets, dict):
            sets = OrderedDict(sets)
        self.sets = sets
        self.key = key

    def __getitem__(self, index):
        return {key: dataset[index] for key, dataset in self.sets.items()}

    def collater(self, rows):
        if self.key is not None:
            return self.sets[self.key].collater(rows)
        return OrderedDict([(key, dataset.collater([row[key] for row in rows])) for key, dataset in self.sets.items()])
"""
    )
    train = """
from collections import OrderedDict
from torch.utils.data import DataLoader
from data import Back, Plain, Zipped

class Task:
    def __init__(self):
        self.datasets = dict()

    def dataset(self, split):
        return self.datasets[split]

    def batches(self, split):
        dataset = self.dataset(split)
        options = {"num_workers": 2, "multiprocessing_context": "fork"}
        return DataLoader(dataset, collate_fn=dataset.collater, **options)

class Both(Task):
    def prepare(self, split, names):
        dataset = Plain()
        plain, back = {}, {}
        for name in names:
            plain[name] = Plain(name)
        for name in names:
            back[name] = Back(plain[name])
        self.datasets[split] = Zipped(
            OrderedDict(
                [(name, dataset) for name, dataset in plain.items()]
                + [(name, dataset) for name, dataset in back.items()]
            )
        )

def main(names):
    task = Both()
    task.prepare("train", names)
    return task.batches("train")
"""
    files = {"data.py": "from collections import OrderedDict\n" + data, "train.py": train}

    assert marks(files)
    assert findings(files, select=["DLL103"]) == marks(files)


def test_collate_methods_of_more_objects_than_are_told_apart(
    findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    kinds = "\n".join(f"class Part{number}(Plain):\n    pass\n" for number in range(50))
    data = f"""
import torch
from torch.utils.data import Dataset

torch.cuda.set_device(0)

class Plain(Dataset):
    def __getitem__(self, index):
        return index

    def collater(self, rows):
        return rows

class Moved(Plain):
    def collater(self, rows):
        return torch.stack(rows).cuda()  # DLL103

class Around(Plain):
    def __init__(self, sets):
        self.sets = sets

    def collater(self, rows):
        return [one.collater(rows) for one in self.sets]

{kinds}
"""
    parts = ", ".join(f"data.Part{number}()" for number in range(50))
    train = f"""
from torch.utils.data import DataLoader

import data

def run(dataset):
    return DataLoader(dataset, collate_fn=dataset.collater, num_workers=2, multiprocessing_context="fork")

def main():
    for dataset in [data.Around([data.Plain()]), {parts}, data.Around([data.Moved()])]:
        run(dataset)
"""
    files = {"data.py": data, "train.py": train}

    assert findings(files, select=["DLL103"]) == marks(files)


def test_rows_that_are_put_together_are_kept(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    train = """
import json
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path, other):
        first = [json.loads(line) for line in open(path)]
        second = [json.loads(line) for line in open(other)]
        self.rows = first + second  # DLL302

    def __getitem__(self, index):
        return self.rows[index]

class Tensors(Dataset):
    def __init__(self, path):
        first = [torch.zeros(9) for line in open(path)]
        self.rows = first + [torch.zeros(3)]  # DLL303

    def __getitem__(self, index):
        return self.rows[index]

def main():
    DataLoader(Rows("train", "valid"), num_workers=4, multiprocessing_context="fork")
    DataLoader(Tensors("train"), num_workers=4, multiprocessing_context="spawn")
"""
    files = {"train.py": train}

    assert findings(files, select=["DLL302", "DLL303"]) == marks(files)
