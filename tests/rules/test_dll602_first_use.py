"""DLL602: generators that each worker creates on first use from the same seed, or that a partial binds."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
"""
FOUND: dict[str, str] = {
    "rng in mixup collate partial": """
from functools import partial
def mix(batch, rng):
    return [b * rng.beta(1, 1) for b in batch]
class D(Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return i
def main():
    rng = np.random.default_rng(0)  # DLL602
    for b in DataLoader(D(), num_workers=4, collate_fn=partial(mix, rng=rng)):
        pass
""",
    "rng seeded lazily in first getitem from self.seed const": """
class D(Dataset):
    def __init__(self, seed):
        self.seed = seed
        self.rng = None
    def __len__(self):
        return 3
    def __getitem__(self, i):
        if self.rng is None:
            self.rng = np.random.RandomState(self.seed)  # DLL602
        return self.rng.rand()
def main():
    for b in DataLoader(D(3), num_workers=4):
        pass
""",
    "a cached property with a seed of the object": """
from functools import cached_property
class D(Dataset):
    def __init__(self, seed):
        self.seed = seed
    @cached_property
    def rng(self):
        return np.random.default_rng(self.seed)  # DLL602
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.rng.random()
def main():
    for b in DataLoader(D(3), num_workers=4):
        pass
""",
}
SILENT: dict[str, str] = {
    "a cached property without a seed": """
from functools import cached_property
class D(Dataset):
    @cached_property
    def rng(self):
        return np.random.default_rng()
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.rng.random()
def main():
    for b in DataLoader(D(), num_workers=4):
        pass
""",
    "a plain property, which makes one per draw": """
class D(Dataset):
    @property
    def rng(self):
        return np.random.default_rng(3)
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.rng.random()
def main():
    for b in DataLoader(D(), num_workers=4):
        pass
""",
    "lazily seeded by worker id": """
class D(Dataset):
    def __init__(self, seed):
        self.seed = seed
        self.rng = None
    def __len__(self):
        return 3
    def __getitem__(self, i):
        if self.rng is None:
            self.rng = np.random.RandomState(self.seed + torch.utils.data.get_worker_info().id)
        return self.rng.rand()
def main():
    for b in DataLoader(D(3), num_workers=4):
        pass
""",
    "lazily unseeded": """
class D(Dataset):
    def __init__(self):
        self.rng = None
    def __len__(self):
        return 3
    def __getitem__(self, i):
        if self.rng is None:
            self.rng = np.random.default_rng()
        return self.rng.random()
def main():
    for b in DataLoader(D(), num_workers=4):
        pass
""",
    "per item seeded": """
class D(Dataset):
    def __init__(self, seed):
        self.seed = seed
    def __len__(self):
        return 3
    def __getitem__(self, i):
        rng = np.random.RandomState(self.seed + i)
        return rng.rand()
def main():
    for b in DataLoader(D(3), num_workers=4):
        pass
""",
    "lazily seeded from torch initial seed": """
class D(Dataset):
    def __init__(self):
        self.rng = None
    def __len__(self):
        return 3
    def __getitem__(self, i):
        if self.rng is None:
            self.rng = np.random.default_rng(torch.initial_seed() % 2**32)
        return self.rng.random()
def main():
    for b in DataLoader(D(), num_workers=4):
        pass
""",
    "seed set by worker_init_fn": """
class D(Dataset):
    def __init__(self):
        self.rng = None
        self.seed = 0
    def __len__(self):
        return 3
    def __getitem__(self, i):
        if self.rng is None:
            self.rng = np.random.default_rng(self.seed)
        return self.rng.random()
def init(w):
    torch.utils.data.get_worker_info().dataset.seed = w
def main():
    for b in DataLoader(D(), num_workers=4, worker_init_fn=init):
        pass
""",
    "seed set from epoch only": """
class D(Dataset):
    def __init__(self, seed):
        self.rng = None
        self.seed = None
    def set_seed(self, s):
        self.seed = s
    def __len__(self):
        return 3
    def __getitem__(self, i):
        if self.rng is None:
            self.rng = np.random.default_rng(self.seed)
        return self.rng.random()
def main():
    for b in DataLoader(D(1), num_workers=4):
        pass
""",
}

test_found, test_silent = in_one_file("DLL602", FOUND, SILENT, HEAD)
