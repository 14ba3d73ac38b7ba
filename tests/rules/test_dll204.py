"""DLL204: which callables of a loader cannot be pickled to its workers, and which can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL204"]}

FOUND: dict[str, dict[str, str]] = {
    "set by the loader's own class": {
        "loaders.py": """\
from functools import partial
from torch.utils.data import DataLoader

def join(rows, pad):
    return rows, pad

class Padding(DataLoader):
    def __init__(self, rows, pad, **kwargs):
        super().__init__(rows, **kwargs)
        self.pad = pad
        self.collate_fn = self.made(pad)

    def made(self, pad):
        return partial(join, pad=lambda row: row)  # DLL204
""",
        "data.py": """\
from loaders import Padding

class Speech(Padding):
    pass

def build(rows):
    return Speech(rows, 1, num_workers=2, multiprocessing_context="spawn")
""",
    },
    "a trainer's data_collator": {
        "options.py": """\
from transformers import TrainingArguments

def options():
    return TrainingArguments("out", dataloader_num_workers=4)
""",
        "train.py": """\
from transformers import Trainer
from options import options

def main(rows):
    trainer = Trainer(None, options(), data_collator=lambda rows: rows, train_dataset=rows)  # DLL204
    trainer.train()

if __name__ == "__main__":
    import multiprocessing
    multiprocessing.set_start_method("spawn")
    main([1])
""",
    },
    "lambda as collate_fn": {
        "data.py": """\
from torch.utils.data import DataLoader

def build(rows):
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=lambda batch: batch)  # DLL204
"""
    },
    "lambda as worker_init_fn": {
        "data.py": """\
from torch.utils.data import DataLoader

def build(rows):
    return DataLoader(
        rows,
        num_workers=2,
        multiprocessing_context="spawn",
        worker_init_fn=lambda worker: print(worker),  # DLL204
    )
"""
    },
    "local function": {
        "data.py": """\
from torch.utils.data import DataLoader

def build(rows, padding):
    def pad(batch):  # DLL204
        return batch + [padding]

    return DataLoader(rows, num_workers=2, multiprocessing_context="forkserver", collate_fn=pad)
"""
    },
    "partial of a lambda": {
        "data.py": """\
from functools import partial
from torch.utils.data import DataLoader

def build(rows):
    collate = partial(lambda padding, batch: batch, 0)  # DLL204
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=collate)
"""
    },
    "partial of a local function": {
        "data.py": """\
from functools import partial
from torch.utils.data import DataLoader

def build(rows):
    def pad(padding, batch):  # DLL204
        return batch

    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=partial(pad, 0))
"""
    },
    "bound by a partial": {
        "data.py": """\
from functools import partial
from torch.utils.data import DataLoader

def pad(key, batch):
    return sorted(batch, key=key)

def build(rows):
    collate = partial(pad, lambda row: len(row))  # DLL204
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=collate)
"""
    },
    "closure from a factory in another file": {
        "collate.py": """\
def padded(padding):
    def collate(batch):  # DLL204
        return batch + [padding]

    return collate
""",
        "data.py": """\
from torch.utils.data import DataLoader
from collate import padded

def build(rows):
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=padded(0))
""",
    },
    "in a subclass": {
        "data.py": """\
from torch.utils.data import DataLoader

class Loader(DataLoader):
    def __init__(self, rows, **kwargs):
        super().__init__(rows, collate_fn=lambda batch: batch, **kwargs)  # DLL204

def build(rows):
    return Loader(rows, num_workers=2, multiprocessing_context="spawn")
"""
    },
    "set afterwards": {
        "data.py": """\
from torch.utils.data import DataLoader

def build(rows):
    loader = DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
    loader.worker_init_fn = lambda worker: print(worker)  # DLL204
    return loader
"""
    },
    "set afterwards, in another file": {
        "wrap.py": """\
from torch.utils.data import DataLoader

def make(rows):
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
""",
        "data.py": """\
from wrap import make

def build(rows):
    loader = make(rows)
    loader.collate_fn = lambda batch: batch  # DLL204
    return loader
""",
    },
    "set afterwards on a loader kept as attribute": {
        "data.py": """\
from torch.utils.data import DataLoader

class Data:
    def __init__(self, rows):
        self.loader = DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
        self.loader.collate_fn = lambda batch: batch  # DLL204
"""
    },
    "under a launcher": {
        "launch.py": """\
import torch.multiprocessing as mp
from data import build

def worker(rank):
    build([])

if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
""",
        "data.py": """\
from torch.utils.data import DataLoader as Loader

def build(rows):
    return Loader(rows, num_workers=2, collate_fn=lambda batch: batch)  # DLL204
""",
    },
    "from Python 3.14": {
        "data.py": """\
from torch.utils.data import *

def build(rows):
    return DataLoader(rows, num_workers=2, collate_fn=lambda batch: batch)  # DLL204
"""
    },
    "a local class's instance is no lambda, its method on a local class is": {
        "data.py": """\
from torch.utils.data import DataLoader

def build(rows):
    @staticmethod
    def collate(batch):  # DLL204
        return batch

    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=collate)
"""
    },
    "workers that a command line may ask for, and a call does not": {
        "data.py": """\
import fire
from torch.utils.data import DataLoader

class Train:
    def __init__(self, workers=0):
        self.workers = workers

    def fit(self, rows):
        return list(DataLoader(rows, num_workers=self.workers, collate_fn=lambda rows: rows))  # DLL204

def check():
    Train(workers=0).fit([1])

fire.Fire(Train)
"""
    },
    "one function that makes loaders with and without workers": {
        "data.py": """\
from torch.utils.data import DataLoader

def make(rows, workers, collate):
    return DataLoader(rows, num_workers=workers, collate_fn=collate)

def main():
    print(list(make([1], 0, lambda rows: rows)))
    print(list(make([1], 4, lambda rows: rows)))  # DLL204
"""
    },
}

SILENT: dict[str, str] = {
    "a method of the loader's own class, which torch's constructor hides": """\
from torch.utils.data import DataLoader

class Own(DataLoader):
    collate_fn = lambda rows: rows

def build(rows):
    return Own(rows, num_workers=2, multiprocessing_context="spawn")
""",
    "a trainer's without workers": """\
from transformers import Trainer, TrainingArguments

trainer = Trainer(None, TrainingArguments("out"), data_collator=lambda rows: rows, train_dataset=[1])
""",
    "function of the module": """\
from torch.utils.data import DataLoader

def pad(batch):
    return batch

def build(rows):
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=pad)
""",
    "partial of a function of the module": """\
from functools import partial
from torch.utils.data import DataLoader

def pad(padding, batch):
    return batch

def build(rows):
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=partial(pad, 0))
""",
    "bound method": """\
from torch.utils.data import DataLoader

class Data:
    def collate(self, batch):
        return batch

    def loader(self, rows):
        return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=self.collate)
""",
    "callable object": """\
from torch.utils.data import DataLoader

class Padding:
    def __call__(self, batch):
        return batch

def build(rows):
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=Padding())
""",
    "function decorated with wraps": """\
import functools
from torch.utils.data import DataLoader

def logged(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)

    return inner

@logged
def pad(batch):
    return batch

def build(rows):
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=pad)
""",
    "torch's own": """\
from torch.utils.data import DataLoader, default_collate

def build(rows):
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=default_collate)
""",
    "forked": """\
from torch.utils.data import DataLoader

def build(rows):
    return DataLoader(rows, num_workers=2, multiprocessing_context="fork", collate_fn=lambda batch: batch)
""",
    "no workers": """\
from torch.utils.data import DataLoader

def build(rows):
    return DataLoader(rows, collate_fn=lambda batch: batch)
""",
    "a lambda used inside of the collate function": """\
from torch.utils.data import DataLoader

def pad(batch):
    return sorted(batch, key=lambda row: len(row))

def build(rows):
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=pad)
""",
    "a lambda for the sampler": """\
from torch.utils.data import DataLoader

class Sampler:
    def __init__(self, key):
        self.key = key

def build(rows):
    sampler = Sampler(lambda index: index)
    return DataLoader(rows, sampler=sampler, num_workers=2, multiprocessing_context="spawn")
""",
    "another class's collate_fn": """\
from torch.utils.data import DataLoader

class Shelf:
    def __init__(self):
        self.collate_fn = None

def build(rows):
    shelf = Shelf()
    shelf.collate_fn = lambda batch: batch
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
""",
    "a loader of another library": """\
from mxnet.gluon.data import DataLoader

def build(rows):
    return DataLoader(rows, num_workers=2, batchify_fn=lambda batch: batch, collate_fn=lambda batch: batch)
""",
    "a lambda in a scheduler beside it": """\
import torch
from torch.utils.data import DataLoader

def build(rows, optimizer):
    torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9)
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
""",
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_callables_that_cannot_be_pickled_are_found(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_other_callables_are_silent(findings: Callable[..., Any], text: str) -> None:
    assert findings({"data.py": text}, target_python="3.14") == set()


def test_forked_workers_are_told_of_on_request(told: Callable[..., Any]) -> None:
    (finding,) = told({"data.py": SILENT["forked"]}, **SELECT)

    assert (finding.severity, finding.message) == ("info", "fork_only")
    assert "This `collate_fn` works, because workers are only forked here" in finding.text


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("    pad = lambda batch: batch\n", ["_collate_fn"]),
        ("    def pad(batch):\n        return batch\n", ["pad"]),
        ("    def pad(batch):\n        return batch[:size]\n", []),
        ("    pad = lambda batch: batch[:size]\n", []),
        ("    @cached\n    def pad(batch):\n        return batch\n", []),
    ],
)
def test_fixes(told: Callable[..., Any], body: str, names: list[str]) -> None:
    text = (
        f"from torch.utils.data import DataLoader\n\ndef build(rows, size):\n{body}"
        '    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=pad)\n'
    )

    (finding,) = told({"data.py": text}, **SELECT)

    assert [fix.edits[-1].name for fix in finding.fixes] == names


def test_a_local_function_whose_name_is_taken_is_left_to_the_author(told: Callable[..., Any]) -> None:
    source = """
from torch.utils.data import DataLoader


def pad(batch):
    return batch


def build(dataset):
    def pad(batch):
        return list(batch)

    return DataLoader(dataset, num_workers=2, collate_fn=pad, multiprocessing_context="spawn")
"""
    (finding,) = told({"data.py": source})
    assert finding.code == "DLL204"
    assert finding.fixes == ()


def test_branches_that_choose_the_function_are_one_finding(told: Callable[..., Any]) -> None:
    text = """\
from torch.utils.data import DataLoader

def build(rows, labels, padded):
    if labels:
        collate = lambda batch: batch
    elif padded:
        collate = lambda batch: batch[1:]
    else:
        collate = lambda batch: batch[0]
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=collate)
"""

    (found,) = told({"data.py": text}, **SELECT)

    assert found.span.line == 5
    assert {place.span.line for place in found.related} == {7, 9, 10}


def test_functions_of_different_variables_are_two_findings(told: Callable[..., Any]) -> None:
    text = """\
from torch.utils.data import DataLoader

def build(rows, labels):
    if labels:
        train = lambda batch: batch
        test = lambda batch: batch[0]
    else:
        train = test = None
    first = DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=train)
    return first, DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=test)
"""

    assert {one.span.line for one in told({"data.py": text}, **SELECT)} == {5, 6}
