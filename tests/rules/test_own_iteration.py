"""Loader classes of the project with an `__iter__` that never asks the base class for batches: no worker starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index

"""
USE = """
def main():
    MADE
    for batch in loader:
        print(batch)

if __name__ == "__main__":
    main()
"""
MADE = "loader = Loader(Rows(), num_workers=2, collate_fn=lambda rows: rows)"
CACHED = """\
class Loader(DataLoader):
    def __init__(self, dataset, count=2, **options):
        super().__init__(dataset, **options)
        self.count = count
        self.batch = self._read()

    def _read(self):
        indices = random.sample(range(len(self.dataset)), k=self.count)
        results = []
        with ThreadPoolExecutor(max_workers=self.num_workers * 4) as executor:
            for index in indices:
                results.append(executor.submit(self.dataset.__getitem__, index))
        return self.collate_fn([one.result() for one in results])

    def __iter__(self):
        while True:
            yield self.batch
"""
SAMPLED = """\
class Loader(DataLoader):
    def __iter__(self):
        for indices in self.batch_sampler:
            yield self.collate_fn([self.dataset[index] for index in indices])
"""
SHUFFLED = """\
class Loader(DataLoader):
    def __iter__(self):
        order = torch.randperm(len(self)).tolist()
        for number, start in enumerate(range(0, len(order), self.batch_size)):
            yield number, order[start : start + self.batch_size]
"""
COUNTED = """\
def order(count):
    return list(range(count))

class Loader(DataLoader):
    def __iter__(self):
        for index in range(len(self)):
            yield self.dataset[index]
        for index in order(len(self.dataset)):
            yield self.dataset[index]
"""
NEXT = """\
class Loader(DataLoader):
    def __init__(self, *args, **options):
        super(Loader, self).__init__(*args, **options)

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        self.at += 1
        if self.at > len(self):
            raise StopIteration
        return self.dataset[self.at - 1]
"""
RETURNED = """\
class Loader(torch.utils.data.DataLoader):
    def __iter__(self):
        return self._batches()

    def _batches(self):
        for row in self.dataset:
            yield row
"""
INHERITED = CACHED.replace("class Loader(", "class Base(") + "\nclass Loader(Base):\n    pass\n"
MIXIN = """\
class Own:
    def __iter__(self):
        return iter(self.dataset)

class Loader(Own, DataLoader):
    pass
"""
ARRAY_BASE = SAMPLED.replace("(DataLoader)", "(DataLoader[int])")
NONE = {
    "cached": CACHED,
    "sampled": SAMPLED,
    "shuffled": SHUFFLED,
    "counted": COUNTED,
    "own next": NEXT,
    "returned": RETURNED,
    "inherited": INHERITED,
    "mixin": MIXIN,
    "type arguments": ARRAY_BASE,
}


def _with_iter(body: str, init: str = "", more: str = "", bases: str = "DataLoader") -> str:
    lines = [f"class Loader({bases}):"]
    for name, text in (("__init__(self, dataset, **options)", init), ("__iter__(self)", body)):
        if text:
            lines += [f"    def {name}:", *(f"        {line}" for line in text.splitlines())]
    return "\n".join([*lines, *(f"    {line}" for line in more.splitlines())]) + "\n"


BASE = "super().__init__(dataset, **options)\n"
SOME = {
    "not overridden": "class Loader(DataLoader):\n    pass\n",
    "after the base": MIXIN.replace("Own, DataLoader", "DataLoader, Own"),
    "super": _with_iter("for batch in super().__iter__():\n    yield batch"),
    "super with arguments": _with_iter("yield from super(Loader, self).__iter__()"),
    "super under a name": _with_iter("base = super()\nfor batch in base.__iter__():\n    yield batch"),
    "base class": _with_iter("return DataLoader.__iter__(self)"),
    "iterator of the base": _with_iter("return self._get_iterator()"),
    "iterator class": _with_iter("return _MultiProcessingDataLoaderIter(self)"),
    "kept in the constructor": _with_iter(
        "for _ in range(len(self)):\n    yield next(self.batches)", BASE + "self.batches = super().__iter__()"
    ),
    "helper": _with_iter("yield from self.read()", more="def read(self):\n    return super().__iter__()"),
    "helper of a base": "class Base(DataLoader):\n    def read(self):\n        return super().__iter__()\n\n"
    + _with_iter("yield from self.read()", bases="Base"),
    "nested function": _with_iter("def read():\n    yield from super(Loader, self).__iter__()\nreturn read()"),
    "prefetcher": _with_iter("return prefetch(self)"),
    "prefetcher in the constructor": _with_iter("yield from self.ahead", BASE + "self.ahead = prefetch(self)"),
    "another name": _with_iter("me = self\nyield from DataLoader.__iter__(me)"),
    "loader of its own": _with_iter(
        "yield from self.inner", BASE + "self.inner = DataLoader(dataset, collate_fn=lambda rows: rows, **options)"
    ),
    "given loader": _with_iter("for batch in self.inner:\n    yield batch", BASE + "self.inner = options['inner']"),
    "given loaders in a list": _with_iter(
        "for batches in zip(*self.inner):\n    yield batches", BASE + "self.inner = [options['inner'], dataset]"
    ),
    "given loader in a list": _with_iter(
        "for batch in self.inner[0]:\n    yield batch", BASE + "self.inner = [options['inner']]"
    ),
    "given loaders one by one": _with_iter(
        "for number, inner in enumerate(self.inner):\n    yield from inner", BASE + "self.inner = [options['inner']]"
    ),
    "given loaders in a row": _with_iter(
        "for batch in chain.from_iterable(self.inner):\n    yield batch", BASE + "self.inner = [options['inner']]"
    ),
    "given loaders unpacked": _with_iter(
        "first, second = self.inner\nyield from second", BASE + "self.inner = [dataset, options['inner']]"
    ),
    "given loaders appended": _with_iter(
        "found = []\nfound.append(self.inner)\nfor batches in zip(*found):\n    yield batches",
        BASE + "self.inner = options['inner']",
    ),
    "set from outside": _with_iter("yield from self.dataset") + "\nLoader.__iter__ = DataLoader.__iter__\n",
    "returned iterator": _with_iter("return iter(self.inner)", BASE + "self.inner = options['inner']"),
    "behind a helper": _with_iter(
        "for number, batch in enumerate(self.read()):\n    yield batch",
        BASE + "self.inner = options['inner']",
        "def read(self):\n    return self.inner",
    ),
    "behind a property": _with_iter(
        "yield from self.read",
        BASE + "self.inner = options['inner']",
        "@property\ndef read(self):\n    return self.inner",
    ),
    "behind a function": _with_iter(
        "def read():\n    return self.inner\nyield from read()", BASE + "self.inner = options['inner']"
    ),
    "base from a dict": "def bases():\n    return {}\n\n"
    + _with_iter("yield from self.dataset", bases="bases()['reading'], DataLoader"),
    "unknown base": "from somewhere import Reading\n\n"
    + _with_iter("yield from self.dataset", bases="Reading, DataLoader"),
    "chosen by a branch": "import os\n\nclass Loader(DataLoader):\n    if os.environ:\n        def __iter__(self):\n"
    "            yield from self.dataset\n",
    "decorated": _with_iter("yield from self.dataset").replace("    def __iter__", "    @wrapped\n    def __iter__"),
    "assigned": _with_iter("yield from self.dataset", more="__iter__ = DataLoader.__iter__"),
}


def _program(text: str, made: str = MADE) -> str:
    return HEAD + text + USE.replace("MADE", made)


@pytest.mark.parametrize("text", NONE.values(), ids=NONE)
def test_no_workers(text: str, findings: Callable[..., Any]) -> None:
    files = {"train.py": _program(text)}

    assert findings(files, select=["DLL204", "DLL605"]) == set()


@pytest.mark.parametrize("text", SOME.values(), ids=SOME)
def test_workers(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": _program(text, MADE + "  # DLL204")}

    assert marks(files) <= findings(files, select=["DLL204"])


def test_another_file(findings: Callable[..., Any]) -> None:
    files = {"loaders.py": HEAD + SAMPLED, "train.py": "from loaders import Loader, Rows\n" + USE.replace("MADE", MADE)}

    assert findings(files, select=["DLL204"]) == set()


def test_one_of_two_classes(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    made = (
        "kind = Loader if random.random() > 0.5 else DataLoader\n    " + MADE.replace("Loader(", "kind(") + "  # DLL204"
    )
    files = {"train.py": _program(SAMPLED, made)}

    assert findings(files, select=["DLL204"]) == marks(files)


def test_options_that_need_workers(findings: Callable[..., Any]) -> None:
    """The constructor of the base class checks them against the number that it is given."""
    made = "loader = Loader(Rows(), num_workers=2, persistent_workers=True, prefetch_factor=4)"

    assert findings({"train.py": _program(SAMPLED, made)}, select=["DLL605"]) == set()


def test_prepared_by_accelerate(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    """It makes a new loader of the dataset and the options of the one that it is given."""
    use = USE.replace("MADE", MADE + "  # DLL204").replace("in loader", "in Accelerator().prepare(loader)")
    files = {"train.py": "from accelerate import Accelerator\n" + HEAD + SAMPLED + use}

    assert findings(files, select=["DLL204"]) == marks(files)
