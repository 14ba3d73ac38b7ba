"""DLL302: parts of files and of episodes, one Python object per part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL302"]}
HEAD = """\
import json
import os
import h5py
import numpy as np
import soundfile
import torch
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from torch.utils.data import DataLoader, Dataset

"""
ITEMS = """\
    def __len__(self):
        return len(self.parts)
    def __getitem__(self, index):
        path, start, end = self.parts[index]
        return np.load(path)[start:end]
"""
TAIL = """

def build(root):
    return DataLoader(Parts(root), num_workers=4)
"""

FOUND: dict[str, str] = {
    "a path and the number of a part of the file": """\
class Parts(Dataset):
    def __init__(self, root):
        self.parts = []  # DLL302
        for path in Path(root).glob("*.npy"):
            frames = np.load(path).shape[0]
            for start in range(frames - 15):
                self.parts.append((path, start, start + 16))
"""
    + ITEMS,
    "as many parts as a function says of the file": """\
class Parts(Dataset):
    def __init__(self, root):
        self.parts = []  # DLL302
        for name in os.listdir(root):
            header, slices = self.read_header(os.path.join(root, name))
            for number in range(slices):
                self.parts.append((os.path.join(root, name), number, header))
    def read_header(self, path):
        with h5py.File(path) as file:
            return dict(file.attrs), file["kspace"].shape[0]
"""
    + ITEMS,
    "the number times a length": """\
class Parts(Dataset):
    def __init__(self, root, size):
        self.size = size
        self.parts = []  # DLL302
        for path in Path(root).glob("*.npy"):
            count = (np.load(path).shape[0] - self.size) // self.size + 1
            for number in range(count):
                start = number * self.size
                self.parts.append((path, start, start + 16))
"""
    + ITEMS,
    "a start that a loop moves": """\
class Parts(Dataset):
    def __init__(self, root, size):
        self.parts = []  # DLL302
        for path in Path(root).glob("*.npy"):
            start, frames = 0, np.load(path).shape[0]
            while start + size <= frames:
                self.parts.append((str(path), start, size))
                start += size
"""
    + ITEMS,
    "records, collected for each file before": """\
class Slice(NamedTuple):
    path: Path
    number: int
    header: dict[str, Any]

class Parts(Dataset):
    def __init__(self, root, keep=None):
        self.parts = []  # DLL302
        for path in sorted(Path(root).iterdir()):
            header, slices = self.read_header(path)
            found = []
            for number in range(slices):
                one = Slice(path, number, header)
                if keep is None or keep(one):
                    found.append(one)
            self.parts += found
    def read_header(self, path):
        with h5py.File(path) as file:
            return dict(file.attrs), file["kspace"].shape[0]
    def __len__(self):
        return len(self.parts)
    def __getitem__(self, index):
        path, number, header = self.parts[index]
        with h5py.File(path) as file:
            return file["kspace"][number], header["mask"]
""",
    "objects of a data class": """\
@dataclass
class Part:
    path: str
    start: int
    end: int

class Parts(Dataset):
    def __init__(self, root):
        self.parts = []  # DLL302
        for path in sorted(Path(root).iterdir()):
            for start in range(0, soundfile.info(path).frames // 16000):
                self.parts.append(Part(path, start, start + 1))
    def __len__(self):
        return len(self.parts)
    def __getitem__(self, index):
        part = self.parts[index]
        return soundfile.read(part.path, start=part.start, stop=part.end)
""",
    "dicts, in a comprehension": """\
class Parts(Dataset):
    def __init__(self, root):
        self.parts = [  # DLL302
            {"path": path, "start": start, "end": start + 16}
            for path in Path(root).glob("*.npy")
            for start in range(0, np.load(path).shape[0] - 16, 16)
        ]
    def __len__(self):
        return len(self.parts)
    def __getitem__(self, index):
        part = self.parts[index]
        return np.load(part["path"])[part["start"]:]
""",
    "in a method that the constructor calls for each file": """\
class Parts(Dataset):
    def __init__(self, root):
        self.parts = []  # DLL302
        for path in Path(root).glob("*.npy"):
            self.split(path)
    def split(self, path):
        frames = np.load(path).shape[0]
        for start in range(frames - 15):
            self.parts.append((path, start, start + 16))
"""
    + ITEMS,
    "extended by the parts of each file": """\
class Parts(Dataset):
    def __init__(self, root):
        self.parts = []  # DLL302
        for path in Path(root).glob("*.npy"):
            frames = np.load(path).shape[0]
            self.parts.extend([(path, start, start + 16) for start in range(frames - 15)])
"""
    + ITEMS,
    "returned by a function": """\
def split(root):
    found = []
    for path in Path(root).glob("*.npy"):
        frames = np.load(path).shape[0]
        for start in range(frames - 15):
            found.append((path, start, start + 16))
    return found

class Parts(Dataset):
    def __init__(self, root):
        self.parts = split(root)  # DLL302
"""
    + ITEMS,
    "pairs of numbers whose dataset counts them itself": """\
class Parts(Dataset):
    def __init__(self, root):
        self.files = [h5py.File(path) for path in Path(root).glob("*.h5")]
        self.size = sum(len(file["z"]) for file in self.files)
        self.parts = []  # DLL302
        for number, file in enumerate(self.files):
            for name, group in file.items():
                self.parts.extend(list(zip([number] * len(group), range(len(group)))))
    def __len__(self):
        return self.size
    def __getitem__(self, index):
        number, row = self.parts[index]
        return self.files[number]["z"][row]
""",
}

SILENT: dict[str, str] = {
    "the paths of the files of each class, with the number of the class": """\
class Parts(Dataset):
    def __init__(self, root):
        self.parts = []
        for number, name in enumerate(sorted(os.listdir(root))):
            for path in Path(root, name).glob("*.npy"):
                self.parts.append((path, number, 1))
"""
    + ITEMS,
    "the same paths several times": """\
class Parts(Dataset):
    def __init__(self, root, repeats):
        self.parts = []
        for path in Path(root).glob("*.npy"):
            for turn in range(repeats):
                self.parts.append((path, turn, 1))
"""
    + ITEMS,
    "the files of each of some numbered folders": """\
class Parts(Dataset):
    def __init__(self, root):
        folders = json.loads(Path(root, "folders.json").read_text())
        self.parts = []
        for number in range(len(folders)):
            for path in Path(root, folders[number]).glob("*.npy"):
                self.parts.append((path, number, 1))
"""
    + ITEMS,
    "what a loop reads until a file ends": """\
class Parts(Dataset):
    def __init__(self, root):
        self.parts = []
        for number, path in enumerate(Path(root).glob("*.npy")):
            with open(path) as file:
                while True:
                    if not file.readline():
                        break
                    self.parts.append((path, number, 1))
"""
    + ITEMS,
    "a path for each frame": """\
class Parts(Dataset):
    def __init__(self, root):
        self.parts = []
        for path in Path(root).iterdir():
            frames = len(os.listdir(path))
            for start in range(frames):
                self.parts.append(os.path.join(path, f"{start:05}.npy"))
    def __len__(self):
        return len(self.parts)
    def __getitem__(self, index):
        return np.load(self.parts[index])
""",
    "a path for each frame, with a label": """\
class Parts(Dataset):
    def __init__(self, root):
        self.parts = []
        for path in Path(root).iterdir():
            frames = len(os.listdir(path))
            for start in range(frames):
                self.parts.append((os.path.join(path, f"{start:05}.npy"), start, 1))
"""
    + ITEMS,
    "arrays, with the number of each": """\
class Parts(Dataset):
    def __init__(self, root):
        self.parts = []
        for path in Path(root).glob("*.npy"):
            frames = np.load(path)
            for start in range(len(frames)):
                self.parts.append((np.array(frames[start]), start, 1))
    def __len__(self):
        return len(self.parts)
    def __getitem__(self, index):
        frame, start, _ = self.parts[index]
        return frame
""",
    "a list that another number of the item's tells of": """\
class Parts(Dataset):
    def __init__(self, root):
        self.parts = []
        self.size = 1000
        for path in Path(root).glob("*.npy"):
            for start in range(np.load(path).shape[0] - 15):
                self.parts.append((path, start, start + 16))
    def __len__(self):
        return self.size
    def __getitem__(self, index):
        path, start, end = self.parts[index % 4]
        return np.load(path)[start:end]
""",
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND)
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], source: str) -> None:
    files = {"data.py": HEAD + source + TAIL}
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings({"data.py": HEAD + source + TAIL}, **SELECT) == set()


LOADED = (
    HEAD
    + """\
class Parts(Dataset):
    def __init__(self, root, cache):
        self.parts = []
        if os.path.exists(cache):
            self.parts = torch.load(cache)
        else:
            self.parts = split(root)
    def __len__(self):
        return len(self.parts)
    def __getitem__(self, index):
        return self.parts[index]

def split(root):
    return [json.loads(line) for line in open(root)]

def build(root):
    return DataLoader(Parts(root, "parts.pt"), num_workers=4)
"""
)


def test_the_branch_that_loads_them_is_told(told: Callable[..., Any]) -> None:
    """Where one branch makes them and another loads them, one finding names both, and no empty list before them."""
    found = told({"data.py": LOADED}, **SELECT)

    assert [one.span.line for one in found] == [19]
    assert [one.span.line for one in found[0].related if "kept here" in one.message] == [17]


NARROWED = (
    HEAD
    + """\
class Rows(Dataset):
    def __init__(self, path):
        self.rows = json.load(open(path))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]["name"]

class Half(Rows):
    def __init__(self, path):
        super().__init__(path)
        self.rows = self.rows[::2]

class Sorted(Rows):
    def __init__(self, *args):
        super().__init__(*args)
        self.rows = list(sorted(self.rows, key=len))

class Other(Dataset):
    def __init__(self, path):
        self.rows = json.load(open(path))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]["name"]

def build(path):
    for kind in (Rows, Half, Sorted, Other):
        yield DataLoader(kind(path), num_workers=4)
"""
)


def test_subclasses_that_take_a_part_of_what_their_base_reads_are_one_cause(told: Callable[..., Any]) -> None:
    found = told({"data.py": NARROWED}, **SELECT)

    assert len(found) == 2
    assert "Other.rows" in found[1].text
