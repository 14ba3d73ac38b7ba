"""DLL207, DLL209: what a helper sends to processes on the way by which a launch brings a start method to it, and what
it is given elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MANAGER = """\
from multiprocessing import Process, Queue

def work(number, queue, prepare):
    context = prepare(number) if prepare is not None else None
    queue.put(context)

class Manager:
    def __init__(self, count, prepare=None):
        self.queue = Queue()
        self.workers = [Process(target=work, args=(n, self.queue, prepare)) for n in range(count)]
        for one in self.workers:
            one.start()
"""
BINARIZE = """\
from manager import Manager

def binarize():
    Manager(4, prepare=lambda number: number + 1)  # DLL209

if __name__ == "__main__":
    binarize()
"""
TEST = """\
import torch.multiprocessing as mp
from manager import Manager

def run(rank):
    {made}

if __name__ == "__main__":
    mp.spawn(run, nprocs=2)
"""
GIVEN_ELSEWHERE = {
    "nothing is given on the way": "Manager(4)",
    "None is given on the way": "Manager(4, None)",
    "another function is given on the way": "Manager(count=4, prepare=print)",
    "nothing is given by a helper on the way": "(lambda count: Manager(count))(4)",
    "an option without the key": 'options = {"count": 4}; Manager(**options)',
}
GIVEN_ON_THE_WAY = {
    "a lambda": "Manager(4, lambda number: number)",
    "a lambda by name": "Manager(4, prepare=lambda number: number)",
    "a lambda in a variable": "prepare = lambda number: number; Manager(4, prepare)",
    "a lambda in a dict": 'options = {"prepare": lambda number: number}; Manager(4, **options)',
}


def _files(made: str) -> dict[str, str]:
    return {"manager.py": MANAGER, "binarize.py": BINARIZE, "evaluate.py": TEST.replace("{made}", made)}


@pytest.mark.parametrize("made", GIVEN_ELSEWHERE.values(), ids=GIVEN_ELSEWHERE)
def test_what_forked_processes_get(made: str, told: Callable[..., Any]) -> None:
    assert told(_files(made), select=["DLL209"], target_python="3.11") == ()


@pytest.mark.parametrize("made", GIVEN_ELSEWHERE.values(), ids=GIVEN_ELSEWHERE)
def test_what_fails_under_the_default_of_a_newer_python(made: str, told: Callable[..., Any]) -> None:
    (found,) = told(_files(made), select=["DLL209"])

    assert (Path(found.path).name, found.message, found.severity) == ("binarize.py", "latent", "warning")


@pytest.mark.parametrize("made", GIVEN_ON_THE_WAY.values(), ids=GIVEN_ON_THE_WAY)
def test_what_spawned_processes_get(made: str, told: Callable[..., Any]) -> None:
    found = told(_files(made), select=["DLL209"], target_python="3.11")

    assert {(Path(one.path).name, one.message) for one in found} == {("evaluate.py", "process")}


RUNNER = """\
from multiprocessing import Process

def start(run):
    worker = Process(target=run)
    worker.start()
"""
OTHERS = """\
import torch.multiprocessing as mp
from runner import start

def work():
    print(1)

def spawned(rank):
    start({spawned})

def forked():
    start({forked})

if __name__ == "__main__":
    forked()
    mp.spawn(spawned, nprocs=2)
"""


@pytest.mark.parametrize(
    ("spawned", "forked", "count"),
    [("work", "lambda: print(1)", 0), ("lambda: print(1)", "work", 1), ("lambda: print(1)", "lambda: print(2)", 1)],
)
def test_the_function_that_a_process_runs(spawned: str, forked: str, count: int, told: Callable[..., Any]) -> None:
    text = OTHERS.replace("{spawned}", spawned).replace("{forked}", forked)
    found = told({"runner.py": RUNNER, "others.py": text}, select=["DLL207"], target_python="3.11")

    assert len(found) == count
