"""DLL108: sharing strategies that workers do not have, and those that they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

SELECT = {"select": ["DLL108"]}

HEAD = """\
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

def train(**options):
    for rows in DataLoader(torch.ones(8), num_workers=4, multiprocessing_context="spawn", **options):
        print(rows)

"""

FOUND: dict[str, str] = {
    "under the guard": """
if __name__ == "__main__":
    mp.set_sharing_strategy("file_system")  # DLL108
    train()
""",
    "in a function, by another name": """
from torch.multiprocessing import set_sharing_strategy as share

def main():
    share("file_system")  # DLL108
    train()

main()
""",
    "by keyword, a constant of the module": """
STRATEGY = "file_system"

def main():
    mp.set_sharing_strategy(new_strategy=STRATEGY)  # DLL108
    train()
""",
    "the dataset's __init__": """
class Rows(Dataset):
    def __init__(self):
        mp.set_sharing_strategy("file_system")  # DLL108

    def __getitem__(self, index):
        return index

for rows in DataLoader(Rows(), num_workers=4, multiprocessing_context="forkserver"):
    print(rows)
""",
    "a program that sets spawn": """
def other():
    mp.set_sharing_strategy("file_system")  # DLL108
    mp.set_start_method("spawn")
    for rows in DataLoader(torch.ones(8), num_workers=4):
        print(rows)
""",
    "in worker_init_fn of another loader": """
def begin(worker):
    mp.set_sharing_strategy("file_system")

if __name__ == "__main__":
    mp.set_sharing_strategy("file_system")  # DLL108
    train()
    for rows in DataLoader(torch.ones(8), num_workers=4, multiprocessing_context="spawn", worker_init_fn=begin):
        print(rows)
""",
    "in the launched process itself": """
def child(rank):
    mp.set_sharing_strategy("file_system")  # DLL108
    for rows in DataLoader(torch.ones(8), num_workers=4):
        print(rows)

def main():
    mp.spawn(child, nprocs=2)
""",
    "the hooks of a Lightning module": """
import pytorch_lightning as pl

class Model(pl.LightningModule):
    def setup(self, stage=None):
        mp.set_sharing_strategy("file_system")  # DLL108

    def train_dataloader(self):
        return DataLoader(torch.ones(8), num_workers=4, multiprocessing_context="spawn")

def main():
    pl.Trainer().fit(Model())
""",
    "what the hooks of a Lightning module call on another object": """
import pytorch_lightning as pl

class Source:
    def setup(self):
        mp.set_sharing_strategy("file_system")  # DLL108

    def loader(self):
        return DataLoader(torch.ones(8), num_workers=4, multiprocessing_context="spawn")

class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.source = Source()

    def setup(self, stage=None):
        self.source.setup()

    def val_dataloader(self):
        return self.source.loader()

def main():
    trainer = pl.Trainer()
    trainer.fit(Model())
""",
    "another worker_init_fn": """
def begin(worker):
    print(worker)

if __name__ == "__main__":
    torch.multiprocessing.set_sharing_strategy("file_system")  # DLL108
    train(worker_init_fn=begin)
""",
}

SILENT: dict[str, str] = {
    "a hook of another Lightning module": """
import pytorch_lightning as pl

class Other(pl.LightningModule):
    def setup(self, stage=None):
        mp.set_sharing_strategy("file_system")

class Model(pl.LightningModule):
    def train_dataloader(self):
        return DataLoader(torch.ones(8), num_workers=4, multiprocessing_context="spawn")

def main(name):
    if name == "other":
        pl.Trainer().fit(Other())
    else:
        pl.Trainer().fit(Model())
""",
    "at the top level": 'mp.set_sharing_strategy("file_system")\n',
    "in both places": """
mp.set_sharing_strategy("file_system")

if __name__ == "__main__":
    mp.set_sharing_strategy("file_system")
    train()
""",
    "in worker_init_fn": """
def begin(worker):
    mp.set_sharing_strategy("file_system")

if __name__ == "__main__":
    mp.set_sharing_strategy("file_system")
    train(worker_init_fn=begin)
""",
    "what a helper of worker_init_fn does": """
def share():
    mp.set_sharing_strategy("file_system")

def begin(worker):
    share()

if __name__ == "__main__":
    share()
    train(worker_init_fn=begin)
""",
    "the default strategy": """
if __name__ == "__main__":
    mp.set_sharing_strategy("file_descriptor")
    train()
""",
    "a strategy that is not known": """
import sys

if __name__ == "__main__":
    mp.set_sharing_strategy(sys.argv[1])
    train()
""",
}


test_found, test_silent = in_one_file("DLL108", FOUND, SILENT, HEAD)


@pytest.mark.parametrize(
    "options", ["num_workers=4, multiprocessing_context='fork'", "num_workers=0", "batch_size=8", "**given"]
)
def test_other_workers(options: str, findings: Callable[..., Any]) -> None:
    source = f"""\
import torch
import torch.multiprocessing as mp
from somewhere import given

if __name__ == "__main__":
    mp.set_sharing_strategy("file_system")
    for rows in torch.utils.data.DataLoader(torch.ones(8), {options}):
        print(rows)
"""
    assert findings({"train.py": source}, **SELECT) == set()


def test_another_branch_than_the_launch(findings: Callable[..., Any]) -> None:
    source = """\
import torch
import torch.multiprocessing as mp
from somewhere import options

def child(rank):
    for rows in torch.utils.data.DataLoader(torch.ones(8), num_workers=4):
        print(rows)

def main():
    if options.address is not None:
        mp.spawn(child, nprocs=2)
    elif options.accelerated:
        mp.set_sharing_strategy("file_system")
        child(0)
"""
    before = source.replace(
        "    if options.address", "    mp.set_sharing_strategy('file_system')\n    if options.address"
    )

    assert findings({"train.py": source}, **SELECT) == set()
    assert findings({"train.py": before}, **SELECT) == {("train.py", 10, "DLL108")}


LIBRARY = """\
from torch.utils.data import DataLoader

class Loader:
    def __init__(self, rows, workers=0):
        self.inner = DataLoader(rows, num_workers=workers)
"""
PROGRAM = """\
import torch.multiprocessing as mp
from library import Loader

def run(rank):
    Loader([], workers={})

if __name__ == "__main__":
    {}
    mp.spawn(run, nprocs=2)
"""


def test_a_launch_of_another_program(findings: Callable[..., Any]) -> None:
    shares = 'mp.set_sharing_strategy("file_system")'
    files = {"library.py": LIBRARY, "a.py": PROGRAM.format(4, "print(1)"), "b.py": PROGRAM.format(0, shares)}
    working = {**files, "b.py": PROGRAM.format(2, shares)}

    assert findings(files, **SELECT) == set()
    assert findings(working, **SELECT) == {("b.py", 8, "DLL108")}


FILES = {
    "sharing.py": "import torch.multiprocessing\n\n"
    "def share():\n    torch.multiprocessing.set_sharing_strategy('file_system')\n",
    "train.py": "import torch\nfrom torch.utils.data import DataLoader\n\nfrom sharing import share\n\n"
    "def train():\n    share()\n    for rows in DataLoader(torch.ones(8), num_workers=4):\n        print(rows)\n",
}


def test_across_files(told: Callable[..., Any], relative: Callable[[str], str]) -> None:
    (finding,) = told(FILES, **SELECT)

    assert (relative(finding.path), finding.span.line, finding.severity) == ("sharing.py", 4, "warning")
    assert (
        "Under forkserver, the default on Linux from Python 3.14, this does not reach the workers at train.py:8"
        in finding.text
    )


def test_another_program(findings: Callable[..., Any]) -> None:
    files = {**FILES, "train.py": FILES["train.py"].replace("from sharing import share\n", "share = print\n")}

    assert findings(files, **SELECT) == set()


def test_targets_that_fork(findings: Callable[..., Any]) -> None:
    assert findings(FILES, target_python="3.12", **SELECT) == set()


LAUNCHING = """\
import torch.multiprocessing
import somewhere

def launch(main, options):
    if options.accelerated:
        torch.multiprocessing.set_sharing_strategy("file_system")
    main(options)

def describe(options):
    return str(options)
"""
SCRIPT = """\
import torch
import launching

def main(options):
    for rows in torch.utils.data.DataLoader(torch.ones(8), num_workers=4, multiprocessing_context="spawn"):
        print(rows)

def cli(options):
    print(launching.describe(options))
    main(options)
"""


def test_a_script_that_only_imports_the_module(findings: Callable[..., Any]) -> None:
    launched = SCRIPT.replace("    main(options)\n", "    launching.launch(main, options)\n")

    assert findings({"launching.py": LAUNCHING, "script.py": SCRIPT}, **SELECT) == set()
    assert findings({"launching.py": LAUNCHING, "script.py": launched}, **SELECT) == {("launching.py", 6, "DLL108")}


def test_a_branch_that_leads_elsewhere(findings: Callable[..., Any]) -> None:
    source = """\
import torch
import torch.multiprocessing as mp
from somewhere import options

def share():
    mp.set_sharing_strategy("file_system")

def train():
    for rows in torch.utils.data.DataLoader(torch.ones(8), num_workers=4, multiprocessing_context="spawn"):
        print(rows)

def main():
    if options.prepare:
        share()
    else:
        train()
"""
    both = source.replace("    else:\n        train()", "    train()")

    assert findings({"train.py": source}, **SELECT) == set()
    assert (
        findings({"train.py": source.replace("options.prepare", "options.prepare and options.all")}, **SELECT) == set()
    )
    assert findings({"train.py": both}, **SELECT) == {("train.py", 6, "DLL108")}


def test_handed_to_something_from_outside(findings: Callable[..., Any]) -> None:
    """In which process it is called is not known."""
    source = """\
import torch
import torch.multiprocessing as mp
import somewhere

def train(rank):
    for rows in torch.utils.data.DataLoader(torch.ones(8), num_workers=4):
        print(rows)

def main():
    mp.set_sharing_strategy("file_system")
    somewhere.start(train)
"""
    called = source.replace("somewhere.start(train)", "train(0)")

    assert findings({"train.py": source}, **SELECT) == set()
    assert findings({"train.py": called}, **SELECT) == {("train.py", 10, "DLL108")}


def test_a_loader_of_tests_that_do_not_share(findings: Callable[..., Any]) -> None:
    run = """\
import torch.multiprocessing
from engine import Engine

def run(source):
    torch.multiprocessing.set_sharing_strategy("file_system")
    Engine(source).fit()
"""
    engine = "class Engine:\n    def __init__(self, source):\n        self.source = source\n\n"
    engine += "    def fit(self):\n        for rows in self.source.loader():\n            print(rows)\n"
    test = """\
import run
import torch
from engine import Engine

class Source:
    def loader(self):
        return torch.utils.data.DataLoader(torch.ones(8), num_workers=4, multiprocessing_context="spawn")

def test_engine():
    Engine(Source()).fit()
"""
    files = {"run.py": run, "engine.py": engine}
    shared = test.replace("Engine(Source()).fit()", "run.run(Source())")

    assert findings({**files, "test_engine.py": test}, **SELECT) == set()
    assert findings({**files, "test_engine.py": shared}, **SELECT) == {("run.py", 5, "DLL108")}


def test_a_loader_that_only_tests_import(findings: Callable[..., Any]) -> None:
    run = """\
import torch.multiprocessing
from engine import Engine

def run(source):
    torch.multiprocessing.set_sharing_strategy("file_system")
    Engine(source).fit()
"""
    engine = "class Engine:\n    def __init__(self, source):\n        self.source = source\n\n"
    engine += "    def fit(self):\n        for rows in self.source.loader():\n            print(rows)\n"
    mocks = """\
import torch
import run

class Source:
    def loader(self):
        return torch.utils.data.DataLoader(torch.ones(8), num_workers=4, multiprocessing_context="spawn")
"""
    test = (
        "from engine import Engine\nfrom test_mocks import Source\n\ndef test_engine():\n    Engine(Source()).fit()\n"
    )
    files = {"run.py": run, "engine.py": engine, "test_mocks.py": mocks, "test_engine.py": test}

    assert findings(files, **SELECT) == set()
