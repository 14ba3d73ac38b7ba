"""DLL501: what a partial binds for the collate function that workers run."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset
"""
FOUND: dict[str, str] = {
    "cv2 through batch in partial": """
from functools import partial
import cv2
def collate(batch, size):
    if batch[0] is None:
        return None
    return [cv2.resize(b, size) for b in batch]  # DLL501
class D(Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return np.zeros((3, 3))
def main():
    for b in DataLoader(D(), num_workers=4, collate_fn=partial(collate, size=(640, 640))):
        pass
""",
    "positional bound and batch default": """
from functools import partial
import cv2
def collate(size, batch=None, flag=False):
    if flag:
        return None
    if batch is None:
        return None
    return [cv2.resize(b, size) for b in batch]  # DLL501
class D(Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return np.zeros((3, 3))
def main():
    for b in DataLoader(D(), num_workers=4, collate_fn=partial(collate, (640, 640))):
        pass
""",
}
SILENT: dict[str, str] = {
    "branch on bound option silent": """
from functools import partial
import cv2
def collate(batch, resize):
    if resize:
        return [cv2.resize(b, (3, 3)) for b in batch]
    return batch
class D(Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return np.zeros((3, 3))
def main():
    for b in DataLoader(D(), num_workers=4, collate_fn=partial(collate, resize=False)):
        pass
""",
}

test_found, test_silent = in_one_file("DLL501", FOUND, SILENT, HEAD)
