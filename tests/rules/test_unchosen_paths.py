"""An option that is off by default: what fails only behind it is a warning, and what anybody turns on an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
import argparse
import zipfile
from torch.utils.data import DataLoader, Dataset

class Plain(Dataset):
    def __init__(self, root):
        self.root = root

    def __getitem__(self, index):
        return index

class Zipped(Dataset):
    def __init__(self, root):
        self.archive = zipfile.ZipFile(root)

    def __getitem__(self, index):
        return self.archive.read(str(index))

    def __len__(self):
        return 9
"""

FLAG = """
def build(args):
    if args.zip:
        return Zipped("a.zip")
    return Plain("a")

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zip", action="store_true")
    args = parser.parse_args()
    for batch in DataLoader(build(args), num_workers=4):
        print(batch)

if __name__ == "__main__":
    main()
"""
PARAMETER = """
def build(root, zip_mode=False):
    if zip_mode:
        return Zipped(root)
    return Plain(root)

def loader(root, zip_mode=False):
    return DataLoader(build(root, zip_mode), num_workers=4)
"""

WARNINGS: dict[str, str] = {
    "a switch": FLAG,
    "a switch that must not be given": FLAG.replace("if args.zip:", "if not args.folder:").replace(
        '"--zip", action="store_true"', '"--zip", dest="folder", action="store_false"'
    ),
    "a switch and another condition": FLAG.replace("if args.zip:", 'if args.zip and len("a"):'),
    "an option whose default is None": FLAG.replace("if args.zip:", "if args.zip is not None:").replace(
        'action="store_true"', "default=None"
    ),
    "a number below 0": FLAG.replace("if args.zip:", "if args.zip >= 0:").replace(
        'action="store_true"', "type=int, default=-1"
    ),
    "a parameter that nobody gives": PARAMETER,
    "a function that is called only then": FLAG.replace("        return Zipped", "        return make(").replace(
        'make(("a.zip")', 'make("a.zip")'
    )
    + """
def make(root):
    return Zipped(root)
""",
    "an object that is made only then": FLAG.replace(
        "if args.zip:\n        return Zipped", "if args.zip:\n        return Sub"
    )
    + """
class Sub(Zipped):
    def __init__(self, root):
        super().__init__(root)
""",
    "a field of options that a framework makes": """
from dataclasses import dataclass, field

@dataclass
class Options:
    archive: int = field(default=-1, metadata={"help": "the archive to read"})

def setup(options):
    if options.archive >= 0:
        return DataLoader(Zipped("a.zip"), num_workers=4)
    return DataLoader(Plain("a"), num_workers=4)
""",
    "an attribute of a configuration that a test sets": """
from yacs.config import CfgNode

_C = CfgNode()
_C.DATA = CfgNode()
_C.DATA.ZIP_MODE = False

def configured(args):
    config = _C.clone()
    if args.zip:
        config.DATA.ZIP_MODE = True
    return config
"""
    + FLAG.replace("if args.zip:", "if args.DATA.ZIP_MODE:")
    .replace("build(args)", "build(configured(args))", 2)
    .replace("def build(configured(args))", "def build(args)"),
}

WARNINGS["a field whose options may also come from a checkpoint"] = """
from dataclasses import dataclass, field
import torch

@dataclass
class Options:
    size: int = field(default=-1)

def setup(options):
    if options.size >= 0:
        return DataLoader(Zipped("a.zip"), num_workers=4)
    return DataLoader(Plain("a"), num_workers=4)

setup(torch.load("model.pt")["options"])
"""

ERRORS: dict[str, str] = {
    "a field that another class sets": """
from dataclasses import dataclass

@dataclass
class Options:
    archive: bool = False

@dataclass
class Archived:
    archive: bool = True

def setup(options):
    if options.archive:
        return DataLoader(Zipped("a.zip"), num_workers=4)
    return DataLoader(Plain("a"), num_workers=4)
""",
    "a switch that turns it off": FLAG.replace("if args.zip:", "if not args.zip:"),
    "a parameter that a call gives": PARAMETER + '\nshown = loader("a.zip", zip_mode=True)\n',
    "a parameter whose default is True": PARAMETER.replace("=False", "=True"),
    "a name that chooses between equals": FLAG.replace("if args.zip:", 'if args.zip == "zip":').replace(
        'action="store_true"', 'default="folder"'
    ),
    "both branches": FLAG.replace('Plain("a")', 'Zipped("b.zip")'),
    "an object that is also made without it": FLAG + '\nother = DataLoader(Zipped("b.zip"), num_workers=4)\n',
    "an option that is on": FLAG.replace('action="store_true"', "type=bool, default=True"),
    "a value that only the run knows": FLAG.replace("if args.zip:", 'if "a.zip".endswith(args.zip):'),
}


@pytest.mark.parametrize("text", WARNINGS.values(), ids=WARNINGS)
def test_an_option_that_is_off(text: str, told: Callable[..., Any]) -> None:
    (finding,) = told({"train.py": PROGRAM + text}, select=["DLL402"])
    assert finding.severity == "warning"
    assert "off by default" in finding.related[-1].message


@pytest.mark.parametrize("text", ERRORS.values(), ids=ERRORS)
def test_what_needs_no_option(text: str, told: Callable[..., Any]) -> None:
    assert "error" in {one.severity for one in told({"train.py": PROGRAM + text}, select=["DLL402"])}


def test_an_option_that_is_off_and_the_start_method_of_a_newer_python(told: Callable[..., Any]) -> None:
    """Nobody has chosen either of the two."""
    (finding,) = told({"train.py": PROGRAM + FLAG}, select=["DLL203"])
    assert finding.severity == "info"
    (finding,) = told({"train.py": PROGRAM + FLAG}, select=["DLL203"], target_python="3.14")
    assert finding.severity == "warning"
    (finding,) = told({"train.py": PROGRAM + FLAG, "run.sh": "python train.py --zip\n"}, select=["DLL203"])
    assert finding.severity == "warning"


def test_a_switch_that_a_script_of_the_project_gives(told: Callable[..., Any]) -> None:
    files = {"train.py": PROGRAM + FLAG, "run.sh": "python train.py --zip\n"}
    assert [one.severity for one in told(files, select=["DLL402"])] == ["error"]


def test_an_entry_that_a_configuration_of_the_project_has(told: Callable[..., Any]) -> None:
    text = PROGRAM + WARNINGS["an attribute of a configuration that a test sets"]
    files = {"train.py": text, "configs/zip.yaml": "DATA:\n  ZIP_MODE: true\n"}
    assert [one.severity for one in told(files, select=["DLL402"])] == ["error"]


SEVERAL = """\
import argparse
from multiprocessing import Process


def convert(days, parallel=False):
    def work(day):
        print(day)

    if parallel:
        for day in range(days):
            Process(target=work, args=(day,)).start()
    else:
        work(days)
ALWAYS

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parallel", action="store_true")
    args = parser.parse_args()
    convert(9, parallel=args.parallel)


if __name__ == "__main__":
    main()
"""


def test_processes_that_start_only_with_an_option(told: Callable[..., Any]) -> None:
    """The launch is no step of a trace."""
    (finding,) = told({"main.py": SEVERAL.replace("ALWAYS", "")}, select=["DLL207"])
    assert finding.severity == "info"
    always = SEVERAL.replace("ALWAYS", "    Process(target=work, args=(0,)).start()\n")
    (finding,) = told({"main.py": always}, select=["DLL207"])
    assert finding.severity == "warning"
