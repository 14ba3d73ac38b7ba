"""DLL606: which changes to datasets persistent workers miss, and which not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL606"]}
ROWS = """\
import torch
import multiprocessing as mp
from torch.utils.data import DataLoader, Dataset, DistributedSampler

class Rows(Dataset):
    def __init__(self, rows=()):
        self.rows = rows
        self.epoch = 0
        self.name = ""
        self.shared = mp.Value("i", 0)

    def set_epoch(self, epoch):
        self.epoch = epoch
        self.shared.value = epoch

    def share(self, epoch):
        self.shared.value = epoch

    def rename(self, name):
        self.name = name

    def __getitem__(self, index):
        return self.shift(index) + self.shared.value

    def shift(self, index):
        return index + self.epoch

"""
LOADER = "ds = Rows()\nloader = DataLoader(ds, num_workers=2, persistent_workers=True)\n"


def loop(change: str, read: str = "for batch in loader:\n        print(batch)") -> str:
    return f"for epoch in range(9):\n    {change}\n    {read}\n"


FOUND: dict[str, str] = {
    "an attribute": LOADER + loop("ds.epoch = epoch  # DLL606"),
    "a method": LOADER + loop("ds.set_epoch(epoch)  # DLL606"),
    "the loader's own": LOADER
    + loop("loader.dataset.set_epoch(epoch)  # DLL606", "for i, b in enumerate(loader): print(i)"),
    "incremented": LOADER + loop("ds.epoch += 1  # DLL606"),
    "a subclass": "class More(Rows):\n    pass\n\n"
    + LOADER.replace("Rows()", "More()")
    + loop("ds.set_epoch(1)  # DLL606"),
    "keyword dict": "O = dict(num_workers=2, persistent_workers=True)\nds = Rows()\nloader = DataLoader(ds, **O)\n"
    + loop("ds.set_epoch(epoch)  # DLL606"),
    "a loader that a function keeps": "class Data:\n    def __init__(self):\n        self.kept = DataLoader(Rows(), "
    "num_workers=2, persistent_workers=True)\n\n    def loader(self):\n        return self.kept\n\ndef main():\n"
    "    data = Data()\n    for step in range(3):\n        loader = data.loader()\n"
    "        loader.dataset.epoch = step  # DLL606\n        for batch in loader:\n            print(batch)\n\nmain()\n",
    "whenever there are workers": "def main(n):\n    ds = Rows()\n"
    "    loader = DataLoader(ds, num_workers=n, persistent_workers=n > 0)\n    while True:\n"
    "        ds.set_epoch(1)  # DLL606\n        for batch in loader:\n            print(batch)\n",
    "kept by a trainer": "class Task:\n    def __init__(self):\n        self.ds = Rows()\n"
    "        self.loader = DataLoader(self.ds, num_workers=2, persistent_workers=True)\n\n    def fit(self):\n"
    "        for epoch in range(3):\n            self.ds.set_epoch(epoch)  # DLL606\n            self.once()\n\n"
    "    def once(self):\n        for batch in self.loader:\n            print(batch)\n",
}

SILENT: dict[str, str] = {
    "not persistent": LOADER.replace(", persistent_workers=True", "") + loop("ds.set_epoch(epoch)"),
    "no workers": LOADER.replace("num_workers=2, persistent_workers=True", "num_workers=0") + loop("ds.epoch = 1"),
    "a shared value": LOADER + loop("ds.share(epoch)"),
    "a shared value, from outside": LOADER + loop("ds.shared.value = epoch"),
    "the sampler": "ds = Rows()\nsampler = DistributedSampler(ds)\n"
    "loader = DataLoader(ds, sampler=sampler, num_workers=2, persistent_workers=True)\n"
    + loop("sampler.set_epoch(epoch)\n    loader.sampler.set_epoch(epoch)"),
    "what workers do not read": LOADER + loop("ds.rename('a')\n    ds.name = 'b'"),
    "before the first epoch": LOADER + "ds.set_epoch(3)\nds.epoch = 4\n" + loop("print(epoch)"),
    "another dataset": LOADER + "other = Rows()\n" + loop("other.set_epoch(epoch)"),
    "a loader of each epoch": "ds = Rows()\n"
    + loop(
        "ds.set_epoch(epoch)", "loader = DataLoader(ds, num_workers=2, persistent_workers=True)\n    print(*loader)"
    ),
    "a loader that a function makes for each epoch": "def made():\n    return DataLoader(Rows(), num_workers=2, "
    "persistent_workers=True)\n\ndef main():\n    loader = made()\n    for step in range(3):\n        loader = made()\n"
    "        loader.dataset.epoch = step\n        batch = next(iter(loader))\n        print(batch)\n\nmain()\n",
    "a loader that a method of another makes": "class Data:\n    def loader(self):\n        return self.make()\n\n"
    "    def make(self):\n        return DataLoader(Rows(), num_workers=2, persistent_workers=True)\n\n"
    "def main():\n    data = Data()\n    for step in range(3):\n        loader = data.loader()\n"
    "        loader.dataset.epoch = step\n        for batch in loader:\n            print(batch)\n\nmain()\n",
    "in a loop that reads nothing": LOADER + "for value in [1, 2]:\n    ds.epoch = value\n",
    "what is not known": "def main(ds):\n    loader = DataLoader(ds, num_workers=2, persistent_workers=True)\n"
    "    for epoch in range(3):\n        ds.set_epoch(epoch)\n        for batch in loader:\n            print(batch)\n",
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_found(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": ROWS + text}

    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": ROWS + text}, **SELECT) == set()


def test_told_with_the_place_where_workers_read_it(told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": ROWS + FOUND["a method"]}, **SELECT)

    assert found.text.startswith("`ds.set_epoch(epoch)` does not reach the persistent workers")
    assert found.related[0].span.line == 26
