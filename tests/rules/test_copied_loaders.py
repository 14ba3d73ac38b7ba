"""Copies of torch's first DataLoader, which start their workers themselves, are loaders for all rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

COPY = """\
import multiprocessing

def _work(dataset, indices, batches, collate_fn):
    while True:
        batches.put(collate_fn([dataset[index] for index in indices.get()]))

class _Batches:
    def __init__(self, loader):
        for _ in range(loader.num_workers):
            given = (loader.dataset, loader.sampler, [], loader.collate_fn)
            multiprocessing.Process(target=_work, args=given).start()

class Batches:
    def __init__(self, dataset, batch_size=1, shuffle=False, sampler=None, num_workers=0, collate_fn=list):
        self.dataset = dataset
        self.sampler = sampler
        self.num_workers = num_workers
        self.collate_fn = collate_fn

    def __iter__(self):
        return _Batches(self)
"""
ROWS = """\
import json
from torch.utils.data import Dataset
from loaders import Batches

class Rows(Dataset):
    def __init__(self, path):
        self.rows = [json.loads(line) for line in open(path)]  # DLL302
        self.file = open(path)  # DLL402

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        self.file.seek(index)
        return self.rows[index], self.file.read(3)

def build(path):
    return Batches({arguments})
"""


@pytest.mark.parametrize(
    "arguments",
    ["Rows(path), 4, False, None, 2", "Rows(path), num_workers=2", "dataset=Rows(path), num_workers=2, shuffle=True"],
    ids=["by position", "by name", "the dataset too"],
)
def test_what_its_workers_share(arguments: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"loaders.py": COPY, "rows.py": ROWS.replace("{arguments}", arguments)}
    assert findings(files, select=["DLL302", "DLL402"]) == marks(files)


@pytest.mark.parametrize(
    ("copy", "arguments"),
    [
        pytest.param(COPY, "Rows(path)", id="no workers"),
        pytest.param(COPY.replace("multiprocessing.Process", "print"), "Rows(path), num_workers=2", id="no processes"),
        pytest.param(COPY.replace("collate_fn", "join"), "Rows(path), num_workers=2", id="other parameters"),
    ],
)
def test_other_classes_start_no_workers(copy: str, arguments: str, findings: Callable[..., Any]) -> None:
    files = {"loaders.py": copy, "rows.py": ROWS.replace("{arguments}", arguments)}
    assert findings(files, select=["DLL302", "DLL402"]) == set()


def test_a_class_derived_from_it_in_another_file(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    own = "import loaders\n\nclass Batches(loaders.Batches):\n    def __len__(self):\n        return 3\n"
    rows = ROWS.replace("from loaders", "from own").replace("{arguments}", "**dict(dataset=Rows(path), num_workers=2)")
    files = {"loaders.py": COPY, "own.py": own, "rows.py": rows}
    assert findings(files, select=["DLL302", "DLL402"]) == marks(files)


def test_it_need_not_refuse_what_torch_refuses(findings: Callable[..., Any]) -> None:
    arguments = "Rows(path), shuffle=True, sampler=[3, 1], num_workers=2"
    files = {"loaders.py": COPY, "rows.py": ROWS.replace("{arguments}", arguments)}
    assert findings(files, select=["DLL605", "DLL609"]) == set()
