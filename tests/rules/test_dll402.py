"""DLL402: where forked workers share a handle that the parent opened, and where they do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL402"]}

HEAD = """\
from torch.utils.data import DataLoader, Dataset
"""
READ = """
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.file.read(index)
"""
TAIL = """
def build(path):
    return DataLoader(Rows(path), num_workers=4, multiprocessing_context="fork")
"""
OPEN = "class Rows(Dataset):\n    def __init__(self, path):\n        self.file = open(path, 'rb')  # DLL402\n"
LAZY = """
class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = None

    def attach(self):
        if self.file is None:
            self.file = open(self.path, "rb"){mark}
        return self.file

    def __len__(self):
        return {length}

    def __getitem__(self, index):
        return self.attach().read(index)

    def mean(self):
        return sum(self[index] for index in range(9)) / 9
"""
TOUCHED = LAZY.format(mark="  # DLL402", length="9")
UNTOUCHED = LAZY.format(mark="", length="9")

FOUND: dict[str, dict[str, str]] = {
    "read through a property": {
        "data.py": HEAD
        + OPEN
        + READ.replace("self.file", "self.records")
        + "\n    @property\n    def records(self):\n        return self.file\n"
        + TAIL
    },
    "in __init__": {"data.py": HEAD + OPEN + READ + TAIL},
    "the default of this Python": {
        "data.py": HEAD + OPEN + READ + TAIL.replace(', multiprocessing_context="fork"', "")
    },
    "in an object that the dataset reads like a list or dict": {
        "reader.py": """\
class Reader:
    def __init__(self, path):
        self.file = open(path, "rb")  # DLL402

    def __getitem__(self, index):
        self.file.seek(index)
        return self.file.read(9)
""",
        "data.py": HEAD
        + """
from reader import Reader

class Rows(Dataset):
    def __init__(self, reader):
        self.reader = reader

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return len(self.reader[index]), index

def build(path):
    return DataLoader(Rows(Reader(path)), num_workers=4, multiprocessing_context="fork")
""",
    },
    "imported by another name, in a helper, through a variable": {
        "data.py": HEAD
        + """
from zipfile import ZipFile as Archive

class Rows(Dataset):
    def __init__(self, path):
        self.attach(path)

    def attach(self, path):
        archive = Archive(path)  # DLL402
        self.names = archive.namelist()
        self.file = archive
"""
        + READ
        + TAIL
    },
    "in a helper of another file, in a base class, loaded through Subset and a keyword dict": {
        "opening.py": "import tarfile\n\ndef opened(path):\n    return tarfile.open(path)  # DLL402\n",
        "base.py": """\
from torch.utils.data import Dataset
from opening import opened

class Base(Dataset):
    def __init__(self, path):
        super().__init__()
        self.file = opened(path)
""",
        "data.py": HEAD
        + "from torch.utils.data import Subset\nfrom base import Base\n\nclass Rows(Base):\n"
        + READ
        + """
OPTIONS = {"num_workers": 2, "multiprocessing_context": "fork"}

def build(path):
    return DataLoader(Subset(Rows(path), [0]), **OPTIONS)
""",
    },
    "in an object that the dataset keeps": {
        "data.py": HEAD
        + """
import h5py

class Store:
    def __init__(self, path):
        self.table = h5py.File(path, "r")  # DLL402

    def row(self, index):
        return self.table["rows"][index]

class Rows(Dataset):
    def __init__(self, path):
        self.store = Store(path)

    def __getitem__(self, index):
        return self.store.row(index)
"""
        + TAIL
    },
    "at the top of a module": {
        "data.py": HEAD
        + """
import lmdb

ENV = lmdb.open("rows.lmdb", readonly=True)  # DLL402

class Rows(Dataset):
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        with ENV.begin() as transaction:
            return transaction.get(b"0")
"""
        + TAIL
    },
    "given by the caller": {
        "data.py": HEAD
        + "class Rows(Dataset):\n    def __init__(self, file):\n        self.file = file\n"
        + READ
        + """
def build(path):
    return DataLoader(Rows(open(path)), num_workers=4, multiprocessing_context="fork")  # DLL402
"""
    },
    "an npz archive": {
        "data.py": HEAD
        + """
import numpy as np

class Rows(Dataset):
    def __init__(self, root):
        self.file = np.load(f"{root}/rows.npz")  # DLL402

    def __getitem__(self, index):
        return self.file[str(index)]
"""
        + TAIL
    },
    "in __iter__": {
        "data.py": HEAD.replace("Dataset", "IterableDataset")
        + OPEN.replace("(Dataset)", "(IterableDataset)")
        + "\n    def __iter__(self):\n        for line in self.file:\n            yield line\n"
        + TAIL
    },
    "several, in a list and by a property": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __init__(self, paths):
        self.files = []
        for path in paths:
            self.files.append(open(path))  # DLL402
        self.index = None
        self.count = len(self.table.read())

    @property
    def table(self):
        if self.index is None:
            self.index = open("index")  # DLL402
        return self.index

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.files[index].read() + self.table.read()
"""
        + TAIL
    },
    "lazily, and an item is read first": {
        "data.py": HEAD
        + TOUCHED
        + """
def build(path):
    rows = Rows(path)
    print(rows[0])
    return DataLoader(rows, num_workers=4, multiprocessing_context="fork")
"""
    },
    "lazily, and the statistics are asked for in the caller": {
        "data.py": HEAD
        + TOUCHED
        + """
def build(rows):
    return DataLoader(rows, num_workers=4, multiprocessing_context="fork")

def main(path):
    rows = Rows(path)
    print(rows.mean())
    return build(rows)
"""
    },
    "lazily, and for the length": {
        "data.py": HEAD + LAZY.format(mark="  # DLL402", length="len(self.attach().readlines())") + TAIL
    },
    "lazily, in what __init__ takes the length of": {
        "data.py": HEAD
        + LAZY.format(mark="  # DLL402", length="len(self.attach().readlines())").replace(
            "self.file = None\n", "self.file = None\n        self.count = len(self)\n"
        )
        + """
def build(path, sampler):
    return DataLoader(Rows(path), sampler=sampler, num_workers=4, multiprocessing_context="fork")
"""
    },
}

CACHED_ROWS = """
class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.count = len({call}.namelist())

    def __getitem__(self, index):
        return {call}.read(str(index))
"""
CACHED: dict[str, str] = {
    "in a dict of a class": """
import zipfile

class Archives:
    opened = {}

    @staticmethod
    def get(path):
        opened = Archives.opened
        if path not in opened:
            archive = zipfile.ZipFile(path)  # DLL402
            opened[path] = archive
        return opened[path]
"""
    + CACHED_ROWS.format(call="Archives.get(self.path)"),
    "in a dict of a module": """
from zipfile import ZipFile

_OPENED = {}

def get(path):
    if path not in _OPENED:
        _OPENED[path] = ZipFile(path)  # DLL402
    return _OPENED[path]
"""
    + CACHED_ROWS.format(call="get(self.path)"),
    "by functools": """
from functools import lru_cache
from zipfile import ZipFile

@lru_cache(maxsize=None)
def get(path):
    return ZipFile(path)  # DLL402
"""
    + CACHED_ROWS.format(call="get(self.path)"),
    "as a global": """
from zipfile import ZipFile

_archive = None

def get(path):
    global _archive
    if _archive is None:
        _archive = ZipFile(path)  # DLL402
    return _archive
"""
    + CACHED_ROWS.format(call="get(self.path)"),
    "in an attribute of the class itself": """
from zipfile import ZipFile

class Rows(Dataset):
    archive = None

    def __init__(self, path):
        self.path = path
        self.count = len(self.get(path).namelist())

    @classmethod
    def get(cls, path):
        if cls.archive is None:
            cls.archive = ZipFile(path)  # DLL402
        return cls.archive

    def __getitem__(self, index):
        return self.get(self.path).read(str(index))
""",
    "by an item that the parent reads": """
from zipfile import ZipFile

_OPENED = {}

def get(path):
    if path not in _OPENED:
        _OPENED[path] = ZipFile(path)  # DLL402
    return _OPENED[path]

class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.shape = self[0].shape

    def __getitem__(self, index):
        return get(self.path).read(str(index))
""",
}
COLLATING = """
from zipfile import ZipFile

class Join:
    def __init__(self, path):
        self.path = path
        {opened}

    def __call__(self, batch):
        {first}
        return [self.archive.read(str(index)) for index in batch]

def build(path):
    join = Join(path)
    return DataLoader(range(9), num_workers=4, collate_fn=join, multiprocessing_context="fork")
"""
FOUND["in the object that collates"] = {
    "data.py": HEAD + COLLATING.format(opened="self.archive = ZipFile(path)  # DLL402", first="batch = sorted(batch)")
}
FOUND["in the object whose method collates"] = {
    "data.py": HEAD
    + COLLATING.format(opened="self.archive = ZipFile(path)  # DLL402", first="batch = sorted(batch)")
    .replace("__call__", "collate")
    .replace("collate_fn=join", "collate_fn=join.collate")
}
MODULE_OF_DATA = """
from zipfile import ZipFile

_OPENED = {}

def get(path):
    if path not in _OPENED:
        _OPENED[path] = ZipFile(path)  # DLL402
    return _OPENED[path]

def names(path):
    return get(path).namelist()

class Rows(Dataset):
    def __init__(self, path, count):
        self.path = path
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return get(self.path).read(str(index))

class Data:
    def __init__(self, path):
        self.path = path
        self.count = {count}

    def loader(self):
        rows = Rows(self.path, self.count)
        return DataLoader(rows, num_workers=4, multiprocessing_context="fork")
"""
FOUND["kept for the process, by the object whose method makes the loader"] = {
    "data.py": HEAD + MODULE_OF_DATA.replace("{count}", "len(names(path))")
}
FOUND |= {f"kept for the process: {name}": {"data.py": HEAD + text + TAIL} for name, text in CACHED.items()}

SILENT: dict[str, str] = {
    "in the object that collates, with the first batch": HEAD
    + COLLATING.format(
        opened="self.archive = None",
        first="if self.archive is None:\n            self.archive = ZipFile(self.path)",
    ),
    "kept for the process, by a function that the object whose method makes the loader does not call": HEAD
    + MODULE_OF_DATA.replace("  # DLL402", "").replace("{count}", "9")
    + "\n    def report(self):\n        return names(self.path)\n",
    "kept for the process, and only workers open it": HEAD
    + CACHED["in a dict of a module"].replace("  # DLL402", "").replace("len(get(self.path).namelist())", "9")
    + TAIL,
    "kept for each process": HEAD
    + CACHED["in a dict of a module"].replace("  # DLL402", "").replace("path not in", "(os.getpid(), path) not in")
    + "\nimport os\n"
    + TAIL,
    "kept for the process, and let go": HEAD
    + CACHED["in a dict of a module"].replace("  # DLL402", "")
    + "        _OPENED.clear()\n"
    + TAIL,
    "opened anew by each call": HEAD
    + CACHED["by functools"].replace("  # DLL402", "").replace("@lru_cache(maxsize=None)\n", "")
    + TAIL,
    "opened by each call into a dict of its own": HEAD
    + CACHED["in a dict of a module"].replace("  # DLL402", "").replace("    if path", "    _OPENED = {}\n    if path")
    + TAIL,
    "spawned": HEAD + OPEN + READ + TAIL.replace('"fork"', '"spawn"'),
    "no workers": HEAD + OPEN + READ + "\ndef build(path):\n    return DataLoader(Rows(path), num_workers=0)\n",
    "not used by workers": HEAD + OPEN + READ.replace("self.file.read(index)", "index") + TAIL,
    "closed": HEAD + OPEN + "        self.file.close()\n" + READ + TAIL,
    "let go": HEAD + OPEN + "        self.count = len(self.file.read())\n        self.file = None\n" + READ + TAIL,
    "closed as a variable": HEAD
    + """
class Rows(Dataset):
    def __init__(self, path):
        file = open(path)
        self.file = file
        self.lines = file.readlines()
        file.close()
"""
    + READ
    + TAIL,
    "with": HEAD
    + """
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as file:
            self.lines = file.readlines()

    def __getitem__(self, index):
        return self.lines[index]
"""
    + TAIL,
    "lazily, and nothing looks first": HEAD + UNTOUCHED + TAIL,
    "lazily, and an item is read after the loader is made": HEAD
    + UNTOUCHED
    + """
def build(path):
    rows = Rows(path)
    loader = DataLoader(rows, num_workers=4, multiprocessing_context="fork")
    for batch in loader:
        print(batch)
    print(rows[0])
""",
    "lazily, and another object is read first": HEAD
    + UNTOUCHED
    + """
def build(path):
    print(Rows("other")[0])
    other = Rows("third")
    other[0]
    return DataLoader(Rows(path), num_workers=4, multiprocessing_context="fork")
""",
    "guarded by the process": HEAD
    + """
import os

class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = open(path, "rb")
        self.pid = os.getpid()

    def __getitem__(self, index):
        if self.pid != os.getpid():
            self.file = open(self.path, "rb")
            self.pid = os.getpid()
        return self.file.read(index)
"""
    + TAIL,
    "opened anew in worker_init_fn": HEAD
    + OPEN
    + READ
    + """
from torch.utils.data import get_worker_info

def attach(worker):
    get_worker_info().dataset.file = open("rows")

def build(path):
    return DataLoader(Rows(path), num_workers=4, worker_init_fn=attach, multiprocessing_context="fork")
""",
    "an object that is made on the first item": HEAD
    + """
class Store:
    def __init__(self, path):
        self.table = open(path)

class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.store = None

    def __getitem__(self, index):
        if self.store is None:
            self.store = Store(self.path)
        return self.store.table.read(index)
"""
    + TAIL,
    "a dict of handles by process": HEAD
    + """
import os

class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.files = {}

    def attach(self):
        if os.getpid() not in self.files:
            self.files[os.getpid()] = open(self.path)
        return self.files[os.getpid()]

    def __getitem__(self, index):
        return self.attach().read(index)
"""
    + TAIL,
    "a log that is written": HEAD + OPEN.replace("'rb'", "'a'") + READ.replace("read", "write") + TAIL,
    "a memory map": HEAD + "import numpy as np\n" + OPEN.replace("open(path, 'rb')", "np.memmap(path)") + READ + TAIL,
    "an array": HEAD + "import numpy as np\n" + OPEN.replace("open(path, 'rb')", "np.load(path)") + READ + TAIL,
    "an image that is read at once": HEAD
    + "from PIL import Image\n"
    + OPEN.replace("open(path, 'rb')", "Image.open(path).convert('RGB')")
    + READ
    + TAIL,
    "an object that only the parent reads like a list or dict": HEAD
    + """
class Reader:
    def __init__(self, path):
        self.file = open(path, "rb")

    def __getitem__(self, index):
        return self.file.read(index)

class Rows(Dataset):
    def __init__(self, path):
        self.reader = Reader(path)
        self.rows = []

    def load(self):
        self.rows = [self.reader[index] for index in range(9)]

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.rows[index]
"""
    + TAIL,
    "an archive that is listed only": HEAD
    + """
import zipfile

class Rows(Dataset):
    def __init__(self, path):
        archive = zipfile.ZipFile(path)
        self.file = archive.namelist()
"""
    + READ.replace(".read(index)", "[index]")
    + TAIL,
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_shared_handles_are_found(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_handles_of_one_process_are_silent(findings: Callable[..., Any], text: str) -> None:
    assert findings({"data.py": text.replace("  # DLL402", "")}, **SELECT) == set()


@pytest.mark.parametrize(
    ("opener", "severity"),
    [
        ("open(path)", "error"),
        ("lmdb.open(path)", "error"),
        ("lmdb.open(path, readonly=True, lock=False); self.size = self.file.stat()", "warning"),
        ("sqlite3.connect(path)", "warning"),
        ("h5py.File(path, 'r')", "info"),
        ("h5py.File(path, 'r', driver=None if path else 'core')", "info"),
    ],
)
def test_the_severity_is_the_handle_s(told: Callable[..., Any], opener: str, severity: str) -> None:
    text = HEAD + "import h5py, lmdb, sqlite3\n" + OPEN.replace("open(path, 'rb')", opener) + READ + TAIL

    assert [one.severity for one in told({"data.py": text}, **SELECT)] == [severity]


UNLOCKED = """\
import lmdb
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.env = lmdb.open(path, readonly=True, lock=False)
        OPENED

    def names(self):
        return self.env.stat()

    def __len__(self):
        return LENGTH

    def __getitem__(self, index):
        with self.env.begin() as transaction:
            return transaction.get(str(index).encode())

def main():
    rows = Rows("rows.lmdb")
    BEFORE
    for row in DataLoader(rows, num_workers=4):
        print(row)
"""


@pytest.mark.parametrize(
    ("opened", "length", "before", "found"),
    [
        ("pass", "9", "pass", False),
        ("self.env.close", "9", "print(rows.path)", False),
        ("self.size = self.env.stat()['entries']", "9", "pass", True),
        ("env = self.env; self.size = env.stat()", "9", "pass", True),
        ("self.size = self.names()", "9", "pass", True),
        ("pass", "self.env.stat()['entries']", "pass", True),
        ("pass", "9", "print(rows[0])", True),
        ("pass", "9", "rows.names()", True),
    ],
)
def test_an_environment_without_locks_that_the_parent_reads_first(
    opened: str, length: str, before: str, found: bool, findings: Callable[..., Any]
) -> None:
    text = UNLOCKED.replace("OPENED", opened).replace("LENGTH", length).replace("BEFORE", before)

    assert bool(findings({"data.py": text}, **SELECT)) is found


BEGUN = """\
import lmdb
from torch.utils.data import DataLoader, Dataset


class Store:
    def __init__(self, path):
        self.env = lmdb.open(path, readonly=True, create=False)
        self.txn = self.env.begin(buffers=True)
        self.cursor = self.txn.cursor()

    def __getitem__(self, key):
        return {read}


class Rows(Dataset):
    def __init__(self, path):
        self.store = Store(path)

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.store[str(index).encode()]


def build(path):
    return DataLoader(Rows(path), num_workers=4, multiprocessing_context="fork")
"""


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("self.txn.get(key)", 0),
        ("self.txn.cursor().get(key)", 0),
        ("self.cursor.get(key)", 0),
        ("self.env.begin().get(key)", 1),
        ("self.txn.get(key) or self.env.begin().get(key)", 1),
    ],
)
def test_workers_may_read_through_an_lmdb_transaction_of_the_parent(
    told: Callable[..., Any], read: str, expected: int
) -> None:
    found = told({"data.py": BEGUN.replace("{read}", read)}, **SELECT)

    assert [one.span.line for one in found] == [7] * expected


def test_without_certain_workers_it_is_a_warning(told: Callable[..., Any]) -> None:
    text = HEAD + "import argparse\n" + OPEN + READ + TAIL.replace("num_workers=4", "num_workers=options.workers")
    parser = "parser = argparse.ArgumentParser()\nparser.add_argument('--workers', type=int, default=DEFAULT)\n"
    text += parser + "options = parser.parse_args()\n"

    found = [told({"data.py": text.replace("DEFAULT", default)}, **SELECT) for default in ("0", "4")]

    assert [[one.severity for one in each] for each in found] == [["warning"], ["error"]]


def test_the_place_where_the_parent_looks_is_named(told: Callable[..., Any]) -> None:
    (finding,) = told(FOUND["lazily, and an item is read first"], **SELECT)

    assert "that the parent opens at data.py:24" in finding.text
    assert finding.related[0].span.line == 24


def test_openers_of_the_configuration_count(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    text = HEAD + "import shelf\n" + OPEN.replace("open(path, 'rb')", "shelf.Reader(path)") + READ + TAIL
    files = {"data.py": text}

    assert findings(files, openers=["shelf.Reader"], **SELECT) == marks(files)
    assert findings(files, **SELECT) == set()


@pytest.mark.parametrize(
    ("opener", "fixes"),
    [("open(self.path, mode='rb')", 1), ("open('rows.bin', 'rb')", 1), ("open(path, 'rb')", 0), ("open(name())", 0)],
)
def test_the_fix_needs_literals_and_attributes(told: Callable[..., Any], opener: str, fixes: int) -> None:
    text = HEAD + OPEN.replace("open(path, 'rb')", opener) + READ + TAIL

    (finding,) = told({"data.py": text}, **SELECT)

    assert [fix.applicability for fix in finding.fixes] == ["unsafe"] * fixes


def test_no_fix_where_another_method_reads_the_handle(told: Callable[..., Any]) -> None:
    text = HEAD + OPEN.replace("open(path, 'rb')", "open('rows.bin')") + READ
    text += "\n    def size(self):\n        return len(self.file.read())\n" + TAIL

    (finding,) = told({"data.py": text}, **SELECT)

    assert finding.fixes == ()


def test_each_loader_runs_what_its_own_dataset_was_given(told: Callable[..., Any]) -> None:
    """Two objects of one class: the transform of one of them alone resizes by OpenCV."""
    source = """\
import cv2
from torch.utils.data import DataLoader, Dataset

def plain(row):
    return row

def resized(row):
    return cv2.resize(row, (640, 640))

class Rows(Dataset):
    def __init__(self, rows, transform):
        self.rows = rows
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(self.rows[index])

def build(rows):
    first = DataLoader(Rows(rows, FIRST), num_workers=4)
    return first, DataLoader(Rows(rows, SECOND), num_workers=4)
"""
    for first, second in (("plain", "resized"), ("resized", "plain")):
        (finding,) = told({"data.py": source.replace("FIRST", first).replace("SECOND", second)}, select=["DLL501"])
        assert (finding.span.line, [place.span.line for place in finding.related][:1]) == (
            8,
            [20 if second == "resized" else 19],
        )


def test_a_helper_that_sets_it_again_later_counts_then(told: Callable[..., Any]) -> None:
    """A handle that `__init__` closes again is opened anew by the parent's first access."""
    source = """\
import h5py
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.open()
        self.count = len(self.file["rows"])
        self.file = None

    def open(self):
        self.file = h5py.File(self.path, "r")

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.file is None:
            self.open()
        return self.file["rows"][index]

def build(path):
    rows = Rows(path)
    FIRST
    return DataLoader(rows, num_workers=4, multiprocessing_context="fork")
"""

    assert told({"data.py": source.replace("FIRST", "print(len(rows))")}, **SELECT) == ()
    assert len(told({"data.py": source.replace("FIRST", "print(rows[0])")}, **SELECT)) == 1


@pytest.mark.parametrize("made", ["np.array([[1]])", "np.load(path)", "np.memmap(path)"])
def test_an_array_that_a_loop_makes_a_view_of_itself(told: Callable[..., Any], made: str) -> None:
    source = f"""\
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        rows = {made}
        for _ in range(3):
            rows = rows.reshape(1, *rows.shape)
        self.rows = rows

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.rows[index]

def build(path):
    return DataLoader(Rows(path), num_workers=4, multiprocessing_context="spawn")
"""
    found = told({"data.py": source}, select=["DLL402", "DLL404"])
    assert [one.code for one in found] == (["DLL404"] if "memmap" in made else [])


CHOSEN = """\
import lmdb
from torch.utils.data import DataLoader, Dataset


class Database:
    def __init__(self, path, readonly=False):
        self.readonly = readonly
        if TEST:
            self.env = lmdb.open(path, readonly=True, lock=False)  # DLL402
        else:
            self.env = lmdb.open(path, map_size=1 << 30)
        with self.env.begin() as reader:
            self.size = int(reader.get(b"size"))


class Rows(Dataset):
    def __init__(self, path):
        self.database = Database(path, readonly=True)

    def __len__(self):
        return self.database.size

    def __getitem__(self, index):
        with self.database.env.begin() as reader:
            return reader.get(str(index).encode())


loader = DataLoader(Rows("rows"), num_workers=4, multiprocessing_context="fork")
"""


@pytest.mark.parametrize("test", ["readonly", "self.readonly", "not (not self.readonly)", "self.readonly and readonly"])
def test_a_handle_of_a_branch_that_the_constructor_does_not_take(
    test: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"data.py": CHOSEN.replace("TEST", test)}

    assert findings(files, select=["DLL402"]) == marks(files)


def test_a_handle_of_a_branch_that_another_method_may_open(findings: Callable[..., Any]) -> None:
    later = """\
        self.readonly = readonly
        self.prepare()
"""
    text = CHOSEN.replace("        self.readonly = readonly\n", later).replace("TEST", "self.readonly")
    changed = text.replace(
        "class Rows", "    def prepare(self):\n        self.readonly = self.readonly and ready()\n\n\nclass Rows", 1
    )
    lines = {place[1] for place in findings({"data.py": changed}, select=["DLL402"])}
    opened = [number for number, line in enumerate(changed.splitlines(), 1) if "lmdb.open" in line]

    assert lines == set(opened)


def test_a_file_that_hdf5_reads_into_memory(findings: Callable[..., Any]) -> None:
    opener = "h5py.File(path, 'r', driver='core')"
    text = HEAD + "import h5py\n" + OPEN.replace("open(path, 'rb')", opener) + READ + TAIL
    assert findings({"data.py": text.replace("  # DLL402", "")}, select=["DLL402"]) == set()
