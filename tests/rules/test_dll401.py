"""DLL401: which workers live on over a memory-mapped store, and which do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL401"]}

STORE = """\
import lmdb
import mmap
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.rows = None

    def __getitem__(self, index):
        if self.rows is None:
            self.rows = {opener}
        return self.rows[index]

"""
LMDB = STORE.format(opener="lmdb.open(self.path, readonly=True, lock=False)")

LOADERS: dict[str, str] = {
    "keyword": """
def build(path):
    return DataLoader(Rows(path), num_workers=4, persistent_workers=True)  # DLL401
""",
    "whenever there are workers": """
def build(path, workers=4):
    return DataLoader(Rows(path), num_workers=workers, persistent_workers=workers > 0)  # DLL401
""",
    "keyword dict": """
OPTIONS = {"num_workers": 4, "persistent_workers": True}

def build(path):
    return DataLoader(Rows(path), **OPTIONS)  # DLL401
""",
    "keyword dict, added": """
def build(path):
    options = dict(num_workers=4)
    options["persistent_workers"] = True
    return DataLoader(Rows(path), **options)  # DLL401
""",
    "through keywords of a wrapper": """
def make(dataset, **kwargs):
    return DataLoader(dataset, **kwargs)  # DLL401

def build(path):
    return make(Rows(path), num_workers=4, persistent_workers=True)
""",
    "partial": """
from functools import partial

make = partial(DataLoader, num_workers=4, persistent_workers=True)

def build(path):
    return make(Rows(path))  # DLL401
""",
    "subclass": """
class Loader(DataLoader):
    def __init__(self, dataset, **kwargs):
        super().__init__(dataset, persistent_workers=True, **kwargs)

def build(path):
    return Loader(Rows(path), num_workers=4)  # DLL401
""",
    "subclass that keeps its iterator": """
class FastDataLoader(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.iterator = super().__iter__()

    def __iter__(self):
        for _ in range(len(self.batch_sampler)):
            yield next(self.iterator)

def build(path):
    return FastDataLoader(Rows(path), num_workers=4)  # DLL401
""",
    "subclass that keeps it when it is first asked": """
class Loader(DataLoader):
    kept = None

    def __iter__(self):
        if self.kept is None:
            self.kept = super().__iter__()
        return self.kept

def build(path):
    return Loader(Rows(path), num_workers=4)  # DLL401
""",
    "iterator kept by the trainer": """
class Trainer:
    def __init__(self, path):
        self.loader = DataLoader(Rows(path), num_workers=4)  # DLL401
        self.batches = iter(self.loader)

    def step(self):
        return next(self.batches)
""",
    "in Subset": """
from torch.utils.data import Subset

def build(path):
    return DataLoader(Subset(Rows(path), [0, 1]), num_workers=4, persistent_workers=True)  # DLL401
""",
    "wrapper dataset": """
class Doubled(Dataset):
    def __init__(self, inner):
        self.inner = inner

    def __getitem__(self, index):
        return self.inner[index // 2]

def build(path):
    return DataLoader(Doubled(Rows(path)), num_workers=4, persistent_workers=True)  # DLL401
""",
    "store object that the dataset keeps": """
class Table:
    def __init__(self, path):
        self.environment = lmdb.open(path)

class Tables(Dataset):
    def __init__(self, path):
        self.table = Table(path)

    def __getitem__(self, index):
        return self.table.environment

def build(path):
    return DataLoader(Tables(path), num_workers=4, persistent_workers=True)  # DLL401
""",
    "opened in worker_init_fn": """
def build(path):
    return DataLoader(Rows(path), num_workers=4, persistent_workers=True, worker_init_fn=print)  # DLL401
""",
    "opened by a method, kept in a dict": """
class Shards(Dataset):
    def __init__(self, paths):
        self.environments = {}

    def environment(self, path):
        if path not in self.environments:
            self.environments[path] = lmdb.open(path)
        return self.environments[path]

    def __getitem__(self, index):
        return self.environment(index)

def build(paths):
    return DataLoader(Shards(paths), num_workers=4, persistent_workers=True)  # DLL401
""",
    "a list of stores": """
class Shards(Dataset):
    def __init__(self, paths):
        self.environments = [lmdb.open(path) for path in paths]

    def __getitem__(self, index):
        return self.environments[index]

def build(paths):
    return DataLoader(Shards(paths), num_workers=4, persistent_workers=True)  # DLL401
""",
}

OPENERS = [
    "lmdb.open(self.path)",
    "lmdb.Environment(self.path)",
    'np.memmap(self.path, dtype="uint8", mode="r")',
    'np.load(self.path, mmap_mode="r")',
    'np.load(self.path, "r")',
    "np.lib.format.open_memmap(self.path)",
    "mmap.mmap(open(self.path).fileno(), 0)",
    "torch.load(self.path, mmap=True)",
]

PLAIN_OPENERS = [
    "np.load(self.path)",
    "torch.load(self.path)",
    "open(self.path)",
    "list(self.path)",
    "np.load(self.path, None)",
]

SILENT: dict[str, str] = {
    "not persistent": """
def build(path):
    return DataLoader(Rows(path), num_workers=4)
""",
    "persistent_workers=False": """
def build(path):
    return DataLoader(Rows(path), num_workers=4, persistent_workers=False)
""",
    "no workers": """
def build(path):
    return DataLoader(Rows(path), num_workers=0, persistent_workers=True)
""",
    "False in the dict": """
def build(path):
    options = {"num_workers": 4, "persistent_workers": False}
    return DataLoader(Rows(path), **options)
""",
    "an option that nobody sets": """
def make(dataset, persistent=False):
    return DataLoader(dataset, num_workers=4, persistent_workers=persistent)

def build(path):
    return make(Rows(path))
""",
    "another dataset": """
class Numbers(Dataset):
    def __getitem__(self, index):
        return index

def build(path):
    Rows(path)
    return DataLoader(Numbers(), num_workers=4, persistent_workers=True)
""",
    "iterator of one epoch": """
def build(path):
    loader = DataLoader(Rows(path), num_workers=4)
    batches = iter(loader)
    return next(batches)
""",
    "subclass that only counts": """
class Loader(DataLoader):
    def __iter__(self):
        self.epoch = 1
        for batch in super().__iter__():
            yield batch

def build(path):
    return Loader(Rows(path), num_workers=4)
""",
    "the store is closed again": """
class Paths(Dataset):
    def __init__(self, path):
        environment = lmdb.open(path)
        with environment.begin() as transaction:
            self.keys = list(transaction.cursor())
        environment.close()

    def __getitem__(self, index):
        return self.keys[index]

def build(path):
    return DataLoader(Paths(path), num_workers=4, persistent_workers=True)
""",
    "opened for one item": """
class Paths(Dataset):
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        with lmdb.open(self.path) as environment:
            return environment.stat()

def build(path):
    return DataLoader(Paths(path), num_workers=4, persistent_workers=True)
""",
    "a writer beside it": """
class Writer:
    def __init__(self, path):
        self.environment = lmdb.open(path, map_size=1 << 40)

class Numbers(Dataset):
    def __getitem__(self, index):
        return index

def build(path):
    writer = Writer(path)
    return writer, DataLoader(Numbers(), num_workers=4, persistent_workers=True)
""",
    "another library's loader": """
import paddle

def build(path):
    return paddle.io.DataLoader(Rows(path), num_workers=4, persistent_workers=True)
""",
}


@pytest.mark.parametrize("text", LOADERS.values(), ids=LOADERS)
def test_workers_that_live_on_are_found(findings: Callable[..., Any], marks: Callable[..., Any], text: str) -> None:
    files = {"data.py": LMDB + text}
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("opener", OPENERS)
def test_every_store_is_known(findings: Callable[..., Any], marks: Callable[..., Any], opener: str) -> None:
    files = {"data.py": STORE.format(opener=opener) + LOADERS["keyword"]}
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("opener", PLAIN_OPENERS)
def test_other_files_are_silent(findings: Callable[..., Any], opener: str) -> None:
    assert findings({"data.py": STORE.format(opener=opener) + LOADERS["keyword"]}, **SELECT) == set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_other_loaders_are_silent(findings: Callable[..., Any], text: str) -> None:
    assert findings({"data.py": LMDB + text}, **SELECT) == set()


def test_a_store_of_the_settings(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"data.py": "import shelf\n" + STORE.format(opener="shelf.attach(self.path)") + LOADERS["keyword"]}

    assert findings(files, **SELECT) == set()
    assert findings(files, **SELECT, mmap_stores=["shelf.attach"]) == marks(files)


def test_store_dataset_and_loader_in_three_files(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {
        "stores.py": "import lmdb as db\n\ndef attach(path):\n    return db.open(path)\n",
        "data.py": """\
from torch.utils import data
from stores import attach

class Rows(data.Dataset):
    def __init__(self, path):
        self.environment = attach(path)

    def __getitem__(self, index):
        return index
""",
        "train.py": """\
from torch.utils.data import DataLoader as Loader
from data import Rows as Set

def main():
    return Loader(Set("rows"), num_workers=4, persistent_workers=True)  # DLL401
""",
    }
    assert findings(files, **SELECT) == marks(files)


MAIN = "import os\nfrom data import DataLoader, build\n"


@pytest.mark.parametrize(
    ("files", "evidence"),
    [
        ({"train.sbatch": "#!/bin/bash\n#SBATCH --mem=1G\n"}, "train.sbatch"),
        ({"jobs/run.sh": "#!/bin/bash\n#SBATCH --mem=1G\n"}, "jobs/run.sh"),
        ({"main.py": MAIN + 'rank = os.environ["SLURM_PROCID"]\n'}, "`SLURM_PROCID` at main.py:3"),
        ({"main.py": MAIN + 'rank = int(os.environ.get("SLURM_PROCID", 0))\n'}, "`SLURM_PROCID` at main.py:3"),
        ({"main.py": MAIN + 'rank = os.getenv("SLURM_PROCID")\n'}, "`SLURM_PROCID` at main.py:3"),
        ({"main.py": MAIN + 'if "SLURM_JOB_ID" in os.environ:\n    build("x")\n'}, "`SLURM_JOB_ID` at main.py:3"),
        ({"main.py": MAIN + "import submitit\n"}, "submitit in main.py"),
    ],
)
def test_slurm_makes_it_a_warning(told: Callable[..., Any], files: dict[str, str], evidence: str) -> None:
    (finding,) = told({"data.py": LMDB + LOADERS["keyword"], **files}, **SELECT)

    assert (finding.severity, finding.message) == ("warning", "slurm")
    assert evidence in finding.text


def test_without_slurm_it_is_an_info(told: Callable[..., Any]) -> None:
    (finding,) = told({"data.py": LMDB + LOADERS["keyword"], "run.sh": "python data.py\n"}, **SELECT)

    assert (finding.severity, finding.message) == ("info", "main")
    assert "the lmdb environment `Rows.rows`" in finding.text


def test_the_fix_is_offered_where_the_argument_is_written(told: Callable[..., Any]) -> None:
    (finding,) = told({"data.py": LMDB + LOADERS["keyword"]}, **SELECT)
    assert [(fix.applicability, fix.edits[0].value) for fix in finding.fixes] == [("unsafe", "False")]
    (finding,) = told({"data.py": LMDB + LOADERS["keyword dict"]}, **SELECT)
    assert finding.fixes == ()
