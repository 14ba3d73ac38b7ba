"""DLL104: loaders with workers in daemonic processes, and those that are in none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rules.conftest import in_one_file

SELECT = {"select": ["DLL104"]}

HEAD = """\
import multiprocessing

import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

"""
WORK = """
def work(number=1):
    for rows in DataLoader(torch.ones(8), num_workers=2):{}
        print(rows)
"""
MARKED, PLAIN = WORK.format("  # DLL104"), WORK.format("")

FOUND: dict[str, str] = {
    "map": MARKED + "\nwith multiprocessing.Pool(2) as pool:\n    pool.map(work, [1])\n",
    "a pool of a context": MARKED + "\npool = mp.get_context('spawn').Pool(2)\npool.apply_async(work, (1,))\n",
    "torch's pool by another name": MARKED
    + "\nfrom torch.multiprocessing import Pool as Workers\nWorkers(2).imap_unordered(work, [1])\n",
    "daemon=True": MARKED + "\nmp.Process(target=work, daemon=True).start()\n",
    "spawn": MARKED + "\nmp.spawn(work, nprocs=2, daemon=True)\n",
    "set before the start": MARKED
    + "\nprocesses = [mp.Process(target=work) for _ in range(2)]\nfor one in processes:\n"
    "    one.daemon = True\n    one.start()\n",
    "deeper": """
def work(number):
    return Trainer().run()

class Trainer:
    def __init__(self):
        self.loader = DataLoader(torch.ones(8), **{"num_workers": 3})  # DLL104

    def run(self):
        return [rows for rows in self.loader]

multiprocessing.Pool(2).map(work, [1])
""",
    "handed over": """
loader = DataLoader(torch.ones(8), num_workers=2)  # DLL104

def work(batches):
    for rows in batches:
        print(rows)

mp.Process(target=work, args=(loader,), daemon=True).start()
""",
    "a worker count that is an argument": """
def work(workers):
    for rows in DataLoader(torch.ones(8), num_workers=workers):  # DLL104
        print(rows)

mp.Process(target=work, args=(4,), daemon=True).start()
""",
    "a loader of the project's own": """
class Loader(DataLoader):
    pass

def work(number):
    for rows in Loader(torch.ones(8), num_workers=2):  # DLL104
        print(rows)

multiprocessing.Pool(2).starmap(work, [(1,)])
""",
}

SILENT: dict[str, str] = {
    "no daemon": PLAIN + "\nmp.Process(target=work).start()\nmp.spawn(work, nprocs=2)\n",
    "daemon=False": PLAIN + "\nmp.Process(target=work, daemon=False).start()\n",
    "another process is the daemon": PLAIN
    + "\nother = mp.Process(target=print)\nother.daemon = True\nmp.Process(target=work).start()\n",
    "a thread": PLAIN + "\nimport threading\nthreading.Thread(target=work, daemon=True).start()\n",
    "threads": PLAIN + "\nfrom multiprocessing.pool import ThreadPool\nThreadPool(2).map(work, [1])\n",
    "dummy": PLAIN + "\nfrom multiprocessing.dummy import Pool\nPool(2).map(work, [1])\n",
    "an executor": PLAIN
    + "\nfrom concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor().submit(work, 1)\n",
    "in the parent": PLAIN + "\nwork()\nmultiprocessing.Pool(2).map(abs, [1])\n",
    "without workers": PLAIN.replace("num_workers=2", "num_workers=0") + "\nmultiprocessing.Pool(2).map(work, [1])\n",
    "without workers in the pool": """
def work(workers):
    for rows in DataLoader(torch.ones(8), num_workers=workers):
        print(rows)

work(4)
mp.Process(target=work, args=(0,), daemon=True).start()
""",
    "a context of its own": PLAIN
    + """
class Free(multiprocessing.Process):
    daemon = False

class FreeContext(type(multiprocessing.get_context())):
    Process = Free

multiprocessing.Pool(2, context=FreeContext()).map(work, [1])
""",
}


test_found, test_silent = in_one_file("DLL104", FOUND, SILENT, HEAD)


def test_across_files(told: Callable[..., Any], relative: Callable[[str], str]) -> None:
    files = {
        "loading.py": "from torch.utils.data import DataLoader\n\n"
        "def build(rows, count):\n    return DataLoader(rows, num_workers=count)\n",
        "work.py": "from loading import build\n\n"
        "def work(rows):\n    for batch in build(rows, 2):\n        print(batch)\n",
        "run.py": "from multiprocessing import Pool\n\nfrom work import work\n\n"
        "if __name__ == '__main__':\n    Pool(2).map(work, [[1]])\n",
    }

    (finding,) = told(files, **SELECT)

    assert (relative(finding.path), finding.span.line, finding.severity) == ("loading.py", 4, "error")
    assert [(relative(hop.path), hop.span.line) for hop in finding.trace] == [("run.py", 6), ("work.py", 4)]
    assert "cannot start 2 workers: the processes of the pool at run.py:6 are daemonic" in finding.text


CHAIN = """\
from torch.utils.data import DataLoader


class Chain:
    def get_forces(self):
        for batch in DataLoader(list(range(8)), num_workers=2):  # DLL104
            print(batch)
"""
SCORES = """\
import multiprocessing as mp
from ase.io import read
{}

def score(path):
    return read(path).get_forces()


if __name__ == "__main__":
    with mp.Pool(2) as pool:
        print(pool.map(score, ["a", "b"]))
"""
SEARCH = """\
from chain import Chain
from torch.utils.data import DataLoader

if __name__ == "__main__":
    print(DataLoader([1]))
    Chain().get_forces()
"""


def test_a_method_is_not_guessed_in_another_program(findings: Callable[..., Any]) -> None:
    files = {"chain.py": CHAIN, "scores.py": SCORES.format(""), "search.py": SEARCH}
    unknown = SCORES.replace("read(path)", "unknown(path)").replace(
        "from ase.io import read", "from .made import unknown"
    )

    assert findings(files, select=["DLL104"]) == set()
    assert findings({**files, "scores.py": unknown.format("")}, select=["DLL104"]) == set()
    same_program = unknown.format("import chain\n")
    assert findings({**files, "scores.py": same_program}, select=["DLL104"]) == {("chain.py", 6, "DLL104")}


ROUTINE = """\
import multiprocessing
from importlib import import_module
from lightning import Trainer

def get_model(settings):
    module = import_module(settings.class_path.rpartition(".")[0])
    return getattr(module, settings.class_path.split(".")[-1])()

def routine(settings):
    Trainer().test(get_model(settings))

if __name__ == "__main__":
    process = multiprocessing.Process(target=routine, args=(None,), daemon=True)
    process.start()
"""
OTHER = """\
from lightning import LightningDataModule
from torch.utils.data import DataLoader

class Other(LightningDataModule):
    def test_dataloader(self):
        return DataLoader([2], num_workers=8)  # DLL104
"""


def test_a_class_that_some_configuration_names_is_a_guess(told: Callable[..., Any]) -> None:
    files = {
        "main.py": ROUTINE,
        "pkg/__init__.py": "",
        "pkg/data.py": OTHER,
        "data.yaml": "class_path: pkg.data.Other\n",
    }

    (guessed,) = told(files, **SELECT)
    (known,) = told(
        {
            **files,
            "main.py": ROUTINE.replace("test(get_model(settings))", "test(Other())").replace(
                "import multiprocessing\n", "import multiprocessing\nfrom pkg.data import Other\n"
            ),
        },
        **SELECT,
    )

    assert (guessed.severity, known.severity) == ("warning", "error")


BUILT = """
import importlib
import sys
from multiprocessing import Pool

import yaml

def build(config):
    module, name = config["target"].rsplit(".", 1)
    return getattr(importlib.import_module(module), name)()

def work(config):
    return build(config["{}"])

if __name__ == "__main__":
    with Pool(2) as pool:
        pool.map(work, [yaml.safe_load(open(sys.argv[1]))])
"""
CONSTRUCTED = """
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.mean = sum(DataLoader([1, 2], num_workers=2))

    def __getitem__(self, index):
        return index
"""


def test_a_class_that_a_configuration_names_for_something_else(findings: Callable[..., Any]) -> None:
    files = {
        "rows.py": CONSTRUCTED,
        "scores.py": "class Score:\n    pass\n",
        "some.yaml": "data:\n  target: rows.Rows\nscore:\n  target: scores.Score\n",
    }

    assert findings({**files, "main.py": BUILT.format("data")}, **SELECT) == {("rows.py", 6, "DLL104")}
    assert findings({**files, "main.py": BUILT.format("score")}, **SELECT) == set()
