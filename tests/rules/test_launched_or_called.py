"""Code that a program runs in launched processes or, in another case, in its own: there its workers are forked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import sys
import numpy as np
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.file = open(path, "rb")

    def __getstate__(self):
        return {}

    def __getitem__(self, index):
        self.file.seek(index)
        return self.file.read(1), np.random.rand()

def main(rank, path):
    for row in DataLoader(Rows(path), num_workers=2):
        print(row)

"""
ELSE = """\
def start(path):
    if torch.cuda.device_count() > 1:
        mp.spawn(main, args=(path,), nprocs=2)
    else:
        main(0, path)

if __name__ == "__main__":
    start(sys.argv[1])
"""
HELPER = """\
def wrapped(rank, function, path):
    function(rank, path)

def launch(function, count, path):
    if count > 1:
        mp.spawn(wrapped, args=(function, path), nprocs=count)
    else:
        function(0, path)

if __name__ == "__main__":
    launch(main, int(sys.argv[2]), sys.argv[1])
"""
INNER = """\
def begin(path):
    main(0, path)

if __name__ == "__main__":
    if len(sys.argv) > 2:
        mp.spawn(main, args=(sys.argv[1],))
    else:
        begin(sys.argv[1])
"""
ALWAYS = """\
if __name__ == "__main__":
    mp.spawn(main, args=(sys.argv[1],))
"""
SET = ELSE.replace("def start(path):\n", 'def start(path):\n    mp.set_start_method("spawn")\n')
NEVER = ELSE.replace("torch.cuda.device_count() > 1", "True")


@pytest.mark.parametrize(
    ("launching", "found"),
    [
        (ELSE, True),
        (HELPER, True),
        (ALWAYS, False),
        (SET, False),
        (NEVER, False),
        # only what the launching function itself calls is seen as the other case
        (INNER, False),
    ],
    ids=["else", "helper", "always", "set", "never", "inner"],
)
def test_both(launching: str, found: bool, told: Callable[..., Any]) -> None:
    files = {"train.py": HEAD + launching, "requirements.txt": "torch==1.4\n"}

    findings = told(files, select=["DLL402", "DLL602"])

    assert [(one.code, one.severity) for one in findings] == (
        [("DLL402", "warning"), ("DLL602", "info")] if found else []
    )
    assert all("launches no process" in one.related[-1].message for one in findings)


LAUNCHED_OR_CALLED = """\
import lmdb
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        self.env = lmdb.open(path, readonly=True, lock=False)
        self.size = self.env.stat()["entries"]

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        with self.env.begin() as transaction:
            return transaction.get(str(index).encode())


def train(rank, path):
    for row in DataLoader(Rows(path), num_workers=4):
        print(row)


def main(path, gpus):
    if gpus > 1:
        mp.spawn(train, (path,), gpus)
    else:
        train(0, path)
"""
WITHOUT_IT = """
    def __getstate__(self):
        return {**self.__dict__, "env": None}


def train("""


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        pytest.param("", "", {"DLL203"}, id="processes cannot be given it: told once"),
        pytest.param("\n\ndef train(", WITHOUT_IT, {"DLL402"}, id="it is left out of what is pickled"),
    ],
)
def test_a_handle_in_processes_that_are_launched_or_not(
    old: str, new: str, codes: set[str], told: Callable[..., Any]
) -> None:
    text = LAUNCHED_OR_CALLED.replace(old, new, 1) if old else LAUNCHED_OR_CALLED
    found = told({"train.py": text}, select=["DLL203", "DLL402"], target_python="3.12")
    assert {one.code for one in found} == codes
