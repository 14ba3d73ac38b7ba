"""DLL101: which loaders inherit spawn or forkserver, whatever form the launch and the loader take, and which do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LAUNCHERS: dict[str, dict[str, str]] = {
    "a trainer that keeps the method of a task which a class method of its base class makes": {
        "trainer.py": """\
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
""",
        "base.py": """from trainer import Trainer, once

class Task:
    @classmethod
    def start(cls, devices):
        task = cls()
        Trainer(devices).fit(task)

    @once
    def training_batches(self):
        raise NotImplementedError
""",
        "speech.py": """from base import Task
from torch.utils.data import DataLoader
from trainer import once

class SpeechTask(Task):
    @once
    def training_batches(self):
        return self.batches(list(range(100)))

    def batches(self, rows):
        return DataLoader(rows, num_workers=4)  # DLL101
""",
        "run.py": """import sys
from importlib import import_module

if __name__ == "__main__":
    module, _, name = sys.argv[1].rpartition(".")
    getattr(import_module(module), name).start(2)
""",
    },
    "the branch of several processes, and one where the count is set anew": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def run(rank, gpus, data):
    if gpus > 1:
        return DataLoader(data, num_workers=4)  # DLL101

def train(rank, gpus):
    gpus = 1
    if gpus <= 1:
        return DataLoader([], num_workers=4)  # DLL101

def other(rank, gpus):
    gpus = count(gpus)
    if not gpus > 1:
        return DataLoader([], num_workers=4)  # DLL101

def main(devices):
    n_gpus = len(devices)
    if n_gpus == 1:
        run(0, n_gpus, [])
    else:
        mp.spawn(run, args=(n_gpus, []), nprocs=n_gpus)
        mp.spawn(train, args=(n_gpus,), nprocs=n_gpus)
        mp.spawn(other, args=(n_gpus,), nprocs=n_gpus)
"""
    },
    "what is asserted in another branch, or later": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def run(rank, args):
    if args.show:
        assert args.gpus == 1
        print("one")
    loader = DataLoader([], num_workers=4)  # DLL101
    assert args.gpus == 1 or rank >= 0
    return loader

def main(args):
    if args.gpus == 1:
        run(0, args)
    else:
        mp.spawn(run, args=(args,), nprocs=args.gpus)
"""
    },
    "a launching helper that several programs use, each with a function of its own": {
        "launching.py": """\
import torch.multiprocessing as mp

def launch(main, count, args=()):
    if count > 1:
        mp.spawn(worker, nprocs=count, args=(main, args))
    else:
        main(*args)

def worker(rank, main, args):
    main(*args)
""",
        "chosen.py": """\
import sys
from torch.utils.data import DataLoader
from launching import launch

def measure(data):
    return DataLoader(data, num_workers=4)  # DLL101

def evaluate(data):
    return DataLoader(data, num_workers=2)  # DLL101

if __name__ == "__main__":
    if sys.argv[1] == "measure":
        function = measure
    else:
        function = evaluate
    launch(function, 8, args=([],))
""",
        "evaluate.py": """\
from torch.utils.data import DataLoader
from launching import launch

def main(data):
    return DataLoader(data, num_workers=4)  # DLL101

if __name__ == "__main__":
    launch(main, 8, args=([],))
""",
        "train.py": """\
from torch.utils.data import DataLoader
from launching import launch

def main(data):
    return DataLoader(data, num_workers=4)  # DLL101

if __name__ == "__main__":
    launch(main, 8, args=([],))
""",
    },
    "mp.spawn": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def worker(rank, dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

if __name__ == "__main__":
    mp.spawn(worker, args=([],), nprocs=2)
"""
    },
    "spawn imported by its name": {
        "train.py": """\
from torch.multiprocessing import spawn
from torch.utils.data import DataLoader

def worker(rank, dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    spawn(worker, nprocs=2)
"""
    },
    "torch.multiprocessing in full, fn by keyword": {
        "train.py": """\
import torch
from torch.utils.data import DataLoader

def worker(rank, dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    torch.multiprocessing.spawn(fn=worker, nprocs=2)
"""
    },
    "mp from torch": {
        "train.py": """\
from torch import multiprocessing as mp
import torch.utils.data as data

def worker(rank, dataset):
    data.DataLoader(dataset, num_workers=4)  # DLL101

def main():
    mp.spawn(worker)
"""
    },
    "spawn of another start_method": {
        "train.py": """\
from torch import multiprocessing as mp
from torch.utils.data import DataLoader

METHOD = "forkserver"

def worker(rank, dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    mp.start_processes(worker, nprocs=2, start_method=METHOD)
"""
    },
    "start_processes by its default": {
        "train.py": """\
from torch.multiprocessing.spawn import start_processes
from torch.utils.data import DataLoader

def worker(rank, dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    start_processes(worker, nprocs=2)
"""
    },
    "start_processes, a method from the command line": {
        "train.py": """\
import argparse
from torch.multiprocessing import start_processes
from torch.utils.data import DataLoader

def worker(rank, dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--method", default="spawn")
    args = parser.parse_args()
    start_processes(worker, nprocs=2, start_method=args.method)
"""
    },
    "context variable": {
        "train.py": """\
import multiprocessing as mp
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    ctx = mp.get_context("spawn")
    process = ctx.Process(target=worker, args=([],))
    process.start()
"""
    },
    "context inline": {
        "train.py": """\
from multiprocessing import get_context
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    get_context("spawn").Process(None, worker, None, ([],)).start()
"""
    },
    "context at module level of another file": {
        "context.py": """\
import multiprocessing
CONTEXT = multiprocessing.get_context(method="spawn")
""",
        "train.py": """\
from torch.utils.data import DataLoader
from context import CONTEXT

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    CONTEXT.Process(target=worker).start()
""",
    },
    "context as attribute": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

class Trainer:
    def __init__(self):
        self.ctx = mp.get_context("forkserver")

    def start(self):
        self.process = self.ctx.Process(target=worker, kwargs={"dataset": []})
        self.process.start()
"""
    },
    "context from a function": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def context():
    return mp.get_context("spawn")

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    process = context().Process(target=worker)
    process.start()
"""
    },
    "the Process class of a context bound to a variable": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

Process = mp.get_context("spawn").Process

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    Process(target=worker).start()
"""
    },
    "SpawnProcess": {
        "train.py": """\
from multiprocessing.context import SpawnProcess
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    SpawnProcess(target=worker).start()
"""
    },
    "SpawnContext": {
        "train.py": """\
from multiprocessing.context import SpawnContext
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    SpawnContext().Process(target=worker).start()
"""
    },
    "Process subclass with run": {
        "train.py": """\
import multiprocessing as mp
from torch.utils.data import DataLoader

class Worker(mp.get_context("spawn").Process):
    def __init__(self, dataset):
        super().__init__()
        self.dataset = dataset

    def run(self):
        DataLoader(self.dataset, num_workers=4)  # DLL101

def main():
    Worker([]).start()
"""
    },
    "SpawnProcess subclass": {
        "train.py": """\
from multiprocessing.context import SpawnProcess
from torch.utils.data import DataLoader

class Worker(SpawnProcess):
    def run(self):
        self.train()

    def train(self):
        DataLoader([], num_workers=4)  # DLL101

def main():
    Worker().start()
"""
    },
    "executor with mp_context": {
        "train.py": """\
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        pool.submit(worker, [])
"""
    },
    "executor map, context positional": {
        "train.py": """\
import multiprocessing
import concurrent.futures
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    context = multiprocessing.get_context("forkserver")
    pool = concurrent.futures.ProcessPoolExecutor(2, context)
    list(pool.map(worker, [[], []]))
"""
    },
    "executor kept on an object": {
        "train.py": """\
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

class Sweep:
    def __init__(self):
        self.pool = ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))

    def run(self):
        return self.pool.submit(worker, dataset=[])
"""
    },
    "elastic_launch": {
        "train.py": """\
from torch.distributed.launcher.api import LaunchConfig, elastic_launch
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    elastic_launch(LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=2), worker)([])
"""
    },
    "elastic_launch in two steps, by keyword": {
        "train.py": """\
import torch.distributed.launcher as pet
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    config = pet.LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=2, start_method="forkserver")
    start = pet.elastic_launch(config=config, entrypoint=worker)
    start([])
"""
    },
    "launch_agent": {
        "train.py": """\
from torch.distributed.launcher.api import LaunchConfig, launch_agent
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    launch_agent(LaunchConfig(1, 1, 2), worker, [[]])
"""
    },
    "set_start_method at the start of main": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def main():
    mp.set_start_method("spawn", force=True)
    DataLoader([], num_workers=4)  # DLL101

if __name__ == "__main__":
    main()
"""
    },
    "set_start_method imported by another name": {
        "train.py": """\
from multiprocessing import set_start_method as use
from torch.utils.data import DataLoader

def main():
    use("forkserver")
    DataLoader([], num_workers=4)  # DLL101
"""
    },
    "set_start_method where none is set yet": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def main():
    if mp.get_start_method(allow_none=True) is None:
        mp.set_start_method("spawn")
    DataLoader([], num_workers=4)  # DLL101
"""
    },
    "set_start_method where it is not spawn yet": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def main():
    if mp.get_start_method(allow_none=True) != "spawn":
        mp.set_start_method("spawn", force=True)
    DataLoader([], num_workers=4)  # DLL101
"""
    },
    "set_start_method in try": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def main():
    try:
        mp.set_start_method("spawn")
    except RuntimeError:
        pass
    DataLoader([], num_workers=4)  # DLL101
"""
    },
    "set_start_method at module level of an imported module": {
        "start.py": """\
import torch.multiprocessing
torch.multiprocessing.set_start_method("spawn")
""",
        "train.py": """\
import start
from torch.utils.data import DataLoader

def main():
    DataLoader([], num_workers=4)  # DLL101

if __name__ == "__main__":
    main()
""",
    },
    "set_start_method under the guard": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def main():
    run([])

def run(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

if __name__ == "__main__":
    mp.set_start_method("spawn")
    main()
"""
    },
    "set_start_method of a variable": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def main(method="spawn"):
    mp.set_start_method(method)
    DataLoader([], num_workers=4)  # DLL101

if __name__ == "__main__":
    main()
"""
    },
    "plain Process where spawn is in force": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

if __name__ == "__main__":
    mp.set_start_method("spawn")
    mp.Process(target=worker, args=([],)).start()
"""
    },
    "launch function of the project": {
        "dist.py": """\
import torch.multiprocessing as mp

def launch(main_func, num_gpus, args=()):
    if num_gpus > 1:
        mp.spawn(_run, nprocs=num_gpus, args=(main_func, args), daemon=False)
    else:
        main_func(*args)

def _run(local_rank, main_func, args):
    main_func(*args)
""",
        "train.py": """\
from torch.utils.data import DataLoader
from dist import launch

def main(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

if __name__ == "__main__":
    launch(main, 4, args=([],))
""",
    },
    "launch function that takes the target by keyword and hands it on twice": {
        "dist.py": """\
import torch.multiprocessing as mp

def launch(**kwargs):
    start(kwargs["fn"], kwargs["nprocs"])

def start(fn, nprocs):
    mp.spawn(fn, nprocs=nprocs)
""",
        "train.py": """\
from torch.utils.data import DataLoader
import dist

def main(rank):
    DataLoader([], num_workers=4)  # DLL101

if __name__ == "__main__":
    dist.launch(fn=main, nprocs=2)
""",
    },
    "launcher class of the project": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

class Launcher:
    def __init__(self, fn):
        self.fn = fn

    def __call__(self, *args):
        mp.spawn(self.fn, args=args, nprocs=2)

def main(rank):
    DataLoader([], num_workers=4)  # DLL101

if __name__ == "__main__":
    Launcher(main)()
"""
    },
    "bound method as target": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, dataset):
        self.dataset = dataset

    def fit(self):
        mp.spawn(self.train, nprocs=2)

    def train(self, rank):
        self.loader()

    def loader(self):
        return DataLoader(self.dataset, num_workers=4)  # DLL101
"""
    },
    "method of an object as target": {
        "trainer.py": """\
from torch.utils.data import DataLoader

class Trainer:
    def train(self, rank):
        return DataLoader([], num_workers=4)  # DLL101
""",
        "main.py": """\
import torch.multiprocessing as mp
from trainer import Trainer

if __name__ == "__main__":
    trainer = Trainer()
    mp.spawn(trainer.train, nprocs=2)
""",
    },
    "static method as target": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

class Trainer:
    @staticmethod
    def train(rank):
        return DataLoader([], num_workers=4)  # DLL101

    @classmethod
    def fit(cls):
        mp.spawn(cls.train, nprocs=2)
"""
    },
    "class as target": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, rank, dataset):
        self.loader = DataLoader(dataset, num_workers=4)  # DLL101

def main():
    mp.spawn(Trainer, args=([],), nprocs=2)
"""
    },
    "object with __call__ as target": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, dataset):
        self.dataset = dataset

    def __call__(self, rank):
        DataLoader(self.dataset, num_workers=4)  # DLL101

def main():
    mp.spawn(Trainer([]), nprocs=2)
"""
    },
    "partial as target": {
        "train.py": """\
from functools import partial
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def worker(rank, dataset, workers):
    DataLoader(dataset, num_workers=workers)  # DLL101

def main():
    target = partial(worker, dataset=[], workers=4)
    mp.spawn(target, nprocs=2)
"""
    },
    "lambda as target": {
        "train.py": """\
import multiprocessing
from torch.utils.data import DataLoader

def worker(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def main():
    multiprocessing.get_context("spawn").Process(target=lambda: worker([])).start()
"""
    },
    "module attribute as target": {
        "jobs/__init__.py": "",
        "jobs/train.py": """\
from torch.utils.data import DataLoader

def worker(rank):
    DataLoader([], num_workers=4)  # DLL101
""",
        "main.py": """\
import torch.multiprocessing as mp
import jobs.train

if __name__ == "__main__":
    mp.spawn(jobs.train.worker, nprocs=2)
""",
    },
    "target through a re-export and a relative import": {
        "jobs/__init__.py": "from .train import worker\n",
        "jobs/train.py": """\
from torch.utils.data import DataLoader

def worker(rank):
    DataLoader([], num_workers=4)  # DLL101
""",
        "main.py": """\
import torch.multiprocessing as mp
from jobs import worker as job

if __name__ == "__main__":
    mp.spawn(job, nprocs=2)
""",
    },
    "target from a table": {
        "main.py": """\
import sys
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def train(rank):
    DataLoader([], num_workers=4)  # DLL101

def test(rank):
    DataLoader([], num_workers=2)  # DLL101

JOBS = {"train": train, "test": test}

if __name__ == "__main__":
    mp.spawn(JOBS[sys.argv[1]], nprocs=2)
"""
    },
    "target chosen by a condition": {
        "main.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def train(rank):
    DataLoader([], num_workers=4)  # DLL101

def test(rank):
    DataLoader([], num_workers=2)  # DLL101

def main(args):
    worker = train if args.train else test
    mp.spawn(worker, nprocs=2)
"""
    },
    "decorated target": {
        "main.py": """\
import functools
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def record(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        print("start")
        return function(*args, **kwargs)
    return inner

@record
def train(rank):
    DataLoader([], num_workers=4)  # DLL101

def main():
    mp.spawn(train, nprocs=2)
"""
    },
    "target decorated by a function from outside": {
        "main.py": """\
import torch.multiprocessing as mp
from torch.distributed.elastic.multiprocessing.errors import record
from torch.utils.data import DataLoader

@record
def train(rank):
    DataLoader([], num_workers=4)  # DLL101

def main():
    mp.spawn(train, nprocs=2)
"""
    },
    "a launch by spawn inside a forked process": {
        "main.py": """\
import multiprocessing
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def train(rank):
    DataLoader([], num_workers=4)  # DLL101

def tune():
    DataLoader([], num_workers=2)
    mp.spawn(train, nprocs=2)

def main():
    multiprocessing.get_context("fork").Process(target=tune).start()
"""
    },
    "a plain Process inside a spawned one": {
        "main.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def evaluate(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def train(rank):
    job = mp.Process(target=evaluate, args=([],))
    job.start()

def main():
    mp.spawn(train, nprocs=2)
"""
    },
    "a thread inside a spawned process": {
        "main.py": """\
import threading
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def prefetch(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def train(rank):
    threading.Thread(target=prefetch, args=([],)).start()

def main():
    mp.spawn(train, nprocs=2)
"""
    },
    "Lightning's strategy object, data module, old package": {
        "data.py": """\
from pytorch_lightning import LightningDataModule
from torch.utils.data import DataLoader

class Data(LightningDataModule):
    def train_dataloader(self):
        return self.make([])

    def make(self, rows):
        return DataLoader(rows, num_workers=4)  # DLL101
""",
        "main.py": """\
from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.strategies import DDPStrategy
from data import Data

def main():
    trainer = Trainer(strategy=DDPStrategy(start_method="spawn"), devices=2)
    data = Data()
    trainer.fit(LightningModule(), datamodule=data)
""",
    },
    "Lightning's ddp_spawn": {
        "main.py": """\
import lightning.pytorch as pl
from torch.utils.data import DataLoader

class Model(pl.LightningModule):
    def train_dataloader(self):
        return DataLoader([], num_workers=4)  # DLL101

def main():
    pl.Trainer(strategy="ddp_spawn", devices=2).fit(Model())
"""
    },
}

LOADERS: dict[str, str] = {
    "alias": """\
from torch.utils.data import DataLoader as Loader
def build():
    return Loader([], num_workers=4)  # DLL101
""",
    "module alias": """\
import torch.utils.data as D
def build():
    return D.DataLoader([], num_workers=4)  # DLL101
""",
    "full name": """\
import torch
def build():
    return torch.utils.data.DataLoader([], num_workers=4)  # DLL101
""",
    "dataloader module": """\
from torch.utils.data.dataloader import DataLoader
def build():
    return DataLoader([], num_workers=4)  # DLL101
""",
    "from torch import utils": """\
from torch import utils
def build():
    return utils.data.DataLoader([], num_workers=4)  # DLL101
""",
    "star import": """\
from torch.utils.data import *
def build():
    return DataLoader([], num_workers=4)  # DLL101
""",
    "import inside the function": """\
def build():
    from torch.utils.data import DataLoader
    return DataLoader([], num_workers=4)  # DLL101
""",
    "import in try": """\
try:
    from torch.utils.data import DataLoader
except ImportError:
    DataLoader = None

def build():
    return DataLoader([], num_workers=4)  # DLL101
""",
    "subclass": """\
from torch.utils.data import DataLoader

class Loader(DataLoader):
    def __init__(self, dataset, *args, **kwargs):
        super().__init__(dataset, *args, **kwargs)

def build():
    return Loader([], num_workers=4)  # DLL101
""",
    "subclass that sets the count itself": """\
from torch.utils.data import DataLoader

class Loader(DataLoader):
    def __init__(self, dataset):
        super(Loader, self).__init__(dataset, batch_size=4, num_workers=8)

def build():
    return Loader([])  # DLL101
""",
    "subclass that reaches the base by its name": """\
from torch.utils.data import DataLoader

class Loader(DataLoader):
    def __init__(self, dataset, workers=2):
        DataLoader.__init__(self, dataset, num_workers=workers)

def build():
    return Loader([])  # DLL101
""",
    "subclass of a subclass": """\
import torch.utils.data

class Base(torch.utils.data.DataLoader):
    pass

class Loader(Base):
    def __iter__(self):
        yield from super().__iter__()

def build():
    return Loader([], num_workers=4)  # DLL101
""",
    "class in a variable": """\
import torch

Loader = torch.utils.data.DataLoader

def build():
    return Loader([], num_workers=4)  # DLL101
""",
    "class chosen by a condition": """\
from torch.utils.data import DataLoader
from torch_geometric.loader import DataLoader as GraphLoader

def build(graphs):
    cls = GraphLoader if graphs else DataLoader
    return cls([], num_workers=4)  # DLL101
""",
    "partial": """\
from functools import partial
from torch.utils.data import DataLoader

make = partial(DataLoader, batch_size=4, num_workers=4)

def build():
    return make([])  # DLL101
""",
    "partial inside the function": """\
import functools
from torch.utils.data import DataLoader

def build():
    make = functools.partial(DataLoader, batch_size=4)
    return make([], num_workers=4)  # DLL101
""",
    "positional arguments": """\
from torch.utils.data import DataLoader

def build():
    return DataLoader([], 32, True, None, None, 4)  # DLL101
""",
    "keyword dict": """\
from torch.utils.data import DataLoader

OPTIONS = {"batch_size": 4, "num_workers": 4}

def build():
    return DataLoader([], **OPTIONS)  # DLL101
""",
    "keyword dict filled step by step": """\
from torch.utils.data import DataLoader

def build():
    options = dict(batch_size=4)
    options["num_workers"] = 4
    options.update(pin_memory=True)
    return DataLoader([], **options)  # DLL101
""",
    "keywords through a function": """\
from torch.utils.data import DataLoader

def make(dataset, **kwargs):
    return DataLoader(dataset, **kwargs)  # DLL101

def build():
    return make([], batch_size=4, num_workers=4)
""",
    "merged dicts": """\
from torch.utils.data import DataLoader

BASE = {"pin_memory": True}

def build():
    return DataLoader([], **{**BASE, "num_workers": 4})  # DLL101
""",
    "count of the command line": """\
import argparse
from torch.utils.data import DataLoader

def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", "--workers", type=int, default=4)
    return parser.parse_args()

def build():
    args = arguments()
    return DataLoader([], num_workers=args.workers)  # DLL101
""",
    "count of the command line that is 0 only by default": """\
import argparse
from torch.utils.data import DataLoader

def build():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    return DataLoader([], num_workers=args.workers)  # DLL101
""",
    "count of the machine": """\
import os
from torch.utils.data import DataLoader

def build():
    return DataLoader([], num_workers=min(os.cpu_count(), 8))  # DLL101
""",
    "count of a parameter with a default": """\
from torch.utils.data import DataLoader

def make(dataset, workers=4):
    return DataLoader(dataset, num_workers=workers)  # DLL101

def build():
    return make([])
""",
    "count of a dataclass": """\
from dataclasses import dataclass
from torch.utils.data import DataLoader

@dataclass
class Config:
    workers: int = 4

def build():
    config = Config()
    return DataLoader([], num_workers=config.workers)  # DLL101
""",
    "factory through a static method": """\
from torch.utils.data import DataLoader

class Loaders:
    @staticmethod
    def train(dataset):
        return DataLoader(dataset, num_workers=4)  # DLL101

def build():
    return Loaders.train([])
""",
    "generator": """\
from torch.utils.data import DataLoader

def batches():
    yield from DataLoader([], num_workers=4)  # DLL101

def build():
    return list(batches())
""",
    "comprehension": """\
from torch.utils.data import DataLoader

def build():
    return {name: DataLoader([], num_workers=4) for name in ("train", "test")}  # DLL101
""",
    "loader made by a lambda": """\
from torch.utils.data import DataLoader

def build():
    make = lambda dataset: DataLoader(dataset, num_workers=4)  # DLL101
    return make([])
""",
    "loader in a nested function": """\
from torch.utils.data import DataLoader

def build():
    def make(dataset):
        return DataLoader(dataset, num_workers=4)  # DLL101
    return make([])
""",
    "loader in a with block": """\
import contextlib
from torch.utils.data import DataLoader

@contextlib.contextmanager
def loading():
    yield DataLoader([], num_workers=4)  # DLL101

def build():
    with loading() as loader:
        return loader
""",
    "async function": """\
import asyncio
from torch.utils.data import DataLoader

async def load():
    return DataLoader([], num_workers=4)  # DLL101

def build():
    return asyncio.run(load())
""",
    "base class method that a subclass calls": """\
from torch.utils.data import DataLoader

class Base:
    def run(self):
        return self.make([])

    def make(self, dataset):
        raise NotImplementedError

class Trainer(Base):
    def make(self, dataset):
        return DataLoader(dataset, num_workers=4)  # DLL101

def build():
    return Trainer().run()
""",
    "object kept as attribute": """\
from torch.utils.data import DataLoader

class Data:
    def make(self):
        return DataLoader([], num_workers=4)  # DLL101

class Trainer:
    def __init__(self):
        self.data = Data()

    def run(self):
        return self.data.make()

def build():
    return Trainer().run()
""",
    "object handed over": """\
from torch.utils.data import DataLoader

class Data:
    def make(self):
        return DataLoader([], num_workers=4)  # DLL101

def run(data):
    return data.make()

def build():
    return run(Data())
""",
    "function handed over": """\
from torch.utils.data import DataLoader

def make():
    return DataLoader([], num_workers=4)  # DLL101

def run(factory):
    return factory()

def build():
    return run(make)
""",
    "a loader of PyG": """\
from torch_geometric.loader import DataLoader

def build():
    return DataLoader([], batch_size=4, num_workers=4)  # DLL101
""",
    "MONAI's loader": """\
import monai

def build():
    return monai.data.DataLoader([], num_workers=4)  # DLL101
""",
    "WebLoader": """\
import webdataset as wds

def build():
    return wds.WebLoader([], num_workers=4)  # DLL101
""",
    "the function of a library that makes one": """\
import flashy
from dora import distrib

def build():
    distrib.loader([], num_workers=4)  # DLL101
    return flashy.distrib.loader([], batch_size=2, num_workers=4)  # DLL101
""",
    "context None": """\
from torch.utils.data import DataLoader

def build():
    return DataLoader([], num_workers=4, multiprocessing_context=None)  # DLL101
""",
    "context only for CUDA hosts": """\
from torch.utils.data import DataLoader

def build(context=None):
    return DataLoader([], num_workers=4, multiprocessing_context=context)  # DLL101
""",
}

SILENT_LOADERS: dict[str, str] = {
    "no count": "from torch.utils.data import DataLoader\ndef build():\n    return DataLoader([])\n",
    "zero": "from torch.utils.data import DataLoader\ndef build():\n    return DataLoader([], num_workers=0)\n",
    "zero by a constant of the module": """\
from torch.utils.data import DataLoader

WORKERS = 0

def build():
    return DataLoader([], num_workers=WORKERS)
""",
    "zero by a variable": """\
from torch.utils.data import DataLoader

def build():
    workers = 0
    return DataLoader([], num_workers=workers)
""",
    "zero by a parameter that nobody gives": """\
from torch.utils.data import DataLoader

def make(dataset, workers=0):
    return DataLoader(dataset, num_workers=workers)

def build():
    return make([])
""",
    "zero by every caller": """\
from torch.utils.data import DataLoader

def make(dataset, workers):
    return DataLoader(dataset, num_workers=workers)

def build():
    make([], 0)
    return make([], workers=0)
""",
    "zero in the keyword dict": """\
from torch.utils.data import DataLoader

def build():
    options = {"num_workers": 0, "batch_size": 4}
    return DataLoader([], **options)
""",
    "zero in the branch": """\
from torch.utils.data import DataLoader

def build(workers=0):
    if workers == 0:
        return DataLoader([], num_workers=workers)
""",
    "store_const 0": """\
import argparse
from torch.utils.data import DataLoader

def build():
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", dest="workers", action="store_const", const=0, default=0)
    args = parser.parse_args()
    return DataLoader([], num_workers=args.workers)
""",
    "a dict without the count": """\
from torch.utils.data import DataLoader

def build():
    options = {"batch_size": 4}
    return DataLoader([], **options)
""",
    "explicit spawn": """\
from torch.utils.data import DataLoader

def build():
    return DataLoader([], num_workers=4, multiprocessing_context="spawn")
""",
    "explicit context object": """\
import multiprocessing
from torch.utils.data import DataLoader

def build():
    context = multiprocessing.get_context("fork")
    return DataLoader([], num_workers=4, multiprocessing_context=context)
""",
    "context in the keyword dict": """\
from torch.utils.data import DataLoader

OPTIONS = dict(num_workers=4, multiprocessing_context="forkserver")

def build():
    return DataLoader([], **OPTIONS)
""",
    "context put into the keyword dict": """\
from torch.utils.data import DataLoader

def build():
    options = {"num_workers": 4}
    options["multiprocessing_context"] = "fork"
    return DataLoader([], **options)
""",
    "context put in when there are workers": """\
from torch.utils.data import DataLoader

def build(workers=4):
    options = {"num_workers": workers}
    if workers > 0:
        options["multiprocessing_context"] = "fork"
    return DataLoader([], **options)
""",
    "context by a conditional expression on the count": """\
from torch.utils.data import DataLoader

def build(workers=4):
    return DataLoader([], num_workers=workers, multiprocessing_context="fork" if workers else None)
""",
    "context by setdefault": """\
from torch.utils.data import DataLoader

def make(dataset, **kwargs):
    kwargs.setdefault("multiprocessing_context", "fork")
    return DataLoader(dataset, **kwargs)

def build():
    return make([], num_workers=4)
""",
    "context handed through": """\
from torch.utils.data import DataLoader

def make(dataset, **kwargs):
    return DataLoader(dataset, **kwargs)

def build():
    return make([], num_workers=4, multiprocessing_context="fork")
""",
    "context of the subclass": """\
from torch.utils.data import DataLoader

class Loader(DataLoader):
    def __init__(self, dataset, **kwargs):
        super().__init__(dataset, multiprocessing_context="fork", **kwargs)

def build():
    return Loader([], num_workers=4)
""",
    "context in a partial": """\
from functools import partial
from torch.utils.data import DataLoader

make = partial(DataLoader, multiprocessing_context="fork")

def build():
    return make([], num_workers=4)
""",
    "context set afterwards": """\
from torch.utils.data import DataLoader

def build():
    loader = DataLoader([], num_workers=4)
    loader.multiprocessing_context = "fork"
    return loader
""",
    "fork forced in the target": """\
import multiprocessing
from torch.utils.data import DataLoader

def build():
    multiprocessing.set_start_method("fork", force=True)
    return DataLoader([], num_workers=4)
""",
    "paddle's": "from paddle.io import DataLoader\ndef build():\n    return DataLoader([], num_workers=4)\n",
    "gluon's": "from mxnet.gluon.data import DataLoader\ndef build():\n    return DataLoader([], num_workers=4)\n",
    "batchgenerators'": """\
from batchgenerators.dataloading.data_loader import DataLoader

class Loader(DataLoader):
    pass

def build():
    return Loader([], num_workers=4)
""",
    "the project's own": """\
class DataLoader:
    def __init__(self, rows, num_workers=0):
        self.rows = rows

def build():
    return DataLoader([], num_workers=4)
""",
    "a dataset called loader": """\
from torch.utils.data import Dataset

class FaceDataLoader(Dataset):
    def __init__(self, rows, num_workers):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index]

def build():
    return FaceDataLoader([], num_workers=4)
""",
    "a type test": """\
from torch.utils.data import DataLoader

def build(loader: DataLoader = None):
    return isinstance(loader, DataLoader)
""",
    "made in a function that is not called": """\
from torch.utils.data import DataLoader

def other():
    return DataLoader([], num_workers=4)

def build():
    return [other]
""",
    "made in a script of its own": """\
from torch.utils.data import DataLoader

def build():
    print("nothing")

def main():
    return DataLoader([], num_workers=4)

if __name__ == "__main__":
    main()
""",
}

SPAWNED = """\
import torch.multiprocessing as mp
import data

def worker(rank):
    data.build()

if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
"""

SILENT_LAUNCHES: dict[str, dict[str, str]] = {
    "what is asserted to run in one process alone": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def show(data):
    return DataLoader(data, num_workers=1)

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
"""
    },
    "the branch of a single process": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def run(rank, gpus, data):
    if gpus > 1:
        loader = DataLoader(data, num_workers=0)
    else:
        loader = DataLoader(data, num_workers=4)
    return loader

def main(devices):
    n_gpus = len(devices)
    if n_gpus == 1:
        run(0, n_gpus, [])
    else:
        mp.spawn(run, args=(n_gpus, []), nprocs=n_gpus)
"""
    },
    "the branch of a single process, some calls further on": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def load(distributed):
    if not distributed:
        return DataLoader([], num_workers=4)

def run(rank, distributed):
    load(distributed)

def main(args):
    if args.distributed:
        mp.spawn(run, args=(args.distributed,), nprocs=2)
    else:
        run(0, args.distributed)
"""
    },
    "no launch": {
        "train.py": """\
from torch.utils.data import DataLoader

def main():
    DataLoader([], num_workers=4)

if __name__ == "__main__":
    main()
"""
    },
    "fork context": {
        "train.py": """\
import multiprocessing
from torch.utils.data import DataLoader

def worker():
    DataLoader([], num_workers=4)

def main():
    multiprocessing.get_context("fork").Process(target=worker).start()
"""
    },
    "start_processes by fork": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def worker(rank):
    DataLoader([], num_workers=4)

def main():
    mp.start_processes(worker, nprocs=2, start_method="fork")
"""
    },
    "plain Process": {
        "train.py": """\
import multiprocessing
from torch.utils.data import DataLoader

def worker():
    DataLoader([], num_workers=4)

def main():
    multiprocessing.Process(target=worker).start()
"""
    },
    "plain executor": {
        "train.py": """\
from concurrent.futures import ProcessPoolExecutor
from torch.utils.data import DataLoader

def worker():
    DataLoader([], num_workers=4)

def main():
    with ProcessPoolExecutor() as pool:
        pool.submit(worker)
"""
    },
    "thread pool": {
        "train.py": """\
from concurrent.futures import ThreadPoolExecutor
from torch.utils.data import DataLoader

def worker():
    DataLoader([], num_workers=4)

def main():
    with ThreadPoolExecutor() as pool:
        pool.submit(worker)
"""
    },
    "set_start_method fork": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def main():
    mp.set_start_method("fork")
    DataLoader([], num_workers=4)
"""
    },
    "set_start_method after the loader's function": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def load():
    return DataLoader([], num_workers=4)

def main():
    list(load())
    mp.set_start_method("spawn")
"""
    },
    "set_start_method in another program": {
        "serve.py": """\
import torch.multiprocessing as mp

if __name__ == "__main__":
    mp.set_start_method("spawn")
""",
        "train.py": """\
from torch.utils.data import DataLoader

def main():
    DataLoader([], num_workers=4)

if __name__ == "__main__":
    main()
""",
    },
    "set_start_method under the guard of an imported module": {
        "helper.py": """\
import torch.multiprocessing as mp

def value():
    return 1

if __name__ == "__main__":
    mp.set_start_method("spawn")
""",
        "train.py": """\
import helper
from torch.utils.data import DataLoader

if __name__ == "__main__":
    DataLoader([], num_workers=helper.value())
""",
    },
    "spawn, then fork by force": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def main():
    mp.set_start_method("spawn")
    mp.set_start_method("fork", force=True)
    DataLoader([], num_workers=4)
"""
    },
    "forced in a helper that the target calls": {
        "setup.py": """\
import torch.multiprocessing as mp

def prepare():
    mp.set_start_method("fork", force=True)
""",
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
import setup

def worker(rank):
    setup.prepare()
    DataLoader([], num_workers=4)

def main():
    mp.spawn(worker, nprocs=2)
""",
    },
    "forced in the target before another function makes the loader": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def load():
    return DataLoader([], num_workers=4)

def worker(rank):
    mp.set_start_method("fork", force=True)
    load()

def main():
    mp.spawn(worker, nprocs=2)
"""
    },
    "the branch of a program that is not launched": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def main_worker(rank, args):
    if args.distributed:
        print("ranks")
    else:
        DataLoader([], num_workers=4)

def main(args):
    if args.distributed:
        mp.spawn(main_worker, nprocs=2, args=(args,))
    else:
        main_worker(0, args)
"""
    },
    "a flag that the launch sets": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def run(rank, distributed):
    if not distributed:
        DataLoader([], num_workers=4)

def main(gpus):
    if gpus > 1:
        mp.spawn(run, nprocs=gpus, args=(True,))
    else:
        run(0, False)
"""
    },
    "the count that the launch hands over is 0": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def run(rank, workers):
    DataLoader([], num_workers=workers)

def main(gpus):
    if gpus > 1:
        mp.spawn(run, nprocs=gpus, args=(0,))
    else:
        run(0, 4)
"""
    },
    "torchrun by subprocess": {
        "launch.py": """\
import subprocess
import sys
subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2", "train.py"])
""",
        "train.py": """\
import torch.distributed
from torch.utils.data import DataLoader

def main():
    torch.distributed.init_process_group("gloo")
    DataLoader([], num_workers=4)

if __name__ == "__main__":
    main()
""",
    },
    "a spawned logger beside the loader": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def log(queue):
    print(queue.get())

def main():
    context = mp.get_context("spawn")
    context.Process(target=log, args=(context.Queue(),)).start()
    DataLoader([], num_workers=4)
"""
    },
    "mp.spawn in a string and in a comment": {
        "train.py": """\
from torch.utils.data import DataLoader

def main(rank):
    \"\"\"Was started by mp.spawn(main, nprocs=2).\"\"\"
    # mp.spawn(main)
    DataLoader([], num_workers=4)
"""
    },
    "a function of the project called spawn": {
        "tools.py": """\
def spawn(function, nprocs):
    for rank in range(nprocs):
        function(rank)
""",
        "train.py": """\
from tools import spawn
from torch.utils.data import DataLoader

def main(rank):
    DataLoader([], num_workers=4)

spawn(main, nprocs=2)
""",
    },
    "the argument of the target, not the target": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def load():
    return DataLoader([], num_workers=4)

def worker(rank, name):
    print(name)

def main():
    mp.spawn(worker, args=(load.__name__,), nprocs=2)
    load()
"""
    },
    "fork or nothing, by the platform": {
        "train.py": """\
import multiprocessing
from torch.utils.data import DataLoader

def worker():
    DataLoader([], num_workers=4)

def main():
    context = multiprocessing.get_context("fork" if multiprocessing.cpu_count() > 1 else None)
    context.Process(target=worker).start()
"""
    },
    "Lightning's ddp": {
        "main.py": """\
import lightning.pytorch as pl
from torch.utils.data import DataLoader

class Model(pl.LightningModule):
    def train_dataloader(self):
        return DataLoader([], num_workers=4)

def main():
    pl.Trainer(strategy="ddp", devices=2).fit(Model())
"""
    },
    "Accelerate's notebook_launcher forks": {
        "main.py": """\
from accelerate import notebook_launcher
from torch.utils.data import DataLoader

def train():
    DataLoader([], num_workers=4)

notebook_launcher(train, num_processes=2)
"""
    },
}

SELECT = {"select": ["DLL101"]}


@pytest.mark.parametrize("files", LAUNCHERS.values(), ids=LAUNCHERS)
def test_every_kind_of_launch_is_found(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("data", LOADERS.values(), ids=LOADERS)
def test_every_kind_of_loader_is_found(findings: Callable[..., Any], marks: Callable[..., Any], data: str) -> None:
    files = {"main.py": SPAWNED, "data.py": data}
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("data", SILENT_LOADERS.values(), ids=SILENT_LOADERS)
def test_other_loaders_are_silent(findings: Callable[..., Any], data: str) -> None:
    assert findings({"main.py": SPAWNED, "data.py": data}, **SELECT) == set()


@pytest.mark.parametrize("files", SILENT_LAUNCHES.values(), ids=SILENT_LAUNCHES)
def test_other_launches_are_silent(findings: Callable[..., Any], files: dict[str, str]) -> None:
    assert findings(files, **SELECT) == set()


def test_launchers_and_loaders_of_the_settings(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {
        "main.py": """\
import cluster
from house import BatchLoader

def train(rank):
    BatchLoader([], num_workers=4)  # DLL101

cluster.start(train, nprocs=2)
"""
    }
    assert findings(files, **SELECT) == set()
    assert findings(files, **SELECT, launchers=["cluster.start"], loaders=["house.BatchLoader"]) == marks(files)


def test_the_trace_names_every_call_site_in_order(told: Callable[..., Any], relative: Callable[..., Any]) -> None:
    files = {
        "dist.py": """\
import torch.multiprocessing as mp

def launch(main_func, gpus):
    mp.spawn(run, args=(main_func,), nprocs=gpus)

def run(rank, main_func):
    main_func()
""",
        "loaders.py": """\
from torch.utils.data import DataLoader

def build(dataset):
    return make(dataset, 4)

def make(dataset, workers):
    return DataLoader(dataset, num_workers=workers)
""",
        "train.py": """\
import dist
from loaders import build

class Trainer:
    def __init__(self):
        self.loader = build([])

def main():
    Trainer()

if __name__ == "__main__":
    dist.launch(main, 4)
""",
    }

    (finding,) = told(files, **SELECT)

    assert [(relative(place.path), place.span.line) for place in finding.trace] == [
        ("train.py", 12),
        ("dist.py", 4),
        ("dist.py", 7),
        ("train.py", 9),
        ("train.py", 6),
        ("loaders.py", 4),
    ]
    assert (relative(finding.path), finding.span.line) == ("loaders.py", 7)
    assert "dist.py:4" in finding.text


def test_the_trace_of_a_nested_launch_names_both(told: Callable[..., Any]) -> None:
    files = {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def evaluate():
    DataLoader([], num_workers=4)

def train(rank):
    mp.Process(target=evaluate).start()

def main():
    mp.spawn(train, nprocs=2)
"""
    }

    (finding,) = told(files, **SELECT)

    assert [place.span.line for place in finding.trace] == [11, 8]


def test_the_trace_of_a_program_wide_method(told: Callable[..., Any], relative: Callable[..., Any]) -> None:
    files = {
        "setup.py": "import multiprocessing\n\ndef prepare():\n    multiprocessing.set_start_method('spawn')\n",
        "train.py": """\
from setup import prepare
from torch.utils.data import DataLoader

def load():
    return DataLoader([], num_workers=4)

def main():
    prepare()
    load()
""",
    }

    (finding,) = told(files, **SELECT)

    assert [(relative(place.path), place.span.line) for place in finding.trace] == [
        ("train.py", 8),
        ("setup.py", 4),
        ("train.py", 9),
    ]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        ("1", "starts 1 worker by spawn"),
        ("4", "starts 4 workers by spawn"),
        ("args.workers", "starts workers (as many as `args.workers` says) by spawn"),
    ],
)
def test_the_message_reads_well_for_every_count(told: Callable[..., Any], count: str, text: str) -> None:
    data = f"from torch.utils.data import DataLoader\ndef build(args):\n    DataLoader([], num_workers={count})\n"
    files = {"main.py": SPAWNED, "data.py": data}

    (finding,) = told(files, **SELECT)

    assert text in finding.text


def test_one_loader_under_two_launchers_is_one_finding(told: Callable[..., Any]) -> None:
    files = {
        "data.py": "from torch.utils.data import DataLoader\ndef build():\n    DataLoader([], num_workers=2)\n",
        "one.py": SPAWNED,
        "two.py": SPAWNED,
        "three.py": SPAWNED.replace("mp.spawn(worker", "mp.start_processes(worker"),
    }

    (finding,) = told(files, **SELECT)

    assert "2 other launchers lead here too" in finding.trace[-1].message


def test_an_error_where_the_dataset_does_not_survive(told: Callable[..., Any]) -> None:
    data = """\
from torch.utils.data import DataLoader

def build():
    return DataLoader([], num_workers=2, collate_fn=lambda rows: rows)
"""

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert finding.severity == "error"
    assert "DLL204 at data.py:4" in finding.text


@pytest.mark.parametrize(
    ("code", "titles"),
    [
        ("", ["fork", "spawn"]),
        ("import torch.distributed as dist\ndist.init_process_group('nccl')\n", ["spawn"]),
        ("import torch.distributed as dist\ndist.init_process_group(backend='gloo')\n", ["fork", "spawn"]),
    ],
)
def test_fork_is_offered_only_where_it_is_sound(told: Callable[..., Any], code: str, titles: list[str]) -> None:
    body = "".join(f"    {line}\n" for line in code.splitlines())
    data = f"from torch.utils.data import DataLoader\n\ndef build():\n{body}    return DataLoader([], num_workers=2)\n"

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert [fix.edits[0].value.strip('"') for fix in finding.fixes] == titles
    assert all(fix.applicability == "unsafe" for fix in finding.fixes)


def test_fork_is_not_offered_for_macos(told: Callable[..., Any]) -> None:
    data = "from torch.utils.data import DataLoader\n\ndef build():\n    return DataLoader([], num_workers=2)\n"

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT, target_platform=["linux", "macos"])

    assert [fix.edits[0].value for fix in finding.fixes] == ['"spawn"']


def test_fork_is_not_offered_to_workers_that_use_cuda(told: Callable[..., Any]) -> None:
    data = """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index].cuda()

def build():
    return DataLoader(Rows([]), num_workers=2)
"""

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert [fix.edits[0].value for fix in finding.fixes] == ['"spawn"']
    assert "CUDA" in finding.help


@pytest.mark.parametrize(
    ("kept", "cause"),
    [
        ("lambda row: row", "DLL201 at data.py:8"),
        ('open("rows.bin", "rb")', "DLL203 at data.py:8"),
        ("[torch.zeros(3) for _ in range(3000)]", "DLL303 at data.py:8"),
        ('np.memmap("rows.bin")', "DLL404 at data.py:8"),
    ],
)
def test_what_else_the_start_method_does_to_the_dataset_is_named(
    told: Callable[..., Any], kept: str, cause: str
) -> None:
    files = {
        "data.py": f"""\
import numpy as np
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.rows = {kept}
    def __getitem__(self, index):
        return self.rows[index]

def train(rank):
    DataLoader(Rows(), num_workers=4)

def main():
    mp.spawn(train, nprocs=2)
"""
    }

    (finding,) = told(files, **SELECT)

    assert finding.severity == "error"
    assert finding.text.endswith(cause)
    assert [place.span.line for place in finding.related] == [8]


@pytest.mark.parametrize(
    ("count", "fork"),
    [
        pytest.param("4", '"fork"', id="some"),
        pytest.param("4 if args.fast else 2", '"fork"', id="some either way"),
        pytest.param("args.workers", '"fork" if args.workers > 0 else None', id="unknown"),
        pytest.param('args["workers"]', "\"fork\" if args['workers'] > 0 else None", id="entry"),
        pytest.param("int(args.workers)", '"fork" if int(args.workers) > 0 else None', id="call"),
        pytest.param(
            "0 if args.debug else 4", '"fork" if (0 if args.debug else 4) > 0 else None', id="none on one way"
        ),
        pytest.param("args.count()", None, id="a call that is not made twice"),
    ],
)
def test_the_fix_holds_without_workers_too(told: Callable[..., Any], count: str, fork: str | None) -> None:
    data = f"from torch.utils.data import DataLoader\n\ndef build(args):\n    DataLoader([], num_workers={count})\n"

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert [fix.edits[0].value for fix in finding.fixes][:1] == ([fork] if fork else [])
    assert len(finding.fixes) in (0, 2)


def test_no_context_for_a_count_that_is_unpacked(told: Callable[..., Any]) -> None:
    data = """\
from torch.utils.data import DataLoader

def build(debug):
    options = {"num_workers": 0 if debug else 4}
    DataLoader([], **options)
"""

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert finding.fixes == ()


@pytest.mark.parametrize(
    ("params", "offered"),
    [
        ("self, dataset, num_workers", False),
        ("self, dataset, num_workers, **options", True),
        ("self, dataset, num_workers, multiprocessing_context=None", True),
    ],
)
def test_a_context_is_offered_only_to_classes_that_take_one(
    told: Callable[..., Any], params: str, offered: bool
) -> None:
    data = f"""\
from torch.utils.data import DataLoader

class Batches(DataLoader):
    def __init__({params}):
        super().__init__(dataset, num_workers=num_workers)

def build():
    Batches([], num_workers=4)
"""

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert bool(finding.fixes) is offered
