"""DLL404: where maps are pickled to workers that are not forked, and where they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL404"]}

HEAD = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset
"""
TAIL = """
def build(path):
    return DataLoader(Rows(path), num_workers=4, multiprocessing_context="spawn")
"""
READ = """
    def __getitem__(self, index):
        return self.rows[index].copy()
"""

FOUND: dict[str, dict[str, str]] = {
    "memmap": {
        "data.py": HEAD
        + "class Rows(Dataset):\n    def __init__(self, path):\n        self.rows = np.memmap(path)  # DLL404\n"
        + READ
        + TAIL
    },
    "in a helper, reshaped, and a keyword dict": {
        "data.py": HEAD
        + """
OPTIONS = {"num_workers": 2, "multiprocessing_context": "forkserver"}

class Rows(Dataset):
    def __init__(self, path):
        self.attach(path)

    def attach(self, path):
        self.rows = np.memmap(path, mode="r").reshape(-1, 8)  # DLL404
"""
        + READ
        + "\ndef build(path):\n    return DataLoader(Rows(path), **OPTIONS)\n"
    },
    "the last of those that the attribute gets": {
        "data.py": HEAD
        + """
import os

class Rows(Dataset):
    def __init__(self, path):
        self.rows = None
        self.fill(path)

    def fill(self, path):
        if not os.path.exists(path):
            self.rows = np.memmap(path, shape=(9, 9), mode="w+")
            self.rows[:] = 1
        self.rows = np.memmap(path, shape=(9, 9), mode="r+")  # DLL404
"""
        + READ
        + TAIL
    },
    "one that only a branch replaces": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __init__(self, path, flag):
        self.rows = np.memmap(path)  # DLL404
        if flag:
            self.rows = np.load(path)
"""
        + READ
        + TAIL.replace("path)", "path, flag)")
    },
    "one that may stay where the next one fails": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __init__(self, path):
        self.rows = np.memmap(path)  # DLL404
        try:
            self.rows = np.load(path)
        except ValueError:
            print(path)
"""
        + READ
        + TAIL
    },
    "one of which the next value is made": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __init__(self, path):
        self.rows = np.memmap(path)  # DLL404
        first = self.rows
        self.rows = dict(rows=first)
"""
        + READ
        + TAIL
    },
    "one that a method may give back": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __init__(self, path):
        self.rows = np.memmap(path)  # DLL404
        self.rows = self.checked()

    def checked(self):
        assert len(self.rows)
        return self.rows
"""
        + READ
        + TAIL
    },
    "one of several": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __init__(self, paths):
        self.rows = [np.load(path, mmap_mode="r") for path in paths]  # DLL404
        self.sizes = np.load("sizes.npy", mmap_mode="r")
"""
        + READ
        + TAIL
    },
    "of the object whose method collates": {
        "data.py": HEAD
        + """
class Numbers(Dataset):
    def __getitem__(self, index):
        return index

class Features:
    def __init__(self, path):
        self.rows = np.load(path, mmap_mode="r")  # DLL404

    def join(self, numbers):
        return self.rows[numbers]

def build(path):
    join = Features(path).join
    return DataLoader(Numbers(), num_workers=4, multiprocessing_context="spawn", collate_fn=join)
"""
    },
    "in a hook of Lightning, whose object collates": {
        "data.py": "from pytorch_lightning import LightningDataModule\n"
        + HEAD
        + """
class Numbers(Dataset):
    def __getitem__(self, index):
        return index

class Data(LightningDataModule):
    def setup(self, stage):
        self.rows = np.load("rows.npy", mmap_mode="r")  # DLL404

    def join(self, numbers):
        return self.rows[numbers]

    def train_dataloader(self):
        return DataLoader(Numbers(), num_workers=4, multiprocessing_context="spawn", collate_fn=self.join)
"""
    },
    "a view of shared memory": {
        "data.py": HEAD
        + """
from multiprocessing import shared_memory

class Rows(Dataset):
    def __init__(self, name):
        self.block = shared_memory.SharedMemory(name)
        self.rows = np.ndarray((1000, 8), dtype=np.float32, buffer=self.block.buf)  # DLL404
"""
        + READ
        + TAIL
    },
    "a memory-mapped Arrow table": {
        "data.py": HEAD
        + """
import pyarrow as pa

class Rows(Dataset):
    def __init__(self, path):
        self.rows = pa.ipc.open_file(pa.memory_map(path)).read_all()  # DLL404
"""
        + READ
        + TAIL
    },
    "bound by the partial of collate_fn": {
        "data.py": HEAD
        + """
from functools import partial

def collate(table, rows):
    return table[rows]

def build(rows):
    table = np.load("table.npy", mmap_mode="r")  # DLL404
    return DataLoader(rows, num_workers=2, collate_fn=partial(collate, table), multiprocessing_context="spawn")
"""
    },
    "in args of mp.spawn": {
        "train.py": """\
import numpy as np
import torch.multiprocessing as mp

def work(rank, table):
    return table[rank]

if __name__ == "__main__":
    mp.spawn(work, args=(np.memmap("table.bin"),), nprocs=2)  # DLL404
"""
    },
}

SILENT: dict[str, str] = {
    "an archive, which is never mapped": HEAD
    + """
FILE = "rows.npz"

class Rows(Dataset):
    def __init__(self, path=FILE):
        self.rows = np.load(path, mmap_mode="r")
"""
    + READ
    + TAIL.replace("path", ""),
    "forked": HEAD
    + "class Rows(Dataset):\n    def __init__(self, path):\n        self.rows = np.memmap(path)\n"
    + READ
    + TAIL.replace("spawn", "fork"),
    "no workers": HEAD
    + "class Rows(Dataset):\n    def __init__(self, path):\n        self.rows = np.memmap(path)\n"
    + READ
    + TAIL.replace("num_workers=4", "num_workers=0").replace(', multiprocessing_context="spawn"', ""),
    "read whole": HEAD
    + "class Rows(Dataset):\n    def __init__(self, path):\n        self.rows = np.load(path, mmap_mode=None)\n"
    + READ
    + TAIL,
    "copied into memory": HEAD
    + "class Rows(Dataset):\n    def __init__(self, path):\n        self.rows = np.memmap(path).astype(np.float32)\n"
    + READ
    + TAIL,
    "only the length is kept": HEAD
    + """
class Rows(Dataset):
    def __init__(self, path):
        rows = np.memmap(path)
        self.count = len(rows)
        self.path = path

    def __getitem__(self, index):
        return np.memmap(self.path)[index]
"""
    + TAIL,
    "opened on the first item": HEAD
    + """
class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.rows = None

    def attach(self):
        self.rows = np.memmap(self.path)

    def __getitem__(self, index):
        if self.rows is None:
            self.attach()
        return self.rows[index]
"""
    + TAIL,
    "kept in a dict from the first item on": HEAD
    + """
class Rows(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.rows = {}

    def __getitem__(self, index):
        if index not in self.rows:
            self.rows[index] = np.load(self.paths[index], mmap_mode="r")
        return self.rows[index]
"""
    + TAIL,
    "set to None before the end of __init__": HEAD
    + """
class Rows(Dataset):
    def __init__(self, path):
        self.rows = np.memmap(path)
        self.count = len(self.rows)
        self.rows = None
"""
    + READ
    + TAIL,
    "dropped by __getstate__": HEAD
    + """
class Rows(Dataset):
    def __init__(self, path):
        self.rows = np.memmap(path)

    def __getstate__(self):
        state = self.__dict__.copy()
        del state["rows"]
        return state
"""
    + READ
    + TAIL,
    "tensors, which torch shares": HEAD
    + """
import torch

class Rows(Dataset):
    def __init__(self, path):
        self.rows = torch.load(path, mmap=True)
"""
    + READ.replace("copy", "clone")
    + TAIL,
    "a mode that nothing says": HEAD
    + "class Rows(Dataset):\n    def __init__(self, path, mode):\n        self.rows = np.load(path, mmap_mode=mode)\n"
    + READ
    + "\ndef build(path, mode):\n"
    + "    return DataLoader(Rows(path, mode), num_workers=4, multiprocessing_context='spawn')\n",
    "in args of a forked process": """\
import multiprocessing as mp
import numpy as np

def work(table):
    return table[0]

if __name__ == "__main__":
    mp.get_context("fork").Process(target=work, args=(np.memmap("table.bin"),)).start()
""",
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_maps_that_are_pickled_are_found(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_maps_that_are_not_pickled_are_silent(findings: Callable[..., Any], text: str) -> None:
    assert findings({"data.py": text}, **SELECT) == set()


def test_maps_of_one_class_are_one_finding(told: Callable[..., Any]) -> None:
    (finding,) = told(FOUND["one of several"], **SELECT)

    assert [place.message for place in finding.related][-1] == "`Rows.sizes` is a memory-mapped array too"


def test_the_default_of_a_later_python_is_named(told: Callable[..., Any]) -> None:
    (finding,) = told(
        {"data.py": FOUND["memmap"]["data.py"].replace(', multiprocessing_context="spawn"', "")}, **SELECT
    )

    assert "pickling for forkserver (the default on Linux from Python 3.14)" in finding.text
    assert finding.severity == "warning"


def test_targets_that_fork_by_default_are_silent(findings: Callable[..., Any]) -> None:
    files = {
        "data.py": FOUND["memmap"]["data.py"].replace(', multiprocessing_context="spawn"', "").replace("  # DLL404", "")
    }

    assert findings(files, target_python=">=3.10,<3.14", **SELECT) == set()


LAZY = (
    HEAD
    + """
class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.rows = None

    def opened(self):
        if self.rows is None:
            self.rows = np.load(self.path, mmap_mode="r")
        return self.rows

    def __len__(self):
        return LENGTH

    def __getitem__(self, index):
        return self.opened()[index].copy()
MORE
def build(path):
    rows = Rows(path)
    TOUCH
    return DataLoader(rows, num_workers=4, sampler=[1, 2], multiprocessing_context="spawn")
"""
)


@pytest.mark.parametrize(
    ("length", "touch", "more", "lines"),
    [
        ("len(self.opened())", "print(len(rows))", "", [11]),
        ("3", "print(rows[0])", "", [11]),
        ("3", "rows.opened()", "", [11]),
        ("3", "print(len(rows))", "", []),
        ("len(self.opened())", "print(rows.path)", "", []),
        (
            "len(self.opened())",
            "print(len(rows))",
            "\n    def __getstate__(self):\n        return {'path': self.path}\n",
            [],
        ),
    ],
)
def test_maps_that_the_parent_s_first_use_opens(
    length: str, touch: str, more: str, lines: list[int], told: Callable[..., Any]
) -> None:
    source = LAZY.replace("LENGTH", length).replace("TOUCH", touch).replace("MORE", more)

    assert [finding.span.line for finding in told({"data.py": source}, **SELECT)] == lines


def test_the_first_use_is_named(told: Callable[..., Any]) -> None:
    source = LAZY.replace("LENGTH", "len(self.opened())").replace("TOUCH", "print(len(rows))").replace("MORE", "")

    (finding,) = told({"data.py": source}, **SELECT)

    assert "`len` of the dataset" in [place.message for place in finding.related]


@pytest.mark.parametrize(("touch", "lines"), [("print(len(rows))", [11]), ("print(rows.path)", [])])
def test_a_function_that_makes_the_dataset_uses_it_first(
    touch: str, lines: list[int], told: Callable[..., Any]
) -> None:
    source = LAZY.replace("LENGTH", "len(self.opened())").replace("TOUCH", touch).replace("MORE", "")
    source = source.replace(
        "    return DataLoader(rows", "    return rows\n\ndef load(path):\n    return DataLoader(build(path)"
    )

    assert [finding.span.line for finding in told({"data.py": source}, **SELECT)] == lines


TRANSFORMED = """\
import numpy as np
from torch_geometric.loader import NeighborSampler

class Papers:
    def __init__(self, path):
        self.path = path

    @property
    def features(self):
        return np.load(self.path, mmap_mode="r")

class Batches:
    def __init__(self, papers):
        self.x = papers.features

    def convert(self, size, ids, edges):
        return self.x[ids]

    def loader(self, edges):
        return NeighborSampler(edges, sizes=[3], transform=CONVERT, num_workers=4)

def main(edges):
    for batch in Batches(Papers("a.npy")).loader(edges):
        print(batch)

if __name__ == "__main__":
    main(None)
"""


@pytest.mark.parametrize(("convert", "lines"), [("self.convert", [14]), ("print", [])])
def test_the_transform_of_a_sampler_is_sent_to_workers(
    convert: str, lines: list[int], told: Callable[..., Any]
) -> None:
    found = told({"data.py": TRANSFORMED.replace("CONVERT", convert)}, **SELECT)

    assert [finding.span.line for finding in found] == lines
    assert all("opened here" in [place.message for place in finding.related] for finding in found)


SENT = """\
from multiprocessing import shared_memory
import numpy as np
import torch.multiprocessing as mp

class Buffer:
    def __init__(self, size):
        self.memory = shared_memory.SharedMemory(create=True, size=size)
        self.data = np.ndarray((size,), dtype=np.uint8, buffer=self.memory.buf)

class Table:
    def __init__(self, path):
        self.rows = np.load(path, mmap_mode="r")

class Late(Table):
    def __getstate__(self):
        return {"path": 1}

class Holder:
    def __init__(self, tables):
        self.tables = tables

def work(rank, given):
    print(given)

def run(path):
    {call}
"""


@pytest.mark.parametrize(
    "call",
    [
        "mp.spawn(work, args=(Buffer(9),), nprocs=2)",
        "mp.spawn(work, args=(Table(path),), nprocs=2)",
        "mp.spawn(work, args=(Holder([Table(path)]),), nprocs=2)",
        "mp.spawn(work, args=({'a': Table(path)},), nprocs=2)",
        'mp.get_context("spawn").Process(target=work, args=(1, Table(path))).start()',
    ],
)
def test_objects_with_maps_are_arguments_of_processes(call: str, told: Callable[..., Any]) -> None:
    (finding,) = told({"train.py": SENT.replace("{call}", call)}, **SELECT)
    assert finding.message == "argument"


@pytest.mark.parametrize(
    "call",
    [
        "mp.spawn(work, args=(Late(path),), nprocs=2)",
        "mp.spawn(work, args=(Table,), nprocs=2)",
        "mp.spawn(work, args=(Table(path).rows.shape,), nprocs=2)",
        'mp.get_context("fork").Process(target=work, args=(1, Table(path))).start()',
    ],
)
def test_objects_without_maps_are_arguments_of_processes(call: str, told: Callable[..., Any]) -> None:
    assert not told({"train.py": SENT.replace("{call}", call)}, **SELECT)


KEPT_PART = HEAD + (
    """
class Rows(Dataset):
    def __init__(self, path, first, chosen):
        rows = np.load(path, mmap_mode="r")
        self.rows = PART
"""
    + READ
    + """
def build(path, names):
    chosen = np.flatnonzero(names)
    return DataLoader(Rows(path, 4, chosen), num_workers=4, multiprocessing_context="spawn")
"""
)


@pytest.mark.parametrize(
    "part",
    ["rows[:]", "rows[first:]", "rows[:, :3]", "rows[..., 0]", "rows[None, :]", "rows[:, first]", "rows[2:][:, 1:]"],
)
def test_slices_of_a_map_are_views(part: str, told: Callable[..., Any]) -> None:
    assert [one.code for one in told({"train.py": KEPT_PART.replace("PART", part)}, **SELECT)] == ["DLL404"]


@pytest.mark.parametrize(
    "part",
    [
        "rows[chosen]",
        "rows[chosen, :]",
        "rows[:, chosen]",
        "rows[:, [0, 2]]",
        "rows[[0, 2]]",
        "rows[rows[:, 0] > first, :]",
        "rows[:, np.arange(3)][:100]",
        "rows[..., chosen].reshape(-1, 3)",
    ],
)
def test_an_index_of_several_positions_copies(part: str, told: Callable[..., Any]) -> None:
    """numpy.org/doc/stable/user/basics.indexing.html: "Advanced indexing always returns a copy"."""
    assert told({"train.py": KEPT_PART.replace("PART", part)}, **SELECT) == ()
