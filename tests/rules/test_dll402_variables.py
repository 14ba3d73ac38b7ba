"""DLL402: handles in variables that outlive objects, and what the parent does with a dataset before workers start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

HEAD = """\
import os

from torch.utils.data import DataLoader, Dataset
"""
FOUND: dict[str, str] = {
    "cached_property, len touches": """
from functools import cached_property
import zipfile
class H(Dataset):
    def __init__(self, path):
        self.path = path
    @cached_property
    def archive(self):
        return zipfile.ZipFile(self.path)  # DLL402
    @cached_property
    def names(self):
        return self.archive.namelist()
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        return self.archive.read(self.names[i])
def main():
    for b in DataLoader(H("a"), num_workers=4, shuffle=True):
        pass
""",
    "module global assigned by init function": """
import lmdb
_ENV = None
def init(path):
    global _ENV
    _ENV = lmdb.open(path, readonly=True)  # DLL402
class D(Dataset):
    def __init__(self, path):
        init(path)
    def __len__(self):
        return 10
    def __getitem__(self, i):
        with _ENV.begin() as t:
            return t.get(str(i).encode())
def main():
    for b in DataLoader(D("a"), num_workers=4):
        pass
""",
    "module global assigned in main before loader": """
import lmdb
ENV = None
class D(Dataset):
    def __len__(self):
        return 10
    def __getitem__(self, i):
        with ENV.begin() as t:
            return t.get(str(i).encode())
def main():
    global ENV
    ENV = lmdb.open("x", readonly=True)  # DLL402
    for b in DataLoader(D(), num_workers=4):
        pass
""",
    "closure captured handle": """
class D(Dataset):
    def __init__(self, path):
        f = open(path, "rb")  # DLL402
        def read(i):
            f.seek(i * 8)
            return f.read(8)
        self.read = read
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.read(i)
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "default argument handle": """
class D(Dataset):
    def __init__(self, path):
        self.path = path
    def __len__(self):
        return 10
    def __getitem__(self, i, f=open("data.bin", "rb")):  # DLL402
        f.seek(i)
        return f.read(8)
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "partial binds handle": """
from functools import partial
def read(f, i):
    f.seek(i)
    return f.read(8)
class D(Dataset):
    def __init__(self, path):
        self.read = partial(read, open(path, "rb"))  # DLL402
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.read(i)
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "lazy opened by statistics helper in main": """
import zipfile
class D(Dataset):
    def __init__(self, path, names):
        self.path = path
        self.names = names
        self.zf = None
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        if self.zf is None:
            self.zf = zipfile.ZipFile(self.path)  # DLL402
        return len(self.zf.read(self.names[i]))
def compute_stats(ds):
    total = 0
    for i in range(len(ds)):
        total += ds[i]
    return total / len(ds)
def main(path, names):
    ds = D(path, names)
    mean = compute_stats(ds)
    for b in DataLoader(ds, num_workers=4):
        pass
""",
    "lazy, touched before by num_workers 0 loader": """
import zipfile
class D(Dataset):
    def __init__(self, path, names):
        self.path = path
        self.names = names
        self.zf = None
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        if self.zf is None:
            self.zf = zipfile.ZipFile(self.path)  # DLL402
        return len(self.zf.read(self.names[i]))
def main(path, names):
    ds = D(path, names)
    probe = DataLoader(ds, batch_size=16)
    for x in probe:
        print(x)
    for b in DataLoader(ds, num_workers=4):
        pass
""",
    "handle in dataclass field": """
import dataclasses
import lmdb
@dataclasses.dataclass
class Source:
    path: str
    def __post_init__(self):
        self.env = lmdb.open(self.path, readonly=True)  # DLL402
class D(Dataset):
    def __init__(self, path):
        self.source = Source(path)
    def __len__(self):
        return 10
    def __getitem__(self, i):
        with self.source.env.begin() as t:
            return t.get(str(i).encode())
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "class attribute handle": """
import sqlite3
class D(Dataset):
    conn = sqlite3.connect("a.db")  # DLL402
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.conn.execute("select 1").fetchone()
def main():
    for b in DataLoader(D(), num_workers=4):
        pass
""",
}
SILENT: dict[str, str] = {
    "cached property used in workers only": """
from functools import cached_property
import zipfile
class H(Dataset):
    def __init__(self, path, names):
        self.path = path
        self.names = names
    @cached_property
    def archive(self):
        return zipfile.ZipFile(self.path)
    @cached_property
    def fn(self):
        return lambda x: x
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        return self.fn(self.archive.read(self.names[i]))
def main():
    for b in DataLoader(H("a", ["x"]), num_workers=4, shuffle=True):
        pass
""",
    "stats after the loader": """
import zipfile
class D(Dataset):
    def __init__(self, path, names):
        self.path = path
        self.names = names
        self.zf = None
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        if self.zf is None:
            self.zf = zipfile.ZipFile(self.path)
        return len(self.zf.read(self.names[i]))
def compute_stats(ds):
    total = 0
    for i in range(len(ds)):
        total += ds[i]
    return total / len(ds)
def main(path, names):
    ds = D(path, names)
    for b in DataLoader(ds, num_workers=4):
        pass
    mean = compute_stats(ds)
""",
    "helper reads only length": """
import zipfile
class D(Dataset):
    def __init__(self, path, names):
        self.path = path
        self.names = names
        self.zf = None
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        if self.zf is None:
            self.zf = zipfile.ZipFile(self.path)
        return len(self.zf.read(self.names[i]))
def describe(ds):
    print(len(ds), ds.names[0])
def main(path, names):
    ds = D(path, names)
    describe(ds)
    for b in DataLoader(ds, num_workers=4):
        pass
""",
    "stats on another object of the class": """
import zipfile
class D(Dataset):
    def __init__(self, path, names):
        self.path = path
        self.names = names
        self.zf = None
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        if self.zf is None:
            self.zf = zipfile.ZipFile(self.path)
        return len(self.zf.read(self.names[i]))
def compute_stats(ds):
    return sum(ds[i] for i in range(len(ds)))
def main(path, names):
    small = D(path, names[:10])
    mean = compute_stats(small)
    ds = D(path, names)
    for b in DataLoader(ds, num_workers=4):
        pass
""",
    "pid guard with stats before": """
import zipfile
class D(Dataset):
    def __init__(self, path, names):
        self.path = path
        self.names = names
        self.zf = None
        self.pid = None
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        if self.zf is None or self.pid != os.getpid():
            self.zf = zipfile.ZipFile(self.path)
            self.pid = os.getpid()
        return len(self.zf.read(self.names[i]))
def compute_stats(ds):
    return sum(ds[i] for i in range(len(ds)))
def main(path, names):
    ds = D(path, names)
    compute_stats(ds)
    for b in DataLoader(ds, num_workers=4):
        pass
""",
    "global opened in worker_init_fn": """
import lmdb
ENV = None
def init(worker_id):
    open_env()
def open_env():
    global ENV
    ENV = lmdb.open("x", readonly=True)
class D(Dataset):
    def __len__(self):
        return 10
    def __getitem__(self, i):
        with ENV.begin() as t:
            return t.get(str(i).encode())
def main():
    for b in DataLoader(D(), num_workers=4, worker_init_fn=init):
        pass
""",
    "global opened lazily in worker": """
import lmdb
ENV = None
def env():
    global ENV
    if ENV is None:
        ENV = lmdb.open("x", readonly=True)
    return ENV
class D(Dataset):
    def __len__(self):
        return 10
    def __getitem__(self, i):
        with env().begin() as t:
            return t.get(str(i).encode())
def main():
    for b in DataLoader(D(), num_workers=4):
        pass
""",
    "closure over with-block": """
class D(Dataset):
    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        def read(i):
            return data[i]
        self.read = read
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.read(i)
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "closure over closed file": """
def make(path):
    f = open(path, "rb")
    head = f.read(8)
    f.close()
    def read(i):
        return head[i]
    return read
class D(Dataset):
    def __init__(self, path):
        self.read = make(path)
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.read(i)
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "helper opened inside worker closure": """
class D(Dataset):
    def __init__(self, path):
        self.path = path
    def __len__(self):
        return 10
    def __getitem__(self, i):
        f = open(self.path, "rb")
        def at(k):
            f.seek(k)
            return f.read(1)
        out = [at(k) for k in range(3)]
        f.close()
        return out
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "class attribute None, lazily per worker": """
import sqlite3
class D(Dataset):
    conn = None
    def __len__(self):
        return 10
    def __getitem__(self, i):
        if self.conn is None:
            self.conn = sqlite3.connect("a")
        return self.conn.execute("select 1").fetchone()
def main():
    for b in DataLoader(D(), num_workers=4):
        pass
""",
    "dataclass with post_init closing": """
from dataclasses import dataclass
@dataclass
class D(Dataset):
    path: str
    def __post_init__(self):
        f = open(self.path)
        self.rows = f.readlines()
        f.close()
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        return self.rows[i]
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "validation with its own zero loader after": """
import zipfile
class D(Dataset):
    def __init__(self, path, names):
        self.path = path
        self.names = names
        self.zf = None
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        if self.zf is None:
            self.zf = zipfile.ZipFile(self.path)
        return len(self.zf.read(self.names[i]))
def main(path, names):
    train = D(path, names)
    val = D(path, names)
    vl = DataLoader(val, num_workers=0)
    for x in vl:
        print(x)
    for b in DataLoader(train, num_workers=4):
        pass
""",
    "write-mode log global in workers": """
LOG = None
def setup(path):
    global LOG
    LOG = open(path, "w")
class D(Dataset):
    def __len__(self):
        return 10
    def __getitem__(self, i):
        LOG.write("x")
        return i
def main():
    setup("log.txt")
    for b in DataLoader(D(), num_workers=4):
        pass
""",
    "global handle for parent logging only": """
LOG = None
def setup(path):
    global LOG
    LOG = open(path, "w")
class D(Dataset):
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return i
def main():
    setup("log.txt")
    for b in DataLoader(D(), num_workers=4):
        LOG.write("x")
""",
}

test_found, test_silent = in_one_file("DLL402", FOUND, SILENT, HEAD)


STATIC = """\
import zipfile
from torch.utils.data import DataLoader, Dataset


class Archives:
    bank = {}

    @staticmethod
    def opened(path):
        if path not in Archives.bank:
            Archives.bank[path] = zipfile.ZipFile(path)
        return Archives.bank[path]

    @staticmethod
    def parted(path):
        at = path.index("@")
        return path[:at], path[at + 1 :]

    @staticmethod
    def read(path):
        archive, name = Archives.parted(path)
        return Archives.opened(archive).read(name)


class Rows(Dataset):
    def __init__(self, root, names):
        self.root = Archives.parted(root)[0]
        self.names = names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return Archives.read(self.root + "@" + self.names[index])


def main(names):
    for row in DataLoader(Rows("a.zip@", names), num_workers=4):
        print(row)
"""


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        pytest.param("", "", 0, id="a function of another class takes a part of a text"),
        pytest.param(
            "Archives.parted(root)[0]", "Archives.parted(root)[0]; self[0]", 1, id="the dataset reads an item"
        ),
        pytest.param(
            "Archives.parted(root)[0]", "Archives.parted(root)[0]; Archives.read(root)", 1, id="it reads itself"
        ),
    ],
)
def test_only_the_receiver_of_a_method_is_the_dataset(old: str, new: str, count: int, told: Callable[..., Any]) -> None:
    text = STATIC.replace(old, new) if old else STATIC
    assert len(told({"train.py": text}, select=["DLL402"])) == count
