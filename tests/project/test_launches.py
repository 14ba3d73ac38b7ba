"""Which functions run in processes that the project starts, and by which start method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAMS: dict[str, str] = {
    "launchers of other libraries": """\
import ignite.distributed as idist
import submitit
import torch_xla
import torch_xla.distributed.xla_multiprocessing as xmp
from detectron2.engine import launch
from lightning import Fabric

def detected(options):  # launched: spawn
    options()

def given():  # launched: no
    pass

def on_each(rank, options):  # launched: fork | spawn
    pass

def as_job(options):  # launched: fresh
    pass

class Job:
    def __call__(self):  # launched: fresh
        pass

def in_parallel(rank, options):  # launched: spawn
    pass

def by_a_method(rank):  # launched: fork
    pass

def in_the_same_process(rank):  # launched: fresh
    pass

def in_one_or_the_other(rank):  # launched: fresh | spawn
    pass

def with_fabric(fabric, options):  # launched: fresh
    pass

def of_a_client(options):  # launched: no
    pass

class Client:
    def submit(self, function, options):
        return function

if __name__ == "__main__":
    launch(detected, 8, args=(given,))
    xmp.spawn(on_each, args=(1,), nprocs=4, start_method="fork")
    torch_xla.launch(on_each, (1,))
    executor = submitit.AutoExecutor(folder="out")
    executor.submit(as_job, 1)
    executor.submit(Job())
    Client().submit(of_a_client, 1)
    with idist.Parallel(backend="nccl", nproc_per_node=2) as parallel:
        parallel.run(in_parallel, 1)
    with idist.Parallel("nccl", nproc_per_node=2, start_method="fork") as parallel:
        parallel.run(by_a_method)
    with idist.Parallel(backend="nccl", nproc_per_node=None) as parallel:
        parallel.run(in_the_same_process)
    with idist.Parallel(backend="nccl") as other:
        other.run(in_the_same_process)
    options = {"nproc_per_node": 2} if submitit.flag else {}
    with idist.Parallel(backend="nccl", **options) as parallel:
        parallel.run(in_one_or_the_other)
    Fabric(devices=2).launch(with_fabric, 1)
""",
    "torch's launchers": """\
import argparse
import torch
from torch import multiprocessing as mp
from torch.multiprocessing import spawn as go
from torch.multiprocessing.spawn import start_processes

METHOD = "forkserver"
parser = argparse.ArgumentParser()
parser.add_argument("--method", default="spawn")

def one(rank, dataset):  # launched: spawn
    pass

def two(rank):  # launched: spawn
    pass

def three(rank):  # launched: spawn
    pass

def four(rank):  # launched: spawn
    pass

def five(rank):  # launched: forkserver
    pass

def six(rank):  # launched: fork
    pass

def seven(rank):  # launched: spawn
    pass

mp.spawn(one, args=([],), nprocs=2)
go(two, nprocs=2)
torch.multiprocessing.spawn(fn=three, nprocs=2)
start_processes(four, nprocs=2)
mp.start_processes(five, nprocs=2, start_method=METHOD)
mp.start_processes(six, nprocs=2, start_method="fork")
start_processes(seven, nprocs=2, start_method=parser.parse_args().method)
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
    "processes of multiprocessing, of its contexts and by their classes": """\
import multiprocessing
import os
from multiprocessing import get_context
from multiprocessing.context import SpawnContext, SpawnProcess

def context():
    return get_context(method="spawn")

Process = get_context("spawn").Process
ctx = get_context("spawn")
forked = get_context("fork" if multiprocessing.cpu_count() > 1 else None)

class Own(get_context("spawn").Process):
    def run(self):  # launched: spawn
        pass

class Spawned(SpawnProcess):
    def run(self):  # launched: spawn
        pass

def one():  # launched: default
    pass

def two(dataset):  # launched: spawn
    pass

def three(dataset):  # launched: spawn
    pass

def four():  # launched: spawn
    pass

def five():  # launched: spawn
    pass

def six():  # launched: fork | spawn
    pass

def seven():  # launched: default | spawn
    pass

def eight():  # launched: default | fork
    pass

def nine():  # launched: spawn
    pass

def ten():  # launched: spawn
    pass

def by_name(cache):
    method = "fork" if cache else "spawn"
    get_context(method).Process(target=six).start()

multiprocessing.Process(target=one).start()
process = ctx.Process(target=two, args=([],))
process.start()
get_context("spawn").Process(None, three, None, ([],)).start()
context().Process(target=four).start()
Process(target=five).start()
get_context(os.environ.get("START", "spawn")).Process(target=seven).start()
forked.Process(target=eight).start()
SpawnProcess(target=nine).start()
SpawnContext().Process(target=ten).start()
Own().start()
Spawned().start()
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
    "executors and threads": """\
import concurrent.futures
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

def one(dataset):  # launched: spawn
    pass

def two(dataset):  # launched: forkserver
    pass

def three(dataset):  # launched: spawn
    pass

def four():  # launched: default
    pass

def five():  # launched: no
    pass

class Sweep:
    def __init__(self):
        self.pool = ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))

    def run(self):
        return self.pool.submit(three, dataset=[])

with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
    pool.submit(one, [])
mapping = concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("forkserver"))
list(mapping.map(two, [[], []]))
with ProcessPoolExecutor() as plain:
    plain.submit(four)
with ThreadPoolExecutor() as threads:
    threads.submit(five)
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
    "torch's elastic launchers": """\
import torch.distributed.launcher as pet
from torch.distributed.launcher.api import LaunchConfig, elastic_launch, launch_agent

def one(dataset):  # launched: spawn
    pass

def two(dataset):  # launched: forkserver
    pass

def three(dataset):  # launched: spawn
    pass

elastic_launch(LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=2), one)([])
config = pet.LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=2, start_method="forkserver")
start = pet.elastic_launch(config=config, entrypoint=two)
start([])
launch_agent(LaunchConfig(1, 1, 2), three, [[]])
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
    "what a launcher is given to run": """\
import functools
import multiprocessing
import sys
import torch.multiprocessing as mp
from torch.distributed.elastic.multiprocessing.errors import record
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, count):
        self.count = count

    def fit(self):
        mp.spawn(self.method, nprocs=2)

    @classmethod
    def start(cls):
        mp.spawn(cls.static, nprocs=2)

    def method(self, rank):  # launched: spawn
        pass

    def other(self, rank):  # launched: spawn
        pass

    @staticmethod
    def static(rank):  # launched: spawn
        pass

    def __call__(self, rank):  # launched: spawn
        DataLoader([], num_workers=self.count)  # workers: 0 | 4

class Made:
    def __init__(self, rank, dataset):  # launched: spawn
        pass

def partial(rank, dataset, workers):  # launched: spawn
    DataLoader(dataset, num_workers=workers)  # workers: 4

def by_lambda(dataset):
    pass

def first(rank):  # launched: spawn
    pass

def second(rank):  # launched: spawn
    pass

def third(rank):  # launched: spawn
    pass

def fourth(rank):  # launched: spawn
    pass

def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):  # launched: spawn
        return function(*args, **kwargs)
    return inner

@logged
def decorated(rank):
    pass

@record
def from_outside(rank):  # launched: spawn
    pass

def argument():  # launched: no
    pass

def main(args):
    mp.spawn(third if args.train else fourth, nprocs=2)

trainer = Trainer(4)
mp.spawn(trainer.other, nprocs=2)
mp.spawn(trainer, args=(argument.__name__,), nprocs=2)
mp.spawn(Trainer(0), nprocs=2)
mp.spawn(Made, args=([],), nprocs=2)
mp.spawn(functools.partial(partial, dataset=[], workers=4), nprocs=2)
multiprocessing.get_context("spawn").Process(target=lambda: by_lambda([])).start()  # launched: spawn
mp.spawn({"first": first, "second": second}[sys.argv[1]], nprocs=2)
mp.spawn(decorated, nprocs=2)
mp.spawn(from_outside, nprocs=2)
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
