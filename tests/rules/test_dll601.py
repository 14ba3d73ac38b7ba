"""DLL601: which iterable datasets every worker reads whole, and which not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

SELECT = {"select": ["DLL601"]}
HEAD = """\
import csv, glob, itertools, random
import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset

"""
LOADER = "\nloader = DataLoader(Rows(['a', 'b']), num_workers=3)\n"
CLASS = """
class Rows(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

"""

WRAPPED = """
class Numbers:
    def __init__(self, count):
        self.count = count

    def generator(self, part):
        for _ in range(self.count):
            yield [part]

class Reader:
    def generator(self, part):
        import remote
        for row in remote.rows(part):
            yield row

class Wrapper(IterableDataset):
    def __init__(self, inner, part="train"):
        self.dataset = inner
        self.part = part

    def __iter__(self):  # DLL601
        return self.generate()

    def generate(self):
        for rows in self.dataset.generator(self.part):
            yield torch.tensor(rows)
"""
PREPARING = """
def start(worker):
    info = torch.utils.data.get_worker_info()
    dataset = info.dataset
    dataset.dataset.table = np.load(dataset.part)

def check(worker):
    print(torch.utils.data.get_worker_info().dataset.part)

loader = DataLoader(Wrapper(Numbers(9)), num_workers=3, worker_init_fn=START)
"""

FOUND: dict[str, str] = {
    "a wrapper around the generator of another object": WRAPPED
    + "\nloader = DataLoader(Wrapper(Numbers(9)), num_workers=3)\n",
    "one of two wrapped objects": WRAPPED
    + """
def build(remote):
    if remote:
        dataset = Wrapper(Reader())
    else:
        dataset = Wrapper(Numbers(9))
    return DataLoader(dataset, num_workers=3)
""",
    "a worker_init_fn that opens something": WRAPPED + PREPARING.replace("START", "start"),
    "a worker_init_fn that only prints": WRAPPED + PREPARING.replace("START", "check"),
    "a worker_init_fn or none": WRAPPED
    + PREPARING.replace("START", "INIT").replace(
        "loader =", "INIT = start if torch.cuda.is_available() else None\nloader ="
    ),
    "a list": CLASS + "    def __iter__(self):  # DLL601\n        return iter(self.rows)\n" + LOADER,
    "an alias of the module": """
import torch.utils.data as data

class Rows(data.IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):  # DLL601
        for index, row in enumerate(self.rows):
            yield index, row
"""
    + LOADER,
    "lines through a generator of another method": CLASS
    + """
    def __iter__(self):  # DLL601
        yield from self.lines()

    def lines(self):
        for path in self.rows:
            with open(path) as stream:
                for line in stream:
                    yield line
"""
    + LOADER,
    "mapped and filtered": CLASS
    + """
    def __iter__(self):  # DLL601
        return map(str.strip, filter(None, sorted(self.rows)))
"""
    + LOADER,
    "a reader": """
class Rows(IterableDataset):
    def __init__(self, paths):
        self.paths = glob.glob("*.csv")

    def __iter__(self):  # DLL601
        for path in self.paths:
            yield from csv.reader(open(path))
"""
    + LOADER,
    "inherited": CLASS
    + """
    def __iter__(self):  # DLL601
        for row in self.rows:
            yield self.read(row)

class Texts(Rows):
    def read(self, row):
        return row.lower()

loader = DataLoader(Texts(["a"]), num_workers=2)
""",
    "shuffled in each worker, with augmentation": CLASS
    + """
    def __iter__(self):  # DLL601
        order = np.random.permutation(len(self.rows))
        for index in order:
            yield self.rows[index] * random.randint(1, 3)
"""
    + LOADER,
    "shared out by rank alone": CLASS
    + """
    def __iter__(self):  # DLL601
        rank, size = torch.distributed.get_rank(), torch.distributed.get_world_size()
        yield from itertools.islice(self.rows, rank, None, size)
"""
    + LOADER,
    "a constructor that nobody calls with anything known": CLASS
    + """
    def __iter__(self):  # DLL601
        for row in self.rows:
            yield row

    def __len__(self):
        return len(self.rows)

def build(rows):
    return DataLoader(Rows(rows), **dict(num_workers=2))
""",
    "over a map-style dataset": CLASS
    + """
    def __iter__(self):  # DLL601
        for row in self.rows:
            yield row

class Table(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return index

loader = DataLoader(Rows(Table()), num_workers=2)
""",
}

WORKERS_ASKED = """
    def __iter__(self):
        return iter(self.rows[self.part()])

    def part(self):
        info = torch.utils.data.get_worker_info()
        return slice(None) if info is None else slice(info.id, None, info.num_workers)
"""
SILENT: dict[str, str] = {
    "split in a helper": CLASS + WORKERS_ASKED + LOADER,
    "split in the base class": CLASS.replace("Rows", "Base")
    + WORKERS_ASKED
    + "\nclass Rows(Base):\n    def __iter__(self):\n        return map(str, super().__iter__())\n"
    + LOADER,
    "split by the inner dataset": CLASS.replace("Rows", "Inner")
    + WORKERS_ASKED
    + CLASS
    + "    def __iter__(self):\n        for row in self.rows:\n            yield row\n"
    + "\nloader = DataLoader(Rows(Inner([1])), num_workers=2)\n",
    "split by a function that is not there": "from sharding import shard\n"
    + CLASS
    + "    def __iter__(self):\n        return iter(shard(list(self.rows)))\n"
    + LOADER,
    "a wrapper around what is not known": WRAPPED.replace("  # DLL601", "")
    + "\nloader = DataLoader(Wrapper(Reader()), num_workers=3)\n",
    **{
        f"a worker_init_fn that may split: {line}": WRAPPED.replace("  # DLL601", "")
        + PREPARING.replace("START", "start").replace("dataset.dataset.table = np.load(dataset.part)", line)
        for line in (
            "dataset.dataset.count = worker",
            "dataset.dataset.count = info.id",
            "dataset.dataset.count //= info.num_workers",
            "np.random.seed(info.seed)",
            "dataset.split()",
            "divide(info)",
            "divide(dataset)",
            "divide(info.dataset)",
            "dataset.part = str(__import__('os').getpid())",
        )
    },
    "split by worker_init_fn": CLASS
    + """
    def __iter__(self):
        return iter(self.rows)

def start(worker_id):
    info = torch.utils.data.get_worker_info()
    info.dataset.rows = info.dataset.rows[worker_id::info.num_workers]

loader = DataLoader(Rows(["a"]), num_workers=2, worker_init_fn=start)
""",
    "a worker_init_fn that is not known": CLASS
    + """
    def __iter__(self):
        return iter(self.rows)

def build(start):
    return DataLoader(Rows(["a"]), num_workers=2, worker_init_fn=start)
""",
    "an endless stream": CLASS
    + "    def __iter__(self):\n        while True:\n            yield random.choice(self.rows)\n"
    + LOADER,
    "an endless cycle": CLASS + "    def __iter__(self):\n        return itertools.cycle(self.rows)\n" + LOADER,
    "so many random samples": CLASS
    + "    def __iter__(self):\n        for _ in range(100):\n            yield random.random()\n"
    + LOADER,
    "one worker": CLASS
    + "    def __iter__(self):\n        return iter(self.rows)\n"
    + "\nloader = DataLoader(Rows([1]), num_workers=1)\n",
    "no workers": CLASS + "    def __iter__(self):\n        return iter(self.rows)\n\nloader = DataLoader(Rows([1]))\n",
    "none for iterable datasets": CLASS
    + """
    def __iter__(self):
        return iter(self.rows)

def build(dataset, workers):
    count = 0 if isinstance(dataset, IterableDataset) else workers
    return DataLoader(dataset, num_workers=count)

build(Rows([1]), 4)
""",
    "a reader that shares out itself": """
import webdataset

class Rows(IterableDataset):
    def __init__(self, urls):
        self.source = webdataset.WebDataset(urls)

    def __iter__(self):
        for row in self.source:
            yield row
"""
    + LOADER,
    "an unknown source": CLASS
    + """
    def __iter__(self):
        for row in self.rows:
            yield row

def build(stream):
    return DataLoader(Rows(stream), num_workers=4)
""",
    "a data pipe": """
from torch.utils.data import IterDataPipe

class Rows(IterDataPipe):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        yield from self.rows
"""
    + LOADER,
    "map-style": """
class Rows(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index]

    def __iter__(self):
        return iter(self.rows)
"""
    + LOADER,
}


test_found, test_silent = in_one_file("DLL601", FOUND, SILENT, HEAD)


def test_across_files(findings: Callable[..., Any]) -> None:
    files = {
        "rows.py": HEAD + CLASS + "    def __iter__(self):\n        return iter(self.rows)\n",
        "train.py": "from torch.utils.data import DataLoader\nfrom rows import Rows as Set\n\n"
        "def build(workers):\n    return DataLoader(Set([1, 2]), num_workers=workers)\n",
    }
    assert findings(files, **SELECT) == {("rows.py", 11, "DLL601")}


@pytest.mark.parametrize(("workers", "severity", "message"), [("3", "error", "times"), ("workers", "warning", "main")])
def test_an_unknown_number_of_workers_is_a_warning(
    workers: str, severity: str, message: str, told: Callable[..., Any]
) -> None:
    text = HEAD + CLASS + "    def __iter__(self):\n        return iter(self.rows)\n"
    use = f"\ndef build(workers):\n    return DataLoader(Rows([1]), num_workers={workers})\n"

    (finding,) = told({"train.py": text + use}, **SELECT)

    assert (finding.severity, finding.message) == (severity, message)


def test_asking_in_init_is_pointed_out(told: Callable[..., Any]) -> None:
    text = CLASS.replace("self.rows = rows", "self.rows = rows\n        self.info = torch.utils.data.get_worker_info()")
    (finding,) = told({"train.py": HEAD + text + FOUND["a list"][len(CLASS) :]}, **SELECT)

    assert "`__init__` runs in the main process" in finding.help
    assert finding.related[0].span.line == 10


@pytest.mark.parametrize(
    ("made", "body", "found"),
    [
        ("ChainDataset([Rows([1]), Rows([2])])", "return iter(self.rows)", True),
        ("ChainDataset(Rows([one]) for one in range(9))", "return iter(self.rows)", True),
        ("chained([Rows([1])])", "return iter(self.rows)", True),
        ("ChainDataset([Rows([1])])", "return iter(self.rows[torch.utils.data.get_worker_info().id :: 3])", False),
        ("Reversed(ChainDataset([Rows([1])]))", "return iter(self.rows)", False),
    ],
)
def test_datasets_one_after_the_other(made: str, body: str, found: bool, findings: Callable[..., Any]) -> None:
    text = (
        HEAD
        + "from torch.utils.data import ChainDataset\n"
        + CLASS
        + f"    def __iter__(self):\n        {body}\n"
        + "\ndef chained(parts):\n    return ChainDataset(parts)\n"
        + "\nclass Reversed(IterableDataset):\n    def __init__(self, inner):\n        self.inner = inner\n\n"
        + "    def __iter__(self):\n        for row in self.inner:\n            if hash(row) % 3 == worker():\n"
        + "                yield row\n"
        + "\ndef worker():\n    return torch.utils.data.get_worker_info().id\n"
        + f"\nloader = DataLoader({made}, num_workers=3)\n"
    )

    line = text[: text.index("def __iter__")].count("\n") + 1
    assert findings({"rows.py": text}, **SELECT) == ({("rows.py", line, "DLL601")} if found else set())
