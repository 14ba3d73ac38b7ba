"""Datasets that reach their loaders through named tuples, by name, by position, replaced and as a dict."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
from collections import namedtuple
from typing import Any, NamedTuple
from torch.utils.data import DataLoader, Dataset

OPTIONS = {"num_workers": 2, "multiprocessing_context": "spawn"}
Splits = namedtuple("Splits", "train test")

class Typed(NamedTuple):
    train: Any = None
    test: Any = None

class Plain(Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return index

"""
ROWS = """
class Rows(Plain):
    def __init__(self):
        self.scale = lambda row: row / 255{mark}

def build():
"""


def _read(line: str, mark: str = "") -> str:
    return ROWS.format(mark=mark) + "".join(f"    {one}\n" for one in line.split("; "))


_READ = {
    "by name": "return DataLoader(Splits(train=Rows(), test=Plain()).train, **OPTIONS)",
    "by position": "return DataLoader(Splits(Rows(), Plain())[0], **OPTIONS)",
    "unpacked": "train, test = Splits(Rows(), Plain()); return DataLoader(train, **OPTIONS)",
    "in a loop": "return [DataLoader(one, **OPTIONS) for one in Splits(Rows(), Plain())]",
    "replaced": "return DataLoader(Splits(None, None)._replace(train=Rows()).train, **OPTIONS)",
    "left as it is": "return DataLoader(Splits(Rows(), None)._replace(test=Plain()).train, **OPTIONS)",
    "as a dict": "return {k: DataLoader(v, **OPTIONS) for k, v in Splits(Rows(), Plain())._asdict().items()}",
    "typed, replaced and unpacked": "train, test = Typed()._replace(train=Rows()); return DataLoader(train, **OPTIONS)",
    "typed, as a dict": "return DataLoader(Typed(Rows())._asdict()['train'], **OPTIONS)",
}
_OTHER = {
    "the other field": "return DataLoader(Splits(Plain(), Rows()).train, **OPTIONS)",
    "the other position": "return DataLoader(Splits(Plain(), Rows())[0], **OPTIONS)",
    "replaced by another": "return DataLoader(Splits(Rows(), None)._replace(train=Plain()).train, **OPTIONS)",
    "the other field of a dict": "return DataLoader(Typed(Plain(), Rows())._asdict()['train'], **OPTIONS)",
}

test_found, test_silent = in_one_file(
    "DLL201",
    {name: _read(line, "  # DLL201") for name, line in _READ.items()},
    {name: _read(line) for name, line in _OTHER.items()},
    HEAD,
)
