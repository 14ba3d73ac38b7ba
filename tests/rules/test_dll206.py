"""DLL206: tensors that pickling makes for spawned workers, and those that somebody owns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL206"]}
LOADER = """

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
"""

FOUND: dict[str, dict[str, str]] = {
    "seeded where it is made, once more where a seed is given": {
        "data.py": """\
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, draw):
        self.draw = draw

def build(seed=None):
    draw = None
    if seed is not None:
        draw = torch.Generator()  # DLL206
        draw = draw.manual_seed(seed)
    return DataLoader(Rows(draw), num_workers=2, multiprocessing_context="spawn")
"""
    },
    "alias, in a wrapper": {
        "data.py": """\
from torch import Generator as G
from torch.utils.data import DataLoader, Dataset, Subset

class Rows(Dataset):
    def __init__(self):
        self.draw = G()  # DLL206

def build():
    return DataLoader(Subset(Rows(), [0]), **{"num_workers": 2, "multiprocessing_context": "spawn"})
"""
    },
    "seeded by a helper of another file, under a base class": {
        "seeds.py": """\
import torch

def seeded(seed):
    generator = torch.Generator()  # DLL206
    return generator.manual_seed(seed)
""",
        "data.py": """\
from torch.utils.data import DataLoader, Dataset
from seeds import seeded

class Base(Dataset):
    def __init__(self):
        self.draw = seeded(1)

class Rows(Base):
    pass

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="forkserver")
""",
    },
    "in the object that collates": {
        "data.py": """\
import torch
from torch.utils.data import DataLoader

class Mask:
    def __init__(self):
        self.draw = torch.Generator()  # DLL206

    def __call__(self, rows):
        return rows

def build(rows):
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=Mask())
"""
    },
    "state of an object inside the dataset": {
        "data.py": """\
import torch
from torch.utils.data import DataLoader, Dataset

class Store:
    def __init__(self, rows):
        self.rows = rows

    def __getstate__(self):
        return {**self.__dict__, "rows": torch.stack(self.rows).contiguous()}  # DLL206

class Rows(Dataset):
    def __init__(self):
        self.store = Store([torch.zeros(3)])

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
"""
    },
    "reduced to a call with a fresh tensor, through a variable": {
        "data.py": """\
import torch
from torch.utils.data import DataLoader, Dataset

def make(rows):
    return Rows()

class Rows(Dataset):
    def __reduce__(self):
        flat = torch.cat(self.rows)  # DLL206
        return make, (flat,)

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
"""
    },
}

SILENT: dict[str, str] = {
    "made in the worker": """\
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __getitem__(self, index):
        self.draw = torch.Generator()
        return index
""",
    "left out": """\
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.draw = torch.Generator()

    def __getstate__(self):
        return {**self.__dict__, "draw": None}
""",
    "a view of a tensor that the dataset keeps": """\
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.rows = torch.zeros(9)

    def __getstate__(self):
        return {"rows": self.rows[:3]}
""",
    "arrays and numbers": """\
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __getstate__(self):
        flat = torch.cat(self.rows)
        return {"rows": flat.numpy(), "sum": flat.sum().item(), "count": len(torch.cat(self.rows))}
""",
    "a generator of numpy": """\
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.draw = np.random.default_rng(1)
""",
    "shared by files": """\
import torch
from torch.utils.data import DataLoader, Dataset

torch.multiprocessing.set_sharing_strategy("file_system")

class Rows(Dataset):
    def __init__(self):
        self.draw = torch.Generator()
""",
    "the seed of a generator": """\
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.seed = torch.Generator().seed()
""",
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_found(
    files: dict[str, str], findings: Callable[..., set[tuple[str, int, str]]], marks: Callable[..., Any]
) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., set[tuple[str, int, str]]]) -> None:
    assert findings({"data.py": text + LOADER}, **SELECT) == set()


@pytest.mark.parametrize(
    ("settings", "severity"),
    [({}, ["warning"]), ({"target_platform": "macos"}, []), ({"target_python": "3.12"}, ["info"])],
)
@pytest.mark.parametrize("name", ["alias, in a wrapper", "state of an object inside the dataset"])
def test_severity_follows_the_targets(
    name: str, settings: dict[str, Any], severity: list[str], told: Callable[..., Any]
) -> None:
    text = FOUND[name]["data.py"].replace(', "multiprocessing_context": "spawn"', "")
    text = text.replace(', multiprocessing_context="spawn"', "")
    assert [one.severity for one in told({"data.py": text}, **SELECT, **settings)] == severity
