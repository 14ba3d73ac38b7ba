"""What construction does only under a test that the object's arguments decide: `if cache: self.read()`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import cv2
import h5py
import numpy as np
import threading
import torch
from torch.utils.data import DataLoader, Dataset


"""
USE = """\


def main(args):
    loader = DataLoader(%s, num_workers=4, multiprocessing_context="spawn")
    for batch in loader:
        pass
"""
CODES = ("DLL201", "DLL203", "DLL301", "DLL302", "DLL303", "DLL402")

IMAGES = """\
class Images(Dataset):
    def __init__(self, files, cache=False):
        self.files = files
        self.images = [None] * len(files)
        if cache:
            for i in range(len(files)):
                self.images[i] = cv2.imread(files[i])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return self.images[i]
"""
BY_METHOD = """\
class Images(Dataset):
    def __init__(self, files, cache=False):
        self.files = files
        self.images = []
        if cache:
            self.read()

    def read(self):
        for file in self.files:
            self.images.append(cv2.imread(file))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return self.images[i]
"""
BY_ATTRIBUTE = """\
class Images(Dataset):
    def __init__(self, files, cache=False):
        self.files = files
        self.cache = cache
        self.images = None
        self.read()

    def read(self):
        if not self.cache:
            return
        self.images = [cv2.imread(file) for file in self.files]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return self.images[i]
"""
OF_BASE = """\
class Base(Dataset):
    def __init__(self, files, cache):
        self.files = files
        self.tensors = []
        if cache:
            for _ in range(50000):
                self.tensors.append(torch.zeros(3))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return self.tensors[i]


class Images(Base):
    def __init__(self, files, cache=False):
        super().__init__(files, cache)
"""
HANDLE = """\
class Images(Dataset):
    def __init__(self, path, early=False):
        self.path = path
        self.file = None
        if early:
            self.open()

    def open(self):
        self.file = h5py.File(self.path)

    def __len__(self):
        return 1000

    def __getitem__(self, i):
        if self.file is None:
            self.open()
        return self.file["x"][i]
"""
STEPS = """\
class Images(Dataset):
    def __init__(self, files, scale=False):
        self.files = files
        self.steps = []
        if scale:
            self.steps.append(lambda x: x / 255)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        x = np.load(self.files[i])
        for step in self.steps:
            x = step(x)
        return x
"""
CLASSES = {
    "element": (IMAGES, {"DLL301"}),
    "method": (BY_METHOD, {"DLL301"}),
    "attribute": (BY_ATTRIBUTE, {"DLL301"}),
    "base": (OF_BASE, {"DLL303"}),
    "handle": (HANDLE, {"DLL203"}),
    "step": (STEPS, {"DLL201"}),
}


@pytest.mark.parametrize("text,codes", CLASSES.values(), ids=CLASSES)
@pytest.mark.parametrize(
    "made", ["Images(args.files, True)", "Images(args.files, args.early)"], ids=["true", "unknown"]
)
def test_found(text: str, codes: set[str], made: str, told: Callable[..., Any]) -> None:
    found = told({"train.py": HEAD + text + USE % made}, select=list(CODES))

    assert {one.code for one in found} == codes


@pytest.mark.parametrize("text", [text for text, _ in CLASSES.values()], ids=CLASSES)
@pytest.mark.parametrize("made", ["Images(args.files)", "Images(args.files, False)"], ids=["default", "false"])
def test_silent(text: str, made: str, told: Callable[..., Any]) -> None:
    assert told({"train.py": HEAD + text + USE % made}, select=list(CODES)) == ()


@pytest.mark.parametrize("text,codes", CLASSES.values(), ids=CLASSES)
def test_one_of_two_objects(text: str, codes: set[str], told: Callable[..., Any]) -> None:
    both = USE % "Images(args.files)" + (USE % "Images(args.files, True)").replace("main", "again")
    found = told({"train.py": HEAD + text + both}, select=list(CODES))

    assert {one.code for one in found} == codes
