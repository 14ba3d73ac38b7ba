"""Which start methods are in force where loaders are made, as far as the project decides it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.project.conftest import whole

HEAD = """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

"""
PROGRAMS: dict[str, str] = {
    "set before, by force": """\
def main():
    mp.set_start_method("spawn", force=True)
    DataLoader([], num_workers=4)  # method: spawn

if __name__ == "__main__":
    main()
""",
    "set by a function of another name": """\
from multiprocessing import set_start_method as use

def main():
    use("forkserver")
    DataLoader([], num_workers=4)  # method: forkserver
""",
    "set where none is set yet": """\
def main():
    if mp.get_start_method(allow_none=True) is None:
        mp.set_start_method("spawn")
    DataLoader([], num_workers=4)  # method: spawn
""",
    "set where it is another yet": """\
def main():
    if mp.get_start_method(allow_none=True) != "spawn":
        mp.set_start_method("spawn", force=True)
    DataLoader([], num_workers=4)  # method: spawn
""",
    "set in a try": """\
def main():
    try:
        mp.set_start_method("spawn")
    except RuntimeError:
        pass
    DataLoader([], num_workers=4)  # method: spawn
""",
    "set when a module is imported": """\
# start.py
import torch.multiprocessing
torch.multiprocessing.set_start_method("spawn")
# train.py
import start
from torch.utils.data import DataLoader

def main():
    DataLoader([], num_workers=4)  # method: spawn

if __name__ == "__main__":
    main()
""",
    "set under the guard": """\
def main():
    run([])

def run(dataset):
    DataLoader(dataset, num_workers=4)  # method: spawn

if __name__ == "__main__":
    mp.set_start_method("spawn")
    main()
""",
    "set to what a parameter holds": """\
def main(method="spawn"):
    mp.set_start_method(method)
    DataLoader([], num_workers=4)  # method: spawn

if __name__ == "__main__":
    main()
""",
    "set to fork": """\
def main():
    mp.set_start_method("fork")
    DataLoader([], num_workers=4)  # method: fork
""",
    "set twice, the second time by force": """\
def main():
    mp.set_start_method("spawn")
    mp.set_start_method("fork", force=True)
    DataLoader([], num_workers=4)  # method: fork
""",
    "set by force in the constructor of what makes the loader": """\
class Trainer:
    def __init__(self, workers):
        self.workers = workers
        if self.workers > 0:
            mp.set_start_method("fork", force=True)

    def fit(self):
        return DataLoader([], num_workers=self.workers)  # method: fork

def main(workers):
    mp.set_start_method("spawn")
    trainer = Trainer(workers)
    list(trainer.fit())
""",
    "set by force in the constructor of what makes the loader, in one statement": """\
class Base:
    def __init__(self):
        mp.set_start_method("fork", force=True)

class Trainer(Base):
    def fit(self):
        return DataLoader([], num_workers=2)  # method: fork

def main():
    mp.set_start_method("spawn")
    list(Trainer().fit())
""",
    "set by force in the constructor of another object, or under another test": """\
class Trainer:
    def __init__(self, workers, fast):
        self.workers = workers
        if fast:
            mp.set_start_method("fork", force=True)

    def fit(self):
        return DataLoader([], num_workers=self.workers)  # method: fork | spawn

class Other:
    def __init__(self):
        mp.set_start_method("fork", force=True)

def main(workers, fast):
    mp.set_start_method("spawn")
    trainer = Trainer(workers, fast)
    list(trainer.fit())
""",
    "set after the loader is made": """\
def load():
    return DataLoader([], num_workers=4)  # method: no

def main():
    list(load())
    mp.set_start_method("spawn")
""",
    "set in another program": """\
# serve.py
import torch.multiprocessing as mp

if __name__ == "__main__":
    mp.set_start_method("spawn")
# train.py
from torch.utils.data import DataLoader

def main():
    DataLoader([], num_workers=4)  # method: no

if __name__ == "__main__":
    main()
""",
    "set under the guard of a module that is imported": """\
# helper.py
import torch.multiprocessing as mp

if __name__ == "__main__":
    mp.set_start_method("spawn")
# train.py
import helper
from torch.utils.data import DataLoader

DataLoader([], num_workers=4)  # method: no
""",
    "set by another command of the program": """\
import argparse
import multiprocessing

def generate(args):
    multiprocessing.set_start_method("spawn", force=True)

def train(args):
    return DataLoader([], num_workers=4)  # method: no

def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    commands.add_parser("generate").set_defaults(action=generate)
    commands.add_parser("train").set_defaults(action=train)
    args = parser.parse_args()
    args.action(args)

if __name__ == "__main__":
    main()
""",
    "set by force in a launched process, by a function of another file": """\
# setup.py
import torch.multiprocessing as mp

def prepare():
    mp.set_start_method("fork", force=True)
# train.py
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
import setup

def worker(rank):
    setup.prepare()
    DataLoader([], num_workers=4)  # method: fork

mp.spawn(worker, nprocs=2)
""",
    "set by force in a launched process, before another function makes the loader": """\
def load():
    return DataLoader([], num_workers=4)  # method: fork

def worker(rank):
    mp.set_start_method("fork", force=True)
    load()

mp.spawn(worker, nprocs=2)
""",
    "set by force in a launched process, to what a setting says": """\
import os

def set_method(name):
    mp.set_start_method(name, force=True)

def worker(rank):
    set_method(os.environ["METHOD"])
    DataLoader([], num_workers=4)  # method: no

mp.spawn(worker, nprocs=2)
""",
    "a process by the method that was set": """\
def worker(dataset):
    DataLoader(dataset, num_workers=4)  # method: spawn

if __name__ == "__main__":
    mp.set_start_method("spawn")
    mp.Process(target=worker, args=([],)).start()
""",
    "a process of a spawned one": """\
def evaluate(dataset):
    DataLoader(dataset, num_workers=4)  # method: spawn

def train(rank):
    mp.Process(target=evaluate, args=([],)).start()

mp.spawn(train, nprocs=2)
""",
    "a launch by spawn in a forked process": """\
import multiprocessing

def train(rank):
    DataLoader([], num_workers=4)  # method: spawn

def tune():
    DataLoader([], num_workers=2)  # method: fork
    mp.spawn(train, nprocs=2)

multiprocessing.get_context("fork").Process(target=tune).start()
""",
    "a thread of a spawned process": """\
import threading

def prefetch(dataset):
    DataLoader(dataset, num_workers=4)  # method: spawn

def train(rank):
    threading.Thread(target=prefetch, args=([],)).start()

mp.spawn(train, nprocs=2)
""",
    "a spawned process beside the loader": """\
def log(queue):
    print(queue.get())

def main():
    context = mp.get_context("spawn")
    context.Process(target=log, args=(context.Queue(),)).start()
    DataLoader([], num_workers=4)  # method: no
""",
    "torchrun by a subprocess": """\
# launch.py
import subprocess
import sys
subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2", "train.py"])
# train.py
import torch.distributed
from torch.utils.data import DataLoader

def main():
    torch.distributed.init_process_group("gloo")
    DataLoader([], num_workers=4)  # method: no

if __name__ == "__main__":
    main()
""",
    "a loader that sets the method itself": """\
def worker(rank):
    DataLoader([], num_workers=4, multiprocessing_context="fork")  # method: fork
    DataLoader([], num_workers=4)  # method: spawn

mp.spawn(worker)
""",
    "a loader without workers": """\
def worker(rank):
    DataLoader([])  # method: no

mp.spawn(worker)
""",
    "the count that the launch hands over is 0": """\
def run(rank, workers):
    DataLoader([], num_workers=workers)  # method: no

def main(gpus):
    if gpus > 1:
        mp.spawn(run, nprocs=gpus, args=(0,))
    else:
        run(0, 4)
""",
    "the context that only another caller gives": """\
def build(rows, **options):
    return DataLoader(rows, num_workers=4, **options)  # method: no

build([1], multiprocessing_context="fork")
build([2], multiprocessing_context="spawn")
build([3])
""",
    "the branch of a program that is not launched": """\
def work(rank, args):
    if args.distributed:
        print("ranks")
    else:
        DataLoader([], num_workers=4)  # method: no

def main(args):
    if args.distributed:
        mp.spawn(work, nprocs=2, args=(args,))
    else:
        work(0, args)
""",
    "a flag that the launch hands over": """\
def run(rank, distributed):
    if not distributed:
        DataLoader([], num_workers=4)  # method: no

def main(gpus):
    if gpus > 1:
        mp.spawn(run, nprocs=gpus, args=(True,))
    else:
        run(0, False)
""",
    "the branch of one process, some calls further on": """\
def load(distributed):
    if not distributed:
        return DataLoader([], num_workers=4)  # method: no

def run(rank, distributed):
    load(distributed)

def main(args):
    if args.distributed:
        mp.spawn(run, args=(args.distributed,), nprocs=2)
    else:
        run(0, args.distributed)
""",
    "the branches of one process and of several, and a count that is set anew": """\
def run(rank, gpus):
    if gpus > 1:
        return DataLoader([1], num_workers=4)  # method: spawn
    else:
        return DataLoader([2], num_workers=4)  # method: no

def train(rank, gpus):
    gpus = 1
    if gpus <= 1:
        return DataLoader([], num_workers=4)  # method: spawn

def other(rank, gpus):
    gpus = count(gpus)
    if not gpus > 1:
        return DataLoader([], num_workers=4)  # method: spawn

def main(devices):
    n_gpus = len(devices)
    if n_gpus == 1:
        run(0, n_gpus)
    else:
        mp.spawn(run, args=(n_gpus,), nprocs=n_gpus)
        mp.spawn(train, args=(n_gpus,), nprocs=n_gpus)
        mp.spawn(other, args=(n_gpus,), nprocs=n_gpus)
""",
    "what is asserted to run in one process alone": """\
def show(data):
    return DataLoader(data, num_workers=1)  # method: no

def run(rank, args):
    if args.show:
        assert args.gpus == 1
        show([])
    print(rank)

def main(args):
    if args.gpus == 1:
        run(0, args)
    else:
        mp.spawn(run, args=(args,), nprocs=args.gpus)
""",
    "a choice that is refused before the launch": """\
def build(args):
    if args.data == "drives":
        return DataLoader([], num_workers=4)  # method: no
    if args.data == "indoors":
        return DataLoader([1], num_workers=4)  # method: spawn
    return None

def run(rank, args):
    print(build(args))

def main(args):
    if args.data not in ("indoors", "mix", None):
        raise ValueError(args.data)
    mp.spawn(run, args=(args,), nprocs=2)
""",
    "a choice that is refused afterwards": """\
def build(args):
    if args.data == "drives":
        return DataLoader([], num_workers=4)  # method: spawn
    return None

def run(rank, args):
    print(build(args))

def main(args):
    mp.spawn(run, args=(args,), nprocs=2)
    if args.data not in ("indoors", "mix", None):
        raise ValueError(args.data)
""",
    "what is asserted in another branch, or later": """\
def run(rank, args):
    if args.show:
        assert args.gpus == 1
        print("one")
    loader = DataLoader([], num_workers=4)  # method: spawn
    assert args.gpus == 1 or rank >= 0
    return loader

def main(args):
    if args.gpus == 1:
        run(0, args)
    else:
        mp.spawn(run, args=(args,), nprocs=args.gpus)
""",
    "functions that the launched one does not call": """\
def other():
    return DataLoader([1], num_workers=4)  # method: no

def main():
    return DataLoader([2], num_workers=4)  # method: no

def run(rank):
    return [other]

if __name__ == "__main__":
    mp.spawn(run)
""",
    "no launch": """\
DataLoader([], num_workers=4)  # method: no
""",
    "a trainer that keeps the method of a task which a class method of its base class makes": """\
# trainer.py
import torch.multiprocessing as mp

def once(make):
    def remembered(self):
        try:
            return self._kept
        except AttributeError:
            self._kept = make(self)
        return self._kept

    return remembered

class Trainer:
    def __init__(self, devices):
        self.devices = devices
        self.get_batches = None

    def fit(self, task):
        if self.devices > 1:
            mp.spawn(self.of_rank, nprocs=self.devices, args=(task,))
        else:
            self.prepare(task)

    def of_rank(self, rank, task):
        self.prepare(task)

    def prepare(self, task):
        self.get_batches = task.training_batches
        self.train()

    def train(self):
        for batch in self.get_batches():
            print(batch)
# base.py
from trainer import Trainer, once

class Task:
    @classmethod
    def start(cls, devices):
        task = cls()
        Trainer(devices).fit(task)

    @once
    def training_batches(self):
        raise NotImplementedError
# speech.py
from base import Task
from torch.utils.data import DataLoader
from trainer import once

class SpeechTask(Task):
    @once
    def training_batches(self):
        return self.batches(list(range(100)))

    def batches(self, rows):
        return DataLoader(rows, num_workers=4)  # method: spawn
# run.py
import sys
from importlib import import_module

if __name__ == "__main__":
    module, _, name = sys.argv[1].rpartition(".")
    getattr(import_module(module), name).start(2)
""",
    "one of the classes that inherit a class method, which makes the loader": """\
class Task:
    @classmethod
    def start(cls):
        cls().load()

    def load(self):
        pass

class Words(Task):
    def load(self):
        DataLoader([], num_workers=4)  # method: spawn

class Images(Task):
    def load(self):
        DataLoader([], num_workers=4)  # method: no

def work(rank):
    Words.start()

mp.spawn(work)
""",
    "an attribute that a caller of the launch, of the loader's function or a function on the way sets": """\
import argparse

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    return parser.parse_args()

def none(args):
    return DataLoader([], num_workers=args.workers)  # method: no

def again(args):
    args.workers = 2
    return DataLoader([], num_workers=args.workers)  # method: spawn

def again_perhaps(args):
    if args.fast:
        args.workers = 2
    return DataLoader([], num_workers=args.workers)  # method: spawn

def perhaps(args):
    return DataLoader([], num_workers=args.workers)  # method: spawn

def run(rank, debug):
    args = parse()
    args.workers = 0
    none(args)
    again(args)
    third = parse()
    third.workers = 0
    again_perhaps(third)
    other = parse()
    if debug:
        other.workers = 0
    perhaps(other)

mp.spawn(run, args=(False,))
""",
    "a loader that a lambda makes in a launched process": """\
def worker(rank):
    make = lambda dataset: DataLoader(dataset, num_workers=4)  # method: spawn
    make([])

mp.spawn(worker)
""",
    "contexts that the loader is given on the way from the launch": """\
def make(dataset, **kwargs):
    kwargs.setdefault("multiprocessing_context", "fork")
    return DataLoader(dataset, **kwargs)  # method: fork

def build(workers=4):
    options = {"num_workers": workers}
    if workers > 0:
        options["multiprocessing_context"] = "forkserver"
    return DataLoader([], **options)  # method: forkserver

def worker(rank):
    make([], num_workers=4)
    build()

mp.spawn(worker)
""",
    "a context that is set afterwards, in a launched process": """\
def worker(rank):
    loader = DataLoader([], num_workers=4)  # method: no
    loader.multiprocessing_context = "fork"

mp.spawn(worker)
""",
    "a context on some paths, whoever calls": """\
def of(workers):
    if workers > 0:
        return {"multiprocessing_context": "spawn"}
    return {}

def one(workers):
    options = {}
    if workers > 0:
        options["multiprocessing_context"] = "spawn"
    return DataLoader([1], num_workers=workers, **options)  # method: spawn

def two(workers):
    options = {"multiprocessing_context": "spawn"} if workers else {}
    return DataLoader([2], num_workers=workers, **options)  # method: spawn

def three(workers):
    return DataLoader([3], num_workers=workers, **of(workers))  # method: spawn
""",
    "a branch that a default closes, called from a launched process": """\
def build(workers=None):
    if workers == 0:
        return DataLoader([], num_workers=workers)
    return DataLoader([1], num_workers=workers)  # method: spawn

def zero(workers=0):
    if workers == 0:
        return DataLoader([], num_workers=workers)  # method: no

def worker(rank):
    build()
    zero()

mp.spawn(worker)
""",
    "methods that the classes below have each for themselves": """\
# batches.py
from torch.utils.data import DataLoader

class Batches:
    def start(self):
        return self.make()

    def make(self):
        return DataLoader([0], num_workers=2)  # method: spawn

class Grouped(Batches):
    def make(self):
        return self.inner()

    def inner(self):
        return DataLoader([1], num_workers=2)  # method: spawn

class Sorted(Grouped):
    def make(self):
        return DataLoader([2], num_workers=2)  # method: spawn

class Aliased(Batches):
    def make(self):
        return DataLoader([3], num_workers=2)  # method: spawn

class Never(Batches):
    def make(self):
        return DataLoader([4], num_workers=2)  # method: no

class Elsewhere(Batches):
    def make(self):
        return DataLoader([5], num_workers=2)  # method: no

Default = Aliased

def other():
    return Elsewhere().start()
# picking.py
from batches import *

def pick(kind):
    if kind == "default":
        return Default()
    return {"plain": Batches, "grouped": Grouped, "sorted": Sorted}[kind]()
# train.py
import sys
import torch.multiprocessing as mp
from picking import pick

def main(rank, kind):
    pick(kind).start()

mp.spawn(main, args=(sys.argv[1],), nprocs=2)
""",
    "six classes beside one another": """\
import sys

class Batches:
    def start(self):
        return self.make()

    def make(self):
        return DataLoader([0], num_workers=2)  # method: spawn

class One(Batches):
    def make(self):
        return DataLoader([1], num_workers=2)  # method: spawn

class Two(Batches):
    def make(self):
        return DataLoader([2], num_workers=2)  # method: spawn

class Three(Batches):
    def make(self):
        return DataLoader([3], num_workers=2)  # method: spawn

class Four(Batches):
    def make(self):
        return DataLoader([4], num_workers=2)  # method: spawn

class Five(Batches):
    def make(self):
        return DataLoader([5], num_workers=2)  # method: spawn

class Six(Batches):
    def make(self):
        return DataLoader([6], num_workers=2)  # method: spawn

def main(rank, kind):
    [Batches, One, Two, Three, Four, Five, Six][int(kind)]().start()

mp.spawn(main, args=(sys.argv[1],), nprocs=2)
""",
    "a loader of a module that the launched process loads by its name": """\
# train.py
import importlib
import torch.multiprocessing as mp

def main(rank):
    importlib.import_module("sets.digits").make()

if __name__ == "__main__":
    mp.spawn(main)
# data.py
from torch.utils.data import DataLoader

def build(rows):
    return DataLoader(rows, num_workers=4)  # method: spawn
# sets/digits.py
from data import build

def make():
    return build([1, 2])

if __name__ == "__main__":
    print(make())
""",
    "one function for each split, which a launched process calls for both": """\
def make(rows, split):
    if split == "train":
        return DataLoader(rows, num_workers=4)  # method: spawn
    elif split == "test":
        return DataLoader(rows, num_workers=1)  # method: spawn

def main(rank, rows):
    return make(rows, "train"), make(rows, "test")

mp.spawn(main, args=([0, 1],), nprocs=2)
""",
    "one class for each split, which a launched process makes for both": """\
class Batches:
    def __init__(self, rows, split="train"):
        if split == "train":
            self.rows = DataLoader(rows, num_workers=4)  # method: spawn
        if split == "test":
            self.rows = DataLoader(rows, num_workers=1)  # method: spawn

def main(rank, rows):
    return Batches(rows).rows, Batches(rows, split="test").rows

mp.spawn(main, args=([0, 1],), nprocs=2)
""",
    "one function for each split, behind another one": """\
# train.py
import torch.multiprocessing as mp
from data import make

def build(rows, **options):
    return make(rows, **options)

def either(rows, training):
    return build(rows, training=training)

def main(rank, rows):
    return either(rows, True), either(rows, training=False)

if __name__ == "__main__":
    mp.spawn(main, args=([0, 1],), nprocs=2)
# data.py
from torch.utils.data import DataLoader

def make(rows, training):
    if training:
        return DataLoader(rows, num_workers=4)  # method: spawn
    return DataLoader(rows, num_workers=1)  # method: spawn
""",
    "one method for four splits, which a launched process calls for all": """\
class Data:
    def __init__(self, rows):
        self.rows = rows

    def loader(self, split):
        if split == "train":
            return DataLoader(self.rows, num_workers=4)  # method: spawn
        if split == "valid":
            return DataLoader(self.rows, num_workers=3)  # method: spawn
        if split == "test":
            return DataLoader(self.rows, num_workers=2)  # method: spawn
        return DataLoader(self.rows, num_workers=1)  # method: spawn

def main(rank, rows):
    data = Data(rows)
    for split in (data.loader("train"), data.loader("valid"), data.loader("test"), data.loader("all")):
        print(split)

mp.spawn(main, args=([0, 1],), nprocs=2)
""",
    "one function for each split, of which a launched process calls one": """\
def make(rows, split):
    if split == "train":
        return DataLoader(rows, num_workers=4)  # method: spawn
    return DataLoader(rows, num_workers=1)  # method: no

def main(rank, rows):
    return make(rows, "train"), make(rows[1:], "train")

mp.spawn(main, args=([0, 1],), nprocs=2)
make([0], "test")
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_start_methods(program: str, told: Callable[..., Any]) -> None:
    said, expected = told(whole(HEAD, program))
    assert said == expected
