"""DLL305: which arguments of processes are dear to pickle, and which are small or shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL305"]}

HEAD = """\
import multiprocessing
import numpy as np
import torch
import torch.multiprocessing as mp
from torch.utils.data import Dataset

def work(*given):
    print(given)

class Rows(Dataset):
    def __init__(self, path):
        self.data = np.load(path)

    def __getitem__(self, index):
        return self.data[index]

class Paths(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __getitem__(self, index):
        return np.load(self.paths[index])

def run(path, values, paths):
"""


def program(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.splitlines())


FOUND: dict[str, str] = {
    "a dataset with the records of a file": (
        HEAD.replace(
            "class Paths",
            "import json\n\nclass Records(Dataset):\n    def __init__(self, path):\n"
            "        self.rows = [json.loads(line) for line in open(path)]\n\n    def __len__(self):\n"
            "        return len(self.rows)\n\n    def __getitem__(self, index):\n"
            "        return self.rows[index]['text']\n\nclass Paths",
        )
        + "    mp.spawn(work, args=(Records(path),), nprocs=2)  # DLL305\n"
    ),
    "a list": program("mp.spawn(work, args=(values.tolist(),), nprocs=2)  # DLL305"),
    "a list by name": program("rows = values.tolist()\nmp.spawn(work, args=(rows, 3))  # DLL305"),
    "by position": program("mp.spawn(work, (values.tolist(),))  # DLL305"),
    "a process": program(
        "context = mp.get_context('spawn')\ncontext.Process(target=work, args=(values.tolist(),)).start()  # DLL305"
    ),
    "forkserver": program(
        "multiprocessing.get_context('forkserver').Process(target=work, args=[values.tolist()]).start()  # DLL305"
    ),
    "keywords": program("mp.start_processes(work, args=(values.tolist(),), start_method='spawn')  # DLL305"),
    "a dict of keywords": program(
        "mp.get_context('spawn').Process(target=work, kwargs={'rows': values.tolist()}).start()  # DLL305"
    ),
    "a whole file": program("mp.spawn(work, args=(np.load(path),))  # DLL305"),
    "a large array": program("rows = np.zeros((1 << 20, 64))\nmp.spawn(work, args=(rows,))  # DLL305"),
    "an array for each of many": program(
        "rows = np.zeros((1 << 20, 8))\nmp.spawn(work, args=(rows,), nprocs=8)  # DLL305"
    ),
    "a dataset": program("mp.spawn(work, args=(Rows(path),))  # DLL305"),
    "what each process of a pool begins with": program(
        "pool = mp.get_context('spawn').Pool(4, initializer=work, initargs=(values.tolist(),))  # DLL305\n"
        "pool.map(work, range(8))"
    ),
    "what each process of an executor begins with": program(
        "from concurrent.futures import ProcessPoolExecutor as Pool\n"
        "with Pool(4, mp.get_context('forkserver'), work, (np.load(path),)) as pool:  # DLL305\n"
        "    pool.submit(work, 1)"
    ),
    "arguments of a task": program(
        "mp.get_context('spawn').Pool(2).apply_async(work, (np.zeros((1 << 20, 64)),))  # DLL305"
    ),
    "arguments of a task that follow it": program(
        "from concurrent.futures import ProcessPoolExecutor\n"
        "pool = ProcessPoolExecutor(mp_context=mp.get_context('spawn'))\n"
        "pool.submit(work, np.zeros((1 << 20, 64)))  # DLL305"
    ),
    "a dataset by name": program("rows = Rows(path)\nmp.spawn(work, args=(1, rows))  # DLL305"),
}

SILENT: dict[str, str] = {
    "a tensor": program("mp.spawn(work, args=(torch.from_numpy(np.load(path)),))"),
    "a path": program("mp.spawn(work, args=(path,))"),
    "a dataset of paths": program("mp.spawn(work, args=(Paths(paths),))"),
    "a small array": program("mp.spawn(work, args=(np.zeros((100, 3)),), nprocs=8)"),
    "a small list": program("mp.spawn(work, args=(np.zeros((100, 3)).tolist(),))"),
    "forked": program("mp.get_context('fork').Process(target=work, args=(values.tolist(),)).start()"),
    "by the default of a target": program("mp.Process(target=work, args=(values.tolist(),)).start()"),
    "a pool": program("mp.get_context('spawn').Pool(2).map(work, values.tolist())"),
    "what each process of a forked pool begins with": program(
        "pool = mp.get_context('fork').Pool(4, initializer=work, initargs=(values.tolist(),))\npool.map(work, range(8))"
    ),
    "one of many tasks": program(
        "from concurrent.futures import ProcessPoolExecutor\n"
        "pool = ProcessPoolExecutor(mp_context=mp.get_context('spawn'))\n"
        "for some in values:\n    pool.submit(work, some.tolist())"
    ),
    "a pool of threads": program(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "ThreadPoolExecutor(4, initializer=work, initargs=(values.tolist(),)).submit(work, np.zeros((1 << 20, 64)))"
    ),
    "not an argument": program("print(values.tolist())\nmp.spawn(work, args=(len(values.tolist()),))"),
    "unknown": program("mp.spawn(work, args=(values,))"),
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND.keys())
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], source: str) -> None:
    files = {"run.py": source}

    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings({"run.py": source}, **SELECT) == set()


def test_the_target_may_stand_in_another_file(told: Callable[..., Any]) -> None:
    files = {
        "work.py": "from torch.utils.data import DataLoader\n\ndef work(rank, rows):\n    print(rank, rows)\n",
        "run.py": "import numpy as np\nimport torch.multiprocessing as mp\nfrom work import work\n\n"
        "def run():\n    mp.spawn(work, args=(np.zeros((1 << 20, 64)),))\n",
    }

    (finding,) = told(files, **SELECT)

    assert "512 MiB per process: each process started by spawn gets a pickled copy" in finding.text


def test_a_program_wide_method_counts(told: Callable[..., Any]) -> None:
    source = program("mp.set_start_method('spawn')\nmp.Process(target=work, args=(values.tolist(),)).start()")

    (finding,) = told({"run.py": source}, **SELECT)

    assert finding.start_methods == ("spawn",)


INSIDE = """\
import torch.multiprocessing as mp
from pycocotools.coco import COCO
from torch.utils.data import ConcatDataset, Dataset, Subset
from torchvision.datasets import CocoDetection
import numpy as np

class Rows(Dataset):
    def __init__(self, path):
        self.data = np.load(path)

class Annotated(Dataset):
    def __init__(self, path):
        self.small = np.zeros(3)
        self.coco = COCO(path)

class Late(Annotated):
    def __getstate__(self):
        return {**self.__dict__, "coco": None}

class Paths(Dataset):
    def __init__(self, paths):
        self.paths = paths

def work(*given):
    print(given)

def split(rows, parts):
    return [Subset(rows, range(one, len(rows), parts)) for one in range(parts)]

def run(path, paths):
    coco = COCO(path)
    mp.spawn(work, nprocs=8, args=({argument}, "x"))
"""


@pytest.mark.parametrize(
    "argument",
    [
        "split(Rows(path), 8)",
        "[Rows(path), Rows(path)]",
        '{"train": Rows(path)}',
        "ConcatDataset([Rows(path), Rows(path)])",
        "Subset(ConcatDataset([Paths(paths), Rows(path)]), [1])",
        "coco",
        "CocoDetection(path, annFile=path)",
        "Annotated(path)",
        "split(Annotated(path), 8)",
    ],
)
def test_what_lists_and_wrappers_hold(argument: str, told: Callable[..., Any]) -> None:
    (finding,) = told({"train.py": INSIDE.replace("{argument}", argument)}, **SELECT)
    assert finding.message in ("array_file", "dataset_file")


@pytest.mark.parametrize(
    "argument",
    [
        "split(Paths(paths), 8)",
        "COCO",
        "COCO()",
        "len(coco.imgs)",
        "coco.getImgIds()[:9]",
        "Late(path)",
        "[Late(path)]",
        "Subset(Paths(paths), [1])",
        "(lambda: Rows(path))",
    ],
)
def test_what_is_small_or_made_in_the_process(argument: str, told: Callable[..., Any]) -> None:
    assert not told({"train.py": INSIDE.replace("{argument}", argument)}, **SELECT)
