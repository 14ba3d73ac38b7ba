"""Projects whose datasets and worker counts are chosen by configuration: what is found, and with which weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LOADER = """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

from rows import Rows

def build(options):
    return DataLoader(Rows(), **options["loader"])

def worker(rank, options):
    for batch in build(options):
        print(batch)

def launch(options):
    mp.spawn(worker, args=(options,), nprocs=2)
"""
ROWS = """\
from torch.utils.data import Dataset

class Rows(Dataset):
    def __init__(self, root="rows"):
        self.scale = lambda row: row

    def __getitem__(self, index):
        return self.scale(index)

    def __len__(self):
        return 9
"""
SELECT = {"select": ["DLL101", "DLL201"]}
CONTEXT = 'OPTIONS = {"loader": {"multiprocessing_context": "fork", "num_workers": 3}}\n'
DEFAULT = LOADER.replace("mp.spawn(worker, args=(options,), nprocs=2)", "worker(0, options)")
WORKERS = "loader:\n  num_workers: 3\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({}, {"DLL101", "DLL201"}, id="no one names a context"),
        pytest.param({"train.py": CONTEXT + LOADER}, set(), id="the code names a context"),
        pytest.param(
            {"train.py": CONTEXT + LOADER, "conf/train.yaml": WORKERS},
            {"DLL101", "DLL201"},
            id="a configuration file has workers",
        ),
        pytest.param({"train.py": DEFAULT}, set(), id="only a default of Python, and no file with workers"),
        pytest.param({"train.py": DEFAULT, "conf/a.json": '{"num_workers": 3}'}, {"DLL201"}, id="a default of Python"),
        pytest.param({"train.py": DEFAULT, "conf/a.json": '{"data": "num_workers"}'}, set(), id="no key"),
        pytest.param(
            {"train.py": DEFAULT, "defaults.py": 'DEFAULTS = {"a": {"num_workers": 3}}\n'},
            {"DLL201"},
            id="a dict has workers",
        ),
        pytest.param(
            {"train.py": DEFAULT, "defaults.py": "DEFAULTS = dict(num_workers=3)\n"}, {"DLL201"}, id="a call of dict"
        ),
        pytest.param(
            {"train.py": DEFAULT, "defaults.py": 'DEFAULTS = {}\nDEFAULTS["num_workers"] = 3\n'},
            {"DLL201"},
            id="an entry that is set",
        ),
        pytest.param(
            {"train.py": DEFAULT, "defaults.py": 'DEFAULTS = {"num_workers": 0}\n'}, set(), id="a dict has no workers"
        ),
        pytest.param(
            {"train.py": DEFAULT, "defaults.py": "def make(num_workers):\n    return make(num_workers=3)\n"},
            set(),
            id="only an argument",
        ),
    ],
)
def test_an_unpacked_mapping_may_give_workers(
    files: dict[str, str], expected: set[str], told: Callable[..., Any]
) -> None:
    found = told({"train.py": LOADER, "rows.py": ROWS, **files}, **SELECT)

    assert {one.code for one in found} == expected
    assert all(one.severity != "error" for one in found)
    assert all("**options['loader']" in one.text for one in found if one.code == "DLL101")


LOCATING = """\
import importlib
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def locate(path):
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)

def worker(rank, options):
    for batch in DataLoader(locate(options["target"])(), num_workers=3):
        print(batch)

def launch(options):
    mp.spawn(worker, args=(options,), nprocs=2)
"""
KNOWN = """
if __name__ == "__main__":
    launch({"target": "rows.Rows"})
"""
MODULE = LOCATING.replace('locate(options["target"])()', "importlib.import_module(options.module).Rows()")
SEARCHING = """\
import importlib
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

def find(name):
    found = None
    for key, cls in importlib.import_module("data." + name).__dict__.items():
        if key.lower() == name and issubclass(cls, Dataset):
            found = cls
    return found

def worker(rank, options):
    for batch in DataLoader(find(options.name)(), num_workers=3):
        print(batch)

def launch(options):
    mp.spawn(worker, args=(options,), nprocs=2)
"""
OTHERS = "from torch.utils.data import Dataset\n" + "".join(
    f"class Other{number}(Dataset):\n    pass\n" for number in range(15)
)


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        pytest.param({"train.py": LOCATING + KNOWN}, "error", id="a dotted path that the code says"),
        pytest.param({"train.py": LOCATING, "a.yaml": "target: rows.Rows"}, "warning", id="one of the configuration"),
        pytest.param(
            {"train.py": LOCATING, "a.json": '{"class_path": "rows.Rows"}'}, "warning", id="one of a JSON file"
        ),
        pytest.param({"train.py": LOCATING}, "warning", id="the only dataset"),
        pytest.param({"train.py": LOCATING, "others.py": OTHERS}, "info", id="one of many datasets"),
        pytest.param(
            {"train.py": LOCATING, "others.py": OTHERS, "a.yaml": "x: others.Other0"}, "info", id="another one"
        ),
        pytest.param({"train.py": SEARCHING}, "warning", id="one of those in a module"),
        pytest.param({"train.py": MODULE, "others.py": OTHERS}, "warning", id="a module of the command line"),
        pytest.param({"train.py": MODULE.replace(".Rows", ".Data")}, None, id="another class of such a module"),
    ],
)
def test_a_class_that_a_name_chooses(files: dict[str, str], severity: str | None, told: Callable[..., Any]) -> None:
    found = told({"data/rows.py" if "data." in files["train.py"] else "rows.py": ROWS, **files}, select=["DLL201"])

    assert [one.severity for one in found] == ([] if severity is None else [severity])


MODULE_OF_DATA = """\
import importlib

import lightning.pytorch as pl
from omegaconf import OmegaConf
from torch.utils.data import DataLoader

def locate(path):
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)

def instantiate(config):
    return locate(config["target"])(**config.get("params", dict()))

class RowsFromConfig(pl.LightningDataModule):
    def __init__(self, train=None, num_workers=4):
        super().__init__()
        self.configs = {"train": train}
        self.num_workers = num_workers
        self.train_dataloader = self._train

    def setup(self, stage=None):
        self.datasets = MADE

    def _train(self):
        return DataLoader(self.datasets["train"], num_workers=self.num_workers)

def main(path):
    config = OmegaConf.load(path)
    data = instantiate(config.data)
    data.setup()
"""
NAMES = "data:\n  target: train.RowsFromConfig\n  params:\n    train:\n      target: rows.Rows\n"


@pytest.mark.parametrize(
    ("made", "names", "expected"),
    [
        pytest.param("dict((k, instantiate(self.configs[k])) for k in self.configs)", NAMES, 1, id="a dict of pairs"),
        pytest.param("dict([(k, instantiate(c)) for k, c in self.configs.items()])", NAMES, 1, id="of a list"),
        pytest.param("{k: instantiate(c) for k, c in self.configs.items()}", NAMES, 1, id="a comprehension"),
        pytest.param('{"train": instantiate(self.configs["train"])}', NAMES, 1, id="a dict"),
        pytest.param('dict(train=instantiate(self.configs["train"]))', NAMES, 1, id="keywords"),
        pytest.param("dict((k, list(self.configs[k])) for k in self.configs)", NAMES, 0, id="lists"),
        pytest.param(
            "dict((k, instantiate(self.configs[k])) for k in self.configs)",
            NAMES.replace("rows.Rows", "others.Other0"),
            0,
            id="another dataset",
        ),
    ],
)
def test_datasets_of_a_data_module_that_a_configuration_makes(
    made: str, names: str, expected: int, told: Callable[..., Any]
) -> None:
    files = {"train.py": MODULE_OF_DATA.replace("MADE", made), "rows.py": ROWS, "others.py": OTHERS, "a.yaml": names}

    found = told(files, select=["DLL201"])

    assert sum("This assumes" not in one.text for one in found) == expected


HYDRA = """\
import hydra
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def worker(rank, cfg):
    data = hydra.utils.instantiate(cfg.data)
    for batch in DataLoader(data, **cfg.loader):
        print(batch)

@hydra.main(config_path="conf", config_name="config", version_base=None)
def main(cfg):
    mp.spawn(worker, args=(cfg,), nprocs=2)

if __name__ == "__main__":
    main()
"""
NAMELESS = HYDRA.replace('config_path="conf", config_name="config"', 'config_path="conf"')
CONFIG = """\
data:
  _target_: rows.Rows
  root: rows
loader:
  num_workers: 4
"""
GROUP = "defaults:\n  - data: images\nloader:\n  num_workers: 4\n"
WHOLE = HYDRA.replace("DataLoader(data, **cfg.loader)", "hydra.utils.instantiate(cfg.loader)")
LOADER_TARGET = """\
loader:
  _target_: torch.utils.data.DataLoader
  num_workers: 4
  dataset:
    _target_: rows.Rows
data: {}
"""
LAZY = """\
import torch.multiprocessing as mp
from detectron2.config import LazyConfig, instantiate

def worker(rank, cfg):
    for batch in instantiate(cfg.dataloader.train):
        print(batch)

def main(args):
    cfg = LazyConfig.load(args.config_file)
    mp.spawn(worker, args=(cfg,), nprocs=2)
"""
LAZY_CONFIG = """\
from detectron2.config import LazyCall as L
from omegaconf import OmegaConf
from torch.utils.data import DataLoader

from rows import Rows

dataloader = OmegaConf.create()
dataloader.train = L(DataLoader)(dataset=L(Rows)(root="x"), num_workers=4)
"""
OTHER = "class Other:\n    def __getitem__(self, index):\n        return index\n"


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        pytest.param({"conf/config.yaml": CONFIG}, "error", id="hydra"),
        pytest.param(
            {"conf/first.yaml": CONFIG, "train.py": NAMELESS}, "warning", id="a file that the command line chooses"
        ),
        pytest.param(
            {"conf/a.yaml": CONFIG, "conf/b.yaml": "data: null", "train.py": NAMELESS},
            "warning",
            id="one of the files that the command line chooses",
        ),
        pytest.param(
            {"conf/sub/first.yaml": CONFIG, "conf/a.yaml": "x: 1", "train.py": NAMELESS},
            "warning",
            id="a file of a group at another place",
        ),
        pytest.param(
            {"conf/config.yaml": GROUP, "conf/data/images.yaml": "_target_: rows.Rows"}, "error", id="a group of hydra"
        ),
        pytest.param(
            {
                "conf/config.yaml": GROUP,
                "conf/data/images.yaml": "_target_: rows.Rows",
                "conf/data/others.yaml": "_target_: others.Other",
                "others.py": OTHER,
            },
            "warning",
            id="a group of which the command line chooses",
        ),
        pytest.param(
            {"conf/config.yaml": CONFIG.replace("rows.Rows", "others.Other"), "others.py": OTHER}, None, id="other"
        ),
        pytest.param(
            {"train.py": WHOLE, "conf/config.yaml": LOADER_TARGET}, "error", id="a loader of the configuration"
        ),
        pytest.param({"train.py": LAZY, "configs/data.py": LAZY_CONFIG}, "warning", id="a lazy configuration"),
    ],
)
def test_what_a_configuration_describes(files: dict[str, str], severity: str | None, told: Callable[..., Any]) -> None:
    found = told({"train.py": HYDRA, "rows.py": ROWS, **files}, select=["DLL201"])

    assert [one.severity for one in found] == ([] if severity is None else [severity])


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"train.py": HYDRA, "conf/config.yaml": CONFIG.replace("4", "0")}, id="hydra"),
        pytest.param(
            {"train.py": LAZY, "configs/data.py": LAZY_CONFIG.replace("num_workers=4", "num_workers=0")}, id="lazy"
        ),
    ],
)
def test_no_workers_unless_the_command_line_says_so(files: dict[str, str], told: Callable[..., Any]) -> None:
    found = told({"rows.py": ROWS, **files}, select=["DLL201"])

    assert [one.code for one in found] == ["DLL201"]


COMPOSED = """\
import sys
import torch.multiprocessing as mp
from hydra import compose, initialize_config_module
from hydra.utils import instantiate

def work(rank, cfg):
    trainer = instantiate(cfg.trainer, _recursive_=False)
    trainer.run()

def step(optimizer_conf, params):
    return instantiate(optimizer_conf, params.values())

def main(name):
    cfg = compose(config_name=name)
    mp.spawn(work, args=(cfg,), nprocs=2)

if __name__ == "__main__":
    initialize_config_module("conf")
    main(sys.argv[1])
"""
TRAINER = """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index]

class Trainer:
    def __init__(self, data):
        self.data = data

    def run(self):
        for batch in DataLoader(self.data, num_workers=4):  # DLL101
            print(batch)
"""
CONFIGURED = """\
trainer:
  _target_: trainer.Trainer
  data:
    _target_: trainer.Rows
    rows: 3
optimizer:
  _target_: torch.optim.AdamW
"""


def test_what_is_composed_when_the_program_runs(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    """`optimizer_conf` describes what the files have under `optimizer`, and no dataset of a dict's values."""
    files = {"train.py": COMPOSED, "trainer.py": TRAINER, "conf/fine_tune.yaml": CONFIGURED}

    assert findings(files, select=["DLL101", "DLL203"]) == marks(files) != set()
