"""DLL209: what an object keeps only in runs that start no process, or in one of several forms."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

FOUND: dict[str, str] = {
    "same branch": """
import torch.multiprocessing as mp
from torch.utils.tensorboard import SummaryWriter
class T:
    def __init__(self, cfg):
        self.distributed = cfg.distributed
        self.writer = None
        if self.distributed:
            self.setup()
    def setup(self):
        self.writer = SummaryWriter("x")  # DLL209
    def run(self, rank):
        print(rank)
    def train(self):
        if self.distributed:
            mp.spawn(self.run, nprocs=2)
        else:
            self.run(0)
def main(cfg):
    T(cfg).train()
""",
}
SILENT: dict[str, str] = {
    "exclusive branches": """
import torch.multiprocessing as mp
from torch.utils.tensorboard import SummaryWriter
class T:
    def __init__(self, cfg):
        self.distributed = cfg.distributed
        self.writer = None
        if not self.distributed:
            self.setup()
    def setup(self):
        self.writer = SummaryWriter("x")
    def run(self, rank):
        print(rank)
    def train(self):
        if self.distributed:
            mp.spawn(self.run, nprocs=2)
        else:
            self.run(0)
def main(cfg):
    T(cfg).train()
""",
    "direct exclusive": """
import torch.multiprocessing as mp
class T:
    def __init__(self, cfg):
        self.spawn = cfg.spawn
        if self.spawn:
            self.log = None
        else: self.log = open("x", "w")
    def run(self, rank):
        print(rank)
    def train(self):
        if self.spawn:
            mp.spawn(self.run, nprocs=2)
def main(cfg):
    T(cfg).train()
""",
    "one of several classes": """

import torch.multiprocessing as mp
class A:
    def __init__(self):
        self.f = lambda x: x
class B: pass
class C: pass
MODELS = {"a": A, "b": B, "c": C}
class T:
    def __init__(self, cfg):
        self.model = MODELS[cfg.name]()
    def run(self, rank):
        print(rank)
    def train(self):
        mp.spawn(self.run, nprocs=2)
def main(cfg):
    T(cfg).train()
""",
}

test_found, test_silent = in_one_file("DLL209", FOUND, SILENT)
