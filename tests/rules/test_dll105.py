"""DLL105: where set_start_method raises or reaches nobody, and where it does its work."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

SELECT = {"select": ["DLL105"]}

HEAD = """\
import multiprocessing
import multiprocessing as mp

import torch
import torch.multiprocessing
from torch.utils.data import DataLoader

def work(rank=0):
    print(rank)

"""

FIXING = [
    *("Queue()", "SimpleQueue()", "JoinableQueue()", "Lock()", "RLock()", "Semaphore()", "BoundedSemaphore()"),
    *("Event()", "Condition()", "Barrier(2)", "Value('i')", "Array('i', 2)", "Pool(1)", "Manager()"),
    *("get_start_method()", "get_context()", "set_start_method('spawn')"),
]
LEAVING = [
    *("Pipe()", "RawValue('i')", "RawArray('i', 2)", "get_start_method(allow_none=True)", "get_context('spawn')"),
    *("get_context('spawn').Queue()", "cpu_count()", "Process(target=print)"),
]

FOUND: dict[str, str] = {
    "in a launched process": """
def child(rank):
    mp.set_start_method("fork")  # DLL105

if __name__ == "__main__":
    torch.multiprocessing.spawn(child, nprocs=2)
""",
    "in a forked process": """
def child():
    mp.set_start_method("spawn")  # DLL105

if __name__ == "__main__":
    mp.Process(target=child).start()
""",
    "deeper in a launched process, by another name": """
from multiprocessing import set_start_method as choose

class Trainer:
    def __init__(self, method):
        self.method = method

    def prepare(self):
        choose(method=self.method)  # DLL105

def child(rank):
    Trainer("fork").prepare()

if __name__ == "__main__":
    torch.multiprocessing.spawn(child, nprocs=2)
""",
    "in a pool": """
def child(number):
    torch.multiprocessing.set_start_method("spawn")  # DLL105

if __name__ == "__main__":
    mp.get_context("fork").Pool(2).map(child, [1])
""",
    "after a process has started": """
if __name__ == "__main__":
    mp.Process(target=work).start()
    mp.set_start_method("spawn")  # DLL105
""",
    "after a loader": """
if __name__ == "__main__":
    for rows in DataLoader(torch.ones(8), num_workers=2):
        print(rows)
    mp.set_start_method("spawn")  # DLL105
""",
    "in a function that is called too late": """
def main():
    mp.set_start_method("spawn")  # DLL105

if __name__ == "__main__":
    lock = mp.Lock()
    main()
""",
    "after a queue of the module": """
results = torch.multiprocessing.Queue()

if __name__ == "__main__":
    mp.set_start_method("spawn")  # DLL105
""",
    "imported again by spawned workers": """
mp.set_start_method("spawn")  # DLL105

if __name__ == "__main__":
    for rows in DataLoader(torch.ones(8), num_workers=2):
        print(rows)
""",
    "imported again by spawned processes": """
mp.set_start_method("fork")  # DLL105

if __name__ == "__main__":
    torch.multiprocessing.spawn(work, nprocs=2)
""",
    "meant for mp.spawn": """
def child(rank):
    for rows in DataLoader(torch.ones(8), num_workers=2):
        print(rows)

if __name__ == "__main__":
    mp.set_start_method("fork", force=True)  # DLL105
    torch.multiprocessing.spawn(child, nprocs=2)
""",
    "meant for the processes of a context": """
def child(rank):
    for rows in DataLoader(torch.ones(8), num_workers=2):
        print(rows)

def main():
    mp.get_context("spawn").Process(target=child, args=(1,)).start()

if __name__ == "__main__":
    mp.set_start_method("fork")  # DLL105
    main()
""",
}
FOUND |= {
    f"after {call}": f"if __name__ == '__main__':\n    mp.{call}\n    mp.set_start_method('spawn')  # DLL105\n"
    for call in FIXING
}

SILENT: dict[str, str] = {
    "first thing": """
if __name__ == "__main__":
    mp.set_start_method("spawn")
    mp.Process(target=work).start()
    print(mp.get_start_method())
""",
    "forced in a launched process": """
def child(rank):
    mp.set_start_method("fork", force=True)
    mp.set_start_method("fork", True)

if __name__ == "__main__":
    torch.multiprocessing.spawn(child, nprocs=2)
""",
    "caught": """
def child(rank):
    try:
        mp.set_start_method("fork")
    except RuntimeError:
        pass

if __name__ == "__main__":
    torch.multiprocessing.spawn(child, nprocs=2)
""",
    "only if none is set": """
def child(rank):
    if mp.get_start_method(allow_none=True) is None:
        mp.set_start_method("spawn")

if __name__ == "__main__":
    torch.multiprocessing.spawn(child, nprocs=2)
""",
    "under a condition that is not known": """
from somewhere import options

def child(rank):
    if options.fork:
        mp.set_start_method("fork")

if __name__ == "__main__":
    torch.multiprocessing.spawn(child, nprocs=2)
""",
    "another branch fixes the default": """
import sys

def main():
    if sys.argv[1:]:
        print(mp.get_start_method())
    else:
        mp.set_start_method("spawn")
""",
    "another function fixes the default": """
def main():
    mp.set_start_method("spawn")

def other():
    return mp.Queue()
""",
    "at the top, of a program that only forks": """
mp.set_start_method("fork")

if __name__ == "__main__":
    for rows in DataLoader(torch.ones(8), num_workers=2):
        print(rows)
    mp.Process(target=work).start()
""",
    "at the top, forced": """
mp.set_start_method("spawn", force=True)

if __name__ == "__main__":
    for rows in DataLoader(torch.ones(8), num_workers=2):
        print(rows)
""",
    "a loader of the parent takes it over": """
def child(rank):
    for rows in DataLoader(torch.ones(8), num_workers=2):
        print(rows)

if __name__ == "__main__":
    mp.set_start_method("fork")
    for rows in DataLoader(torch.ones(8), num_workers=2):
        print(rows)
    torch.multiprocessing.spawn(child, nprocs=2)
""",
    "the method that mp.spawn has anyway": """
def child(rank):
    for rows in DataLoader(torch.ones(8), num_workers=2):
        print(rows)

if __name__ == "__main__":
    mp.set_start_method("spawn")
    torch.multiprocessing.spawn(child, nprocs=2)
""",
    "a loader without workers": """
if __name__ == "__main__":
    for rows in DataLoader(torch.ones(8)):
        print(rows)
    mp.set_start_method("spawn")
""",
}
SILENT |= {
    f"after {call}": f"if __name__ == '__main__':\n    mp.{call}\n    mp.set_start_method('spawn')\n"
    for call in LEAVING
}


test_found, test_silent = in_one_file("DLL105", FOUND, SILENT, HEAD)


@pytest.mark.skipif(sys.platform != "linux", reason="fork is the method that is set")
@pytest.mark.parametrize("call", [*FIXING, *LEAVING])
def test_what_python_does(call: str) -> None:
    program = (
        f"import multiprocessing as mp\nif __name__ == '__main__':\n    mp.{call}\n    mp.set_start_method('fork')"
    )

    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)

    assert ("context has already been set" in process.stderr) == (call in FIXING), process.stderr


def test_across_files(told: Callable[..., Any], relative: Callable[[str], str]) -> None:
    files = {
        "setup_processes.py": "import multiprocessing\n\n"
        "def prepare():\n    multiprocessing.set_start_method('fork')\n",
        "worker.py": "from setup_processes import prepare\n\ndef work(rank):\n    prepare()\n",
        "launch.py": "import torch.multiprocessing as mp\n\nimport worker\n\n"
        "if __name__ == '__main__':\n    mp.spawn(worker.work, nprocs=2)\n",
    }

    (finding,) = told(files, **SELECT)

    assert (relative(finding.path), finding.span.line) == ("setup_processes.py", 4)
    assert [(relative(hop.path), hop.span.line) for hop in finding.trace] == [("launch.py", 6), ("worker.py", 4)]
    assert "launched at launch.py:6" in finding.text


def test_only_what_raises_is_an_error(told: Callable[..., Any]) -> None:
    (raises,) = told({"train.py": HEAD + FOUND["after a loader"]}, **SELECT)
    (passed_by,) = told({"train.py": HEAD + FOUND["meant for mp.spawn"]}, **SELECT)

    assert (raises.severity, passed_by.severity) == ("error", "warning")


@pytest.mark.parametrize(
    ("workers", "severity"),
    [("2", "error"), ("int(input())", "warning"), ("0 if rows.cached else count", "warning")],
)
def test_workers_that_may_never_start_make_no_error(workers: str, severity: str, told: Callable[..., Any]) -> None:
    program = f"""
mp.set_start_method("spawn")

def main(rows, count):
    for batch in DataLoader(rows, num_workers={workers}):
        print(batch)

if __name__ == "__main__":
    main(*input())
"""

    (finding,) = told({"train.py": HEAD + program}, **SELECT)

    assert finding.severity == severity
