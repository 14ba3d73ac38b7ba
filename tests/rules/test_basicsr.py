"""Programs that BasicSR runs: its loaders read the datasets of its registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ROWS = """\
import cv2
import numpy as np
import torch
from torch.utils.data import Dataset
from basicsr.utils.registry import DATASET_REGISTRY

@DATASET_REGISTRY.register()
class Faces(Dataset):
    def __init__(self, opt):
        self.boxes = torch.load(opt["boxes"])

    def __getitem__(self, index):
        box = self.boxes[f"{index:08d}"]
        left = box["left"]
        box["left"] = box["right"]
        box["right"] = left
        return cv2.resize(np.random.rand(640, 640, 3), (512, 512)), box["left"]  # DLL501

class Others(Dataset):
    def __getitem__(self, index):
        return cv2.resize(np.zeros((640, 640, 3)), (512, 512))
"""
TRAIN = """\
import os
import {module}
from basicsr.train import train_pipeline

if __name__ == "__main__":
    train_pipeline(os.path.dirname(__file__))
"""


def test_a_registered_dataset_is_read_by_workers(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    # `random` and NumPy are seeded in its workers, and an entry that replaces another one is no cache.
    files = {"faces.py": ROWS, "train.py": TRAIN.format(module="faces"), "requirements.txt": "torch==1.7\n"}

    assert findings(files, select=["DLL304", "DLL501", "DLL602"]) == marks(files)


def test_no_dataset_is_registered(findings: Callable[..., Any]) -> None:
    files = {"faces.py": ROWS.replace("@DATASET_REGISTRY.register()\n", ""), "train.py": TRAIN.format(module="faces")}

    assert findings(files, select=["DLL501"]) == set()
