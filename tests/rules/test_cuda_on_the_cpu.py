"""DLL103: processes that a program starts only where it works on the CPU, and pools that run one of several tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL103"], "target_python": "3.11"}

ENHANCE = """\
import argparse
from concurrent.futures import ProcessPoolExecutor

import torch


def estimate(model, rows):
    return model(rows){mark}


def enhance(model, args):
    rows = torch.zeros(8).to(args.device)
    use_cuda = args.device != "cpu"
    with ProcessPoolExecutor(4) as pool:
        if {test}:
            pool.submit(estimate, model, rows)
        else:
            print(estimate(model, rows))


def main(args):
    model = torch.nn.Linear(8, 1)
    if torch.cuda.is_available():
        model.cuda()
    {call}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--no_cuda", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    main(parser.parse_args())
"""
CALL = "enhance(model, args)"


@pytest.mark.parametrize(
    ("test", "call"),
    [
        pytest.param('args.device == "cpu"', CALL, id="compared"),
        pytest.param('"cpu" == args.device', CALL, id="the other way round"),
        pytest.param('args.device == "cpu" and args.gpu', CALL, id="one of two tests"),
        pytest.param('torch.device(args.device).type == "cpu"', CALL, id="type of a device"),
        pytest.param('not args.device != "cpu"', CALL, id="negated"),
        pytest.param('args.device != "cuda"', CALL, id="not CUDA"),
        pytest.param('not args.device.startswith("cuda")', CALL, id="no name of a GPU"),
        pytest.param('"cuda" not in args.device', CALL, id="no part of the name"),
        pytest.param('args.device in ("cpu", "mps")', CALL, id="one of several"),
        pytest.param("not args.gpu", CALL, id="a flag"),
        pytest.param("args.no_cuda", CALL, id="a flag against it"),
        pytest.param("not torch.cuda.is_available()", CALL, id="no GPU"),
        pytest.param("torch.cuda.device_count() == 0", CALL, id="none counted"),
        pytest.param("args.n_gpu == 0", CALL, id="none given"),
        pytest.param("args", f'if args.device == "cpu":\n        {CALL}', id="around the function that starts it"),
    ],
)
def test_processes_that_start_only_on_the_cpu(test: str, call: str, findings: Callable[..., Any]) -> None:
    source = ENHANCE.replace("{test}", test).replace("{call}", call).replace("{mark}", "")

    assert findings({"main.py": source}, **SELECT) == set()


@pytest.mark.parametrize(
    "test",
    [
        pytest.param('args.device != "cpu"', id="not the CPU"),
        pytest.param('args.name == "cpu"', id="a name"),
        pytest.param('args.device == "cpu" or args.gpu', id="one of two is enough"),
        pytest.param("args.gpu", id="a flag"),
        pytest.param("not args.no_cuda", id="a negated flag against it"),
        pytest.param("args.device is not None", id="no test of the device"),
        pytest.param('args.device in ("cpu", "cuda")', id="either"),
        pytest.param("args.main_gpu == 0", id="the number of a GPU"),
        pytest.param("not args.multi_gpu", id="one GPU"),
    ],
)
def test_near_misses(test: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"main.py": ENHANCE.replace("{test}", test).replace("{call}", CALL).replace("{mark}", "  # DLL103")}

    assert findings(files, **SELECT) == marks(files) != set()


POOLS = """\
from concurrent.futures import ProcessPoolExecutor

import torch


class Task:
    def __init__(self, fn):
        self.fn = fn


class Pool:
    def map(self, task, rows):
        return self._map(task, rows)


class Driver(Pool):
    def __init__(self):
        self.count = torch.cuda.device_count() if torch.cuda.is_available() else 0

    def _map(self, task, rows):
        return [task.fn(row) for row in rows]


class Processes(Pool):
    def __init__(self):
        self.pool = ProcessPoolExecutor()

    def _map(self, task, rows):
        return list(self.pool.map(task.fn, rows))
"""
SQUARES = """\
from pools import Driver, Processes, Task

def square(row):
    return row * row, "without cuda"

def compare():
    for make in (Driver, Processes):
        pool = make()
        print(pool.map(Task(fn=square), [1, 2]))

if __name__ == "__main__":
    compare()
"""
SIMULATE = """\
import torch

from pools import Processes, Task

def simulate(row):
    return torch.nn.Linear(2, 2).to("cuda")(row)

def main():
    {before}pool = Processes()
    pool.map(Task(fn=simulate), [1, 2])

if __name__ == "__main__":
    main()
"""


def test_what_another_program_does_before_it_gives_the_same_pool_another_task(findings: Callable[..., Any]) -> None:
    files = {"pools.py": POOLS, "squares.py": SQUARES, "simulate.py": SIMULATE.replace("{before}", "")}

    assert findings(files, **SELECT) == set()


def test_what_the_program_itself_does_before_it_gives_the_task(findings: Callable[..., Any]) -> None:
    before = 'torch.zeros(2).to("cuda")\n    '
    files = {"pools.py": POOLS, "squares.py": SQUARES, "simulate.py": SIMULATE.replace("{before}", before)}

    assert findings(files, **SELECT) == {("simulate.py", 6, "DLL103")}


CHOOSING = """\
import sys

import torch

from pools import Driver, Processes, Task

TABLE = {{"driver": Driver, "processes": Processes}}

def simulate(row):
    return torch.nn.Linear(2, 2).to("cuda")(row){mark}

def build(name):
    {build}
    return pool

def main():
    pool = build(sys.argv[1])
    pool.map(Task(fn=simulate), [1, 2])

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("build", "mark"),
    [
        pytest.param('pool = Driver() if name == "driver" else Processes()', "", id="one of two expressions"),
        pytest.param("pool = TABLE[name]()", "", id="one of two classes"),
        pytest.param("pool = (Driver if name else Processes)()", "", id="one of two classes, in the call"),
        pytest.param(
            "if name:\n        pool = Driver()\n    else:\n        pool = Processes()", "", id="one of two statements"
        ),
        pytest.param("Driver()\n    pool = Processes()", "  # DLL103", id="both"),
    ],
)
def test_the_class_that_a_program_takes_instead(
    build: str, mark: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"pools.py": POOLS, "simulate.py": CHOOSING.format(build=build, mark=mark)}

    assert findings(files, **SELECT) == marks(files)


PADDED = """\
import torch
from kornia.geometry.transform import resize
from torch.utils.data import DataLoader, Dataset

def read(path):
    return resize(torch.load(path), 480)

def padded(path):
    image = read(path)
    return torch.zeros(3, 480, 480, device=image.device)

class Images(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return padded(f"{{index}}.pt")

def show():
    image = read("a.pt")
    {moved}
    print(image)

def main():
    torch.zeros(2).cuda()
    show()
    for rows in DataLoader(Images(), num_workers=4):
        print(rows)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("moved", ['print(image.to("cuda"))', 'shown = image.to("cuda")[None]', "shown = image.cuda()"])
def test_a_copy_on_the_gpu_leaves_the_tensor_where_it_is(moved: str, findings: Callable[..., Any]) -> None:
    assert findings({"main.py": PADDED.format(moved=moved)}, **SELECT) == set()
