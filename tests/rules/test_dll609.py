"""DLL609: which arguments of a loader exclude one another, and which may stand together."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

HEAD = """\
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, IterableDataset, RandomSampler
from torch.utils.data import SequentialSampler

class Lines(IterableDataset):
    def __iter__(self):
        return iter(range(8))

"""

FOUND = {
    "a sampler and shuffle": "loader = DataLoader([1], shuffle=True, sampler=SequentialSampler([1]))  # DLL609\n",
    "by position": "loader = DataLoader([1], 4, True, SequentialSampler([1]))  # DLL609\n",
    "a list of indices": "loader = DataLoader([1], shuffle=1, sampler=[0])  # DLL609\n",
    "an empty list": "loader = DataLoader([1], shuffle=True, sampler=[])  # DLL609\n",
    "an alias": """
from torch.utils.data import DataLoader as Base
loader = Base([1], shuffle=True, sampler=RandomSampler([1]))  # DLL609
""",
    "a subclass": """
class Loader(DataLoader):
    def __init__(self, dataset, **options):
        super().__init__(dataset, shuffle=True, **options)

loader = Loader([1], sampler=RandomSampler([1]))  # DLL609
""",
    "a dict": """
options = {"batch_size": 4, "shuffle": True}
options["sampler"] = RandomSampler([1])
loader = DataLoader([1], **options)  # DLL609
""",
    "a partial": """
from functools import partial
make = partial(DataLoader, shuffle=True)
loader = make([1], sampler=RandomSampler([1]))  # DLL609
""",
    "a sampler of the project's own": """
from torch.utils.data import Sampler

class Ordered(Sampler):
    def __iter__(self):
        return iter([0])

loader = DataLoader([1], shuffle=True, sampler=Ordered())  # DLL609
""",
    "one caller gives both": """
def build(dataset, sampler=None, shuffle=False):
    return DataLoader(dataset, sampler=sampler, shuffle=shuffle)  # DLL609

def main():
    return build([1], shuffle=True), build([1], RandomSampler([1])), build([1], RandomSampler([1]), True)
""",
    "batch_sampler and each of its own": """
batches = BatchSampler(RandomSampler([1]), 2, False)
a = DataLoader([1], batch_sampler=batches, batch_size=2)  # DLL609
b = DataLoader([1], batch_sampler=batches, batch_size=None)  # DLL609
c = DataLoader([1], batch_sampler=batches, shuffle=True)  # DLL609
d = DataLoader([1], batch_sampler=batches, sampler=RandomSampler([1]))  # DLL609
e = DataLoader([1], batch_sampler=batches, drop_last=True)  # DLL609
""",
    "batches that are not made": "loader = DataLoader([1], batch_size=None, drop_last=True)  # DLL609\n",
    "an iterable dataset": """
a = DataLoader(Lines(), shuffle=True)  # DLL609
b = DataLoader(Lines(), sampler=RandomSampler([1]))  # DLL609
c = DataLoader(Lines(), batch_sampler=BatchSampler(RandomSampler([1]), 2, False))  # DLL609
""",
    "an iterable dataset two classes down": """
class Words(Lines):
    pass

loader = DataLoader(Words(), shuffle=True)  # DLL609
""",
    "chained ones": """
from torch.utils.data import ChainDataset
loader = DataLoader(ChainDataset([Lines(), Lines()]), shuffle=True)  # DLL609
""",
}

SOMETIMES = {
    "a sampler in distributed training": """
def build(dataset, distributed):
    sampler = DistributedSampler(dataset) if distributed else None
    return DataLoader(dataset, shuffle=True, sampler=sampler)  # DLL609
""",
    "a sampler under a condition": """
def build(dataset, distributed):
    sampler = None
    if distributed:
        sampler = DistributedSampler(dataset)
    return DataLoader(dataset, shuffle=True, sampler=sampler)  # DLL609
""",
    "a sampler put into a dict": """
def build(dataset, distributed):
    options = dict(batch_size=4, shuffle=True)
    if distributed:
        options["sampler"] = DistributedSampler(dataset)
    return DataLoader(dataset, **options)  # DLL609
""",
    "batches": """
def build(dataset, bucket):
    batches = BatchSampler(RandomSampler(dataset), 4, True) if bucket else None
    return DataLoader(dataset, batch_size=16, batch_sampler=batches)  # DLL609
""",
}

SILENT = {
    "no shuffle": "loader = DataLoader([1], shuffle=False, sampler=RandomSampler([1]))\n",
    "shuffle without a sampler": "loader = DataLoader([1], shuffle=True, sampler=None, batch_sampler=None)\n",
    "batch_sampler and defaults": """
batches = BatchSampler(RandomSampler([1]), 2, False)
loader = DataLoader([1], 1, False, None, batches, drop_last=False)
""",
    "by a comparison": """
def build(dataset, distributed):
    sampler = DistributedSampler(dataset) if distributed else None
    return DataLoader(dataset, shuffle=(sampler is None), sampler=sampler)
""",
    "by the same flag": """
def build(dataset, distributed):
    sampler = DistributedSampler(dataset) if distributed else None
    return DataLoader(dataset, shuffle=not distributed, sampler=sampler)
""",
    "both set under a condition": """
def build(dataset, distributed):
    if distributed:
        sampler, shuffle = DistributedSampler(dataset), False
    else:
        sampler, shuffle = None, True
    return DataLoader(dataset, shuffle=shuffle, sampler=sampler)
""",
    "shuffle taken back": """
def build(dataset, sampler=None, shuffle=True):
    if sampler is not None:
        shuffle = False
    return DataLoader(dataset, shuffle=shuffle, sampler=sampler)

build([1], RandomSampler([1]))
build([1])
""",
    "a loader for each": """
def build(dataset, distributed):
    sampler = DistributedSampler(dataset) if distributed else None
    if distributed:
        return DataLoader(dataset, sampler=sampler)
    return DataLoader(dataset, shuffle=True, sampler=sampler)
""",
    "a dict under a condition": """
def build(dataset, distributed):
    options = {}
    if distributed:
        options["sampler"] = DistributedSampler(dataset)
    else:
        options["shuffle"] = True
    return DataLoader(dataset, **options)
""",
    "an entry taken out": """
def build(dataset, sampler):
    options = {"shuffle": True, "batch_size": 4}
    options.pop("shuffle")
    return DataLoader(dataset, sampler=RandomSampler(dataset), **options)
""",
    "each caller gives one": """
def build(dataset, sampler=None, shuffle=False):
    return DataLoader(dataset, sampler=sampler, shuffle=shuffle)

def main():
    return build([1], shuffle=True), build([1], RandomSampler([1]))
""",
    "an unknown sampler": """
from samplers import choose

def build(dataset, sampler):
    return DataLoader(dataset, shuffle=True, sampler=sampler), DataLoader(dataset, shuffle=True, sampler=choose())
""",
    "an unknown batch size": """
def build(dataset, batches, size):
    return DataLoader(dataset, batch_size=size, batch_sampler=BatchSampler(RandomSampler(dataset), 4, True))
""",
    "an iterable dataset or another": """
def build(stream):
    dataset = Lines() if stream else [1, 2]
    return DataLoader(dataset, shuffle=True)
""",
    "shuffle by the dataset's class": """
def build(dataset):
    return DataLoader(dataset, shuffle=not isinstance(dataset, IterableDataset))

build(Lines())
""",
    "a pipe, which shuffles": """
from torch.utils.data import IterDataPipe

class Pipe(IterDataPipe):
    def __iter__(self):
        return iter(range(8))

loader = DataLoader(Pipe(), shuffle=True)
""",
    "caught": """
try:
    loader = DataLoader(Lines(), shuffle=True)
except ValueError:
    loader = DataLoader(Lines())
""",
    "a test that waits for the error": """
import pytest


def test_it():
    with pytest.raises(ValueError):
        DataLoader([1], shuffle=True, sampler=RandomSampler([1]))
""",
    "another DataLoader": """
from paddle.io import DataLoader
loader = DataLoader([1], shuffle=True, sampler=RandomSampler([1]))
""",
}

test_found, test_silent = in_one_file("DLL609", {**FOUND, **SOMETIMES}, SILENT, HEAD)


@pytest.mark.parametrize(("texts", "severity"), [(FOUND, "error"), (SOMETIMES, "warning")])
def test_only_what_always_fails_is_an_error(texts: dict[str, str], severity: str, told: Callable[..., Any]) -> None:
    found = [one for text in texts.values() for one in told({"train.py": HEAD + text}, select=["DLL609"])]

    assert {one.severity for one in found} == {severity}


def test_a_factory_in_another_file(told: Callable[..., Any]) -> None:
    files = {
        "data.py": HEAD
        + "def build(dataset, **options):\n    return DataLoader(dataset, shuffle=True, **options)  # DLL609\n",
        "train.py": "from data import build\nfrom torch.utils.data import RandomSampler\n\n"
        "build([1])\nbuild([1], sampler=RandomSampler([1]))\n",
    }

    (found,) = told(files, select=["DLL609"])

    assert (found.severity, found.fixes) == ("error", ())
    assert [place.span.line for place in found.related] == [5]


@pytest.mark.parametrize(
    ("shuffle", "sampler", "mixed", "fixed"),
    [
        ("True", "RandomSampler(rows)", "True", True),
        ("mixed", "RandomSampler(rows)", "True", False),
        ("True", "None if mixed else RandomSampler(rows)", "bool(rows)", False),
    ],
)
def test_a_call_that_fails_for_every_caller_is_mended(
    shuffle: str, sampler: str, mixed: str, fixed: bool, told: Callable[..., Any]
) -> None:
    text = f"def build(rows, mixed):\n    return DataLoader(rows, shuffle={shuffle}, sampler={sampler})\n\n"

    (found,) = told(
        {"train.py": HEAD + "rows = []\n" + text + f"build([1], {mixed})\nbuild([2], {mixed})\n"}, select=["DLL609"]
    )

    assert bool(found.fixes) == fixed


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_torch_refuses_what_is_found(text: str, marks: Callable[..., Any]) -> None:
    lines = (HEAD + text).splitlines()
    marked = {line for _, line, _ in marks({"train.py": HEAD + text})}
    others = [line for number, line in enumerate(lines, 1) if number not in marked or line.startswith(" ")]
    space: dict[str, Any] = {"__name__": "train"}
    exec("\n".join(others), space)

    for number in sorted(marked):
        code = lines[number - 1]
        with pytest.raises(ValueError, match=r"exclusive|expected unspecified"):
            exec("main()" if code.startswith(" ") and "main" in space else code.strip(), space)
