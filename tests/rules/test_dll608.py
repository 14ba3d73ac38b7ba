"""DLL608: what multiprocessing does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dllint.finding import ReplaceExpression

SELECT = {"select": ["DLL608"]}
TRY = "def take(q):\n    try:\n        return q.get_nowait()\n    except {error}:  # DLL608\n        return 0\n"

FOUND: dict[str, str] = {
    "Empty": "import multiprocessing as mp\n" + TRY.format(error="mp.Queue.Empty"),
    "Full, of torch": "import torch.multiprocessing\n" + TRY.format(error="torch.multiprocessing.Queue.Full"),
    "imported by name": "from multiprocessing import JoinableQueue as Q\n" + TRY.format(error="Q.Empty"),
    "of a context": "from multiprocessing import get_context\nctx = get_context('spawn')\n"
    + TRY.format(error="ctx.Queue.Empty"),
    "among others, with a name": "import multiprocessing as mp\n" + TRY.format(error="(OSError, mp.Queue.Empty) as e"),
    "raised": "import multiprocessing as mp\n\ndef put():\n    raise mp.Queue.Full  # DLL608\n",
    "an array of a manager": "from multiprocessing import Manager\n\nwith Manager() as m:\n"
    "    a = m.Array('d', 4)  # DLL608\n",
    "an array, by a variable": "import multiprocessing\nCOUNT = 3\nm = multiprocessing.Manager()\n"
    "a = m.Array('i', COUNT)  # DLL608\n",
    "a simple queue": "import multiprocessing as mp\nq = mp.SimpleQueue()\nq.get_nowait()  # DLL608\n"
    "q.put(1, block=False)  # DLL608\nq.get(timeout=3)  # DLL608\n",
    "a simple queue of an object": "import torch.multiprocessing as mp\n\nclass Pool:\n    def __init__(self):\n"
    "        self.q = mp.get_context('fork').SimpleQueue()\n\n    def size(self):\n"
    "        return self.q.qsize()  # DLL608\n",
}

CALLED = """\
import random
import numpy as np
import torch.multiprocessing as mp
from cytoolz import curry
from torch.utils.data import DataLoader

def seed(number=0):
    np.random.seed(number)

def train(rank=0):
    print(rank)

def choose():
    return train

def either(rank=0):
    if rank:
        return train

@curry
def partly(split, rank):
    print(split, rank)

async def later():
    print(1)

def each():
    yield print(1)

def no_hook(dataset):
    return None

def stops_early(dataset):
    if dataset:
        return
    random.seed(1)

class Base:
    def make(self):
        pass

def main(other):
    {statement}
"""
FOUND |= {
    f"called: {one}": CALLED.format(statement=f"{one}  # DLL608")
    for one in (
        "DataLoader([1], num_workers=2, worker_init_fn=seed(1))",
        "DataLoader([1], num_workers=2, worker_init_fn=random.seed(1))",
        "DataLoader([1], num_workers=2, worker_init_fn=stops_early([1]))",
        "mp.Process(target=train(), args=())",
        "mp.get_context('spawn').Process(None, train(1))",
        "mp.spawn(train(0), nprocs=2)",
        "mp.spawn(fn=train(0), nprocs=2)",
    )
}

SILENT: dict[str, str] = {
    "the module": "import multiprocessing, queue\n" + TRY.format(error="queue.Empty"),
    "the old name": "import multiprocessing\nimport queue as Queue\n" + TRY.format(error="Queue.Empty"),
    "a class of the project": "import multiprocessing\nclass Queue:\n    class Empty(Exception):\n        pass\n"
    + TRY.format(error="Queue.Empty"),
    "the module of multiprocessing": "import multiprocessing.queues\n"
    + TRY.format(error="multiprocessing.queues.Empty"),
    "values": "import multiprocessing as mp\nm = mp.Manager()\nm.Array('d', [0.0] * 4)\nm.Array('d', range(4))\n",
    "shared memory": "import multiprocessing\na = multiprocessing.Array('d', 4)\n",
    "an unknown count": "import multiprocessing as mp\nm = mp.Manager()\n\ndef make(n):\n    return m.Array('d', n)\n",
    "a queue": "import multiprocessing\nq = multiprocessing.Queue()\nq.get_nowait()\nq.put(1, block=False)\n",
    "a simple queue": "import multiprocessing as mp\nq = mp.SimpleQueue()\nq.put(1)\nq.get()\nq.empty()\nq.close()\n",
    "of threads": "import multiprocessing, queue\nq = queue.SimpleQueue()\nq.get_nowait()\nq.get(timeout=1)\n",
}
SILENT |= {
    f"passed: {one}": CALLED.format(statement=one)
    for one in (
        "DataLoader([1], num_workers=2, worker_init_fn=seed)",
        "DataLoader([1], num_workers=2, worker_init_fn=other(1))",
        "DataLoader([1], num_workers=2, worker_init_fn=None)",
        "DataLoader([1], num_workers=2, worker_init_fn=no_hook([1]))",
        "mp.Process(target=choose())",
        "mp.Process(target=either(other))",
        "mp.Process(target=other.make())",
        "mp.Process(target=Base().make())",
        "mp.Pool().map(partly(1), [1, 2])",
        "mp.Process(target=partly(1))",
        "mp.Process(target=later())",
        "mp.Process(target=each())",
        "mp.Process(target=train)",
        "mp.spawn(choose(), nprocs=2)",
    )
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_found(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": text}

    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": text.replace("  # DLL608", "")}, **SELECT) == set()


@pytest.mark.parametrize(
    ("case", "applicability"),
    [
        ("Empty", ["safe"]),
        ("among others, with a name", []),
        ("an array of a manager", ["unsafe"]),
        ("a simple queue", []),
    ],
)
def test_fixes(case: str, applicability: list[str], told: Callable[..., Any]) -> None:
    found = told({"train.py": FOUND[case]}, **SELECT)

    assert [fix.applicability for one in found for fix in one.fixes] == applicability


def test_no_fix_where_both_names_are_taken(told: Callable[..., Any]) -> None:
    text = "Empty = None\nqueue = None\n" + FOUND["Empty"]

    (found,) = told({"train.py": text}, **SELECT)

    assert found.fixes == ()


def test_the_exception_is_imported_itself_where_a_class_has_the_module_s_name(told: Callable[..., Any]) -> None:
    text = "from torch.multiprocessing import Queue as queue\n" + TRY.format(error="queue.Empty")

    (found,) = told({"train.py": text}, **SELECT)

    (fix,) = found.fixes
    assert [one.code for one in fix.edits if isinstance(one, ReplaceExpression)] == ["Empty"]
