"""What makes a loader, how many workers it has and which start method it is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.project.conftest import Answers

PROGRAMS: dict[str, str] = {
    "by another name": """\
from torch.utils.data import DataLoader as Loader

Loader([], num_workers=4)  # workers: 4
""",
    "by an alias of the module": """\
import torch.utils.data as D

D.DataLoader([], num_workers=4)  # workers: 4
""",
    "by its full name": """\
import torch

torch.utils.data.DataLoader([], num_workers=4)  # workers: 4
""",
    "by the module that defines it": """\
from torch.utils.data.dataloader import DataLoader

DataLoader([], num_workers=4)  # workers: 4
""",
    "by the package around": """\
from torch import utils

utils.data.DataLoader([], num_workers=4)  # workers: 4
""",
    "by a star import": """\
from torch.utils.data import *

DataLoader([], num_workers=4)  # workers: 4
""",
    "imported inside a function": """\
def build():
    from torch.utils.data import DataLoader
    return DataLoader([], num_workers=4)  # workers: 4
""",
    "imported in a try": """\
try:
    from torch.utils.data import DataLoader
except ImportError:
    DataLoader = None

DataLoader([], num_workers=4)  # workers: 4
""",
    "a subclass that hands its arguments on": """\
from torch.utils.data import DataLoader

class Loader(DataLoader):
    def __init__(self, dataset, *args, **kwargs):
        super().__init__(dataset, *args, **kwargs)

Loader([], num_workers=4)  # workers: 4
""",
    "a subclass that sets the count itself": """\
from torch.utils.data import DataLoader

class Loader(DataLoader):
    def __init__(self, dataset):
        super(Loader, self).__init__(dataset, batch_size=4, num_workers=8)

Loader([])  # workers: 8
""",
    "a subclass that reaches the base by its name": """\
from torch.utils.data import DataLoader

class Loader(DataLoader):
    def __init__(self, dataset, workers=2):
        DataLoader.__init__(self, dataset, num_workers=workers, multiprocessing_context="fork")

Loader([])  # workers: 2
Loader([], 3)  # context: fork
""",
    "a subclass of a subclass": """\
import torch.utils.data

class Base(torch.utils.data.DataLoader):
    pass

class Loader(Base):
    def __iter__(self):
        yield from super().__iter__()

Loader([], num_workers=4)  # workers: 4
""",
    "a class in a variable": """\
import torch

Loader = torch.utils.data.DataLoader
Loader([], num_workers=4)  # workers: 4
""",
    "one of two classes": """\
from torch.utils.data import DataLoader
from torch_geometric.loader import DataLoader as GraphLoader

def build(graphs):
    cls = GraphLoader if graphs else DataLoader
    return cls([], num_workers=4)  # workers: 4
""",
    "a class attribute": """\
from torch.utils.data import DataLoader

class Data:
    loader_class = DataLoader

    def load(self):
        return self.loader_class([], num_workers=4)  # workers: 4
""",
    "a parameter's default": """\
from torch.utils.data import DataLoader

def build(cls=DataLoader):
    return cls([], num_workers=4)  # workers: 4
""",
    "a partial": """\
from functools import partial
from torch.utils.data import DataLoader

make = partial(DataLoader, batch_size=4, num_workers=4)
make([])  # workers: 4
make([], num_workers=0)  # workers: 0
""",
    "a partial with a context": """\
import functools
from torch.utils.data import DataLoader

make = functools.partial(DataLoader, multiprocessing_context="fork")
make([], num_workers=4)  # context: fork
""",
    "a function that hands keywords on": """\
from torch.utils.data import DataLoader

def make(dataset, **kwargs):
    return DataLoader(dataset, **kwargs)  # workers: 4

make([], batch_size=4, num_workers=4)
""",
    "keywords of a function with a context": """\
from torch.utils.data import DataLoader

def make(dataset, **kwargs):
    return DataLoader(dataset, **kwargs)  # context: fork

make([], num_workers=4, multiprocessing_context="fork")
""",
    "a context that a function adds to its keywords": """\
from torch.utils.data import DataLoader

def make(dataset, **kwargs):
    kwargs.setdefault("multiprocessing_context", "fork")
    return DataLoader(dataset, **kwargs)  # context: fork

make([], num_workers=4)
""",
    "positional arguments": """\
from torch.utils.data import DataLoader

DataLoader([], 32, True, None, None, 4)  # workers: 4
""",
    "a keyword dict": """\
from torch.utils.data import DataLoader

OPTIONS = {"batch_size": 4, "num_workers": 4, "multiprocessing_context": "forkserver"}
DataLoader([], **OPTIONS)  # workers: 4
DataLoader([1], **OPTIONS)  # context: forkserver
""",
    "a keyword dict without a count": """\
from torch.utils.data import DataLoader

options = {"batch_size": 4}
DataLoader([], **options)  # workers: 0
""",
    "a keyword dict that is filled step by step": """\
from torch.utils.data import DataLoader

def build():
    options = dict(batch_size=4)
    options["num_workers"] = 4
    options.update(pin_memory=True)
    return DataLoader([], **options)  # workers: 4
""",
    "a keyword dict in which one key is set on one way": """\
from torch.utils.data import DataLoader

def build(cuda):
    options = {"shuffle": True}
    if cuda:
        options["num_workers"] = 4
    return DataLoader([], **options)  # workers: 4
""",
    "one of two keyword dicts": """\
from torch.utils.data import DataLoader

def build(cuda):
    options = {"num_workers": 4, "pin_memory": True} if cuda else {}
    return DataLoader([], **options)  # workers: 4
""",
    "one of two calls of dict": """\
from torch.utils.data import DataLoader

def build(args, cuda):
    options = dict(num_workers=args.workers) if cuda else dict()
    return DataLoader([], **options)  # workers: unknown
""",
    "a dict that is merged on one way": """\
from torch.utils.data import DataLoader

def build(args, cuda):
    options = {}
    if cuda:
        more = {"num_workers": args.workers}
        options.update(more)
    return DataLoader([], **options)  # workers: unknown
""",
    "keyword dicts that name no count": """\
from torch.utils.data import DataLoader

def build(cuda):
    options = {"shuffle": True} if cuda else {}
    return DataLoader([], **options)  # workers: 0
""",
    "a keyword dict of which nothing is known on one way": """\
from torch.utils.data import DataLoader

def build(cuda, more):
    options = more if cuda else {}
    return DataLoader([], **options)  # workers: not followed
""",
    "options without those that are None": """\
from torch.utils.data import DataLoader

options = {"num_workers": 4, "collate_fn": None}
options = {name: value for name, value in options.items() if value is not None}
DataLoader([], **options)  # workers: 4
""",
    "merged dicts": """\
from torch.utils.data import DataLoader

BASE = {"pin_memory": True}
DataLoader([], **{**BASE, "num_workers": 4})  # workers: 4
""",
    "no count": """\
from torch.utils.data import DataLoader

DataLoader([])  # workers: 0
""",
    "a count that is 0": """\
from torch.utils.data import DataLoader

DataLoader([], num_workers=0)  # workers: 0
""",
    "a count from the command line": """\
import argparse
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("-j", "--workers", type=int, default=0)
args = parser.parse_args()
DataLoader([], num_workers=args.workers)  # workers: 0 | unknown
""",
    "a count of the machine": """\
import os
from torch.utils.data import DataLoader

DataLoader([], num_workers=min(os.cpu_count(), 8))  # workers: unknown
""",
    "a count of which every caller gives 0": """\
from torch.utils.data import DataLoader

def make(dataset, workers):
    return DataLoader(dataset, num_workers=workers)  # workers: 0

make([], 0)
make([], workers=0)
""",
    "a count that is a parameter's default": """\
from torch.utils.data import DataLoader

def make(dataset, workers=0):
    return DataLoader(dataset, num_workers=workers)  # workers: 0

make([])
""",
    "one of two counts": """\
from torch.utils.data import DataLoader

def build(debug):
    return DataLoader([], num_workers=0 if debug else 4)  # workers: 0 | 4
""",
    "a dict from outside": """\
from somewhere import options
from torch.utils.data import DataLoader

DataLoader([], **options)  # workers: not followed
""",
    "made by a lambda": """\
from torch.utils.data import DataLoader

make = lambda dataset, workers: DataLoader(dataset, num_workers=workers)  # workers: unknown
make([], 4)
""",
    "made in a comprehension": """\
from torch.utils.data import DataLoader

{name: DataLoader([], num_workers=count) for name, count in (("train", 4), ("test", 4))}  # workers: 4
""",
    "made in a yield from": """\
from torch.utils.data import DataLoader

def batches():
    yield from DataLoader([], num_workers=4)  # workers: 4
""",
    "a loader of PyG": """\
from torch_geometric.loader import DataLoader

DataLoader([], batch_size=4, num_workers=4)  # workers: 4
""",
    "a loader of MONAI": """\
import monai

monai.data.DataLoader([], num_workers=4)  # workers: 4
""",
    "a loader of WebDataset": """\
import webdataset as wds

wds.WebLoader([], num_workers=4)  # workers: 4
""",
    "the function of a library that makes one": """\
import flashy
from dora import distrib

distrib.loader([], num_workers=4)  # workers: 4
flashy.distrib.loader([], batch_size=2, num_workers=4)  # workers: 4
""",
    "the arguments of transformers' Trainer": """\
from transformers import Trainer, TrainingArguments

args = TrainingArguments("out", dataloader_num_workers=4)  # workers: 4
Trainer(args=args).train()
""",
    "no context": """\
from torch.utils.data import DataLoader

DataLoader([], num_workers=4, multiprocessing_context=None)  # context: no
""",
    "a context by its name": """\
from torch.utils.data import DataLoader

DataLoader([], num_workers=4, multiprocessing_context="spawn")  # context: spawn
""",
    "a context object": """\
import multiprocessing
from torch.utils.data import DataLoader

context = multiprocessing.get_context("fork")
DataLoader([], num_workers=4, multiprocessing_context=context)  # context: fork
""",
    "a context that a caller may give": """\
from torch.utils.data import DataLoader

def build(context=None):
    return DataLoader([], num_workers=4, multiprocessing_context=context)  # context: ?
""",
    "a context where there are workers": """\
from torch.utils.data import DataLoader

def build(workers=4):
    return DataLoader([], num_workers=workers, multiprocessing_context="fork" if workers else None)  # context: fork
""",
    "a context put into a keyword dict where there are workers": """\
from torch.utils.data import DataLoader

def build(workers=4):
    options = {"num_workers": workers}
    if workers > 0:
        options["multiprocessing_context"] = "fork"
    return DataLoader([], **options)  # context: fork
""",
    "a context in what a function gives": """\
from torch.utils.data import DataLoader

def options(workers):
    if workers > 0:
        return {"multiprocessing_context": "spawn"}
    return {}

def build(workers):
    return DataLoader([], num_workers=workers, **options(workers))  # context: spawn
""",
    "a context of the subclass": """\
from torch.utils.data import DataLoader

class Loader(DataLoader):
    def __init__(self, dataset, **kwargs):
        super().__init__(dataset, multiprocessing_context="fork", **kwargs)

Loader([], num_workers=4)  # context: fork
""",
    "a context that is set afterwards": """\
from torch.utils.data import DataLoader

loader = DataLoader([], num_workers=4)  # context: ?
loader.multiprocessing_context = "fork"
""",
    "a registry makes the loader": """\
# registry.py
class Registry:
    def __init__(self):
        self.table = {}

    def register_module(self):
        def register(cls):
            self.table[cls.__name__] = cls
            return cls
        return register

    def build(self, cfg, **kwargs):
        return self.table[cfg.pop("type")](**cfg, **kwargs)

LOADERS = Registry()
# loading.py
from torch.utils.data import DataLoader
from registry import LOADERS

@LOADERS.register_module()
class Loading(DataLoader):
    def __init__(self, num_workers=4):
        super().__init__([], num_workers=num_workers)
# train.py
import loading
from registry import LOADERS

LOADERS.build(open("loader.json"))  # workers: 4 | unknown
LOADERS.build({"type": "Loading"})  # workers: 4
LOADERS.build({"type": "Loading", "num_workers": 0})  # workers: 0
""",
    "any class of a module makes the loader": """\
# sets.py
from torch.utils.data import DataLoader

class Digits(DataLoader):
    def __init__(self, rows):
        super().__init__(rows, num_workers=4)
# data.py
import sets

def build(name):
    return getattr(sets, name)([])  # workers: 4
""",
}

OTHERS: dict[str, str] = {
    "paddle's": """\
from paddle.io import DataLoader

DataLoader([], num_workers=4)
""",
    "gluon's": """\
from mxnet.gluon.data import DataLoader

DataLoader([], num_workers=4)
""",
    "a subclass of batchgenerators'": """\
from batchgenerators.dataloading.data_loader import DataLoader

class Loader(DataLoader):
    pass

Loader([], num_workers=4)
""",
    "the project's own class": """\
class DataLoader:
    def __init__(self, rows, num_workers=0):
        self.rows = rows

DataLoader([], num_workers=4)
""",
    "a dataset whose name ends so": """\
from torch.utils.data import Dataset

class FaceDataLoader(Dataset):
    def __init__(self, rows, num_workers):
        self.rows = rows

FaceDataLoader([], num_workers=4)
""",
    "a test of its type": """\
from torch.utils.data import DataLoader

def build(loader: DataLoader = None):
    return isinstance(loader, DataLoader)
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_loaders(program: str, told: Callable[..., Any]) -> None:
    said, expected = told(program)
    assert said == expected


@pytest.mark.parametrize("program", OTHERS.values(), ids=OTHERS)
def test_what_is_no_loader(program: str, tmp_path: Path) -> None:
    assert Answers({"main.py": program}, tmp_path, {}).project.loaders == ()


def test_loaders_of_the_settings(told: Callable[..., Any]) -> None:
    said, expected = told(
        "from house import BatchLoader\n\nBatchLoader([], num_workers=4)  # workers: 4\n",
        loaders=("house.BatchLoader",),
    )
    assert said == expected
