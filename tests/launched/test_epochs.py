"""After how many epochs a run ends, however a program goes through them."""

from __future__ import annotations

import sys

import pytest
from tests.launched.conftest import Start
from tests.launched.test_loaders import DATA

from dllint.observation import Epoch, Trouble

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="start methods, procfs"),
]
KNOWS_THE_LENGTH = """\
from data import DataLoader, Numbers

def batches(loader):
    source = iter(loader)
    held.append(source)
    for _ in range(len(loader)):
        yield next(source)

if __name__ == "__main__":
    train, check = DataLoader(Numbers(12), 2), DataLoader(Numbers(12), 2)
    held = [iter(check)]
    next(held[0])
    for epoch in range(20):
        for _ in batches(train):
            pass
        for _ in batches(check):
            pass
        print(epoch, flush=True)
"""
RESTARTS = """\
from data import DataLoader, Numbers

class Again(DataLoader):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.source = super().__iter__()

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.source)

class Forever:
    def __iter__(self):
        while True:
            yield from range(400)

if __name__ == "__main__":
    loader = Again(Numbers(400), 2, sampler=Forever(), num_workers=2)
    Again.__len__ = lambda self: 200
    for epoch in range(20):
        print(epoch, sum(len(one) for one in loader), flush=True)
"""


def test_iterators_that_are_never_asked_for_their_end(train: Start) -> None:
    ran = train(KNOWS_THE_LENGTH, files={"data.py": DATA}, options=("--max-epochs", "3"))
    assert ran.out.split() == ["0", "1", "2"]
    assert ran.status == 0


def test_a_class_that_goes_on_with_one_iterator(train: Start) -> None:
    ran = train(RESTARTS, files={"data.py": DATA}, options=("--max-epochs", "3"))
    assert ran.out.splitlines() == ["0 32", "1 32", "2 32"], ran.err
    assert ran.report["exit"]["ending"] == "shortened" and ran.status == 0
    assert [(one.number, one.batches, one.cut) for one in ran.seen.of(Epoch)] == [(n, 16, True) for n in range(3)]
    assert not list(ran.seen.of(Trouble))
