"""What registries make by a configuration: datasets, transforms and loaders that no code names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

REGISTRY = """\
class Registry:
    def __init__(self, name):
        self.name = name
        self.table = {}

    def register_module(self):
        def register(cls):
            self.table[cls.__name__] = cls
            return cls
        return register

    def build(self, cfg, **kwargs):
        return self.table[cfg.pop("type")](**cfg, **kwargs)
"""
OF_MMCV = "from mmcv.utils import Registry, build_from_cfg\n"
OF_MMENGINE = "from mmengine.registry import Registry, build_from_cfg\n"
OWN = REGISTRY + "\ndef build_from_cfg(cfg, registry):\n    return registry.build(cfg)\n"
DATA = """\
from torch.utils.data import Dataset
from registry import DATASETS, STEPS, build_from_cfg

@STEPS.register_module()
class Scale:
    def __init__(self, factor):
        self.scale = lambda row: row * factor  # DLL201

    def __call__(self, row):
        return self.scale(row)

@DATASETS.register_module()
class Rows(Dataset):
    def __init__(self, path, steps):
        self.handle = open(path)  # DLL203
        self.steps = [build_from_cfg(step, STEPS) for step in steps]

    def __getitem__(self, index):
        row = self.handle.readline()
        for step in self.steps:
            row = step(row)
        return row
"""
TRAIN = """\
from torch.utils.data import DataLoader
from registry import DATASETS, build_from_cfg
import data

def build(cfg):
    dataset = {make}
    return DataLoader(dataset, num_workers=2, multiprocessing_context="spawn")
"""
WAYS = {
    "mmcv": (OF_MMCV, "build_from_cfg(cfg, DATASETS)"),
    "mmcv, with defaults": (OF_MMCV, "build_from_cfg(cfg, DATASETS, dict(path='rows.txt'))"),
    "mmcv, by keyword": (OF_MMCV, "build_from_cfg(cfg, registry=DATASETS)"),
    "mmengine": (OF_MMENGINE, "DATASETS.build(cfg)"),
    "a copy in the project": (OWN, "build_from_cfg(cfg, DATASETS)"),
    "a registry of the project": (OWN, "DATASETS.build(cfg, path='rows.txt')"),
}


def files(registry: str, make: str) -> dict[str, str]:
    made = '\nDATASETS = Registry("dataset")\nSTEPS = Registry("step")\nOTHERS = Registry("other")\n'
    return {"registry.py": registry + made, "data.py": DATA, "train.py": TRAIN.format(make=make)}


@pytest.mark.parametrize(("registry", "make"), WAYS.values(), ids=WAYS)
def test_datasets_that_a_registry_makes(
    registry: str, make: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    given = files(registry, make)
    assert findings(given, select=["DLL201", "DLL203"], target_python="3.11") == marks(given)


def test_a_configuration_is_no_argument(findings: Callable[..., Any]) -> None:
    given = files(OF_MMCV, "build_from_cfg(lambda: cfg, DATASETS)")
    given["data.py"] = """\
from torch.utils.data import Dataset
from registry import DATASETS

@DATASETS.register_module()
class Rows(Dataset):
    def __init__(self, path, transform):
        self.path = path
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index)
"""
    assert findings(given, select=["DLL201", "DLL203"], target_python="3.11") == set()


def test_entries_of_the_configuration_are_arguments(findings: Callable[..., Any]) -> None:
    given = files(OF_MMCV, "build_from_cfg(dict(type='Rows', transform=lambda row: row), DATASETS)")
    given["data.py"] = """\
from torch.utils.data import Dataset
from registry import DATASETS

@DATASETS.register_module()
class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index)
"""
    assert findings(given, select=["DLL201"], target_python="3.11") == {("train.py", 6, "DLL201")}


def test_another_registry_makes_other_things(findings: Callable[..., Any]) -> None:
    given = files(OF_MMCV, "build_from_cfg(cfg, OTHERS)")
    given["train.py"] = given["train.py"].replace("import DATASETS", "import OTHERS")
    assert findings(given, select=["DLL201", "DLL203"], target_python="3.11") == set()


LOADING = """\
from torch.utils.data import DataLoader
from registry import LOADERS
import data

@LOADERS.register_module()
class Loading(DataLoader):
    def __init__(self, num_workers=4):
        super().__init__(data.Rows("rows.txt"), num_workers=num_workers)
"""
LAUNCHING = """\
import torch.multiprocessing as mp
import loading
from registry import LOADERS

def train(rank, cfg):
    for batch in LOADERS.build(cfg):  # DLL101
        print(batch)

if __name__ == "__main__":
    mp.spawn(train, args=({cfg},), nprocs=2)
"""


@pytest.mark.parametrize(
    ("cfg", "found"),
    [("open('loader.json')", True), ("{'type': 'Loading'}", True), ("{'type': 'Loading', 'num_workers': 0}", False)],
)
def test_loaders_that_a_registry_makes(
    cfg: str, found: bool, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    given = {
        "registry.py": REGISTRY + '\nLOADERS = Registry("loader")\n',
        "data.py": DATA[: DATA.index("from registry")]
        + "class Rows(Dataset):\n    def __init__(self, path):\n        self.path = path\n",
        "loading.py": LOADING,
        "train.py": LAUNCHING.format(cfg=cfg),
    }
    assert findings(given, select=["DLL101"]) == (marks(given) if found else set())
