"""DLL201: which lambdas reach workers on a dataset, whatever way they take, and which never do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL201"]}

HEAD = """\
from torch.utils.data import DataLoader, Dataset, IterableDataset
"""
TAIL = """
def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
"""

KEPT: dict[str, str] = {
    "attribute": """
class Rows(Dataset):
    def __init__(self):
        self.scale = lambda row: row / 255  # DLL201

    def __getitem__(self, index):
        return self.scale(index)
""",
    "set by a helper": """
class Rows(Dataset):
    def __init__(self):
        self._prepare()

    def _prepare(self):
        self.scale = lambda row: row / 255  # DLL201

    def __getitem__(self, index):
        return self.scale(index)
""",
    "set in a base class": """
class Base(Dataset):
    def __init__(self):
        self.scale = lambda row: row / 255  # DLL201

class Rows(Base):
    def __getitem__(self, index):
        return self.scale(index)
""",
    "in a list": """
class Rows(Dataset):
    def __init__(self):
        self.steps = [abs, lambda row: row / 255]  # DLL201

    def __getitem__(self, index):
        return index
""",
    "in a dict": """
class Rows(Dataset):
    def __init__(self):
        self.steps = {"scale": lambda row: row / 255}  # DLL201

    def __getitem__(self, index):
        return index
""",
    "put into a dict afterwards": """
class Rows(Dataset):
    def __init__(self):
        self.steps = {}
        self.steps["scale"] = lambda row: row / 255  # DLL201

    def __getitem__(self, index):
        return index
""",
    "appended to a list": """
class Rows(Dataset):
    def __init__(self):
        self.steps = []
        self.steps.append(lambda row: row / 255)  # DLL201

    def __getitem__(self, index):
        return index
""",
    "in Compose and Lambda": """
from torchvision import transforms

class Rows(Dataset):
    def __init__(self):
        self.transform = transforms.Compose([
            transforms.ToTensor(),
            transforms.Lambda(lambda image: image * 2 - 1),  # DLL201
        ])

    def __getitem__(self, index):
        return self.transform(index)
""",
    "in a partial": """
from functools import partial

def apply(function, row):
    return function(row)

class Rows(Dataset):
    def __init__(self):
        self.step = partial(apply, lambda row: row / 255)  # DLL201

    def __getitem__(self, index):
        return self.step(index)
""",
    "a partial of it": """
import functools

class Rows(Dataset):
    def __init__(self):
        self.step = functools.partial(lambda low, row: row - low, 3)  # DLL201

    def __getitem__(self, index):
        return self.step(index)
""",
    "defaultdict": """
import collections

class Rows(Dataset):
    def __init__(self):
        self.groups = collections.defaultdict(lambda: [])  # DLL201

    def __getitem__(self, index):
        return self.groups[index]
""",
    "defaultdict of defaultdict": """
from collections import defaultdict

class Rows(Dataset):
    def __init__(self):
        self.groups = defaultdict(lambda: defaultdict(int))  # DLL201

    def __getitem__(self, index):
        return self.groups[index]
""",
    "through a local variable": """
class Rows(Dataset):
    def __init__(self):
        step = lambda row: row / 255  # DLL201
        self.step = step

    def __getitem__(self, index):
        return self.step(index)
""",
    "of the module": """
STEP = lambda row: row / 255  # DLL201

class Rows(Dataset):
    def __init__(self):
        self.step = STEP

    def __getitem__(self, index):
        return self.step(index)
""",
    "or a default": """
class Rows(Dataset):
    def __init__(self, step=None):
        self.step = step or (lambda row: row / 255)  # DLL201

    def __getitem__(self, index):
        return self.step(index)
""",
    "by a conditional expression": """
class Rows(Dataset):
    def __init__(self, step=None):
        self.step = (lambda row: row / 255) if step is None else step  # DLL201

    def __getitem__(self, index):
        return self.step(index)
""",
    "a parameter's default": """
class Rows(Dataset):
    def __init__(self, step=lambda row: row / 255):  # DLL201
        self.step = step

    def __getitem__(self, index):
        return self.step(index)
""",
    "in an object that the dataset keeps": """
class Step:
    def __init__(self):
        self.scale = lambda row: row / 255  # DLL201

class Rows(Dataset):
    def __init__(self):
        self.step = Step()

    def __getitem__(self, index):
        return self.step.scale(index)
""",
    "handed to such an object": """
class Step:
    def __init__(self, function):
        self.function = function

class Rows(Dataset):
    def __init__(self):
        self.step = Step(lambda row: row / 255)  # DLL201

    def __getitem__(self, index):
        return self.step.function(index)
""",
    "from a factory": """
def scale():
    return lambda row: row / 255  # DLL201

class Rows(Dataset):
    def __init__(self):
        self.step = scale()

    def __getitem__(self, index):
        return self.step(index)
""",
    "iterable dataset": """
class Rows(IterableDataset):
    def __init__(self):
        super().__init__()
        self.step = lambda row: row / 255  # DLL201

    def __iter__(self):
        yield self.step(1)
""",
    "no base class at all": """
class Rows:
    def __init__(self):
        self.step = lambda row: row / 255  # DLL201

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return self.step(index)
""",
    "annotated and chained assignment": """
from typing import Callable

class Rows(Dataset):
    def __init__(self):
        self.step: Callable = lambda row: row / 255  # DLL201
        self.first = self.second = lambda row: row  # DLL201

    def __getitem__(self, index):
        return self.step(index)
""",
    "unpacked": """
class Rows(Dataset):
    def __init__(self):
        self.low, self.step = 3, lambda row: row / 255  # DLL201

    def __getitem__(self, index):
        return self.step(index)
""",
}

GIVEN: dict[str, dict[str, str]] = {
    "to the constructor": {
        "data.py": """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, rows, transform=None):
        self.rows = rows
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(self.rows[index])

def build():
    rows = Rows([], transform=lambda row: row / 255)  # DLL201
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
"""
    },
    "through two constructors": {
        "data.py": """\
from torch.utils.data import DataLoader, Dataset

class Base(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index)

class Rows(Base):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

def build():
    rows = Rows(lambda row: row / 255)  # DLL201
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
"""
    },
    "to ImageFolder": {
        "data.py": """\
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

def build():
    faces = ImageFolder("faces", transform=lambda image: image)  # DLL201
    return DataLoader(faces, num_workers=2, multiprocessing_context="spawn")
"""
    },
    "to MNIST in Compose": {
        "data.py": """\
from torch.utils.data import DataLoader
from torchvision import datasets, transforms as T

def build():
    transform = T.Compose([T.ToTensor(), T.Lambda(lambda image: image.view(-1))])  # DLL201
    digits = datasets.MNIST("digits", transform=transform)
    return DataLoader(digits, num_workers=2, multiprocessing_context="spawn")
"""
    },
    "among many in Compose": {
        "data.py": """\
from torch.utils.data import DataLoader
from torchvision import datasets, transforms as T

def build():
    transform = T.Compose([
"""
        + "".join(f"        T.Step{number}(),\n" for number in range(30))
        + "        T.Lambda(lambda image: image),  # DLL201\n" * 2
        + """\
    ])
    digits = datasets.MNIST("digits", transform=transform)
    return DataLoader(digits, num_workers=2, multiprocessing_context="spawn")
"""
    },
    "inside Subset, ConcatDataset and random_split": {
        "data.py": """\
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, random_split

class Rows(Dataset):
    def __init__(self, step):
        self.step = step

    def __getitem__(self, index):
        return self.step(index)

def build():
    options = {"num_workers": 2, "multiprocessing_context": "spawn"}
    one = Rows(lambda row: row + 1)  # DLL201
    two = Rows(lambda row: row + 2)  # DLL201
    three = Rows(lambda row: row + 3)  # DLL201
    train, test = random_split(three, [4, 1])
    DataLoader(Subset(one, [0, 1]), **options)
    DataLoader(ConcatDataset([two, two]), **options)
    return DataLoader(train, **options)
"""
    },
    "inside a wrapper of the project, and a sum": {
        "data.py": """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, step):
        self.step = step

    def __getitem__(self, index):
        return self.step(index)

class Cached(Dataset):
    def __init__(self, inner):
        self.inner = inner

    def __getitem__(self, index):
        return self.inner[index]

def build():
    one = Rows(lambda row: row + 1)  # DLL201
    return DataLoader(Cached(one), num_workers=2, multiprocessing_context="spawn")
"""
    },
    "set on the dataset from outside": {
        "rows.py": """\
from torch.utils.data import Dataset

class Rows(Dataset):
    step = None

    def __getitem__(self, index):
        return self.step(index)
""",
        "data.py": """\
from torch.utils.data import DataLoader
from rows import Rows

def build():
    rows = Rows()
    rows.step = lambda row: row / 255  # DLL201
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
""",
    },
    "three files from its launcher": {
        "launch.py": """\
import torch.multiprocessing as mp
import train

if __name__ == "__main__":
    mp.spawn(train.main, nprocs=2)
""",
        "train.py": """\
from torch.utils.data import DataLoader
from sets import make

def main(rank):
    return DataLoader(make("rows"), num_workers=2)
""",
        "sets/__init__.py": """\
from .rows import Rows as RowSet

def make(name):
    return {"rows": RowSet}[name]()
""",
        "sets/rows.py": """\
from torch.utils.data import Dataset
from .steps import *

class Rows(Dataset):
    def __init__(self):
        self.step = step

    def __getitem__(self, index):
        return self.step(index)
""",
        "sets/steps.py": """\
step = lambda row: row / 255  # DLL201
""",
    },
    "a dataset with another name for its base and its loader": {
        "data.py": """\
import torch.utils.data as tud

class Rows(tud.Dataset):
    def __init__(self):
        self.step = lambda row: row  # DLL201

    def __getitem__(self, index):
        return self.step(index)

def build(cls=tud.DataLoader):
    return cls(dataset=Rows(), num_workers=2, multiprocessing_context="spawn")
"""
    },
    "kept by an object and given by a method": {
        "data.py": """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, step):
        self.step = step

    def __getitem__(self, index):
        return self.step(index)

class Data:
    def __init__(self):
        self.train = Rows(lambda row: row)  # DLL201

    def loader(self):
        return DataLoader(self.train, num_workers=2, multiprocessing_context="spawn")
"""
    },
    "a data module": {
        "data.py": """\
import pytorch_lightning as pl
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, step):
        self.step = step

    def __getitem__(self, index):
        return self.step(index)

class Data(pl.LightningDataModule):
    def setup(self, stage=None):
        self.train = Rows(step=lambda row: row)  # DLL201

    def train_dataloader(self):
        return DataLoader(self.train, num_workers=2, multiprocessing_context="spawn")
"""
    },
}

NOT_KEPT: dict[str, str] = {
    "class attribute": """
class Rows(Dataset):
    step = lambda self, row: row / 255

    def __getitem__(self, index):
        return self.step(index)
""",
    "property": """
class Rows(Dataset):
    @property
    def step(self):
        return lambda row: row / 255

    def __getitem__(self, index):
        return self.step(index)
""",
    "used in __init__ only": """
class Rows(Dataset):
    def __init__(self):
        step = lambda row: row / 255
        self.rows = [step(1), step(2)]

    def __getitem__(self, index):
        return self.rows[index]
""",
    "a sort key": """
class Rows(Dataset):
    def __init__(self):
        self.rows = sorted(["b", "a"], key=lambda row: row.lower())

    def __getitem__(self, index):
        return self.rows[index]
""",
    "map and filter as a list": """
class Rows(Dataset):
    def __init__(self):
        self.rows = list(map(lambda row: row * 2, [1, 2]))
        self.names = list(filter(lambda name: name, ["a"]))

    def __getitem__(self, index):
        return self.rows[index]
""",
    "applied to a frame": """
import pandas as pd

class Rows(Dataset):
    def __init__(self):
        self.frame = pd.read_csv("rows.csv")
        self.frame["size"] = self.frame["size"].apply(lambda size: size * 2)
        self.small = self.frame.apply(lambda row: row, axis=1)

    def __getitem__(self, index):
        return self.frame.iloc[index]
""",
    "in __getitem__": """
class Rows(Dataset):
    def __getitem__(self, index):
        step = lambda row: row / 255
        return step(index)
""",
    "in __call__ of a transform": """
class Step:
    def __call__(self, row):
        scale = lambda value: value / 255
        return scale(row)

class Rows(Dataset):
    def __init__(self):
        self.step = Step()

    def __getitem__(self, index):
        return self.step(index)
""",
    "dropped by __getstate__": """
class Rows(Dataset):
    def __init__(self):
        self.step = lambda row: row / 255

    def __getstate__(self):
        state = self.__dict__.copy()
        del state["step"]
        return state

    def __getitem__(self, index):
        return index
""",
    "popped by __getstate__": """
class Rows(Dataset):
    def __init__(self):
        self.step = lambda row: row / 255

    def __getstate__(self):
        state = dict(self.__dict__)
        state.pop("step", None)
        return state

    def __getitem__(self, index):
        return index
""",
    "left out by __reduce__": """
class Rows(Dataset):
    def __init__(self, path="rows"):
        self.path = path
        self.step = lambda row: row / 255

    def __reduce__(self):
        return Rows, (self.path,)

    def __getitem__(self, index):
        return index
""",
    "defaultdict of int and of list": """
from collections import defaultdict

class Rows(Dataset):
    def __init__(self):
        self.counts = defaultdict(int)
        self.groups = defaultdict(list)

    def __getitem__(self, index):
        return self.counts[index]
""",
    "partial of a function": """
from functools import partial

def scale(low, row):
    return row - low

class Rows(Dataset):
    def __init__(self):
        self.step = partial(scale, 3)
        self.bound = self.__getitem__

    def __getitem__(self, index):
        return index
""",
    "on a scheduler": """
from torch.optim.lr_scheduler import LambdaLR

class Rows(Dataset):
    def __getitem__(self, index):
        return index

class Trainer:
    def __init__(self, optimizer):
        self.scheduler = LambdaLR(optimizer, lr_lambda=lambda epoch: 0.95**epoch)
        self.loader = build()
""",
    "on a model": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = lambda row: row / 255

class Rows(Dataset):
    def __getitem__(self, index):
        return index
""",
    "replaced before the loader": """
class Rows(Dataset):
    def __init__(self):
        self.step = None

    def __getitem__(self, index):
        return index
""",
    "the lambda of another dataset": """
class Others(Dataset):
    def __init__(self):
        self.step = lambda row: row

    def __getitem__(self, index):
        return self.step(index)

class Rows(Dataset):
    def __getitem__(self, index):
        return Others()[index]
""",
    "set in the worker": """
class Rows(Dataset):
    def __init__(self):
        self.step = None

    def __getitem__(self, index):
        if self.step is None:
            self.step = lambda row: row / 255
        return self.step(index)
""",
    "an argument that is not kept": """
class Rows(Dataset):
    def __init__(self, rows=(), keep=lambda row: True):
        self.rows = [row for row in rows if keep(row)]

    def __getitem__(self, index):
        return self.rows[index]
""",
}

SILENT: dict[str, str] = {
    "no workers": """
class Rows(Dataset):
    def __init__(self):
        self.step = lambda row: row

    def __getitem__(self, index):
        return index

def build():
    return DataLoader(Rows(), num_workers=0)
""",
    "forked on purpose": """
class Rows(Dataset):
    def __init__(self):
        self.step = lambda row: row

    def __getitem__(self, index):
        return index

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="fork")
""",
    "on a sampler": """
class Rows(Dataset):
    def __getitem__(self, index):
        return index

class Sampler:
    def __init__(self):
        self.key = lambda index: index

    def __iter__(self):
        return iter([1])

def build():
    return DataLoader(Rows(), sampler=Sampler(), num_workers=2, multiprocessing_context="spawn")
""",
    "never loaded": """
class Rows(Dataset):
    def __init__(self):
        self.step = lambda row: row

    def __getitem__(self, index):
        return index

def build():
    return [Rows()[index] for index in range(3)]
""",
    "paddle's loader": """
import paddle

class Rows(Dataset):
    def __init__(self):
        self.step = lambda row: row

    def __getitem__(self, index):
        return index

def build():
    return paddle.io.DataLoader(Rows(), num_workers=2)
""",
    "wrapped in an object from outside by a call that keeps nothing": """
import numpy

class Rows(Dataset):
    def __init__(self):
        self.rows = numpy.fromfunction(lambda row, column: row + column, (2, 2))

    def __getitem__(self, index):
        return self.rows[index]

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
""",
}


@pytest.mark.parametrize("classes", KEPT.values(), ids=KEPT)
def test_lambdas_on_datasets_are_found(findings: Callable[..., Any], marks: Callable[..., Any], classes: str) -> None:
    files = {"data.py": HEAD + classes + TAIL}
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("files", GIVEN.values(), ids=GIVEN)
def test_lambdas_given_to_datasets_are_found(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("classes", NOT_KEPT.values(), ids=NOT_KEPT)
def test_lambdas_that_are_not_pickled_are_silent(findings: Callable[..., Any], classes: str) -> None:
    assert findings({"data.py": HEAD + classes + TAIL}, **SELECT) == set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_datasets_that_are_not_pickled_are_silent(findings: Callable[..., Any], text: str) -> None:
    assert findings({"data.py": HEAD + text}) == set()


PLAIN = HEAD + KEPT["attribute"] + "\ndef build():\n    return DataLoader(Rows(), num_workers=2)\n"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"target_python": "3.13"}, []),
        ({"target_python": "3.14"}, [("error", "forkserver")]),
        ({}, [("warning", "forkserver")]),
        ({"target_python": "3.12", "target_platform": ["linux", "macos"]}, [("warning", "spawn")]),
        ({"target_python": "3.12", "target_platform": "macos"}, [("error", "spawn")]),
    ],
)
def test_targets_decide_how_bad_it_is(told: Callable[..., Any], settings: Any, expected: list[tuple[str, str]]) -> None:
    assert [(one.severity, *one.start_methods) for one in told({"data.py": PLAIN}, **settings)] == expected


@pytest.mark.parametrize("select", [["DLL2"], ["DLL201"]])
def test_forked_workers_are_told_of_on_request(told: Callable[..., Any], select: list[str]) -> None:
    (finding,) = told({"data.py": PLAIN}, select=select, target_python="3.13")

    assert (finding.severity, finding.message, finding.start_methods) == ("info", "fork_only", ())


def test_forked_workers_are_silent_by_default(told: Callable[..., Any]) -> None:
    assert told({"data.py": PLAIN}, target_python="3.13") == ()


def test_one_lambda_that_three_loaders_need_is_one_finding(told: Callable[..., Any]) -> None:
    text = (
        HEAD
        + KEPT["attribute"]
        + """
def build():
    rows = Rows()
    DataLoader(rows, num_workers=2)
    DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
    DataLoader(Rows(), num_workers=2)
"""
    )

    (finding,) = told({"data.py": text}, **SELECT)

    assert finding.severity == "error"
    assert len(finding.related) == 3


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("defaultdict(lambda: 0)", ["int"]),
        ("defaultdict(lambda: [])", ["list"]),
        ("defaultdict(lambda: set())", ["set"]),
        ("defaultdict(lambda: defaultdict(int))", ["partial(defaultdict, int)"]),
        ("defaultdict(lambda: 7)", ["_rows"]),
        ("lambda row: row / 255", ["_rows"]),
        ("lambda row: row / scale", []),
        ("lambda row: self.rows", []),
    ],
)
def test_fixes(told: Callable[..., Any], text: str, edits: list[str]) -> None:
    source = f"""\
from collections import defaultdict
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, scale=3):
        self.rows = {text}

    def __getitem__(self, index):
        return self.rows[index]
{TAIL}"""

    (finding,) = told({"data.py": source}, **SELECT)

    given = [fix.edits[-1] for fix in finding.fixes]
    assert [edit.code if hasattr(edit, "code") else edit.name for edit in given] == edits


def test_a_moved_lambda_is_named_after_the_parameter_that_takes_it(told: Callable[..., Any]) -> None:
    (finding,) = told(GIVEN["to ImageFolder"], **SELECT)

    assert finding.fixes[0].edits[-1].name == "_transform"


def test_a_moved_lambda_gets_a_name_that_is_free(told: Callable[..., Any]) -> None:
    text = HEAD + "\ndef _scale(row):\n    return row\n" + KEPT["attribute"] + TAIL

    (finding,) = told({"data.py": text}, **SELECT)

    assert finding.fixes[0].edits[-1].name == "_scale_2"


def test_what_a_subclass_puts_into_a_dict_of_its_base_is_followed(
    findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {
        "base.py": """\
from torch.utils.data import DataLoader

class Task:
    def __init__(self):
        self.datasets = {}

    def loader(self, split):
        return DataLoader(self.datasets[split], num_workers=4, multiprocessing_context="spawn")
""",
        "faces.py": """\
from base import Task
from torch.utils.data import Dataset

class Faces(Dataset):
    def __init__(self):
        self.step = lambda image: image  # DLL201

class FaceTask(Task):
    def load(self, split):
        self.datasets[split] = Faces()
""",
    }
    assert findings(files, select=["DLL201"]) == marks(files)


@pytest.mark.parametrize(
    ("base", "named"),
    [
        ("from mypackage import BaseData as Base", "mypackage.BaseData"),
        ("from bases import Base", "bases.Base"),
        ("from bases import Base", "Base"),
    ],
)
def test_a_base_class_of_datasets_in_the_settings(
    base: str, named: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {
        "bases.py": "class Base:\n    def load(self, index):\n        raise NotImplementedError\n",
        "train.py": f"{base}\nfrom torch.utils.data import DataLoader\n"
        """

class Rows(Base):
    def __init__(self):
        self.change = lambda row: row  # DLL201

    def load(self, index):
        return self.change(index)

loader = DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
""",
    }

    assert findings(files, select=["DLL201"]) == set()
    assert findings(files, select=["DLL201"], datasets=[named]) == marks(files)


COUNTS: dict[str, str] = {
    "in one of two dicts": 'options = {"num_workers": args.workers, "pin_memory": True} if cuda else {}',
    "in one of two calls of dict": "options = dict(num_workers=args.workers) if cuda else dict()",
    "added under a test": 'options = {"shuffle": True}\n    if cuda:\n        options["num_workers"] = args.workers',
    "merged under a test": 'options = {}\n    if cuda:\n        more = {"num_workers": args.workers}\n'
    "        options.update(more)",
}
COUNTING = """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, change=lambda row: row):  # DLL201
        self.change = change

    def __getitem__(self, index):
        return self.change(index)

def build(args, cuda, more):
    {}
    return DataLoader(Rows(), **options)
"""


@pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS)
def test_a_worker_count_that_is_given_on_some_paths(
    count: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"data.py": COUNTING.format(count)}

    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("count", ['options = {"shuffle": True} if cuda else {}', "options = more if cuda else {}"])
def test_options_that_name_no_worker_count(count: str, findings: Callable[..., Any]) -> None:
    assert findings({"data.py": COUNTING.format(count)}, **SELECT) == set()


PIPELINES: dict[str, str] = {
    "a stage": "    return wds.DataPipeline(wds.SimpleShardList(urls), wds.map(lambda row: row))  # DLL201",
    "a list of stages": """\
    stages = [wds.SimpleShardList(urls)]
    stages.extend([wds.select(lambda row: row)])  # DLL201
    return wds.DataPipeline(*stages)""",
    "a method": "    return wds.WebDataset(urls).decode('pil').map_dict(image=lambda row: row).batched(8)  # DLL201",
    "methods one after another": """\
    rows = wds.WebDataset(urls)
    rows = rows.map(lambda row: row)  # DLL201
    return rows.with_epoch(9)""",
}
PIPED = """\
import webdataset as wds

def made(urls):
{}

def build(urls):
    loader = wds.WebLoader(made(urls), num_workers=4, batch_size=None, multiprocessing_context="spawn")
    return loader.map(lambda batch: batch)
"""


@pytest.mark.parametrize("rows", PIPELINES.values(), ids=PIPELINES)
def test_stages_of_a_pipeline(rows: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"data.py": PIPED.format(rows)}

    assert findings(files, **SELECT) == marks(files)


def test_what_the_loader_itself_maps_runs_in_its_own_process(findings: Callable[..., Any]) -> None:
    assert findings({"data.py": PIPED.format("    return wds.WebDataset(urls).map(print)")}, **SELECT) == set()


SPAWNING: dict[str, str] = {
    "set where there are workers": "    options = {}\n    if workers > 0:\n"
    '        options["multiprocessing_context"] = "spawn"\n',
    "one of two dicts": '    options = {"multiprocessing_context": "spawn"} if workers else {}\n',
    "what a function gives": "    options = of(workers)\n",
}
SPAWNED = """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.change = lambda row: row  # DLL201

    def __getitem__(self, index):
        return self.change(index)

def of(workers):
    if workers > 0:
        return {"multiprocessing_context": "spawn"}
    return {}

"""


@pytest.mark.parametrize("options", SPAWNING.values(), ids=SPAWNING)
def test_a_context_that_is_given_on_some_paths(
    options: str, told: Callable[..., Any], relative: Callable[[str], str]
) -> None:
    build = f"def build(workers):\n{options}    return DataLoader(Rows(), num_workers=workers, **options)\n"

    (finding,) = told({"data.py": SPAWNED + build}, **SELECT)

    assert (finding.severity, finding.start_methods) == ("error", ("spawn",))


def test_a_context_that_only_another_caller_gives(findings: Callable[..., Any]) -> None:
    text = """\
class Plain(Dataset):
    def __getitem__(self, index):
        return index

def build(rows, **options):
    return DataLoader(rows, num_workers=4, **options)

def main():
    build(Rows(), multiprocessing_context="fork")
    build(Plain(), multiprocessing_context="spawn")
    build(Plain())
"""
    assert findings({"data.py": SPAWNED.replace("  # DLL201", "") + text}, **SELECT) == set()


def test_a_pipeline_goes_with_the_workers_of_the_same_call(
    findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    text = """\
import webdataset as wds

def build(urls, change, workers):
    rows = wds.WebDataset(urls).map(change)
    return wds.WebLoader(rows, num_workers=workers, batch_size=None, multiprocessing_context="spawn")

def look(urls):
    return build(urls, lambda row: row, 0)

def train(urls):
    return build(urls, lambda row: row, 4)  # DLL201
"""
    files = {"data.py": text.replace(', multiprocessing_context="spawn"', "")}

    assert findings(files, **SELECT) == marks(files)


OWN_LOADER = """
class Base(Dataset):
    def __len__(self):
        return 9

    def loader(self, **options):
        return DataLoader(self, num_workers=options.get("workers", 2), multiprocessing_context="spawn")

class Rows(Base):
    def __init__(self):
        self.scale = lambda row: row / 255{rows}

    def __getitem__(self, index):
        return self.scale(index)

class Columns(Base):
    def __init__(self):
        self.scale = lambda row: row / 9{columns}

    def __getitem__(self, index):
        return self.scale(index)

class Own(Base):
    def __init__(self):
        self.scale = lambda row: row / 9

    def __getitem__(self, index):
        return self.scale(index)

    def loader(self, **options):
        return DataLoader(self, num_workers=0)
"""


@pytest.mark.parametrize(
    ("rows", "columns", "use"),
    [
        ("  # DLL201", "  # DLL201", ""),
        ("  # DLL201", "  # DLL201", "\ndef load(dataset):\n    return dataset.loader(workers=3)\n"),
        ("  # DLL201", "", "\ndef load():\n    return Rows().loader()\n"),
        ("", "", "\ndef load():\n    return Rows().loader(workers=0)\n"),
        (
            "  # DLL201",
            "  # DLL201",
            "\ndef load(name):\n    kinds = {'r': Rows, 'c': Columns, 'o': Own}\n    return kinds[name]().loader()\n",
        ),
    ],
    ids=["no call known", "of any dataset", "of one", "of one without workers", "of those of a table"],
)
def test_a_dataset_that_makes_its_own_loader(
    rows: str, columns: str, use: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"data.py": HEAD + OWN_LOADER.format(rows=rows, columns=columns) + use}

    assert findings(files, **SELECT) == marks(files)


COLLECTED: dict[str, str] = {
    "a dict by comprehension": """\
    rows = {name: Rows(lambda row: row) for name in ("train", "val")}  # DLL201
    return {name: DataLoader(rows[name], num_workers=2) for name in ("train", "val")}
""",
    "one of a dict by comprehension": """\
    rows = {name: Rows(lambda row: row) for name in ("train", "val")}  # DLL201
    return DataLoader(rows["train"], num_workers=2)
""",
    "transforms by name": """\
    changes = {"train": lambda row: row}  # DLL201
    rows = {name: Rows(changes[name]) for name in ["train"]}
    return {name: DataLoader(rows[name], num_workers=2) for name in ["train"]}
""",
    "the items of a dict": """\
    rows = {"train": Rows(lambda row: row)}  # DLL201
    return {name: DataLoader(one, num_workers=2) for name, one in sorted(rows.items())}
""",
    "the values of a dict": """\
    rows = {"train": Rows(lambda row: row)}  # DLL201
    return [DataLoader(one, num_workers=2) for one in rows.values()]
""",
    "numbered items": """\
    rows = {name: (Rows(lambda row: row), 3) for name in names}  # DLL201
    for number, (name, (one, size)) in enumerate(tqdm(rows.items())):
        yield DataLoader(one, batch_size=size, num_workers=2)
""",
    "beside others": """\
    rows = [Rows(lambda row: row), Rows()]  # DLL201
    for name, one in zip(names, rows):
        yield DataLoader(one, num_workers=2)
""",
    "options without those that are None": """\
    options = {"num_workers": 4, "collate_fn": None}
    options = {name: value for name, value in options.items() if value is not None}
    return DataLoader(Rows(lambda row: row), **options)  # DLL201
""",
}
COLLECTION = """\
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

class Rows(Dataset):
    def __init__(self, change=None):
        self.change = change

    def __getitem__(self, index):
        return self.change(index)

def build(names):
{}
"""


@pytest.mark.parametrize("made", COLLECTED.values(), ids=COLLECTED)
def test_datasets_in_collections(made: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"data.py": COLLECTION.format(made)}

    assert findings(files, **SELECT) == marks(files)


APART: dict[str, str] = {
    "another key": """\
    rows = {name: Rows(lambda row: row) for name in ("train", "val")}
    plain = {name: Rows() for name in ("train", "val")}
    return rows["train"], DataLoader(plain["train"], num_workers=2)
""",
    "the number of an item": """\
    rows = [lambda row: row]
    for number, one in enumerate(rows):
        yield DataLoader(Rows(number), num_workers=2)
""",
    "the other one": """\
    rows = [Rows(lambda row: row)]
    plain = [Rows()]
    for one, other in zip(plain, rows):
        yield DataLoader(one, num_workers=2)
""",
}


@pytest.mark.parametrize("made", APART.values(), ids=APART)
def test_other_parts_of_collections(made: str, findings: Callable[..., Any]) -> None:
    assert findings({"data.py": COLLECTION.format(made)}, **SELECT) == set()
