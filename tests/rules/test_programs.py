"""What belongs to one program only: a start method of one is none of another's, and what one hands to a common function
does not come out in another. And what the way to a loader rules out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MODULES = {
    "launching.py": """\
import torch.multiprocessing as mp

def launch(main, count):
    mp.spawn(main, nprocs=count, args=())
""",
    "data.py": """\
from torch.utils.data import DataLoader, Dataset

class Mapped(Dataset):
    def __init__(self, rows, function):
        self.rows = rows
        self.function = function

    def __getitem__(self, index):
        return self.function(self.rows[index])

    def __len__(self):
        return len(self.rows)

def build(rows, function):
    return DataLoader(Mapped(rows, function), num_workers=4){mark}
""",
    "train.py": """\
from data import build
from launching import launch

def scaled(row):
    return row / 255

def main(rank):
    for batch in build(list(range(100)), scaled):
        print(batch)

if __name__ == "__main__":
    launch(main, 2)
""",
}
SPAWNED = {**MODULES, "data.py": MODULES["data.py"].replace("{mark}", "  # DLL101")}

SILENT: dict[str, dict[str, str]] = {
    "a lambda of a test, which no program launches": {
        **SPAWNED,
        "tests/test_data.py": """\
from data import build

def test_batches():
    assert list(build([1, 2], lambda row: row))
""",
    },
    "a lambda of another program, which forks": {
        **SPAWNED,
        "preview.py": """\
from data import build

if __name__ == "__main__":
    for batch in build([1, 2], lambda row: row):
        print(batch)
""",
    },
    "a function that is called where it is made": {
        **SPAWNED,
        "data.py": SPAWNED["data.py"]
        .replace("self.rows = rows", "self.rows = rows() if callable(rows) else rows")
        .replace("self.function = function\n", "self.function = function\n        self.names = self.listed\n")
        .replace(
            "    def __len__",
            """\
    @property
    def listed(self):
        if callable(self.function):
            self.function = self.function()
        return self.function

    def __len__""",
        ),
        "train.py": SPAWNED["train.py"].replace("build(list(range(100)), scaled)", "build(lambda: [1, 2], scaled)"),
    },
    "a wrapper that pickles by value": {
        **SPAWNED,
        "data.py": SPAWNED["data.py"]
        .replace("self.function = function", "self.function = ByValue(function)")
        .replace(
            "class Mapped",
            """\
import cloudpickle

class ByValue:
    def __init__(self, held):
        self.held = held

    def __call__(self, row):
        return self.held(row)

    def __reduce__(self):
        return cloudpickle.loads, (cloudpickle.dumps(self.held),)

class Mapped""",
        ),
        "train.py": SPAWNED["train.py"].replace("scaled)", "lambda row: row)"),
    },
    "a method that is set by force to what a setting says": {
        **MODULES,
        "data.py": MODULES["data.py"].replace("{mark}", ""),
        "train.py": MODULES["train.py"]
        .replace(
            "def main(rank):\n",
            "def main(rank):\n    set_method(os.environ['METHOD'])\n",
        )
        .replace(
            "def scaled",
            """\
import os
import torch.multiprocessing as mp

def set_method(name):
    mp.set_start_method(name, force=True)

def scaled""",
        ),
    },
}

SILENT["a method that another command of the program sets"] = {
    "data.py": MODULES["data.py"].replace("{mark}", ""),
    "cli.py": """\
import argparse
import multiprocessing
from data import build

def generate(args):
    multiprocessing.set_start_method("spawn", force=True)

def scaled(row):
    return row / 255

def train(args):
    for batch in build([1, 2], scaled):
        print(batch)

def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    commands.add_parser("generate").set_defaults(action=generate)
    commands.add_parser("train").set_defaults(action=train)
    args = parser.parse_args()
    args.action(args)

if __name__ == "__main__":
    main()
""",
}

FOUND: dict[str, dict[str, str]] = {
    "a lambda of the program that launches": {
        **SPAWNED,
        "train.py": SPAWNED["train.py"]
        .replace("build(list(range(100)), scaled)", "build(list(range(100)), lambda row: row)")
        .replace("lambda row: row):\n", "lambda row: row):  # DLL201\n"),
    },
    "a lambda of a module that the program may load by its name": {
        **SPAWNED,
        "train.py": SPAWNED["train.py"]
        .replace("from data import build\n", "import importlib\n")
        .replace("build(list(range(100)), scaled)", 'importlib.import_module("sets.digits").make()'),
        "sets/digits.py": """\
from data import build

def make():
    return build([1, 2], lambda row: row)  # DLL201

if __name__ == "__main__":
    print(make())
""",
    },
}


@pytest.mark.parametrize("case", SILENT)
def test_other_programs_are_left_out(case: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = SILENT[case]
    assert findings(files, ignore=["DLL3"], target_python="3.11") == marks(files)


@pytest.mark.parametrize("case", FOUND)
def test_the_program_itself_counts(case: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = FOUND[case]
    assert findings(files, ignore=["DLL3"], target_python="3.11") == marks(files)


def test_a_common_base_class_hands_nothing_to_another_program(findings: Callable[..., Any]) -> None:
    files = {
        "brain.py": """\
class Brain:
    def fit(self, train_set):
        self.prepare(train_set)

    def prepare(self, train_set):
        pass
""",
        "records.py": """\
from torch.utils.data import Dataset

class Records(Dataset):
    def __init__(self, data):
        self.data = data

    def __getitem__(self, index):
        return self.data[index]
""",
        "first.py": """\
from torch.utils.data import DataLoader
from brain import Brain
from records import Records

class Mixing(Brain):
    pass

if __name__ == "__main__":
    rows = Records([1, 2])
    Mixing().fit(DataLoader(rows, num_workers=2, worker_init_fn=lambda worker: None))  # DLL204
""",
        "second.py": """\
from torch.utils.data import DataLoader
from brain import Brain
from records import Records

class Enhancing(Brain):
    def prepare(self, train_set):
        for batch in DataLoader(Records(train_set), num_workers=2):
            print(batch)

if __name__ == "__main__":
    Enhancing().fit([1, 2])
""",
    }
    assert {code for _, _, code in findings(files, target_python="3.14")} == {"DLL204"}


def test_cuda_that_another_branch_initialises(findings: Callable[..., Any]) -> None:
    files = {
        "demo.py": """\
import multiprocessing as mp
import torch

def predict(queue):
    model = torch.nn.Linear(2, 2).cuda()
    queue.put(model)

class Direct:
    def __init__(self):
        self.model = torch.nn.Linear(2, 2).cuda()

class Parallel:
    def __init__(self):
        self.process = mp.Process(target=predict, args=(mp.Queue(),))
        self.process.start()

def run(settings):
    if settings.gpus <= 1:
        model = Direct()
    else:
        model = Parallel()
    return model

if __name__ == "__main__":
    run(open_settings())
""",
    }
    assert findings(files, select=["DLL103"], target_python="3.11") == set()
    before = files["demo.py"].replace(
        "    if settings.gpus <= 1:\n        model = Direct()\n    else:\n", "    Direct()\n    if settings:\n"
    )
    assert {code for _, _, code in findings({"demo.py": before}, select=["DLL103"], target_python="3.11")} == {"DLL103"}


LOADING = """\
import torch
from torch.utils.data import DataLoader, Dataset

class Clips(Dataset):
    def __init__(self, names):
        self.names = names

    def __getitem__(self, index):
        return torch.zeros(4).cuda()

class Frames(Dataset):
    def __getitem__(self, index):
        return torch.zeros(4)

def build(dataset, workers):
    return DataLoader(dataset, num_workers=workers)

if __name__ == "__main__":
    assert torch.cuda.is_available()
    clips = build(Clips([1]), {workers})
    frames = build(Frames(), 4)
    for batch in frames:
        print(batch)
"""


@pytest.mark.parametrize(("workers", "expected"), [("0", set()), ("2", {"DLL103"})])
def test_a_dataset_that_gets_no_workers(workers: str, expected: set[str], findings: Callable[..., Any]) -> None:
    files = {"load.py": LOADING.replace("{workers}", workers)}
    assert {code for _, _, code in findings(files, target_python="3.11")} == expected


def test_a_split_does_not_keep_its_generator(findings: Callable[..., Any]) -> None:
    files = {
        "split.py": """\
import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

if __name__ == "__main__":
    rows = TensorDataset(torch.zeros(10))
    first, second = random_split(rows, [8, 2], generator=torch.Generator().manual_seed(0))
    for batch in DataLoader(first, num_workers=2, multiprocessing_context="spawn"):
        print(batch)
""",
    }
    assert findings(files) == set()


def test_labels_that_are_loaded_once(findings: Callable[..., Any]) -> None:
    text = """\
import json
from torch.utils.data import DataLoader, Dataset

class Labelled(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.labels = []
        self.loaded = False

    def load(self, index):
        self.labels.append(json.load(open(self.paths[index])))
        self.loaded = True

    def __getitem__(self, index):
        if not self.loaded:
            self.load(index)
        return self.labels[0][index]

def build(paths):
    return DataLoader(Labelled(paths), num_workers=2)
"""
    assert findings({"labels.py": text}, select=["DLL304"], target_python="3.11") == set()
    each = text.replace("        if not self.loaded:\n    ", "").replace("            self.load", "        self.load")
    assert {code for _, _, code in findings({"labels.py": each}, select=["DLL304"], target_python="3.11")} == {"DLL304"}


def test_one_array_that_is_read_and_narrowed_is_one_finding(findings: Callable[..., Any]) -> None:
    text = """\
import pandas as pd
from torch.utils.data import DataLoader, Dataset

class Table(Dataset):
    def __init__(self, path):
        self.data = pd.read_csv(path)
        self.data = self.data.astype("float32")

    def __getitem__(self, index):
        return self.data.iloc[index]

def build(path):
    return DataLoader(Table(path), num_workers=2, multiprocessing_context="spawn")
"""
    assert len(findings({"table.py": text}, select=["DLL301"])) == 1


def test_an_attribute_of_another_object_of_the_class(findings: Callable[..., Any]) -> None:
    text = """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index]

def make():
    return Rows([1, 2])

def test_hook():
    rows = make()
    rows.hook = lambda row: row

def test_batches():
    rows = make()
    for row in DataLoader(rows, num_workers=2, multiprocessing_context="spawn"):
        print(row)
"""
    assert findings({"test_rows.py": text}) == set()
    same = text.replace("    for row", "    rows.hook = lambda row: row\n    for row")
    assert {(line, code) for _, line, code in findings({"test_rows.py": same})} == {(19, "DLL201")}
