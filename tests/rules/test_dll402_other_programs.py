"""DLL402: a handle that a script opens is not in the datasets of other programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

BUFFER = """\
class Buffer:
    def __init__(self, root):
        self.root = root

    @classmethod
    def of(cls, group):
        return cls(root=group)

    def __getitem__(self, key):
        return self.root[key]
"""
ROWS = """\
import torch
from torch.utils.data import DataLoader, Dataset

from lib.buffer import Buffer


class Sampler:
    def __init__(self, buffer: Buffer):
        self.rows = dict()
        for key in ("a", "b"):
            self.rows[key] = buffer[key]

    def at(self, index):
        return self.rows["a"][index]


class Rows(Dataset):
    def __init__(self, buffer):
        self.sampler = Sampler(buffer)

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.sampler.at(index)

    def statistics(self):
        return [row for row in DataLoader(self, num_workers=4, multiprocessing_context="fork")]
"""
TRAIN = """\
from lib.rows import Rows


def train(buffer):
    return Rows(buffer).statistics()
"""
REPLAY = """\
import sys

import zarr

from lib.buffer import Buffer
{imports}

def main(path):
    buffer = Buffer.of(zarr.group(zarr.storage.ZipStore(path)))
    print(buffer["a"][0]){use}


if __name__ == "__main__":
    main(sys.argv[1])
"""


@pytest.mark.parametrize(
    ("imports", "use", "found"),
    [
        ("", "", False),
        ("from lib.rows import Rows\n", "\n    Rows(buffer).statistics()", True),
        ("import importlib\n", '\n    importlib.import_module("lib." + path).Rows(buffer).statistics()', True),
    ],
    ids=["a script of its own", "it makes the dataset", "it may load the dataset by name"],
)
def test_a_handle_of_a_script(imports: str, use: str, found: bool, findings: Callable[..., Any]) -> None:
    files = {
        "lib/__init__.py": "",
        "lib/buffer.py": BUFFER,
        "lib/rows.py": ROWS,
        "lib/train.py": TRAIN,
        "scripts/replay.py": REPLAY.format(imports=imports, use=use),
    }

    assert bool(findings(files, select=["DLL402"])) == found
