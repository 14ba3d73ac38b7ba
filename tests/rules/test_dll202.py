"""DLL202: which functions and classes workers cannot find by their names, and which they can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL202"]}

FOUND: dict[str, dict[str, str]] = {
    "local function in a list": {
        "data.py": """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, steps):
        self.steps = steps

def build(factor):
    def scale(row):  # DLL202
        return row * factor

    return DataLoader(Rows([scale]), num_workers=2, multiprocessing_context="spawn")
"""
    },
    "factory in another file": {
        "steps.py": """\
def scaled(factor):
    def scale(row):  # DLL202
        return row * factor

    return scale
""",
        "data.py": """\
from torch.utils.data import DataLoader, Dataset
import steps as s

class Rows(Dataset):
    def __init__(self):
        self.step = s.scaled(2)

class More(Rows):
    pass

def build():
    return DataLoader(More(), **{"num_workers": 2, "multiprocessing_context": "forkserver"})
""",
    },
    "bound by a partial in a wrapper": {
        "data.py": """\
from functools import partial
from torch.utils.data import DataLoader, Dataset, Subset

class Rows(Dataset):
    def __init__(self, step):
        self.step = step

def build():
    def scale(factor, row):  # DLL202
        return row * factor

    return DataLoader(Subset(Rows(partial(scale, 2)), [0]), num_workers=2, multiprocessing_context="spawn")
"""
    },
    "instance of a local class": {
        "data.py": """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        class Scale:  # DLL202
            def __call__(self, row):
                return row

        self.step = Scale()

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
"""
    },
    "local dataset class that a factory gives": {
        "factory.py": """\
from torch.utils.data import Dataset

def make(rows):
    class Rows(Dataset):  # DLL202
        def __getitem__(self, index):
            return rows[index]

    return Rows()
""",
        "data.py": """\
from torch.utils.data import DataLoader, ConcatDataset
from factory import make

def build():
    return DataLoader(ConcatDataset([make([1]), make([2])]), num_workers=2, multiprocessing_context="spawn")
""",
    },
    "what a decorator puts in the place of a function": {
        "data.py": """\
from torch.utils.data import DataLoader, Dataset

def logged(level):
    def decorate(function):
        def call(row):  # DLL202
            return function(row)

        return call

    return decorate

@logged(3)
def scale(row):
    return row

class Rows(Dataset):
    def __init__(self):
        self.step = scale

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
"""
    },
    "hook of a module that the dataset keeps": {
        "data.py": """\
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        def show(module, inputs, output):  # DLL202
            print(output.shape)

        self.net = torch.nn.Linear(1, 1)
        self.net.register_forward_hook(show)

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
"""
    },
    "collate function and dataset under the guard": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

if __name__ == "__main__":
    class Rows(Dataset):  # DLL202
        def __getitem__(self, index):
            return index

    def collate(rows):  # DLL202
        return rows

    mp.set_start_method("spawn")
    for row in DataLoader(Rows(), num_workers=2, collate_fn=collate):
        print(row)
"""
    },
}

SILENT: dict[str, str] = {
    "class under the guard whose name the module imports, too": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset
from settings import Options

class Rows(Dataset):
    def __init__(self, options):
        self.options = options

    def __getitem__(self, index):
        return self.options.size

if __name__ == "__main__":
    class Options:
        size = 3

    mp.set_start_method("spawn")
    for row in DataLoader(Rows(Options()), num_workers=2):
        print(row)
""",
    "local function of the worker": """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __getitem__(self, index):
        def double(row):
            return 2 * row

        self.last = double
        return double(index)

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
""",
    "class in a class": """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    class Scale:
        def __call__(self, row):
            return row

    def __init__(self):
        self.step = self.Scale()

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
""",
    "declared global": """\
from torch.utils.data import DataLoader, Dataset

def build():
    global Rows

    class Rows(Dataset):
        def __getitem__(self, index):
            return index

    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
""",
    "decorator with wraps": """\
from functools import wraps
from torch.utils.data import DataLoader, Dataset

def logged(function):
    @wraps(function)
    def call(row):
        return function(row)

    return call

@logged
def scale(row):
    return row

class Rows(Dataset):
    def __init__(self):
        self.step = scale

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
""",
    "decorator that registers": """\
from torch.utils.data import DataLoader, Dataset

STEPS = {}

def step(function):
    STEPS[function.__name__] = function
    return function

@step
def scale(row):
    return row

class Rows(Dataset):
    def __init__(self):
        self.step = scale

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
""",
    "reduced to something of the module": """\
from torch.utils.data import DataLoader, Dataset

def build():
    class Rows(Dataset):
        def __reduce__(self):
            return list, ()

    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
""",
    "no workers": """\
from torch.utils.data import DataLoader, Dataset

def build():
    class Rows(Dataset):
        def __getitem__(self, index):
            return index

    return DataLoader(Rows(), num_workers=0)
""",
    "defined at the top, used under the guard": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __getitem__(self, index):
        return index

if __name__ == "__main__":
    mp.set_start_method("spawn")
    for row in DataLoader(Rows(), num_workers=2):
        print(row)
""",
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_found(
    files: dict[str, str], findings: Callable[..., set[tuple[str, int, str]]], marks: Callable[..., Any]
) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., set[tuple[str, int, str]]]) -> None:
    assert findings({"data.py": text}, **SELECT) == set()


GUARDED = """\
from torch.utils.data import DataLoader, Dataset

if __name__ == "__main__":
    class Rows(Dataset):
        def __getitem__(self, index):
            return index

    print(list(DataLoader(Rows(), num_workers=2)))
"""


@pytest.mark.parametrize(
    ("settings", "told_as"),
    [
        ({}, ("warning", "forkserver (the default on Linux from Python 3.14)")),
        ({"target_platform": "windows"}, ("error", "spawn (the default on Windows)")),
        ({"target_python": "3.13"}, ("info", "works, because workers are only forked here")),
    ],
)
def test_under_the_guard(settings: dict[str, Any], told_as: tuple[str, str], told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": GUARDED}, **SELECT, **settings)
    assert (found.severity, found.span.line) == (told_as[0], 4)
    assert told_as[1] in found.text


def test_a_class_is_not_moved(told: Callable[..., Any]) -> None:
    (found,) = told(FOUND["instance of a local class"], **SELECT)
    assert found.fixes == ()


PAIRED = """\
from torch.utils.data import DataLoader, Dataset

class Batches:
    def __init__(self, dataset, num_workers=0):
        self.dataset = dataset
        self.num_workers = num_workers

    def __iter__(self):
        yield from DataLoader(self.dataset, num_workers=self.num_workers, multiprocessing_context="spawn")

class Rows(Dataset):
    def __getitem__(self, index):
        return index

def local():
    class Local(Rows):
        pass

    return Local()

def batches(dataset, num_workers=0):
    return Batches(dataset, num_workers=num_workers)

def train():
    return batches(Rows(), num_workers=4)

def infer():
    return batches(local())
"""


def test_a_dataset_that_comes_without_workers(findings: Callable[..., Any]) -> None:
    """The worker count of another path of calls does not count."""
    workers = PAIRED.replace("batches(local())", "batches(local(), 2)")
    unknown = PAIRED.replace("batches(local())", "batches(local(), somewhere.workers)")

    assert findings({"train.py": PAIRED}, select=["DLL202"]) == set()
    assert findings({"train.py": workers}, select=["DLL202"]) == {("train.py", 16, "DLL202")}
    assert findings({"train.py": unknown}, select=["DLL202"]) == {("train.py", 16, "DLL202")}


def test_counts_and_datasets_that_are_not_told_apart(told: Callable[..., Any]) -> None:
    """Each is one of several, so that the local one may be the one that comes without workers."""
    apart = PAIRED.replace("batches(local())", "batches(local(), 4)")
    mixed = PAIRED.replace("batches(local())", "batches(local() if somewhere else Rows(), (0, 4)[somewhere])")

    assert [finding.severity for finding in told({"train.py": apart}, select=["DLL202"])] == ["error"]
    assert [finding.severity for finding in told({"train.py": mixed}, select=["DLL202"])] == ["warning"]


def test_a_function_that_makes_the_loader(findings: Callable[..., Any]) -> None:
    source = """\
from torch.utils.data import DataLoader, Dataset

def loader(dataset, workers):
    return DataLoader(dataset, num_workers=workers, multiprocessing_context="spawn")

class Rows(Dataset):
    def __getitem__(self, index):
        return index

def run():
    class Local(Rows):
        pass

    return [*loader(Rows(), 4), *loader(Local(), 0)]
"""
    workers = source.replace("Local(), 0", "Local(), 1")

    assert findings({"train.py": source}, select=["DLL202"]) == set()
    assert findings({"train.py": workers}, select=["DLL202"]) == {("train.py", 11, "DLL202")}


DECORATED = """\
import contextlib
import functools
import torch
from somewhere import unknown
from torch.utils.data import DataLoader, Dataset

def opener(root):
    DECORATOR
    def read(name):
        return root, name
    return read

class Rows(Dataset):
    def __init__(self, root):
        self.read = opener(root)

    def __getitem__(self, index):
        return self.read(index)

def build(root):
    return DataLoader(Rows(root), num_workers=2, multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    ("decorator", "lines"),
    [
        ("@functools.lru_cache(maxsize=8)", [9]),
        ("@functools.lru_cache", [9]),
        ("@functools.cache", [9]),
        ("@contextlib.contextmanager", [9]),
        ("@torch.no_grad()", [9]),
        ("@unknown", []),
        ("@functools.wraps(print)", []),
        ("@unknown\n    @functools.cache", []),
    ],
)
def test_local_functions_with_decorators(decorator: str, lines: list[int], told: Callable[..., Any]) -> None:
    found = told({"data.py": DECORATED.replace("DECORATOR", decorator)}, select=["DLL202"])

    assert [finding.span.line for finding in found] == lines


CHOSEN_BY_NAME = {
    "main.py": """\
import argparse

import ds
from torch_geometric.loader import DataLoader

def main(args):
    options = {} if args.options is None else args.options
    data = getattr(ds, args.name)("molecules", **options)
    for batch in DataLoader(data, num_workers=4):
        print(batch)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--name")
    parser.add_argument("--options")
    main(parser.parse_args())
""",
    "ds/__init__.py": "from .other import Other\nfrom .qm9 import Small\n",
    "ds/other.py": """\
from torch_geometric.data import Dataset

class Other(Dataset):
    def __init__(self, root, label=None):
        super().__init__(root)
""",
    "ds/qm9.py": """\
from torch_geometric.datasets import QM9

class Small(QM9):
    def __init__(self, root, label=None):
        self.label = label

        def keep_positions(data):
            return data.pos

        super().__init__(root, pre_transform=keep_positions)
""",
}


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        pytest.param("", "", [7], id="a function that the library's dataset keeps"),
        pytest.param("pre_transform=", "pre_filter=", [7], id="a filter that it keeps"),
        pytest.param(
            "super().__init__(root, pre_transform=keep_positions)",
            "super().__init__(root)\n        keep_positions(self[0])",
            [],
            id="a function that is only called",
        ),
        pytest.param("QM9", "Data", [], id="no dataset"),
    ],
)
def test_a_class_of_a_library_s_datasets_that_a_name_chooses(
    told: Callable[..., Any], old: str, new: str, lines: list[int]
) -> None:
    """Such a class counts as a dataset among those that `getattr` of a module can choose, whatever it is called."""
    files = {**CHOSEN_BY_NAME, "ds/qm9.py": CHOSEN_BY_NAME["ds/qm9.py"].replace(old, new)}
    files["ds/qm9.py"] = files["ds/qm9.py"].replace(
        "torch_geometric.datasets import Data", "torch_geometric.data import Data"
    )

    assert [one.span.line for one in told(files, select=["DLL202"])] == lines


def test_the_calls_that_pass_a_local_function_on_are_shown(told: Callable[..., Any]) -> None:
    """Where a transform is given its functions is another place than where they are defined."""
    files = {
        "data.py": """\
from albumentations import Compose, Lambda
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform

def transform():
    def grey(image):
        return image[:1]

    return Compose(
        [
            Lambda(
                image=grey,
            ),
        ]
    )

def build():
    def grey(image):
        return image

    grey(1)
    return DataLoader(Rows(transform()), num_workers=2, multiprocessing_context="spawn")
"""
    }

    (found,) = told(files, select=["DLL202"])

    assert [(one.span.line, one.message) for one in found.related] == [
        (6, "kept here as `transform`"),
        (15, "`grey` is used here"),
        (25, "this DataLoader starts the workers"),
    ]


STEPS = """\
import numpy as np
import torch
import torch.multiprocessing as mp
from torchvision import transforms as T


class Rows(torch.utils.data.Dataset):
    def __init__(self, trans):
        self.trans = trans

    def __getitem__(self, i):
        return self.trans(i)

    def __len__(self):
        return 9


def steps():
    def clip(x):
        return np.clip(x, 0, 1)

    def grey(x):
        return x[:1]

    return T.Compose([T.Lambda(clip), T.Lambda(grey)])


def others():
    def flip(x):
        return x[::-1]

    return T.Compose([T.Lambda(flip)])


if __name__ == "__main__":
    mp.set_start_method("spawn")
    for chosen in (steps(), others()):
        for row in torch.utils.data.DataLoader(Rows(chosen), num_workers=2):
            print(row)
"""


def test_the_steps_that_one_function_defines_are_one_cause(told: Callable[..., Any]) -> None:
    found = told({"main.py": STEPS}, select=["DLL202"])

    assert [one.span.line for one in found] == [19, 29]
    assert 22 in [place.span.line for place in found[0].related]


MODULE = """\
import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self, trans):
        self.trans = trans

    def __getitem__(self, i):
        return self.trans(i)

    def __len__(self):
        return 9


class Data:
    def __init__(self, trans, workers=0):
        self.trans = trans
        self.workers = workers

    def loader(self):
        return torch.utils.data.DataLoader(Rows(self.trans), num_workers=self.workers)
"""
PROGRAM = """\
import torch.multiprocessing as mp
from data import Data


def main():
    def clip(x):
        return x

    for row in Data(clipARGS).loader():
        print(row)


if __name__ == "__main__":
    mp.set_start_method("spawn")
    main()
"""


def test_the_worker_counts_of_other_programs(findings: Callable[..., Any]) -> None:
    """A function that a program defines reaches only the loaders which that program makes."""
    one, two = PROGRAM.replace("ARGS", ""), PROGRAM.replace("ARGS", ", workers=2")

    assert findings({"data.py": MODULE, "one.py": one, "two.py": two}, select=["DLL202"]) == {("two.py", 6, "DLL202")}
