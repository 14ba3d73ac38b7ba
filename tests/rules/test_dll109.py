"""DLL109: which forked workers hang in polars, because the parent used it before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

ROWS = """\
import polars as pl
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path, table=None):
        {init}

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return {item}

{loader}
"""
LOADER = 'loader = DataLoader(Rows("x"), num_workers=2)'


def rows(init: str, item: str, loader: str = LOADER) -> str:
    return ROWS.format(init=init, item=item, loader=loader)


READ = 'self.table = pl.read_parquet("x")'
ITEM = "self.table.filter(index)"

PROCESS = """import multiprocessing
import polars as pl

def save(records):
    pl.DataFrame(records).write_csv("x.csv")

def load():
    return pl.read_csv("x.csv"){mark}

if __name__ == "__main__":
    {before}
    process = multiprocessing.get_context("{method}").Process(target=load)
    process.start()
    {after}
"""


def process(before: str = "save({})", after: str = "process.join()", method: str = "fork", mark: str = "") -> str:
    return PROCESS.format(before=before, after=after, method=method, mark=mark)


FOUND = {
    "a process after a table was written": process(mark="  # DLL109"),
    "a process after a query": process(before="pl.read_csv('y.csv')", mark="  # DLL109"),
    "a kept table": rows(READ, f"{ITEM}  # DLL109"),
    "a lazy query": rows(READ, "self.table.lazy().sort(index).collect()  # DLL109"),
    "an eager one after a lazy one": rows("pl.scan_csv(path).collect()", "pl.read_csv(index)  # DLL109"),
    "only read": rows("self.paths = pl.read_csv(path).rows()", "pl.read_parquet(index)  # DLL109"),
    "an alias": rows("from polars import read_csv as read; read(path)", "pl.read_csv(index).select('x')  # DLL109"),
    "in the function of the loader": rows(
        "self.path = path",
        "pl.read_parquet(self.path)  # DLL109",
        "def build(path):\n    count = pl.read_csv(path).height\n    return DataLoader(Rows(count), num_workers=2)",
    ),
    "handed over": rows(
        "self.table = table",
        f"{ITEM}  # DLL109",
        "def build(path):\n    return DataLoader(Rows(path, pl.read_csv(path)), num_workers=2)",
    ),
    "items read before": rows(
        "self.table = pl.DataFrame(path)",
        f"{ITEM}  # DLL109",
        "def build(path):\n    data = Rows(path)\n    for row in data:\n        print(row)\n"
        "    return DataLoader(data, num_workers=2)",
    ),
    "read before by a loader without workers": rows(
        "self.table = pl.DataFrame(path)",
        f"{ITEM}  # DLL109",
        "def build(path):\n    data = Rows(path)\n    plain = DataLoader(data)\n    print(list(plain))\n"
        "    return DataLoader(data, num_workers=2)",
    ),
    "by a context": rows(READ, f"{ITEM}  # DLL109", LOADER.replace("2)", '2, multiprocessing_context="fork")')),
}

SILENT = {
    "a process before a table was written": process(before="multiprocessing.freeze_support()", after="save({})"),
    "a process after a table was only made": process(before="pl.DataFrame({})"),
    "a spawned process": process(method="spawn"),
    "a process that does not use it": process().replace('pl.read_csv("x.csv")', 'open("x.csv")'),
    "rows": rows(READ, "self.table.row(index)"),
    "a slice": rows(READ, "self.table[index]"),
    "an expression": rows(READ, "pl.col('x').filter(index).sort()"),
    "a column": rows(READ, "self.table['x'].sort()"),
    "arrays": rows('self.table = pl.read_csv("x").to_numpy()', "self.table[index]"),
    "a table of Python objects": rows("self.table = pl.DataFrame(path)", ITEM),
    "items read afterwards": rows(
        "self.table = pl.DataFrame(path)",
        ITEM,
        "def build(path):\n    data = Rows(path)\n    loader = DataLoader(data, num_workers=2)\n"
        "    first = next(iter(loader))\n    return loader, data[0]",
    ),
    "a query that nobody ran": rows("self.table = pl.scan_csv(path)", "self.table.collect()"),
    "a query that the workers do not run": rows(READ, "self.table.lazy().filter(index)"),
    "no workers": rows(READ, ITEM, LOADER.replace("2)", "0)")),
    "spawned": rows(READ, ITEM, LOADER.replace("2)", '2, multiprocessing_context="spawn")')),
    "pandas": rows(READ, ITEM).replace("import polars as pl", "import pandas as pl"),
}

test_found, test_silent = in_one_file("DLL109", FOUND, SILENT)


def test_python_314_does_not_fork(told: Callable[..., Any]) -> None:
    text = FOUND["a kept table"]

    assert told({"train.py": text}, select=["DLL109"], target_python="3.14") == ()


@pytest.mark.parametrize(("count", "severity"), [("2", "error"), ("path", "warning")])
def test_the_number_of_workers_decides_the_severity(count: str, severity: str, told: Callable[..., Any]) -> None:
    loader = f"def build(path):\n    return DataLoader(Rows(path), num_workers={count})"

    (found,) = told({"train.py": rows(READ, ITEM, loader)}, select=["DLL109"])

    assert (found.severity, found.start_methods) == (severity, ("fork",))
