"""Helps name this program's own remedy: which one a rule chooses by what it knows of the program."""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

Told = Callable[..., Any]

PATHS = """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset
{imports}
class Rows(Dataset):
    def __init__(self, root):
        self.root = str(root)

    def __getitem__(self, index):
        return open(self.root + str(index)).read()

def train(rank):
{setup}    for batch in DataLoader(Rows("rows"), num_workers=4{options}):
        print(batch)

if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
"""


@pytest.mark.parametrize("setup", ["", "    dist.init_process_group('nccl')\n"])
def test_a_dataset_of_paths_is_not_told_to_become_a_tensor(told: Told, setup: str) -> None:
    imports = "import torch.distributed as dist\n" if setup else ""
    (finding,) = told({"train.py": PATHS.format(imports=imports, setup=setup, options="")}, select=["DLL101"])

    assert finding.help.startswith("Set `persistent_workers=True`")
    assert "tensor" not in finding.help


def test_nothing_is_to_be_changed_where_workers_are_cheap_and_lasting(told: Told) -> None:
    source = PATHS.format(imports="", setup="", options=", persistent_workers=True")
    (finding,) = told({"train.py": source}, select=["DLL101"])

    assert finding.help.startswith("Nothing needs to change")
    assert 'multiprocessing_context="spawn"' in finding.help


def test_fork_is_not_named_where_nccl_may_be_in_use(told: Told) -> None:
    source = PATHS.format(
        imports="import torch.distributed as dist\n", setup="    dist.init_process_group('nccl')\n", options=""
    )
    source = source.replace("self.root = str(root)", "self.root = str(root)\n        self.rows = open_rows(root)")
    (finding,) = told({"train.py": source}, select=["DLL101"])

    assert finding.help.startswith("Keep spawn: forking is unsafe where NCCL is, or may be, in use.")
    assert '"fork"' not in finding.help + "".join(fix.title for fix in finding.fixes)


def test_a_launched_process_is_told_to_spawn(told: Told) -> None:
    source = """\
import multiprocessing
import torch

def evaluate():
    print(torch.ones(8).cuda())

def main():
    torch.cuda.set_device(0)
    multiprocessing.get_context("fork").Process(target=evaluate).start()
"""
    (finding,) = told({"train.py": source}, select=["DLL103"])

    assert finding.help.startswith("Use spawn for any process that needs CUDA")
    assert "batch" not in finding.help


OBJECTS = """\
import json
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.rows = json.load(open(path))

    def __getitem__(self, index):
        return self.rows[index]["text"]

    def __len__(self):
        return len(self.rows)

loader = DataLoader(Rows("rows.json"), num_workers=4, multiprocessing_context="{method}")
"""


@pytest.mark.parametrize(
    ("method", "help"),
    [("fork", "Pack them into one array, which workers share"), ("spawn", "Pack them into one tensor of bytes")],
)
def test_objects_are_packed_into_what_the_workers_share(told: Told, method: str, help: str) -> None:
    (finding,) = told({"data.py": OBJECTS.format(method=method)}, select=["DLL302"])

    assert finding.help.startswith(help)


KEPT = """\
import multiprocessing
from multiprocessing import shared_memory
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, name):
        {kept}

    def __getitem__(self, index):
        return self.rows[index]

    def __len__(self):
        return len(self.rows)

def build(name):
    return DataLoader(Rows(name), num_workers=4, multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    ("code", "kept", "help"),
    [
        (
            "DLL404",
            "self.rows = np.ndarray((9, 8), buffer=shared_memory.SharedMemory(name).buf)",
            "Keep the name of the shared memory",
        ),
        ("DLL404", "self.rows = np.memmap(name)", "Keep the path, map the file on first use"),
        ("DLL203", "self.rows = multiprocessing.Manager()", "Keep the proxies that the manager makes"),
        ("DLL203", "self.rows = open(name)", "Create it on first use in each process"),
    ],
)
def test_the_remedy_fits_what_is_kept(told: Told, code: str, kept: str, help: str) -> None:
    (finding,) = told({"data.py": KEPT.format(kept=kept)}, select=[code])

    assert finding.help.startswith(help)


def test_an_option_is_made_conditional_by_its_own_name(told: Told) -> None:
    source = """\
from torch.utils.data import DataLoader

def build(rows, workers=0):
    return DataLoader(rows, num_workers=workers, prefetch_factor=4)
"""
    (finding,) = told({"data.py": source}, select=["DLL605"])

    assert "`prefetch_factor=… if workers > 0 else None`" in finding.help


HELD = """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, scale):
        self.scale = scale

    def __getitem__(self, index):
        return self.scale(index)

{made}

def build():
    {local}
    return DataLoader(Rows({held}), num_workers=2, multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    ("code", "made", "local", "held"),
    [
        ("DLL201", "", "scale = lambda row: row", "scale"),
        ("DLL201", "scale = lambda row: row", "pass", "scale"),
        ("DLL202", "", "def scale(row): return row", "scale"),
    ],
)
def test_the_error_is_the_one_that_python_raises(
    told: Told, monkeypatch: pytest.MonkeyPatch, code: str, made: str, local: str, held: str
) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    source = HELD.format(made=made, local=local, held=held)
    (finding,) = told({"data.py": source}, select=[code], target_python=version)
    module = ModuleType("data")
    monkeypatch.setitem(sys.modules, "data", module)
    exec(f"{made}\ndef build():\n    {local}\n    return {held}\n", vars(module))

    with pytest.raises((AttributeError, pickle.PicklingError)) as raised:
        pickle.dumps(module.build())

    expected = str(finding.values["error"])
    assert f"`{expected}`" in finding.text
    # CPython 3.14 writes the function itself where older versions write its name in quotes.
    stated = expected.partition(" object '")[0] if sys.version_info >= (3, 14) else expected
    assert re.match(".*".join(map(re.escape, stated.split("…"))), f"{raised.type.__name__}: {raised.value}")


@pytest.mark.parametrize(
    ("python", "error"),
    [
        (">=3.10", "`Can't pickle local object 'build.<locals>.<lambda>'`"),
        ("3.12", "`AttributeError: Can't pickle local object 'build.<locals>.<lambda>'`"),
        ("3.13", "`AttributeError: Can't get local object 'build.<locals>.<lambda>'`"),
        ("3.14", "`PicklingError: Can't pickle local object 'build.<locals>.<lambda>'`"),
    ],
)
def test_an_exception_is_named_where_all_targets_raise_it(told: Told, python: str, error: str) -> None:
    source = HELD.format(made="", local="scale = lambda row: row", held="scale")
    (finding,) = told({"data.py": source}, select=["DLL201"], target_python=python)

    assert error in finding.text
