"""Which functions run in processes that the project starts, and by which start method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAMS: dict[str, str] = {
    "torch's spawn": """\
import torch.multiprocessing as mp

def worker(rank, dataset):  # launched: spawn
    pass

mp.spawn(worker, args=([],), nprocs=2)
""",
    "spawn by its own name": """\
from torch.multiprocessing import spawn as go

def worker(rank):  # launched: spawn
    pass

go(worker, nprocs=2)
""",
    "spawn in full, the target by keyword": """\
import torch

def worker(rank):  # launched: spawn
    pass

torch.multiprocessing.spawn(fn=worker, nprocs=2)
""",
    "torch's multiprocessing imported from torch": """\
from torch import multiprocessing as mp

def worker(rank):  # launched: spawn
    pass

mp.spawn(worker)
""",
    "start_processes by its default": """\
from torch.multiprocessing.spawn import start_processes

def worker(rank):  # launched: spawn
    pass

start_processes(worker, nprocs=2)
""",
    "start_processes by a method that a constant names": """\
from torch import multiprocessing as mp

METHOD = "forkserver"

def worker(rank):  # launched: forkserver
    pass

def forked(rank):  # launched: fork
    pass

mp.start_processes(worker, nprocs=2, start_method=METHOD)
mp.start_processes(forked, nprocs=2, start_method="fork")
""",
    "start_processes by a method from the command line": """\
import argparse
from torch.multiprocessing import start_processes

def worker(rank):  # launched: spawn
    pass

parser = argparse.ArgumentParser()
parser.add_argument("--method", default="spawn")
start_processes(worker, nprocs=2, start_method=parser.parse_args().method)
""",
    "one function that launches others by different methods": """\
import torch.multiprocessing as mp

def evaluate(rank):  # launched: fork
    pass

def measure(rank):  # launched: spawn
    pass

def launched(target, method):
    mp.start_processes(target, nprocs=2, start_method=method)

launched(measure, "spawn")
launched(evaluate, "fork")
""",
    "a process by the method in force": """\
import multiprocessing

def worker():  # launched: default
    pass

multiprocessing.Process(target=worker).start()
""",
    "a process of a context in a variable": """\
import multiprocessing as mp

def worker(dataset):  # launched: spawn
    pass

ctx = mp.get_context("spawn")
process = ctx.Process(target=worker, args=([],))
process.start()
""",
    "a process of a context that is not kept, positional": """\
from multiprocessing import get_context

def worker(dataset):  # launched: spawn
    pass

get_context("spawn").Process(None, worker, None, ([],)).start()
""",
    "a context at module level of another file": """\
# context.py
import multiprocessing
CONTEXT = multiprocessing.get_context(method="spawn")
# train.py
from context import CONTEXT

def worker():  # launched: spawn
    pass

CONTEXT.Process(target=worker).start()
""",
    "a context as attribute": """\
import torch.multiprocessing as mp

def worker(dataset):  # launched: forkserver
    pass

class Trainer:
    def __init__(self):
        self.ctx = mp.get_context("forkserver")

    def start(self):
        self.process = self.ctx.Process(target=worker, kwargs={"dataset": []})
        self.process.start()
""",
    "a context that a function gives": """\
import torch.multiprocessing as mp

def context():
    return mp.get_context("spawn")

def worker():  # launched: spawn
    pass

context().Process(target=worker).start()
""",
    "a context by one of two names": """\
import torch.multiprocessing as mp

def worker():  # launched: fork | spawn
    pass

def main(cache):
    method = "fork" if cache else "spawn"
    mp.get_context(method).Process(target=worker).start()
""",
    "a context by a name from the environment": """\
import os
import torch.multiprocessing as mp

def worker():  # launched: default | spawn
    pass

mp.get_context(os.environ.get("START", "spawn")).Process(target=worker).start()
""",
    "a context that is fork or the one in force": """\
import multiprocessing

def worker():  # launched: default | fork
    pass

context = multiprocessing.get_context("fork" if multiprocessing.cpu_count() > 1 else None)
context.Process(target=worker).start()
""",
    "the class of processes of a context in a variable": """\
import torch.multiprocessing as mp

Process = mp.get_context("spawn").Process

def worker():  # launched: spawn
    pass

Process(target=worker).start()
""",
    "SpawnProcess": """\
from multiprocessing.context import SpawnProcess

def worker():  # launched: spawn
    pass

SpawnProcess(target=worker).start()
""",
    "SpawnContext": """\
from multiprocessing.context import SpawnContext

def worker():  # launched: spawn
    pass

SpawnContext().Process(target=worker).start()
""",
    "a subclass of a context's Process": """\
import multiprocessing as mp

class Worker(mp.get_context("spawn").Process):
    def run(self):  # launched: spawn
        pass

Worker().start()
""",
    "a subclass of SpawnProcess": """\
from multiprocessing.context import SpawnProcess

class Worker(SpawnProcess):
    def run(self):  # launched: spawn
        pass

Worker().start()
""",
    "an executor with a context": """\
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

def worker(dataset):  # launched: spawn
    pass

with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
    pool.submit(worker, [])
""",
    "an executor that maps, its context positional": """\
import concurrent.futures
import multiprocessing

def worker(dataset):  # launched: forkserver
    pass

pool = concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("forkserver"))
list(pool.map(worker, [[], []]))
""",
    "an executor that an object keeps": """\
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

def worker(dataset):  # launched: spawn
    pass

class Sweep:
    def __init__(self):
        self.pool = ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))

    def run(self):
        return self.pool.submit(worker, dataset=[])
""",
    "an executor that is handed to a function of another file": """\
# running.py
def run(pool, function):
    pool.submit(function)
# train.py
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from running import run

def job():  # launched: spawn
    pass

with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
    run(pool, job)
""",
    "an executor without a context": """\
from concurrent.futures import ProcessPoolExecutor

def worker():  # launched: default
    pass

with ProcessPoolExecutor() as pool:
    pool.submit(worker)
""",
    "threads": """\
from concurrent.futures import ThreadPoolExecutor

def worker():  # launched: no
    pass

with ThreadPoolExecutor() as pool:
    pool.submit(worker)
""",
    "elastic_launch": """\
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

def worker(dataset):  # launched: spawn
    pass

elastic_launch(LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=2), worker)([])
""",
    "elastic_launch in two steps, by keyword": """\
import torch.distributed.launcher as pet

def worker(dataset):  # launched: forkserver
    pass

config = pet.LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=2, start_method="forkserver")
start = pet.elastic_launch(config=config, entrypoint=worker)
start([])
""",
    "launch_agent": """\
from torch.distributed.launcher.api import LaunchConfig, launch_agent

def worker(dataset):  # launched: spawn
    pass

launch_agent(LaunchConfig(1, 1, 2), worker, [[]])
""",
    "Lightning's strategy by its name": """\
import lightning.pytorch as pl

class Model(pl.LightningModule):
    def train_dataloader(self):  # launched: spawn
        return []

pl.Trainer(strategy="ddp_spawn", devices=2).fit(Model())
""",
    "Lightning's strategy by an object, with a data module, in the old package": """\
from pytorch_lightning import LightningDataModule, LightningModule, Trainer
from pytorch_lightning.strategies import DDPStrategy

class Data(LightningDataModule):
    def train_dataloader(self):  # launched: spawn
        return []

trainer = Trainer(strategy=DDPStrategy(start_method="spawn"), devices=2)
trainer.fit(LightningModule(), datamodule=Data())
""",
    "Lightning's processes that its launcher starts anew": """\
import lightning.pytorch as pl

class Model(pl.LightningModule):
    def train_dataloader(self):  # launched: no
        return []

pl.Trainer(strategy="ddp", devices=2).fit(Model())
""",
    "Lightning's processes, started inside of a launched one": """\
import lightning as L
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

class Data(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader([], num_workers=4)  # method: spawn

def worker(rank):  # launched: spawn
    L.Trainer().fit(None, datamodule=Data())

mp.spawn(worker)
""",
    "Accelerate's notebook_launcher": """\
from accelerate import notebook_launcher

def train():  # launched: fork
    pass

notebook_launcher(train, num_processes=2)
""",
    "a method of the object itself": """\
import torch.multiprocessing as mp

class Trainer:
    def fit(self):
        mp.spawn(self.train, nprocs=2)

    def train(self, rank):  # launched: spawn
        pass
""",
    "a static method through its class": """\
import torch.multiprocessing as mp

class Trainer:
    @staticmethod
    def train(rank):  # launched: spawn
        pass

    @classmethod
    def fit(cls):
        mp.spawn(cls.train, nprocs=2)
""",
    "a class": """\
import torch.multiprocessing as mp

class Trainer:
    def __init__(self, rank, dataset):  # launched: spawn
        pass

mp.spawn(Trainer, args=([],), nprocs=2)
""",
    "an object with __call__": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, count):
        self.count = count

    def __call__(self, rank):  # launched: spawn
        DataLoader([], num_workers=self.count)  # workers: 0 | 4

mp.spawn(Trainer(4), nprocs=2)
mp.spawn(Trainer(0), nprocs=2)
""",
    "a partial": """\
from functools import partial
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def worker(rank, dataset, workers):  # launched: spawn
    DataLoader(dataset, num_workers=workers)  # workers: 4

mp.spawn(partial(worker, dataset=[], workers=4), nprocs=2)
""",
    "a lambda": """\
import multiprocessing

def worker(dataset):
    pass

multiprocessing.get_context("spawn").Process(target=lambda: worker([])).start()  # launched: spawn
""",
    "a function of another module": """\
import torch.multiprocessing as mp
from jobs import worker as job

mp.spawn(job, nprocs=2)
# jobs/__init__.py
from .train import worker
# jobs/train.py
def worker(rank):  # launched: spawn
    pass
""",
    "one of a table": """\
import sys
import torch.multiprocessing as mp

def train(rank):  # launched: spawn
    pass

def test(rank):  # launched: spawn
    pass

mp.spawn({"train": train, "test": test}[sys.argv[1]], nprocs=2)
""",
    "one of two by a condition": """\
import torch.multiprocessing as mp

def train(rank):  # launched: spawn
    pass

def test(rank):  # launched: spawn
    pass

def main(args):
    mp.spawn(train if args.train else test, nprocs=2)
""",
    "a function decorated by the project and one decorated from outside": """\
import functools
import torch.multiprocessing as mp
from torch.distributed.elastic.multiprocessing.errors import record

def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):  # launched: spawn
        return function(*args, **kwargs)
    return inner

@logged
def train(rank):
    pass

@record
def test(rank):  # launched: spawn
    pass

mp.spawn(train, nprocs=2)
mp.spawn(test, nprocs=2)
""",
    "a function of the project that launches what it is given": """\
# launching.py
import torch.multiprocessing as mp

def launch(main_func, num_gpus, args=()):
    if num_gpus > 1:
        mp.spawn(_run, nprocs=num_gpus, args=(main_func, args), daemon=False)
    else:
        main_func(*args)

def _run(local_rank, main_func, args):  # launched: spawn
    main_func(*args)
# train.py
from torch.utils.data import DataLoader
from launching import launch

def main(workers):
    DataLoader([], num_workers=workers)  # method: spawn

launch(main, 4, args=(2,))
""",
    "a function that takes the target by keyword and hands it on twice": """\
# launching.py
import torch.multiprocessing as mp

def launch(**kwargs):
    start(kwargs["fn"], kwargs["nprocs"])

def start(fn, nprocs):
    mp.spawn(fn, nprocs=nprocs)
# train.py
import launching

def main(rank):  # launched: spawn
    pass

launching.launch(fn=main, nprocs=2)
""",
    "a launcher class of the project": """\
import torch.multiprocessing as mp

class Launcher:
    def __init__(self, fn):
        self.fn = fn

    def __call__(self, *args):
        mp.spawn(self.fn, args=args, nprocs=2)

def main(rank):  # launched: spawn
    pass

Launcher(main)()
""",
    "a launching function that several programs use, each with a function of its own": """\
# launching.py
import torch.multiprocessing as mp

def launch(main, count, args=()):
    if count > 1:
        mp.spawn(worker, nprocs=count, args=(main, args))
    else:
        main(*args)

def worker(rank, main, args):  # launched: spawn
    main(*args)
# chosen.py
import sys
from torch.utils.data import DataLoader
from launching import launch

def measure(data):
    return DataLoader(data, num_workers=4)  # method: spawn

def evaluate(data):
    return DataLoader(data, num_workers=2)  # method: spawn

if sys.argv[1] == "measure":
    function = measure
else:
    function = evaluate
launch(function, 8, args=([],))
# train.py
from torch.utils.data import DataLoader
from launching import launch

def main(data):
    return DataLoader(data, num_workers=4)  # method: spawn

launch(main, 8, args=([],))
""",
    "a hydra program": """\
import hydra
import torch.multiprocessing as mp

def run(rank, cfg):  # launched: spawn
    pass

@hydra.main(config_path="conf", config_name="c")
def main(cfg):
    mp.spawn(run, args=(cfg,))
""",
    "a launcher in a string and in a comment": """\
def main(rank):  # launched: no
    \"\"\"Was started by mp.spawn(main, nprocs=2).\"\"\"
    # mp.spawn(main)
""",
    "a function of the project called spawn": """\
# tools.py
def spawn(function, nprocs):
    for rank in range(nprocs):
        function(rank)
# train.py
from tools import spawn

def main(rank):  # launched: no
    pass

spawn(main, nprocs=2)
""",
    "an argument of the target": """\
import torch.multiprocessing as mp

def load():  # launched: no
    pass

def worker(rank, name):  # launched: spawn
    print(name)

mp.spawn(worker, args=(load.__name__,), nprocs=2)
""",
    "a method of a frame that is named like one of pools": """\
import multiprocessing
import pandas as pd

def double(size):  # launched: no
    return size * 2

frame = pd.read_csv("rows.csv")
frame["size"].apply(double)
frame.apply(double, axis=1)
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_launches(program: str, told: Callable[..., Any]) -> None:
    said, expected = told(program)
    assert said == expected


def test_launchers_of_the_settings(told: Callable[..., Any]) -> None:
    program = """\
import cluster

def train(rank):  # launched: spawn
    pass

cluster.start(train, nprocs=2)
"""
    said, expected = told(program, launchers=("cluster.start",))
    assert said == expected
    assert told(program)[0] != expected
