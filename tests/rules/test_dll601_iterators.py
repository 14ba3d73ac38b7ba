"""DLL601: datasets that are their own iterator, and those that iterate a dataset of the hub."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
"""
FOUND: dict[str, str] = {
    "iterable returns self with next": """
class It(IterableDataset):
    def __init__(self, rows):
        self.rows = rows
    def __iter__(self):  # DLL601
        self.i = 0
        return self
    def __next__(self):
        if self.i >= len(self.rows):
            raise StopIteration
        self.i += 1
        return self.rows[self.i - 1]
def main():
    for b in DataLoader(It([1, 2]), num_workers=4):
        pass
""",
    "a dataset of the hub": """
from datasets import load_dataset
class It(IterableDataset):
    def __init__(self, tok):
        self.ds = load_dataset("a", split="train", streaming=False)
        self.tok = tok
    def __iter__(self):  # DLL601
        buf = []
        for ex in self.ds:
            buf += self.tok(ex["text"])
            while len(buf) > 10:
                yield torch.tensor(buf[:10])
                buf = buf[10:]
def tok(t):
    return [1]
def main():
    for b in DataLoader(It(tok), num_workers=4):
        pass
""",
    "order table shuffled from worker seed": """
class It(IterableDataset):
    def __init__(self, rows):
        self.rows = rows
    def __iter__(self):  # DLL601
        self.order = np.random.permutation(len(self.rows))
        self.i = 0
        return self
    def __next__(self):
        if self.i >= len(self.rows):
            raise StopIteration
        row = self.rows[self.order[self.i]]
        self.i += 1
        return row
def main():
    for b in DataLoader(It([1, 2]), num_workers=4):
        pass
""",
}
SILENT: dict[str, str] = {
    "iterable returns self with next by worker start": """
class It(IterableDataset):
    def __init__(self, rows):
        self.rows = rows
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        self.i = info.id
        return self
    def __next__(self):
        if self.i >= len(self.rows):
            raise StopIteration
        self.i += 4
        return self.rows[self.i - 4]
def main():
    for b in DataLoader(It([1, 2]), num_workers=4):
        pass
""",
    "endless draws by next": """
class It(IterableDataset):
    def __init__(self, rows):
        self.rows = rows
    def __iter__(self):
        self.i = 0
        return self
    def __next__(self):
        self.i += 1
        return self.rows[np.random.randint(len(self.rows))]
def main():
    for b in DataLoader(It([1, 2]), num_workers=4):
        pass
""",
    "next of file iterator unknown": """
class It(IterableDataset):
    def __init__(self, stream):
        self.stream = stream
    def __iter__(self):
        self.i = 0
        return self
    def __next__(self):
        return next(self.stream)
def main(stream):
    for b in DataLoader(It(stream), num_workers=4):
        pass
""",
    "wraps around forever": """
class It(IterableDataset):
    def __init__(self, rows):
        self.rows = rows
    def __iter__(self):
        self.i = 0
        return self
    def __next__(self):
        self.i = (self.i + 1) % len(self.rows)
        return self.rows[self.i] + np.random.rand()
def main():
    for b in DataLoader(It([1, 2]), num_workers=4):
        pass
""",
    "hf streaming": """
from datasets import load_dataset
class It(IterableDataset):
    def __init__(self):
        self.ds = load_dataset("a", split="train", streaming=True)
    def __iter__(self):
        for ex in self.ds:
            yield ex["text"]
def main():
    for b in DataLoader(It(), num_workers=4):
        pass
""",
    "hf maybe streaming": """
from datasets import load_dataset
class It(IterableDataset):
    def __init__(self, args):
        self.ds = load_dataset("a", split="train", streaming=args.streaming)
    def __iter__(self):
        for ex in self.ds:
            yield ex["text"]
def main(args):
    for b in DataLoader(It(args), num_workers=4):
        pass
""",
    "hf kwargs": """
from datasets import load_dataset
class It(IterableDataset):
    def __init__(self, **kw):
        self.ds = load_dataset("a", **kw)
    def __iter__(self):
        for ex in self.ds:
            yield ex["text"]
def main(kw):
    for b in DataLoader(It(**kw), num_workers=4):
        pass
""",
}

test_found, test_silent = in_one_file("DLL601", FOUND, SILENT, HEAD)
