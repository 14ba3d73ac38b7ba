"""DLL307: which items take the whole tensor behind them along, and which do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL307"]}

HEAD = """\
import numpy as np
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, RandomSampler, Subset
"""
PLAIN = "DataLoader(rows, batch_size=None, num_workers=4)"
SHAPE = "torch.zeros(1024, 1024)"


def dataset(item: str, data: str = SHAPE, loader: str = PLAIN, before: str = "") -> str:
    """A module with a dataset whose `__getitem__` has the lines `item`."""
    body = "".join(f"        {line}\n" for line in item.splitlines())
    return (
        f"{HEAD}{before}\nclass Rows(Dataset):\n    def __init__(self, path):\n        self.data = {data}\n"
        f"        self.order = list(range(9))\n\n    def __getitem__(self, index):\n{body}\n"
        f"def build(path):\n    rows = Rows(path)\n    return {loader}\n"
    )


ROW = "return self.data[index]  # DLL307"

FOUND: dict[str, str] = {
    "a row": dataset(ROW),
    "a slice": dataset("return self.data[index * 8 : index * 8 + 8]  # DLL307"),
    "a slice of a row": dataset("return self.data[index, :64]  # DLL307"),
    "a view of a row": dataset("return self.data[index].view(32, 32).t()  # DLL307"),
    "a name for it": dataset("row = self.data[index]\nreturn row  # DLL307"),
    "a pair": dataset("return self.data[index], index  # DLL307"),
    "a dict": dataset("return {'row': self.data[index]}  # DLL307"),
    "a number worked out": dataset("return self.data[index // 2]  # DLL307"),
    "an array from a file": dataset(ROW, data="torch.from_numpy(np.load(path))"),
    "a tensor from a file": dataset("size = self.data.shape[0]\n" + ROW, data="torch.load(path)"),
    "a lambda": dataset(ROW, loader="DataLoader(rows, num_workers=2, collate_fn=lambda batch: batch)"),
    "the first of a batch": dataset(ROW, loader="DataLoader(rows, num_workers=2, collate_fn=lambda batch: batch[0])"),
    "a function": dataset(
        ROW,
        loader="DataLoader(rows, 8, num_workers=2, collate_fn=same)",
        before="\ndef same(batch):\n    return batch\n",
    ),
    "keywords": dataset(ROW, loader="DataLoader(rows, **{'batch_size': None, 'num_workers': 2})"),
    "a random sampler": dataset(
        ROW, loader="DataLoader(rows, sampler=RandomSampler(rows), batch_size=None, num_workers=2)"
    ),
    "a subset": dataset(ROW, loader="DataLoader(Subset(rows, [1]), batch_size=None, num_workers=2)"),
    "a stream": dataset("pass")
    .replace("(Dataset)", "(IterableDataset)")
    .replace(
        "    def __getitem__(self, index):\n        pass\n",
        "    def __iter__(self):\n        for i in range(9):\n            yield self.data[i]  # DLL307\n",
    ),
}

SILENT: dict[str, str] = {
    "a clone": dataset("return self.data[index].clone()"),
    "a sum": dataset("return self.data[index].sum()"),
    "another type": dataset("return self.data[index].double() * 2"),
    "batches": dataset("return self.data[index]", loader="DataLoader(rows, batch_size=8, num_workers=2)"),
    "the default batch": dataset("return self.data[index]", loader="DataLoader(rows, num_workers=2)"),
    "a batch sampler": dataset(
        "return self.data[index]",
        loader="DataLoader(rows, sampler=BatchSampler(RandomSampler(rows), 8, True), batch_size=None, num_workers=2)",
    ),
    "a sampler of the project": dataset(
        "return self.data[index]",
        loader="DataLoader(rows, sampler=Lists(), batch_size=None, num_workers=2)",
        before="\nclass Lists:\n    pass\n",
    ),
    "an index from elsewhere": dataset("return self.data[self.order[index]]"),
    "numpy": dataset("return self.data[index]", data="np.zeros((1024, 1024))"),
    "from_numpy of a row": dataset("return torch.from_numpy(self.data[index])", data="np.zeros((1024, 1024))"),
    "a list": dataset("return self.data[index]", data="[torch.zeros(9) for _ in range(9)]"),
    "what may be a list": dataset("return self.data[index]", data="torch.load(path)"),
    "a small tensor": dataset("return self.data[index]", data="torch.zeros(64, 64)"),
    "stacking": dataset(
        "return self.data[index]", loader="DataLoader(rows, num_workers=2, collate_fn=lambda batch: torch.stack(batch))"
    ),
    "no workers": dataset("return self.data[index]", loader="DataLoader(rows, batch_size=None)"),
    "spawned": dataset("return self.data[index]", loader=PLAIN[:-1] + ", multiprocessing_context='spawn')"),
    "unknown batch size": dataset(
        "return self.data[index]", loader="DataLoader(rows, batch_size=rows.size, num_workers=2)"
    ),
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND.keys())
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], source: str) -> None:
    files = {"data.py": source}

    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings({"data.py": source}, **SELECT) == set()


def test_the_loader_may_stand_in_another_file(told: Callable[..., Any]) -> None:
    source, _, build = dataset(ROW).partition("\ndef build")
    files = {"rows.py": source, "run.py": f"{HEAD}from rows import Rows\n\ndef build{build}"}

    (finding,) = told(files, **SELECT)

    assert finding.path.endswith("rows.py")
    assert "Shared memory grows by 4 MiB × 4 workers = 16 MiB" in finding.text


def test_a_copy_is_offered_where_the_view_is_all(told: Callable[..., Any]) -> None:
    (finding,) = told({"data.py": dataset("return self.data[index]")}, **SELECT)
    assert [(fix.applicability, fix.edits[0].code) for fix in finding.fixes] == [("safe", "self.data[index].clone()")]

    (finding,) = told({"data.py": dataset("return self.data[index], index")}, **SELECT)
    assert finding.fixes == ()
