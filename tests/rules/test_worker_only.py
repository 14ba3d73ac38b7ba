"""What runs only where `get_worker_info()` returns no None is not kept by the dataset that the parent pickles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
import zipfile

import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info
from torch.utils.data import get_worker_info as info_of_worker
from processes import is_worker

class Rows(Dataset):
    def __init__(self, path):
        self.path, self.handle = path, None
        self.prepare()

    def prepare(self):
        pass

    def __len__(self):
        return 9

    def open(self):
        self.handle = zipfile.ZipFile(self.path)

    def in_worker(self):
        return torch.utils.data.get_worker_info() is not None

    def __getitem__(self, index):
{opening}
        return index

def build(path):
    rows = Rows(path)
    print(rows[0])
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
"""
PROCESSES = """\
import torch.utils.data

def is_worker():
    return torch.utils.data.get_worker_info() is not None
"""
OPEN = "self.handle = zipfile.ZipFile(self.path)"
IN_WORKERS = [
    "info = torch.utils.data.get_worker_info()\nif info is not None:\n    OPEN",
    "info = get_worker_info()\nif info is not None:\n    OPEN",
    "info = get_worker_info()\nif info:\n    OPEN",
    "info = get_worker_info()\nif not info:\n    return index\nOPEN",
    "info = get_worker_info()\nif info is None:\n    return index\nOPEN",
    "info = get_worker_info()\nif info is None:\n    pass\nelse:\n    OPEN",
    "info = get_worker_info()\nif info != None and index > 4:\n    OPEN",
    "if get_worker_info() is not None:\n    OPEN",
    "if None is not info_of_worker():\n    OPEN",
    "if (info := get_worker_info()) is not None:\n    OPEN",
    "inside = get_worker_info() is not None\nif inside:\n    OPEN",
    "if self.in_worker():\n    OPEN",
    "if is_worker():\n    OPEN",
    "if get_worker_info() is not None:\n    self.open()",
    "handle = zipfile.ZipFile(self.path)\nif get_worker_info() is not None:\n    self.handle = handle",
    "self.handle = zipfile.ZipFile(self.path) if get_worker_info() is not None else None",
    "if torch.utils.data.get_worker_info():\n    OPEN",
]
IN_PARENT = [
    "info = get_worker_info()\nif info is None:\n    OPEN",
    "info = get_worker_info()\nif not info:\n    OPEN",
    "info = get_worker_info()\nif info is not None:\n    return index\nOPEN",
    "info = get_worker_info()\nif info is not None or index == 0:\n    OPEN",
    "info = get_worker_info()\nif info is not None:\n    pass\nOPEN",
    "info = get_worker_info() or self\nif info is not None:\n    OPEN",
    "inside = get_worker_info() is None\nif inside:\n    OPEN",
    "self.handle = zipfile.ZipFile(self.path) if get_worker_info() is None else None",
    "if not self.in_worker():\n    OPEN",
    "if self.handle is None:\n    OPEN",
    "if get_worker_info() is not None:\n    self.open()\nelse:\n    self.open()",
]


def _program(opening: str) -> dict[str, str]:
    lines = opening.replace("OPEN", OPEN).splitlines()
    text = PROGRAM.format(opening="".join(f"        {line}\n" for line in lines))
    return {"data.py": text, "processes.py": PROCESSES}


@pytest.mark.parametrize("opening", IN_WORKERS)
def test_only_in_workers(told: Callable[..., Any], opening: str) -> None:
    assert told(_program(opening), select=["DLL203"]) == ()


@pytest.mark.parametrize("opening", IN_PARENT)
def test_in_the_parent_too(told: Callable[..., Any], opening: str) -> None:
    assert [one.code for one in told(_program(opening), select=["DLL203"])] == ["DLL203"]


def _prepared(opening: str) -> dict[str, str]:
    lines = opening.replace("OPEN", OPEN).splitlines()
    program = {name: text.replace("    print(rows[0])\n", "") for name, text in _program("pass").items()}
    program["data.py"] = program["data.py"].replace("        pass\n", "".join(f"        {line}\n" for line in lines), 1)
    return program


@pytest.mark.parametrize("opening", [one for one in IN_WORKERS if "index" not in one])
def test_construction_runs_in_the_parent(told: Callable[..., Any], opening: str) -> None:
    assert told(_prepared(opening), select=["DLL203"]) == ()


@pytest.mark.parametrize("opening", [one for one in IN_PARENT if "index" not in one])
def test_what_construction_opens(told: Callable[..., Any], opening: str) -> None:
    assert [one.code for one in told(_prepared(opening), select=["DLL203"])] == ["DLL203"]


def _forked(program: dict[str, str]) -> dict[str, str]:
    text = program["data.py"].replace('"spawn"', '"fork"')
    return {
        **program,
        "data.py": text.replace("        return index\n\ndef", "        return self.handle.read('a')\n\ndef"),
    }


@pytest.mark.parametrize("opening", IN_WORKERS)
def test_handles_of_forked_workers(told: Callable[..., Any], opening: str) -> None:
    found = [_forked(one(opening)) for one in (_program, _prepared) if one is _program or "index" not in opening]

    assert [told(one, select=["DLL402"]) for one in found] == [()] * len(found)


@pytest.mark.parametrize("opening", [one for one in IN_PARENT if "index" not in one])
def test_handles_of_the_parent(told: Callable[..., Any], opening: str) -> None:
    assert [one.code for one in told(_forked(_prepared(opening)), select=["DLL402"])] == ["DLL402"]
