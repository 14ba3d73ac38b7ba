"""DLL201: attributes that are set anew before the dataset is used, and those whose names only the call tells."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
from torch.utils.data import DataLoader, Dataset
"""
FOUND: dict[str, str] = {
    "overwritten after a loader stays": """
class D(Dataset):
    def __init__(self):
        self.transform = None
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.transform(i)
def main(args):
    ds = D()
    ds.transform = lambda x: x  # DLL201
    for b in DataLoader(ds, num_workers=2, multiprocessing_context="spawn"):
        pass
    ds.transform = int
    for b in DataLoader(ds, num_workers=2, multiprocessing_context="spawn"):
        pass
""",
    "overwritten in a branch stays": """
class D(Dataset):
    def __init__(self):
        self.transform = None
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.transform(i)
def main(args):
    ds = D()
    ds.transform = lambda x: x  # DLL201
    if args.fast:
        ds.transform = int
    for b in DataLoader(ds, num_workers=2, multiprocessing_context="spawn"):
        pass
""",
    "wrapped old stays": """
class D(Dataset):
    def __init__(self):
        self.transform = None
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.transform(i)
class Both:
    def __init__(self, a):
        self.a = a
    def __call__(self, x):
        return self.a(x)
def main(args):
    ds = D()
    ds.transform = lambda x: x  # DLL201
    ds.transform = Both(ds.transform)
    for b in DataLoader(ds, num_workers=2, multiprocessing_context="spawn"):
        pass
""",
    "two loaders one before": """
class D(Dataset):
    def __init__(self):
        self.transform = lambda x: x  # DLL201
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.transform(i)
def main(args):
    ds = D()
    l = DataLoader(ds, num_workers=2, multiprocessing_context="spawn")
    for b in l:
        pass
    ds.transform = int
""",
    "kwargs through three constructors": """
class Base(Dataset):
    def __init__(self, **kw):
        for k, v in kw.items():
            setattr(self, k, v)
    def __len__(self):
        return 3
class D(Base):
    def __init__(self, **kw):
        super().__init__(**kw)
    def __getitem__(self, i):
        return self.fn(i)
def main(args):
    ds = D(fn=lambda x: x)  # DLL201
    for b in DataLoader(ds, num_workers=4, multiprocessing_context="spawn"):
        pass
""",
}
SILENT: dict[str, str] = {
    "overwritten transform silent": """
from torchvision import datasets
def main(args):
    ds = datasets.MNIST("x")
    ds.transform = lambda x: x
    ds.transform = int
    for b in DataLoader(ds, num_workers=2, multiprocessing_context="spawn"):
        pass
""",
    "overwritten own class silent": """
class D(Dataset):
    def __init__(self):
        self.transform = None
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.transform(i)
def main(args):
    ds = D()
    ds.transform = lambda x: x
    ds.transform = int
    for b in DataLoader(ds, num_workers=2, multiprocessing_context="spawn"):
        pass
""",
    "init attr then overwritten outside silent": """
class D(Dataset):
    def __init__(self):
        self.transform = lambda x: x
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return self.transform(i)
def main(args):
    ds = D()
    ds.transform = int
    for b in DataLoader(ds, num_workers=2, multiprocessing_context="spawn"):
        pass
""",
}

test_found, test_silent = in_one_file("DLL201", FOUND, SILENT, HEAD)
