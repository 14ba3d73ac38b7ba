"""DLL404: arrays over shared ctypes arrays, which pickle copies: what workers write to them is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import ctypes
import multiprocessing as mp
from multiprocessing import Array, RawArray, sharedctypes
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import torch
import torch.multiprocessing as tmp
from torch.utils.data import DataLoader, Dataset


class Cached(Dataset):
    def __init__(self, count):
        self.count = count
"""
FILL = """
    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.cache[index] == 0:
            self.cache[index] = index
        return self.cache[index]
"""
READ = """
    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.cache[index]
"""
TAIL = """

def build(count):
    return DataLoader(Cached(count), num_workers=4, multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    "made",
    [
        'np.frombuffer(RawArray("d", count))',
        'np.frombuffer(mp.Array("d", count).get_obj(), dtype=np.float64)',
        "np.ctypeslib.as_array(sharedctypes.RawArray(ctypes.c_double, count))",
        'np.frombuffer(tmp.Array("d", count).get_obj()).reshape(-1)',
        'np.frombuffer(mp.get_context("spawn").RawArray("d", count))',
        "np.ndarray((count,), buffer=SharedMemory(create=True, size=8 * count).buf)",
    ],
)
def test_what_workers_write_is_lost(made: str, told: Callable[..., Any]) -> None:
    text = f"{HEAD}        self.cache = {made}\n"
    (found,) = told({"data.py": text + FILL + TAIL}, select=["DLL404"])

    assert (found.message, found.severity, found.span.line) == ("lost", "warning", text.count("\n"))


def test_without_writes_it_is_a_copy(told: Callable[..., Any]) -> None:
    text = HEAD + '        self.cache = np.frombuffer(RawArray("d", count))\n' + READ + TAIL
    (found,) = told({"data.py": text}, select=["DLL404"])

    assert found.message == "main"


@pytest.mark.parametrize(
    "made",
    [
        'RawArray("d", count)',
        "torch.from_numpy(np.ctypeslib.as_array(RawArray(ctypes.c_double, count)))",
        "np.frombuffer(bytes(8 * count))",
        "torch.zeros(count).share_memory_()",
    ],
)
def test_what_stays_shared_or_never_was(made: str, told: Callable[..., Any]) -> None:
    assert not told({"data.py": f"{HEAD}        self.cache = {made}\n{FILL}{TAIL}"}, select=["DLL404"])


def test_forked_workers_share_it(told: Callable[..., Any]) -> None:
    text = HEAD + '        self.cache = np.frombuffer(RawArray("d", count))\n' + FILL + TAIL.replace("spawn", "fork")

    assert not told({"data.py": text}, select=["DLL404"])
