"""Loaders that partials make: the arguments of partial and call are merged as `functools.partial` merges them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

NONE = {
    "overridden by what the call unpacks": 'partial(DataLoader, **{"num_workers": 4})(rows, **{"num_workers": 0})',
    "a count that a partial gives": "DataLoader(rows, num_workers=partial(pick, 0)())",
    "overridden by the outer partial": "partial(partial(DataLoader, num_workers=4), num_workers=0)(rows)",
}
COUNTED = {
    "called at once": "partial(DataLoader, num_workers=4)(rows)",
    "what the partial unpacks is left alone": 'partial(DataLoader, **{"num_workers": 4})(rows, **{"shuffle": True})',
    "the outer partial counts": "partial(partial(DataLoader, num_workers=0), num_workers=4)(rows)",
    "a count that a partial gives": "DataLoader(rows, num_workers=partial(pick, 4)())",
}
AROUND = """
from functools import partial
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def pick(count):
    return count

def worker(rank, rows):
    for batch in {loader}:
        print(batch)

if __name__ == "__main__":
    mp.spawn(worker, args=([1],), nprocs=2)
"""


@pytest.mark.parametrize("loader", NONE.values(), ids=NONE)
def test_partials_without_workers(loader: str, findings: Callable[..., set[tuple[str, int, str]]]) -> None:
    assert findings({"train.py": AROUND.format(loader=loader)}, select=["DLL101"]) == set()


@pytest.mark.parametrize("loader", COUNTED.values(), ids=COUNTED)
def test_partials_with_workers(loader: str, findings: Callable[..., set[tuple[str, int, str]]]) -> None:
    assert findings({"train.py": AROUND.format(loader=loader)}, select=["DLL101"]) == {("train.py", 10, "DLL101")}
