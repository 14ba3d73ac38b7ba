"""DLL107: what forked workers wait for in vain, and what serves them well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rules.conftest import in_one_file

SELECT = {"select": ["DLL107"]}

HEAD = """\
import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch.utils.data import DataLoader, Dataset
"""
READ = """
def main():
    for rows in DataLoader(Rows(), num_workers=2):
        print(rows)
"""
EXECUTOR = """
class Rows(Dataset):
    def __init__(self):
        self.pool = ThreadPoolExecutor(2){mark}
        {use}

    def __getitem__(self, index):
        return self.pool.submit(abs, index).result()
"""
THREADS = """
def begin(worker):
    torch.set_num_threads({count}){mark}

def main():
    loader = DataLoader(torch.ones(8), num_workers=2, worker_init_fn=begin{options})
    for rows in loader:
        rows.sum().backward()
"""
MARK = "  # DLL107"
FORKED = """
{top}
def work(size, net=None):
    {work}

def main(net, data):
    {before}
    process = {process}(target=work, args=(40_000,))
    process.start()
    {after}
    process.join()

if __name__ == "__main__":
    main(None, None)
"""


def forked(
    work: str,
    before: str = "torch.ones(200, 200)",
    process: str = "multiprocessing.Process",
    after: str = "",
    top: str = "",
) -> str:
    return FORKED.format(work=work, before=before, process=process, after=after, top=top)


FOUND: dict[str, str] = {
    "a process that fills a large tensor": forked("torch.zeros(size)  # DLL107"),
    "that copies one": forked("rows = torch.rand(300, 300)\n    rows.clone()  # DLL107"),
    "that converts one": forked(
        "rows = torch.from_numpy(np.zeros(90_000))\n    rows.float()  # DLL107", top="import numpy as np"
    ),
    "that shuffles": forked("torch.randperm(size)  # DLL107"),
    "of a context of fork": forked(
        "torch.zeros(size)  # DLL107", process='multiprocessing.get_context("fork").Process'
    ),
    "of torch's own module": forked("torch.zeros(size)  # DLL107", process="torch.multiprocessing.Process"),
    "a product of matrices": forked(
        "rows = torch.rand(300, 300)\n    rows.mm(rows)  # DLL107",
        "rows = torch.rand(300, 300)\n    torch.matmul(rows, rows)",
    ),
    "tasks of a pool": """
def work(size):
    return torch.zeros(300, 300).sum().item()  # DLL107

if __name__ == "__main__":
    torch.ones(300, 300)
    with torch.multiprocessing.Pool(4) as workers:
        print(workers.map(work, range(4)))
""",
    "tasks of an executor": """
from concurrent.futures import ProcessPoolExecutor

def work(size):
    return torch.exp(torch.rand(300, 300)).shape  # DLL107

def main():
    torch.ones(300, 300)
    with ProcessPoolExecutor(max_workers=2) as workers:
        print(list(workers.map(work, range(4))))

if __name__ == "__main__":
    main()
""",
    "after a helper of the parent": forked(
        "torch.zeros(size)  # DLL107", "prepare()", top="def prepare():\n    return torch.arange(50_000)"
    ),
    "in a helper of the process": forked(
        "prepare(size)", top="def prepare(size):\n    return torch.ones(size)  # DLL107"
    ),
    "a network with convolutions": forked(
        "Net()(data)",
        "Net()(data)",
        top="class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.first = torch.nn.Conv2d(3, 8, 3)\n\n"
        "    def forward(self, x):\n        return self.first(x)  # DLL107\n\ndata = None",
    ),
    "an executor used by submit": EXECUTOR.format(mark=MARK, use="self.pool.submit(print)") + READ,
    "an executor used by a helper": EXECUTOR.format(mark=MARK, use="self.warm()")
    + "\n    def warm(self):\n        return list(self.pool.map(abs, [1]))\n"
    + READ,
    "another name, a base class": """
from concurrent.futures import ThreadPoolExecutor as Threads

class Base(Dataset):
    def __init__(self):
        self.pool = Threads()  # DLL107
        self.sizes = self.pool.map(abs, [1])

class Rows(Base):
    def __getitem__(self, index):
        return list(self.pool.map(abs, [index]))
"""
    + READ,
    "a pool of processes": """
class Rows(Dataset):
    def __init__(self):
        self.pool = multiprocessing.Pool(2)  # DLL107

    def __getitem__(self, index):
        return self.pool.map(abs, [index])
"""
    + READ,
    "a pool of threads, used in a helper": """
from multiprocessing.pool import ThreadPool

class Rows(Dataset):
    def __init__(self):
        self.pool = ThreadPool(2)  # DLL107

    def __getitem__(self, index):
        return self.read(index)

    def read(self, index):
        return self.pool.apply(abs, (index,))
"""
    + READ,
    "a lock that is held": """
class Rows(Dataset):
    def __init__(self):
        self.lock = threading.Lock()  # DLL107

    def __getitem__(self, index):
        with self.lock:
            return index

def main():
    rows = Rows()
    loader = DataLoader(rows, **{"num_workers": 2})
    with rows.lock:
        for batch in loader:
            print(batch)
""",
    "more threads": THREADS.format(count=4, mark=MARK, options=""),
    "more threads, a constant": "\nCOUNT = 2\n" + THREADS.format(count="COUNT", mark=MARK, options=""),
}

SILENT: dict[str, str] = {
    "a pool that was made before": """
def work(size):
    return torch.zeros(300, 300).sum().item()

if __name__ == "__main__":
    with torch.multiprocessing.Pool(4) as workers:
        torch.ones(300, 300)
        print(workers.map(work, range(4)))
""",
    "a pool with an initializer": """
def work(size):
    return torch.zeros(300, 300).sum().item()

if __name__ == "__main__":
    torch.ones(300, 300)
    with torch.multiprocessing.Pool(4, initializer=torch.set_num_threads, initargs=(1,)) as workers:
        print(workers.map(work, range(4)))
""",
    "a pool of spawned processes": """
def work(size):
    return torch.zeros(300, 300).sum().item()

if __name__ == "__main__":
    torch.ones(300, 300)
    with torch.multiprocessing.get_context("spawn").Pool(4) as workers:
        print(workers.map(work, range(4)))
""",
    "a pool of threads": """
from multiprocessing.pool import ThreadPool

def work(size):
    return torch.zeros(300, 300).sum().item()

if __name__ == "__main__":
    torch.ones(300, 300)
    with ThreadPool(4) as workers:
        print(workers.map(work, range(4)))
""",
    "a small tensor in a process": forked("torch.zeros(9)"),
    "a small tensor in the parent": forked("torch.zeros(size)", "torch.ones(9)"),
    "random numbers": forked("torch.rand(size)"),
    "an unknown size": forked("torch.zeros(net)", "torch.ones(data)"),
    "a conversion that changes nothing": forked("rows = torch.rand(300, 300)\n    rows.float()"),
    "one thread in the process": forked("torch.set_num_threads(1)\n    torch.zeros(size)"),
    "one thread in the parent": forked("torch.zeros(size)", "torch.set_num_threads(1)\n    torch.ones(200, 200)"),
    "one thread by the environment": forked("torch.zeros(size)", top='import os\nos.environ["OMP_NUM_THREADS"] = "1"'),
    "the parent afterwards": forked("torch.zeros(size)", "", after="torch.ones(200, 200)"),
    "a spawned process": forked("torch.zeros(size)", process='multiprocessing.get_context("spawn").Process'),
    "a thread": forked("torch.zeros(size)", process="threading.Thread"),
    "on the GPU": forked("torch.zeros(size)", 'torch.ones(200, 200, device="cuda")'),
    "an executor not used yet": EXECUTOR.format(mark="", use="print(self.pool)") + READ,
    "an executor for the parent alone": """
class Rows(Dataset):
    def __init__(self):
        self.pool = ThreadPoolExecutor(2)
        self.sizes = list(self.pool.map(abs, [1]))

    def __getitem__(self, index):
        return self.sizes[index]
"""
    + READ,
    "an executor that is done": """
class Rows(Dataset):
    def __init__(self):
        with ThreadPoolExecutor(2) as pool:
            self.sizes = list(pool.map(abs, [1]))

    def __getitem__(self, index):
        return self.sizes[index]
"""
    + READ,
    "a pool of each item": """
class Rows(Dataset):
    def __getitem__(self, index):
        with multiprocessing.Pool(2) as pool:
            return pool.map(abs, [index])
"""
    + READ,
    "a pool made when a worker needs it": """
class Rows(Dataset):
    def __init__(self):
        self.pool = None

    def __getitem__(self, index):
        if self.pool is None:
            self.open()
        return self.pool.map(abs, [index])

    def open(self):
        self.pool = multiprocessing.Pool(2)
"""
    + READ,
    "a lock that is free": """
class Rows(Dataset):
    def __init__(self):
        self.lock = threading.Lock()

    def __getitem__(self, index):
        with self.lock:
            return index

def main():
    rows = Rows()
    with rows.lock:
        print(len(rows))
    for batch in DataLoader(rows, num_workers=2):
        print(batch)
""",
    "no workers": EXECUTOR.format(mark="", use="self.pool.submit(print)")
    + READ.replace("num_workers=2", "num_workers=0"),
    "spawned": EXECUTOR.format(mark="", use="self.pool.submit(print)")
    + READ.replace("num_workers=2", "num_workers=2, multiprocessing_context='spawn'"),
    "one thread": THREADS.format(count=1, mark="", options=""),
    "a number of threads that is not known": "\nfrom somewhere import count\n"
    + THREADS.format(count="count", mark="", options=""),
    "workers that stay": THREADS.format(count=4, mark="", options=", persistent_workers=True"),
    "a program that does not train": THREADS.format(count=4, mark="", options="").replace(".backward()", ""),
    "threads of the parent": """
def main():
    torch.set_num_threads(8)
    for rows in DataLoader(torch.ones(8), num_workers=2):
        rows.sum().backward()
""",
}


test_found, test_silent = in_one_file("DLL107", FOUND, SILENT, HEAD)


def test_across_files(told: Callable[..., Any], relative: Callable[[str], str]) -> None:
    files = {
        "rows.py": HEAD + EXECUTOR.format(mark="", use="self.pool.submit(print)"),
        "train.py": "from torch.utils.data import DataLoader\n\nfrom rows import Rows\n" + READ,
    }

    (finding,) = told(files, **SELECT)

    assert (relative(finding.path), finding.span.line, finding.severity) == ("rows.py", 10, "error")
    assert [(relative(place.path), place.span.line) for place in finding.related] == [("rows.py", 11), ("train.py", 6)]


def test_targets_that_never_fork(findings: Callable[..., Any]) -> None:
    files = {"train.py": HEAD + FOUND["a pool of processes"]}

    assert findings(files, target_python="3.14", **SELECT) == set()
