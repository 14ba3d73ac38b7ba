"""DLL302 and DLL303: plain lists that are given to a loader as its dataset, and tensors per group of items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL302", "DLL303"]}
HEAD = """\
import glob
import json
import os
import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, Dataset

"""

FOUND: dict[str, str] = {
    "records": """\
def build(path):
    rows = json.load(open(path))
    return DataLoader(rows, num_workers=4)  # DLL302
""",
    "a list that a loop fills": """\
def build(path):
    rows = []
    for line in open(path):
        d = json.loads(line)
        rows.append((d["text"], d["label"]))
    return DataLoader(rows, num_workers=4, batch_size=8)  # DLL302
""",
    "parts of a split": """\
from sklearn.model_selection import train_test_split
def build(path):
    rows = json.load(open(path))
    train, test = train_test_split(rows, test_size=0.1)
    return DataLoader(train, num_workers=4), DataLoader(test, num_workers=4)  # DLL302
""",
    "subsets": """\
from torch.utils.data import Subset, random_split
def build(path):
    rows = json.load(open(path))
    a, b = random_split(rows, [10, 20])
    return DataLoader(a, num_workers=4), DataLoader(Subset(rows, [1]), num_workers=4)  # DLL302
""",
    "rows of a table": """\
def build(path):
    rows = pd.read_csv(path).to_dict("records")
    return DataLoader(rows, num_workers=4)  # DLL302
""",
    "an entry of a dict": """\
def build(path):
    data = {"train": json.load(open(path)), "test": json.load(open(path + "b"))}
    return {k: DataLoader(data[k], num_workers=4) for k in data}  # DLL302
""",
    "graphs": """\
from torch_geometric.data import Data
import torch_geometric.loader
def read(path):
    out = []
    for r in json.load(open(path)):
        out.append(Data(x=torch.tensor(r["x"]), edge_index=torch.tensor(r["e"])))
    return out
def build(path):
    rows = read(path)
    return torch_geometric.loader.DataLoader(rows, num_workers=4, shuffle=True)  # DLL303
""",
    "tensors": """\
def build(paths):
    rows = [(torch.load(p), 1) for p in paths]
    return DataLoader(rows, num_workers=4, shuffle=True)  # DLL303
""",
    "a pickle, of which a collate function takes fields by key": """\
import pickle
def collate(items):
    texts, labels = [], []
    for number, item in enumerate(items):
        texts.append(item["text"])
        labels.append((number, item["label"]))
    return texts, labels
def build(path):
    with open(path, "rb") as file:
        rows = pickle.load(file)
    return DataLoader(rows, num_workers=4, collate_fn=collate)  # DLL302
""",
    "an entry of a loaded dict, of which a static method takes attributes": """\
class Base(Dataset):
    def __init__(self, root):
        data = torch.load(root + "/data.pt")
        self.train = data["train"]
class Texts(Base):
    @staticmethod
    def collate_fn(items):
        return [one.graph for one in items], [one.text for one in items]
def build(root):
    options = {"collate_fn": Texts.collate_fn, "num_workers": 4}
    data = Texts(root)
    return DataLoader(data.train, **options)  # DLL302
""",
    "a pickle, of which an object and a partial take fields": """\
import joblib
from functools import partial
class Collate:
    def __call__(self, batch):
        return {"ids": [item["ids"] for item in batch]}
class Padded(Collate):
    pass
def padded(batch, size):
    return [row["ids"][:size] for row in batch]
def build(path):
    rows = joblib.load(path)
    part = partial(padded, size=3)
    first = DataLoader(rows, num_workers=4, collate_fn=Padded())  # DLL302
    return first, DataLoader(rows, 8, num_workers=4, collate_fn=part)
""",
    "a tensor per item": """\
class Rows(Dataset):
    def __init__(self, root):
        self.clips = {}  # DLL303
        self.rows = []
        for folder in sorted(glob.glob(root)):
            name = os.path.basename(folder)
            paths = sorted(glob.glob(folder + "/*"))
            self.rows.append((name, 0))
            self.clips[name] = torch.stack([torch.load(path) for path in paths])
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        name, number = self.rows[index]
        return self.clips[name][number]

def build(path):
    return DataLoader(Rows(path), num_workers=4)
""",
}

SILENT: dict[str, str] = {
    "lines, which may be paths": """\
def build(path):
    rows = [l.strip() for l in open(path)]
    return DataLoader(rows, num_workers=4)
""",
    "no workers": """\
def build(path):
    rows = json.load(open(path))
    return DataLoader(rows, num_workers=0)
""",
    "arrays": """\
def build(path):
    rows = [np.array(r["x"]) for r in json.load(open(path))]
    return DataLoader(rows, num_workers=4)
""",
    "a dataset of the hub": """\
from datasets import load_dataset
def build(path):
    rows = load_dataset(path, split="train")
    return DataLoader(rows, num_workers=4)
""",
    "numbers": """\
def build(path):
    cfg = json.load(open(path))
    ids = list(range(cfg["n"]))
    return DataLoader(ids, num_workers=cfg["workers"])
""",
    "few tensors": """\
def build(paths):
    rows = [torch.zeros(3) for _ in range(10)]
    return DataLoader(rows, num_workers=4, shuffle=True)
""",
    "one tensor of all": """\
from torch.utils.data import TensorDataset
def build(paths):
    rows = torch.stack([torch.load(p) for p in paths])
    return DataLoader(rows, num_workers=4), DataLoader(TensorDataset(rows), num_workers=3)
""",
    "what torch.load returns": """\
def build(path):
    data = torch.load(path)
    return DataLoader(data, num_workers=4)
""",
    "a pickle, of which a collate function takes no named fields": """\
import pickle
from functools import partial
def stack(items):
    return torch.stack([item[0] for item in items]), [item.shape for item in items], [item.size(0) for item in items]
def second(names, items):
    return [one["name"] for one in names], items
def build(path):
    rows = pickle.load(open(path, "rb"))
    part = partial(second, [{"name": "a"}])
    return DataLoader(rows, num_workers=4, collate_fn=stack), DataLoader(rows, num_workers=4, collate_fn=part)
""",
    "datasets, made of a configuration": """\
from torch.utils.data import ConcatDataset
class Rows(Dataset):
    def __init__(self, root):
        self.root = root
    def __len__(self):
        return 5
    def __getitem__(self, index):
        return np.load(self.root + str(index))
def build(path):
    return DataLoader(ConcatDataset([Rows(one["root"]) for one in json.load(open(path))["sets"]]), num_workers=4)
""",
    "graphs that are gone through in order": """\
from torch_geometric.data import Data
def read(path):
    out = []
    for r in json.load(open(path)):
        out.append(Data(x=torch.tensor(r["x"]), edge_index=torch.tensor(r["e"])))
    return out
def build(path):
    rows = read(path)
    return DataLoader(rows, num_workers=4)
""",
    "a tensor per folder of items": """\
class Rows(Dataset):
    def __init__(self, root):
        self.clips = {}
        self.rows = []
        for folder in sorted(glob.glob(root)):
            name = os.path.basename(folder)
            paths = sorted(glob.glob(folder + "/*"))
            self.rows.extend(f"{name}/{number}" for number in range(len(paths)))
            self.clips[name] = torch.stack([torch.load(path) for path in paths])
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        name, number = self.rows[index].split("/")
        return self.clips[name][int(number)]

def build(path):
    return DataLoader(Rows(path), num_workers=4)
""",
    "a tensor per folder of numbered items": """\
class Rows(Dataset):
    def __init__(self, root):
        self.clips = {}
        self.rows = []
        for folder in sorted(glob.glob(root)):
            name = os.path.basename(folder)
            paths = sorted(glob.glob(folder + "/*"))
            for number, path in enumerate(paths):
                self.rows.append((name, number))
            self.clips[name] = torch.stack([torch.load(path) for path in paths])
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        name, number = self.rows[index]
        return self.clips[name][number]

def build(path):
    return DataLoader(Rows(path), num_workers=4)
""",
    "a tensor per folder, items in a dict of lists": """\
class Rows(Dataset):
    def __init__(self, root):
        self.clips = {}
        self.info = {'folder': [], 'idx': []}
        for folder in sorted(glob.glob(root)):
            name = os.path.basename(folder)
            paths = sorted(glob.glob(folder + "/*"))
            self.info['folder'].extend([name] * len(paths))
            self.info['idx'].extend(range(len(paths)))
            self.clips[name] = torch.stack([torch.load(path) for path in paths])
    def __len__(self):
        return len(self.info['folder'])
    def __getitem__(self, index):
        name = self.info['folder'][index]
        number = self.info['idx'][index]
        return self.clips[name][number]

def build(path):
    return DataLoader(Rows(path), num_workers=4)
""",
    "a list where there are no workers, through one function": """\
class Rows(Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return index


def loader(data, workers):
    return DataLoader(data, num_workers=workers)


def build(path):
    return loader(Rows(), 4), loader(json.load(open(path)), 0)
""",
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND)
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], source: str) -> None:
    files = {"data.py": HEAD + source}
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings({"data.py": HEAD + source}, **SELECT) == set()


def test_three_attributes_of_tensors_are_one_finding(told: Callable[..., Any]) -> None:
    source = (
        HEAD
        + """\
class Pairs(Dataset):
    def __init__(self, paths):
        self.low = [torch.load(path) for path in paths]
        self.high = [torch.load(path + ".high") for path in paths]
        self.masks = {index: torch.load(path + ".mask") for index, path in enumerate(paths)}

    def __len__(self):
        return len(self.low)

    def __getitem__(self, index):
        return self.low[index], self.high[index], self.masks[index]


def build(paths):
    return DataLoader(Pairs(paths), num_workers=4)
"""
    )
    (finding,) = told({"data.py": source}, **SELECT)
    assert [place.message for place in finding.related if place.message.startswith("kept")] == [
        "kept here as `high`",
        "kept here as `masks`",
    ]


COCO = """\
import torchvision
from torch.utils.data import DataLoader
from torchvision.datasets import CocoDetection

class Detection(torchvision.datasets.CocoDetection):
    def __init__(self, folder, names, transforms):
        super().__init__(folder, names)  # DLL302
        self._transforms = transforms

    def __getitem__(self, index):
        return self._transforms(*super().__getitem__(index))

class Plain(torchvision.datasets.coco.CocoDetection):
    pass

class Around:
    def __init__(self, folder, names):
        self.inner = CocoDetection(folder, names)  # DLL302

    def __len__(self):
        return len(self.inner)

    def __getitem__(self, index):
        return self.inner[index]

class Own(CocoDetection):
    def __init__(self, folder):
        self.folder = folder

def build(folder, names):
    DataLoader(Detection(folder, names, len), num_workers=4)
    DataLoader(CocoDetection(folder, names), num_workers=4)  # DLL302
    DataLoader(Plain(folder, names), num_workers=4)  # DLL302
    DataLoader(Around(folder, names), num_workers=4)
    DataLoader(Own(folder), num_workers=4)
    DataLoader(CocoDetection(folder, names))
    DataLoader(torchvision.datasets.ImageFolder(folder), num_workers=4)
"""


def test_datasets_of_a_library_that_keep_records(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    assert findings({"data.py": COCO}, **SELECT) == marks({"data.py": COCO})


def test_what_a_settings_file_lists_is_no_record(findings: Callable[..., Any]) -> None:
    source = """\
import yaml
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        with open(path) as file:
            self.rows = yaml.safe_load(file)["rows"]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]["text"]

def build(path):
    return DataLoader(Rows(path), num_workers=4)
"""
    assert findings({"data.py": source}, **SELECT) == set()
    parsed = source.replace("import yaml", "import json").replace("yaml.safe_load", "json.load")
    assert len(findings({"data.py": parsed}, **SELECT)) == 1


def test_a_dict_that_a_method_fills_by_the_names_of_tasks(findings: Callable[..., Any]) -> None:
    source = """\
import json
from torch.utils.data import DataLoader, Dataset

class Part:
    def __init__(self, options):
        self.options = options

    def get(self, index):
        return index * self.options["weight"]

class Tasks(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.parts = {}

    def add(self, name, part):
        self.parts[name] = part

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {name: part.get(index) for name, part in self.parts.items()}

def build(path, rows):
    data = Tasks(range(rows))
    for name, options in json.load(open(path)).items():
        data.add(name, Part(options))
    return DataLoader(data, num_workers=4)
"""
    assert findings({"data.py": source}, **SELECT) == set()


def test_where_the_objects_of_another_branch_are_read(told: Callable[..., Any]) -> None:
    source = (
        "import json\nfrom torch.utils.data import DataLoader, Dataset\n\nclass Rows(Dataset):\n"
        "    def __init__(self, paths, more):\n        self.base = []\n        for path in paths:\n"
        "            rows = json.load(open(path))\n            self.base += rows\n        if more:\n"
        "            extra = json.load(open(more))\n            self.rows = self.base + extra\n        else:\n"
        "            self.rows = self.base\n\n    def __len__(self):\n        return len(self.rows)\n\n"
        "    def __getitem__(self, index):\n        return self.rows[index]['text']\n\n"
        "def build(paths, more):\n    return DataLoader(Rows(paths, more), num_workers=4)\n"
    )
    (finding,) = told({"data.py": source}, select=["DLL302"])

    read = [(place.span.line, place.message) for place in finding.related if place.message.startswith("read")]
    assert read == [(11, "read here"), (8, "read here")]


def test_every_statement_that_adds_to_a_container(told: Callable[..., Any]) -> None:
    source = (
        "import json\nfrom torch.utils.data import DataLoader, Dataset\n\nclass Rows(Dataset):\n"
        "    def __init__(self, path):\n        self.rows = {}\n        data = json.load(open(path))\n"
        "        for one in data['images']:\n            self.rows[one['id']] = []\n"
        "        for one in data['captions']:\n            self.rows[one['image']].append(one['text'])\n\n"
        "    def __len__(self):\n        return len(self.rows)\n\n"
        "    def __getitem__(self, index):\n        return self.rows[index][0]\n\n"
        "def build(path):\n    return DataLoader(Rows(path), num_workers=4)\n"
    )
    (finding,) = told({"data.py": source}, select=["DLL302"])

    assert [place.span.line for place in finding.related if place.message == "added here"] == [9, 11]
