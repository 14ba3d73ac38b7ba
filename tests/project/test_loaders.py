"""What makes a loader, how many workers it has and which start method it is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.project.conftest import Answers, whole

from dllint.linter import check_sources

HEAD = """\
from torch.utils.data import DataLoader

"""
TESTED = """\
# rows/__init__.py
from rows.data import Module, _private, build, build_both, cli, plain

# rows/data.py
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, transform=None):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index)


class Module:
    def __init__(self, workers=0, transform=None):
        self.workers = workers
        self.transform = transform

    def train(self):
        return self._loader()

    def _loader(self):
        return DataLoader(Rows(self.transform), num_workers=self.workers)  # reads: Rows


def build(rows, workers=4):
    return DataLoader(rows, num_workers=workers)  # reads: no


def plain(transform, workers=4):
    return DataLoader(Rows(transform), num_workers=workers)  # workers: 0 | 4 | unknown


def build_both(rows, workers):
    return DataLoader(rows, num_workers=workers)  # workers: 0 | 2


def _private(rows, workers):
    return DataLoader(rows, num_workers=workers)  # workers: 0


def cli(workers):
    return DataLoader(Rows(), num_workers=workers)  # workers: 2

# train.py
from rows import build_both, cli

build_both([], 2)
cli(2)

# tests/test_rows.py
from torch.utils.data import DataLoader
from rows import Module, _private, build, build_both, plain
from rows.data import Rows


class Fake(Rows):
    pass


def make(workers):
    return DataLoader(Rows(), num_workers=workers)  # workers: 0


def test_rows():
    Module(workers=0).train()
    build(Fake(), 0)
    plain(None, 0)
    build_both(Rows(), 0)
    _private([], 0)
    make(0)
"""
"""Functions that only tests call are called by users of the package, too."""
PROGRAMS: dict[str, str] = {
    "a package with tests": TESTED,
    "by other names": """\
import torch
import torch.utils.data as D
from torch import utils
from torch.utils.data import DataLoader as Loader
from torch.utils.data.dataloader import DataLoader as Same

Kept = torch.utils.data.DataLoader
Loader([], num_workers=1)  # workers: 1
D.DataLoader([], num_workers=2)  # workers: 2
torch.utils.data.DataLoader([], num_workers=3)  # workers: 3
Same([], num_workers=4)  # workers: 4
utils.data.DataLoader([], num_workers=5)  # workers: 5
Kept([], num_workers=6)  # workers: 6
""",
    "by a star import": """\
# data.py
from torch.utils.data import *

DataLoader([], num_workers=4)  # workers: 4
""",
    "imported inside a function and in a try": """\
# data.py
try:
    from torch.utils.data import DataLoader
except ImportError:
    DataLoader = None

def build():
    from torch.utils.data import DataLoader as Loader
    return Loader([], num_workers=4)  # workers: 4

DataLoader([], num_workers=4)  # workers: 4
""",
    "subclasses": """\
class Handing(DataLoader):
    def __init__(self, dataset, *args, **kwargs):
        super().__init__(dataset, *args, **kwargs)

class Setting(DataLoader):
    def __init__(self, dataset):
        super(Setting, self).__init__(dataset, batch_size=4, num_workers=8)

class Naming(DataLoader):
    def __init__(self, dataset, workers=2):
        DataLoader.__init__(self, dataset, num_workers=workers, multiprocessing_context="fork")

class Context(DataLoader):
    def __init__(self, dataset, **kwargs):
        super().__init__(dataset, multiprocessing_context="fork", **kwargs)

class Base(DataLoader):
    pass

class Below(Base):
    def __iter__(self):
        yield from super().__iter__()

Handing([], num_workers=4)  # workers: 4
Setting([])  # workers: 8
Naming([])  # workers: 2
Naming([], 3)  # context: fork
Context([], num_workers=4)  # context: fork
Below([], num_workers=4)  # workers: 4
""",
    "a class that is a value": """\
from torch_geometric.loader import DataLoader as GraphLoader

class Data:
    loader_class = DataLoader

    def load(self):
        return self.loader_class([], num_workers=3)  # workers: 3

def one(graphs):
    cls = GraphLoader if graphs else DataLoader
    return cls([], num_workers=4)  # workers: 4

def default(cls=DataLoader):
    return cls([], num_workers=5)  # workers: 5
""",
    "a class that is passed by position": """\
class Data:
    def __init__(self, kind, cls):
        self.cls = cls

    def load(self):
        return self.cls([], num_workers=1)  # workers: 1

    @staticmethod
    def one(kind):
        return kind([], num_workers=2)  # workers: 2

    @classmethod
    def other(cls, sort):
        return sort([], num_workers=3)  # workers: 3

def make(named, rows):
    return passed_on(named, rows)

def passed_on(what, rows):
    return what(rows, num_workers=4)  # workers: 4

def any_of(loaders):
    for one in loaders:
        one([], num_workers=5)  # workers: 5

def by_name(kinds, name):
    return kinds[name]([], num_workers=6)  # workers: 6

def typed(rows):
    return isinstance(rows, DataLoader)

Data("train", DataLoader).load()
Data.one(DataLoader)
Data.other(DataLoader)
make(DataLoader, [])
any_of([DataLoader])
by_name({"map": DataLoader}, "map")
""",
    "partials": """\
from functools import partial

def pick(count):
    return count

make = partial(DataLoader, batch_size=4, num_workers=4)
forked = partial(DataLoader, multiprocessing_context="fork")
make([])  # workers: 4
make([], num_workers=0)  # workers: 0
forked([], num_workers=4)  # context: fork
partial(DataLoader, num_workers=4)([])  # workers: 4
partial(DataLoader, **{"num_workers": 4})([], **{"num_workers": 0})  # workers: 0
partial(DataLoader, **{"num_workers": 4})([], **{"shuffle": True})  # workers: 4
partial(partial(DataLoader, num_workers=4), num_workers=0)([])  # workers: 0
partial(partial(DataLoader, num_workers=0), num_workers=4)([])  # workers: 4
DataLoader([], num_workers=partial(pick, 0)())  # workers: 0
DataLoader([], num_workers=partial(pick, 4)())  # workers: 4
""",
    "functions that hand keywords on": """\
def make(dataset, **kwargs):
    return DataLoader(dataset, **kwargs)  # workers: 4

def context(dataset, **kwargs):
    return DataLoader(dataset, **kwargs)  # context: fork

def adding(dataset, **kwargs):
    kwargs.setdefault("multiprocessing_context", "fork")
    return DataLoader(dataset, **kwargs)  # context: fork

make([], batch_size=4, num_workers=4)
context([], num_workers=4, multiprocessing_context="fork")
adding([], num_workers=4)
""",
    "positional arguments and keyword dicts": """\
from somewhere import others

BASE = {"pin_memory": True}
OPTIONS = {"batch_size": 4, "num_workers": 4, "multiprocessing_context": "forkserver"}
some = {"num_workers": 3, "collate_fn": None}
some = {name: value for name, value in some.items() if value is not None}
DataLoader([], 32, True, None, None, 4)  # workers: 4
DataLoader([], **OPTIONS)  # workers: 4
DataLoader([1], **OPTIONS)  # context: forkserver
DataLoader([], **{**BASE, "num_workers": 4})  # workers: 4
DataLoader([], **BASE)  # workers: 0
DataLoader([], **some)  # workers: 3
DataLoader([], **others)  # workers: not followed

def filled():
    options = dict(batch_size=4)
    options["num_workers"] = 4
    options.update(pin_memory=True)
    return DataLoader([], **options)  # workers: 4
""",
    "keyword dicts that differ by the way": """\
def set_on_one(cuda):
    options = {"shuffle": True}
    if cuda:
        options["num_workers"] = 4
    return DataLoader([], **options)  # workers: 4

def one_of_two(cuda):
    options = {"num_workers": 4, "pin_memory": True} if cuda else {}
    return DataLoader([], **options)  # workers: 4

def one_of_two_calls(args, cuda):
    options = dict(num_workers=args.workers) if cuda else dict()
    return DataLoader([], **options)  # workers: unknown

def merged_on_one(args, cuda):
    options = {}
    if cuda:
        more = {"num_workers": args.workers}
        options.update(more)
    return DataLoader([], **options)  # workers: unknown

def without(cuda):
    options = {"shuffle": True} if cuda else {}
    return DataLoader([], **options)  # workers: 0

def unknown_on_one(cuda, more):
    options = more if cuda else {}
    return DataLoader([], **options)  # workers: not followed
""",
    "counts": """\
import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("-j", "--workers", type=int, default=0)
args = parser.parse_args()
DataLoader([])  # workers: 0
DataLoader([], num_workers=0)  # workers: 0
DataLoader([], num_workers=args.workers)  # workers: 0 | unknown
DataLoader([], num_workers=min(os.cpu_count(), 8))  # workers: unknown

def given(workers):
    return DataLoader([], num_workers=workers)  # workers: 0

def default(workers=0):
    return DataLoader([], num_workers=workers)  # workers: 0

def two(debug):
    return DataLoader([], num_workers=0 if debug else 4)  # workers: 0 | 4

given(0)
given(workers=0)
default()
""",
    "made by a lambda, in a comprehension and in a yield from": """\
make = lambda workers: DataLoader([], num_workers=4)  # workers: 4
{name: DataLoader([], num_workers=3) for name in ("train", "test")}  # workers: 3

def batches():
    yield from DataLoader([], num_workers=2)  # workers: 2
""",
    "loaders of other libraries": """\
import flashy
import monai
import webdataset as wds
from dora import distrib
from graphein.protein.tensor.dataloader import ProteinDataLoader
from torch_geometric.loader import DataLoader as GraphLoader
from transformers import Trainer, TrainingArguments

GraphLoader([], batch_size=4, num_workers=1)  # workers: 1
ProteinDataLoader([], 4, True, None, None, num_workers=6)  # workers: 6
monai.data.DataLoader([], num_workers=2)  # workers: 2
wds.WebLoader([], num_workers=3)  # workers: 3
distrib.loader([], num_workers=4)  # workers: 4
flashy.distrib.loader([], batch_size=2, num_workers=5)  # workers: 5
args = TrainingArguments("out", dataloader_num_workers=6)  # workers: 6
Trainer(args=args).train()
""",
    "loaders of detectron2 and skorch": """\
from detectron2.data import build_detection_test_loader, build_detection_train_loader
from skorch import NeuralNet

def main(cfg, rows):
    build_detection_train_loader(cfg, mapper=print)  # workers: 4 | unknown
    build_detection_test_loader(dataset=rows, mapper=print)  # workers: 0
    build_detection_test_loader(dataset=rows, mapper=print, num_workers=2)  # workers: 2
    NeuralNet(None, iterator_train__num_workers=3)  # workers: 3
    NeuralNet(None, iterator_valid__num_workers=3)  # workers: 0
""",
    "options of a trainer that a command line fills": """\
# plain.py
from transformers import HfArgumentParser, TrainingArguments

parser = HfArgumentParser((Data, TrainingArguments))
data, training = parser.parse_args_into_dataclasses()  # workers: unknown

# default.py
from dataclasses import dataclass
import transformers

@dataclass
class Training(transformers.TrainingArguments):
    dataloader_num_workers: int = 4

training, = transformers.HfArgumentParser(Training).parse_json_file("a.json")  # workers: 4 | unknown

# made.py
from dataclasses import dataclass
import transformers

@dataclass
class Training(transformers.TrainingArguments):
    dataset: str = ""

Training("out", dataloader_num_workers=3)  # workers: 3
""",
    "contexts": """\
import multiprocessing

forked = multiprocessing.get_context("fork")
DataLoader([], num_workers=4, multiprocessing_context=None)  # context: no
DataLoader([], num_workers=4, multiprocessing_context="spawn")  # context: spawn
DataLoader([], num_workers=4, multiprocessing_context=forked)  # context: fork

def options(workers):
    if workers > 0:
        return {"multiprocessing_context": "spawn"}
    return {}

def may_be_given(context=None):
    return DataLoader([], num_workers=4, multiprocessing_context=context)  # context: ?

def with_workers(workers=4):
    return DataLoader([], num_workers=workers, multiprocessing_context="fork" if workers else None)  # context: fork

def put_in_with_workers(workers=4):
    options = {"num_workers": workers}
    if workers > 0:
        options["multiprocessing_context"] = "fork"
    return DataLoader([], **options)  # context: fork

def of_a_function(workers):
    return DataLoader([], num_workers=workers, **options(workers))  # context: spawn
""",
    "a context that is set afterwards": """\
loader = DataLoader([], num_workers=4)  # context: ?
loader.multiprocessing_context = "fork"
""",
    "what a registry makes, or any class of a module": """\
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

def build(name):
    return getattr(loading, name)()  # workers: 4
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
    said, expected = told(whole(HEAD, program))
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


def test_a_variable_that_is_called_as_a_loader_of_a_package_that_is_not_imported_leads_nowhere() -> None:
    rest = "".join(f"    x{number + 1} = x{number}\n" for number in range(400))
    code = "from torch.utils.data import DataLoader\nloader = DataLoader([])\nfor x0 in loader:\n" + rest
    report = check_sources({"/train.py": code})
    assert "names under which loaders are made, or processes started" not in report.limits
    imported = check_sources({"/train.py": f"import flashy\n{code}"})
    assert "names under which loaders are made, or processes started" in imported.limits
