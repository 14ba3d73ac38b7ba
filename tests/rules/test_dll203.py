"""DLL203: which objects that datasets keep cannot be pickled to workers, and which are never there to be pickled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL203"]}
LOADER = 'DataLoader({}, num_workers=2, multiprocessing_context="spawn")'

FOUND: dict[str, dict[str, str]] = {
    "paths of a folder that nobody has read yet": {
        "data.py": """\
from pathlib import Path
from torch.utils.data import DataLoader, IterableDataset

class Texts(IterableDataset):
    def __init__(self, folder):
        self.paths = Path(folder).rglob("*.txt")  # DLL203

    def __iter__(self):
        return (path.read_text() for path in self.paths)

"""
        + LOADER.format('Texts("texts")')
    },
    "a dataset of torchvision with open stores": {
        "data.py": """\
from torch.utils.data import DataLoader, Subset
from torchvision import datasets

rooms = datasets.LSUN(root="rooms", classes=["kitchen_train"])  # DLL203
"""
        + LOADER.format("Subset(rooms, range(9))")
    },
    "in the data set of a subset with a base of its own": {
        "data.py": """\
import lmdb
from torch.utils.data import DataLoader, Dataset, Subset

class Rows(Dataset):
    def __init__(self, config):
        self.config = config

    def __len__(self):
        return 9

class Stored(Rows):
    def __init__(self, config):
        super().__init__(config)
        self.env = lmdb.open(config["path"])  # DLL203

    def __getitem__(self, index):
        return self.env.begin().get(str(index).encode())

class Part(Subset, Rows):
    def __init__(self, dataset, indices):
        super().__init__(dataset, indices)
        self.config = dataset.config

def build(path):
    part = Part(Stored({"path": path}), [0, 1])
    return DataLoader(part, num_workers=2, multiprocessing_context="spawn")
"""
    },
    "inside a transform that the dataset is given": {
        "transforms.py": """\
import cv2

class Equalize:
    def __init__(self):
        self.clahe = cv2.createCLAHE(2.0)  # DLL203

    def __call__(self, image):
        return self.clahe.apply(image)
""",
        "data.py": """\
from torch.utils.data import DataLoader, Dataset
from transforms import Equalize

class Images(Dataset):
    def __init__(self, paths, transforms):
        self.paths = paths
        self.transforms = transforms

def build(paths):
    return DataLoader(Images(paths, [Equalize()]), num_workers=2, multiprocessing_context="spawn")
""",
    },
    "in a list and a dict": {
        "data.py": """\
from threading import Lock
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, paths):
        self.files = [open(path, "rb") for path in paths]  # DLL203
        self.locks = {"read": Lock()}  # DLL203

def build(paths):
    return DataLoader(Rows(paths), num_workers=2, multiprocessing_context="spawn")
"""
    },
    "kept by the object whose method collates": {
        "data.py": """\
import sqlite3
from torch.utils.data import DataLoader

class Labels:
    def __init__(self, path):
        self.connection = sqlite3.connect(path)  # DLL203

    def collate(self, rows):
        return self.connection.execute("select * from rows").fetchall()

def build(rows, path):
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn", collate_fn=Labels(path).collate)
"""
    },
    "a generator that a method makes": {
        "data.py": """\
from torch.utils.data import DataLoader, IterableDataset

class Lines(IterableDataset):
    def __init__(self, paths):
        self.paths = paths
        self.lines = self._read()  # DLL203

    def _read(self):
        for path in self.paths:
            yield path

    def __iter__(self):
        return self.lines

def build(paths):
    return DataLoader(Lines(paths), num_workers=2, multiprocessing_context="spawn")
"""
    },
    "opened by a method that the parent asks for the length": {
        "data.py": """\
import h5py
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.store = None

    def _open(self):
        if self.store is None:
            self.store = h5py.File(self.path)  # DLL203

    def __len__(self):
        self._open()
        return len(self.store["rows"])

    def __getitem__(self, index):
        self._open()
        return self.store["rows"][index]

def build(path):
    return DataLoader(Rows(path), num_workers=2, multiprocessing_context="spawn", shuffle=True)
"""
    },
    "opened in __getitem__, of which the parent reads an item": {
        "data.py": """\
import lmdb
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.environment = None

    def __getitem__(self, index):
        if self.environment is None:
            self.environment = lmdb.open("rows")  # DLL203
        return self.environment

def build():
    rows = Rows()
    shape = rows[0].shape
    print(shape)
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
"""
    },
}

FOUND["a value of the default context, beside one of the loader's"] = {
    "data.py": """\
from multiprocessing import get_context
from torch.utils.data import DataLoader, Dataset

class Epoch:
    def __init__(self, context=None):
        self.value = get_context(context).Value("i", 0)  # DLL203

class Rows(Dataset):
    def __init__(self, epoch):
        self.epoch = epoch

    def __getitem__(self, index):
        return self.epoch.value

def train():
    return DataLoader(Rows(Epoch("spawn")), num_workers=2, multiprocessing_context="spawn")

def judge():
    return DataLoader(Rows(Epoch()), num_workers=2, multiprocessing_context="spawn")
""",
}

SHARED = """\
import multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.seen = {made}

    def __getitem__(self, index):
        return self.seen[index]

DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
"""
for made in ('mp.Array("d", 64)', 'mp.Array("d", 64, lock=True)', 'mp.Value("d", 0.0)'):
    FOUND[f"shared memory with a lock: {made}"] = {"data.py": SHARED.format(made=f"{made}  # DLL203")}

for made in ("Stream()", "CUDAGraph()", "MemPool()", "get_device_properties(0)"):
    text = SHARED.format(made=f"torch.cuda.{made}  # DLL203").replace("import multiprocessing as mp", "import torch")
    FOUND[f"what CUDA makes: {made}"] = {"data.py": text}

SILENT: dict[str, str] = {
    "paths of a folder in a list": """\
from pathlib import Path
from torch.utils.data import DataLoader, Dataset

class Texts(Dataset):
    def __init__(self, folder):
        self.paths = sorted(Path(folder).glob("*.txt"))

    def __getitem__(self, index):
        return self.paths[index].read_text()

"""
    + LOADER.format('Texts("texts")'),
    "a dataset of torchvision": """\
from torch.utils.data import DataLoader
from torchvision import datasets

"""
    + LOADER.format('datasets.CIFAR10("images")'),
    **{
        f"shared memory without a lock: {made}": SHARED.format(made=made)
        for made in ('mp.Array("d", 64, lock=False)', 'mp.Value("d", 0.0, lock=False)', 'mp.RawArray("d", 64)')
    },
    "opened by the worker through a method": """\
import lmdb
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.environment = None

    def _open(self):
        self.environment = lmdb.open("rows")

    def __getitem__(self, index):
        if self.environment is None:
            self._open()
        return self.environment
""",
    "handles that the worker puts into a dict": """\
import lmdb
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.open = {}

    def __getitem__(self, index):
        if index not in self.open:
            self.open[index] = lmdb.open(str(index))
        return self.open[index]
""",
    "opened in worker_init_fn": """\
import lmdb
from torch.utils.data import DataLoader, Dataset, get_worker_info

class Rows(Dataset):
    def __init__(self):
        self.environment = None

def start(worker):
    get_worker_info().dataset.environment = lmdb.open("rows")
""",
    "read while it is made": """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        file = open("rows")
        self.lines = list(file)
        self.first = file.readline()
        self.lengths = tuple(len(line) for line in self.lines)
""",
    "handed to something that reads it": """\
import pandas as pd
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.table = pd.DataFrame(open("rows"))
""",
    "attributes that a transform sets when it is called": """\
import cv2
from torch.utils.data import DataLoader, Dataset

class Equalize:
    def __call__(self, image):
        self.clahe = cv2.createCLAHE()
        return self.clahe.apply(image)

class Rows(Dataset):
    def __init__(self):
        self.transform = Equalize()

    def __getitem__(self, index):
        return self.transform(index)
""",
    "a value of a context that is chosen as the loader's is": """\
import os
from multiprocessing import get_context
from torch.utils.data import DataLoader, Dataset

class Epoch:
    def __init__(self, context=None):
        self.value = get_context(context).Value("i", 0)

class Rows(Dataset):
    def __init__(self, epoch):
        self.epoch = epoch

    def __getitem__(self, index):
        return self.epoch.value

def train(threads):
    context = "spawn" if threads else None
    return DataLoader(Rows(Epoch(context)), num_workers=2, multiprocessing_context=context)
""",
}

LOOKALIKES = {
    "opened lazily, touched by the parent, dropped when pickled": """\
import lmdb
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.environment = None

    def __getstate__(self):
        return {**self.__dict__, "environment": None}

    def __getitem__(self, index):
        if self.environment is None:
            self.environment = lmdb.open("rows")
        return self.environment

def build():
    rows = Rows()
    print(rows[0])
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
""",
    "read by the parent after the epoch": """\
import lmdb
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.environment = None

    def __getitem__(self, index):
        if self.environment is None:
            self.environment = lmdb.open("rows")
        return self.environment

def run():
    rows = Rows()
    for row in DataLoader(rows, num_workers=2, multiprocessing_context="spawn"):
        print(row)
    print(rows[0])
""",
    "no workers": """\
import threading
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.lock = threading.Lock()

def build():
    return DataLoader(Rows(), num_workers=0)
""",
    "forked": """\
import threading
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.lock = threading.Lock()

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="fork")
""",
    "kept by the sampler": """\
import threading
from torch.utils.data import DataLoader, Dataset, Sampler

class Order(Sampler):
    def __init__(self):
        self.lock = threading.Lock()

def build(rows):
    return DataLoader(rows, sampler=Order(), num_workers=2, multiprocessing_context="spawn")
""",
    "lock of the context that starts the workers": """\
from multiprocessing import get_context
from torch.utils.data import DataLoader, Dataset

context = get_context("spawn")

class Rows(Dataset):
    def __init__(self):
        self.lock = context.Lock()

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context=context)
""",
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_found(
    files: dict[str, str], findings: Callable[..., set[tuple[str, int, str]]], marks: Callable[..., Any]
) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., set[tuple[str, int, str]]]) -> None:
    loader = LOADER.format("Rows()")
    assert findings({"data.py": f"{text}\ndef build():\n    return {loader}\n"}, **SELECT) == set()


@pytest.mark.parametrize("text", LOOKALIKES.values(), ids=LOOKALIKES)
def test_lookalikes(text: str, told: Callable[..., Any]) -> None:
    assert [one for one in told({"data.py": text}, **SELECT) if one.severity != "info"] == []


LOCK = """\
import threading
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.lock = threading.Lock()

def build():
    return DataLoader(Rows(), num_workers=2)
"""


@pytest.mark.parametrize(
    ("settings", "severity"),
    [
        ({}, ["warning"]),
        ({"target_platform": "macos"}, ["error"]),
        ({"target_python": "3.13"}, []),
        ({"target_python": "3.13", **SELECT}, ["info"]),
    ],
)
def test_severity_follows_the_targets(settings: dict[str, Any], severity: list[str], told: Callable[..., Any]) -> None:
    assert [one.severity for one in told({"data.py": LOCK}, **settings) if one.code == "DLL203"] == severity


@pytest.mark.parametrize(
    ("python", "words"), [("3.11", "'_io.BufferedReader' object"), ("3.12", "'BufferedReader' instances")]
)
def test_the_words_are_those_of_the_target(python: str, words: str, told: Callable[..., Any]) -> None:
    text = LOCK.replace("threading.Lock()", 'open("rows", "rb")').replace("=2", '=2, multiprocessing_context="spawn"')
    assert words in told({"data.py": text}, target_python=python, **SELECT)[0].text


def test_the_configuration_names_more(told: Callable[..., Any]) -> None:
    text = LOCK.replace("import threading", "import stores").replace("threading.Lock()", "stores.Store('rows')")
    found = told({"data.py": text}, unpicklable=["stores.Store"], **SELECT)
    assert [(one.span.line, one.severity) for one in found] == [(6, "warning")]


CLASS = """\
import sys
from torch.utils.data import DataLoader, Dataset

MODULE

class Rows(Dataset):
    def __init__(self, names):
        INIT

    def __getitem__(self, index):
        return self.row

def build(names):
    return DataLoader(Rows(names), num_workers=2, multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    ("module", "init", "lines"),
    [
        ("", "self.row = type('Row', (), {})", [8]),
        ("", "self.row = type('Row', (object,), dict.fromkeys(names))", [8]),
        ("Row = type('Record', (), {})", "self.row = Row", [4]),
        ("Row = type('Row', (), {})", "self.row = Row", []),
        ("", "self.row = type(names)", []),
        ("", "row = type('Row', (), {}); globals()['Row'] = row; self.row = row", []),
        ("", "row = type('Row', (), {}); setattr(sys.modules[__name__], 'Row', row); self.row = row", []),
    ],
)
def test_classes_made_by_type(module: str, init: str, lines: list[int], told: Callable[..., Any]) -> None:
    found = told({"data.py": CLASS.replace("MODULE", module).replace("INIT", init)}, select=["DLL203"])

    assert [finding.span.line for finding in found] == lines


GENERATED = """\
from torch.utils.data import {wrapper}, DataLoader, Dataset, IterableDataset

class Rows(IterableDataset):
    def __iter__(self):
        return iter((1, 2))

    @classmethod
    def of(cls, paths):
        for path in paths:
            yield cls()

def build(paths):
    return DataLoader({wrapper}({datasets}), num_workers=2, multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    ("wrapper", "datasets", "kept"),
    [
        ("ConcatDataset", "Rows.of(paths)", False),
        ("ConcatDataset", "(Rows() for path in paths)", False),
        ("ChainDataset", "Rows.of(paths)", True),
    ],
)
def test_a_dataset_that_lists_what_it_is_given_keeps_no_generator(
    told: Callable[..., Any], wrapper: str, datasets: str, kept: bool
) -> None:
    text = GENERATED.replace("{wrapper}", wrapper).replace("{datasets}", datasets)

    assert bool(told({"data.py": text}, **SELECT)) == kept


@pytest.mark.parametrize("base", ["VisionDataset", "ImageFolder"])
def test_transforms_that_torchvision_keeps(told: Callable[..., Any], base: str) -> None:
    text = f"""\
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import {base}

class Rows({base}):
    def __init__(self, root, transform=None):
        super().__init__(root, transform=transform)

def build(model):
    return DataLoader(Rows("a", torch.jit.script(model)), num_workers=2, multiprocessing_context="spawn")
"""
    (finding,) = told({"data.py": text}, **SELECT)

    assert finding.severity == "error"


ITERATED = """\
from torch.utils.data import DataLoader, Dataset

class Loud(DataLoader):
    pass

class Endless(DataLoader):
    def __iter__(self):
        return self

class Sources(Dataset):
    def __init__(self, sources):
        self.loaders = [DataLoader(source) for source in sources]
        {keep}

    def __getitem__(self, index):
        return index

def build(sources):
    return DataLoader(Sources(sources), num_workers=2, multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    ("keep", "flagged"),
    [
        ("self.it = iter(DataLoader(sources))", True),
        ("self.it = iter(self.loaders[0])", True),
        ("self.its = [iter(loader) for loader in self.loaders]", True),
        ("self.its = [iter(DataLoader(source)) for source in sources]", True),
        ("self.its = {'a': iter(self.loaders[0])}", True),
        ("self.its = []\n        for loader in self.loaders:\n            self.its.append(iter(loader))", True),
        ("self.its = {}\n        for one in self.loaders:\n            self.its[one] = one.__iter__()", True),
        ("self.it = iter(Loud(sources))", True),
        ("self.it = iter(Endless(sources))", False),
        ("self.first = next(iter(self.loaders[0]))", False),
        ("its = [iter(loader) for loader in self.loaders]\n        self.number = len(its)", False),
        ("self.its = [iter(loader) for loader in [[1], [2]]]", False),
        ("self.it = iter(self.loaders)", False),
    ],
)
def test_iterators_of_loaders(told: Callable[..., Any], keep: str, flagged: bool) -> None:
    found = told({"data.py": ITERATED.format(keep=keep)}, **SELECT)

    assert [one.values["what"] for one in found] == ["an iterator of a DataLoader"] * flagged


MADE = """\
import threading
import h5py
from torch.utils.data import DataLoader, Dataset

class Record:
    file = None

    @classmethod
    def of(cls, file, lazy=True):
        record = cls()
        if lazy:
            record.file = file
        return record

class Small:
    file = None

    def __getstate__(self):
        return {}

def record_of(file):
    record = Record()
    record.file = file
    return record

def small_of(file):
    record = Small()
    record.file = file
    return record

def locked():
    record = Record()
    record.lock = threading.Lock()
    return record

class Rows(Dataset):
    def __init__(self, paths):
        self.paths = paths
        KEEP

    def __getitem__(self, index):
        return Record.of(h5py.File(self.paths[index])).file["rows"][:]

def build(paths):
    return DataLoader(Rows(paths), num_workers=2, multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    ("keep", "flagged"),
    [
        ("self.record = Record.of(h5py.File(paths[0]))", True),
        ("self.records = {path: Record.of(h5py.File(path)) for path in paths}", True),
        ("self.records = [record_of(h5py.File(path)) for path in paths]", True),
        (
            "self.records = []\n        for one in paths:\n            self.records.append(record_of(h5py.File(one)))",
            True,
        ),
        ("self.record = locked()", True),
        ("self.record = Record.of(h5py.File(paths[0]), lazy=False)", False),
        ("self.record = record_of(paths[0])", False),
        ("self.record = small_of(h5py.File(paths[0]))", False),
        ("self.size = record_of(h5py.File(paths[0])).file.attrs['size']", False),
        ("self.record = None", False),
    ],
)
def test_what_the_function_that_makes_an_object_puts_on_it(told: Callable[..., Any], keep: str, flagged: bool) -> None:
    found = told({"data.py": MADE.replace("KEEP", keep)}, **SELECT)

    assert len(found) == flagged


FORWARDS = """\
from torch.utils.data import DataLoader, Dataset

class Inner(Dataset):
    def __getitem__(self, index):
        return index

class Outer(Dataset):
    MEMBERS

    def __init__(self, dataset, table):
        self.dataset = dataset
        self.table = table

    def __getitem__(self, index):
        return self.dataset[index]

class Derived(Outer):
    pass

class Held(Dataset):
    def __init__(self):
        self.rows = Derived(Inner(), {})

    def __getitem__(self, index):
        return self.rows[index]

def build():
    return DataLoader(ROWS, num_workers=2, multiprocessing_context="spawn")
"""
GETATTR = "def __getattr__(self, name):\n        "
FORWARDED = GETATTR + "return getattr(self.dataset, name)"


@pytest.mark.parametrize(
    ("members", "flagged"),
    [
        (FORWARDED, True),
        (GETATTR + "return self.dataset.__getattribute__(name)", True),
        (GETATTR + '"""Forward."""\n        found = getattr(self.dataset, name, None)\n        return found', True),
        (GETATTR + "if name in self.table:\n            return self.table[name]\n        raise AttributeError", True),
        (GETATTR + "if hasattr(self.dataset, name):\n            return 1\n        raise AttributeError(name)", True),
        (FORWARDED + "\n\n    def __getstate__(self):\n        return {'dataset': self.dataset}", True),
        (
            GETATTR + "if name.startswith('__'):\n            raise AttributeError\n        return self.dataset[name]",
            False,
        ),
        (
            GETATTR
            + "if 'dataset' not in self.__dict__:\n            raise AttributeError\n        return self.dataset",
            False,
        ),
        (
            GETATTR + "if name == 'size' and name in self.table:\n            return 1\n        raise AttributeError",
            False,
        ),
        (GETATTR + "return getattr(super().__getattribute__('dataset'), name)", False),
        (FORWARDED + "\n\n    def __setstate__(self, state):\n        self.__dict__.update(state)", False),
        (FORWARDED + "\n\n    def __reduce__(self):\n        return Outer, (self.dataset, {})", False),
        ("dataset = None\n\n    " + FORWARDED, False),
        (GETATTR + "raise AttributeError(name)", False),
        (GETATTR + "if name in self.table:\n            yield self.table[name]", False),
        (
            GETATTR + "try:\n            return self.dataset.size\n        except Exception:\n            raise",
            False,
        ),
    ],
)
@pytest.mark.parametrize("rows", ["Outer(Inner(), {})", "Held()"])
def test_a_getattr_that_calls_itself_while_an_object_is_unpickled(
    told: Callable[..., Any], members: str, flagged: bool, rows: str
) -> None:
    found = told({"data.py": FORWARDS.replace("MEMBERS", members).replace("ROWS", rows)}, **SELECT)

    assert [(one.message, one.severity) for one in found] == [("recursive_main", "error")] * flagged


SEGMENTED = """\
import jieba
import jieba_fast
import jieba.analyse
from functools import partial
from torch.utils.data import DataLoader

def cut(text):
    return jieba.lcut(text)

class Collate:
    def __init__(self):
        self.cut = CUT

    def __call__(self, batch):
        return [self.cut(text) for text in batch]

def build(rows):
    return DataLoader(rows, num_workers=2, collate_fn=Collate(), multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    ("cut", "flagged"),
    [
        ("jieba.lcut", True),
        ("jieba_fast.cut", True),
        ("jieba.analyse.extract_tags", True),
        ("partial(jieba.cut, cut_all=True)", True),
        ('{"zh": jieba.cut_for_search}', True),
        ("jieba.Tokenizer()", True),
        ("cut", False),
        ("jieba.lcut('text')", False),
        ("jieba.Tokenizer", False),
        ("str.split", False),
    ],
)
def test_functions_that_are_methods_of_an_object(told: Callable[..., Any], cut: str, flagged: bool) -> None:
    found = told({"data.py": SEGMENTED.replace("CUT", cut)}, **SELECT)

    assert len(found) == flagged


def test_what_a_subset_is_given_is_its_dataset(told: Callable[..., Any]) -> None:
    files = FOUND["in the data set of a subset with a base of its own"]

    (found,) = told(files, **SELECT)

    assert found.values["kept"] == "Part.dataset.env"


LOGGED = """\
import logging
from loguru import logger
from torch.utils.data import DataLoader

class Collate:
    def __init__(self, log):
        self.log = log

    def __call__(self, batch):
        logger.info(len(batch))
        return batch

def build(rows):
    return DataLoader(rows, num_workers=2, collate_fn=Collate(LOG), multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    ("log", "flagged"),
    [
        ("logger", True),
        ("logger.bind(part='data')", True),
        ("logger.opt(colors=True)", True),
        ("{'log': logger}", True),
        ("logger.info", True),
        ("logging.getLogger('data')", False),
        ("logger.level('INFO')", False),
        ("None", False),
    ],
)
def test_a_loguru_logger(told: Callable[..., Any], log: str, flagged: bool) -> None:
    found = told({"data.py": LOGGED.replace("LOG)", f"{log})")}, **SELECT)

    assert [one.values["remedy"] for one in found] == ["logger"] * flagged
