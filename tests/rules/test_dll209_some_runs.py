"""DLL209: what an object keeps only in runs that start no process, or in one of several forms."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

FOUND: dict[str, str] = {
    "another test of the same options": """
import argparse
import torch.multiprocessing as mp
from queue import Queue
from threading import Thread
opt = argparse.ArgumentParser().parse_args()
class Reader:
    def __init__(self):
        if opt.threads:
            self.queue = Queue(4)  # DLL209
        else:
            self.queue = mp.Queue(4)
    def start(self):
        if opt.fast:
            worker = Thread(target=self.read)
        else:
            worker = mp.Process(target=self.read)
        worker.start()
    def read(self):
        self.queue.put(1)
def main():
    Reader().start()
if __name__ == "__main__":
    mp.set_start_method("spawn")
    main()
""",
    "the option is changed in between": """
import argparse
import torch.multiprocessing as mp
from queue import Queue
from threading import Thread
opt = argparse.ArgumentParser().parse_args()
class Reader:
    def __init__(self):
        if opt.threads:
            self.queue = Queue(4)  # DLL209
        else:
            self.queue = mp.Queue(4)
    def start(self):
        if opt.threads:
            worker = Thread(target=self.read)
        else:
            worker = mp.Process(target=self.read)
        worker.start()
    def read(self):
        self.queue.put(1)
    def stop(self):
        opt.threads = not opt.threads
def main():
    Reader().start()
if __name__ == "__main__":
    mp.set_start_method("spawn")
    main()
""",
    "a parameter that is set anew": """
import torch.multiprocessing as mp
class T:
    def __init__(self, alone):
        self.alone = alone
        alone = bool(alone)
        if alone:
            self.log = open("x", "w")  # DLL209
    def run(self, rank):
        print(rank)
    def train(self):
        if not self.alone:
            mp.spawn(self.run, nprocs=2)
def main(cfg):
    T(cfg.alone).train()
""",
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
    "options of the module choose in both methods": """
import argparse
import torch.multiprocessing as mp
from queue import Queue
from threading import Thread
opt = argparse.ArgumentParser().parse_args()
class Reader:
    def __init__(self):
        if opt.threads:
            self.queue = Queue(4)
        else:
            self.queue = mp.Queue(4)
    def start(self):
        if opt.threads:
            worker = Thread(target=self.read)
        else:
            worker = mp.Process(target=self.read)
        worker.start()
    def read(self):
        self.queue.put(1)
def main():
    Reader().start()
if __name__ == "__main__":
    mp.set_start_method("spawn")
    main()
""",
    "options of the module choose for an object inside": """
import argparse
import torch.multiprocessing as mp
from queue import Queue
opt = argparse.ArgumentParser().parse_args()
class Reader:
    def __init__(self):
        if opt.threads:
            self.queue = Queue(4)
        else:
            self.queue = mp.Queue(4)
class Detector:
    def __init__(self, reader):
        self.reader = reader
    def start(self):
        if not opt.threads:
            mp.Process(target=self.read).start()
    def read(self):
        print(self.reader)
def main():
    Detector(Reader()).start()
if __name__ == "__main__":
    mp.set_start_method("spawn")
    main()
""",
    "a parameter that is only kept": """
import torch.multiprocessing as mp
class T:
    def __init__(self, alone):
        self.alone = alone
        if alone:
            self.log = open("x", "w")
    def run(self, rank):
        print(rank)
    def train(self):
        if self.alone:
            self.run(0)
        else:
            mp.spawn(self.run, nprocs=2)
def main(cfg):
    T(cfg.alone).train()
""",
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
