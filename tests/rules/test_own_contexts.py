"""Start methods of packages that copy multiprocessing: they count for processes of that package alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import multiprocessing
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def load():
    return DataLoader([], num_workers=4){}

def train(loader):
    for epoch in range(9):
        for batch in loader:
            print(batch)

"""
SETTING = """
def main():
    {0}.set_start_method("spawn", force=True)
    train(load())

if __name__ == "__main__":
    main()
"""
CONTEXT = """
def main():
    {0}.get_context("spawn").Process(target=load).start()

if __name__ == "__main__":
    main()
"""
DEFAULT = """
def main():
    {0}.set_start_method("spawn", force=True)
    {1}.Process(target=load).start()

if __name__ == "__main__":
    main()
"""
MARK = "  # DLL101"

FOUND = {
    "torch's own": HEAD.format(MARK) + SETTING.format("mp"),
    "multiprocessing's": HEAD.format(MARK) + SETTING.format("multiprocessing"),
    "multiprocessing's contexts": HEAD.format(MARK) + CONTEXT.format("mp"),
    "a setting of one, a process of the other": HEAD.format(MARK) + DEFAULT.format("multiprocessing", "mp"),
    "either package": "try:\n    import multiprocess as two\nexcept ImportError:\n    import multiprocessing as two\n"
    + HEAD.format(MARK)
    + SETTING.format("two"),
    "both packages": f"import multiprocess\n{HEAD.format(MARK)}"
    + SETTING.format("mp").replace("    train", "    multiprocess.set_start_method('fork', force=True)\n    train"),
}
SILENT = {
    "multiprocess": "import multiprocess\n" + HEAD.format("") + SETTING.format("multiprocess"),
    "multiprocess by the name of multiprocessing": "import multiprocess as shared\n"
    + HEAD.format("")
    + SETTING.format("shared"),
    "a function of multiprocess": "from multiprocess import set_start_method\n"
    + HEAD.format("")
    + SETTING.format("mp").replace("mp.set", "set"),
    "a context of multiprocess": "import multiprocess\n" + HEAD.format("") + CONTEXT.format("multiprocess"),
    "a class of a context of multiprocess": "import multiprocess.context\n"
    + HEAD.format("")
    + CONTEXT.format("multiprocess").replace('get_context("spawn")', "context.SpawnContext()"),
    "a process of multiprocess": "import multiprocess\n" + HEAD.format("") + DEFAULT.format("mp", "multiprocess"),
    "a process of multiprocess, by its own method": "import multiprocess\n"
    + HEAD.format("")
    + DEFAULT.format("multiprocess", "multiprocess"),
    "billiard": "import billiard\n" + HEAD.format("") + SETTING.format("billiard"),
    "loky": "import loky.backend.context\n" + HEAD.format("") + SETTING.format("loky.backend.context"),
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_a_method_that_loaders_inherit(findings: Callable[..., Any], marks: Callable[..., Any], text: str) -> None:
    assert findings({"train.py": text}, select=["DLL101"]) == marks({"train.py": text})


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_a_method_that_no_loader_inherits(findings: Callable[..., Any], text: str) -> None:
    assert findings({"train.py": text}, select=["DLL101", "DLL612"]) == set()


FORKED = """\
import multiprocess
import multiprocessing
import torch

def work():
    return torch.ones(8).cuda(){}

def main():
    {}.set_start_method("spawn", force=True)
    torch.ones(8).cuda()
    {}.Process(target=work).start()

if __name__ == "__main__":
    main()
"""
PROCESSES = {
    "of multiprocess, set by it": FORKED.format("", "multiprocess", "multiprocess"),
    "of multiprocess, set by multiprocessing": FORKED.format("  # DLL103", "multiprocessing", "multiprocess"),
    "of multiprocessing, set by multiprocess": FORKED.format("  # DLL103", "multiprocess", "multiprocessing"),
}


@pytest.mark.parametrize("text", PROCESSES.values(), ids=PROCESSES)
def test_the_processes_that_a_setting_counts_for(
    findings: Callable[..., Any], marks: Callable[..., Any], text: str
) -> None:
    assert findings({"train.py": text}, select=["DLL103"]) == marks({"train.py": text})


SETTINGS = {
    "of multiprocessing, after a queue of it": ("multiprocessing", "multiprocessing", 1),
    "of multiprocess, after a queue of it": ("multiprocess", "multiprocess", 1),
    "of multiprocessing, after a queue of multiprocess": ("multiprocess", "multiprocessing", 0),
    "of multiprocess, after a queue of multiprocessing": ("multiprocessing", "multiprocess", 0),
}


@pytest.mark.parametrize(("first", "second", "count"), SETTINGS.values(), ids=SETTINGS)
def test_what_fixes_the_method_of_a_package(findings: Callable[..., Any], first: str, second: str, count: int) -> None:
    text = f"""\
import multiprocess
import multiprocessing
from torch.utils.data import DataLoader

def main():
    queue = {first}.Queue()
    {second}.set_start_method("spawn")
    return DataLoader([], num_workers=2)

if __name__ == "__main__":
    main()
"""
    assert len(findings({"train.py": text}, select=["DLL105"])) == count
