"""What the model sees through: each case hides a loader, or its worker count, behind one kind of indirection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LAUNCHER = """\
import torch.multiprocessing as mp
import data

def worker(rank):
    data.build()

if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
"""

CASES: dict[str, dict[str, str]] = {}
CASES["property"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

class D:
    @property
    def loader(self):
        return DataLoader([], num_workers=4)  # DLL101
def build():
    return D().loader
""",
}
CASES["cached_property via self"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from functools import cached_property
class D:
    @cached_property
    def loader(self):
        return DataLoader([], num_workers=4)  # DLL101
    def run(self):
        for x in self.loader:
            pass
def build():
    d = D()
    d.run()
""",
}
CASES["decorator inner"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

def with_loader(f):
    def inner():
        return f(DataLoader([], num_workers=4))  # DLL101
    return inner
@with_loader
def build(loader):
    print(loader)
""",
}
CASES["decorator inner calls function"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

import functools
def timed(f):
    @functools.wraps(f)
    def inner(*a, **k):
        return f(*a, **k)
    return inner
@timed
def build(n=4):
    return DataLoader([], num_workers=n)  # DLL101
""",
}
CASES["decorator factory"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

def timed(label):
    def deco(f):
        def inner(*a, **k):
            return f(*a, **k)
        return inner
    return deco
@timed("x")
def build(n=4):
    return DataLoader([], num_workers=n)  # DLL101
""",
}
CASES["method decorator"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

def timed(f):
    def inner(self, *a, **k):
        return f(self, *a, **k)
    return inner
class T:
    @timed
    def load(self):
        return DataLoader([], num_workers=4)  # DLL101
def build():
    T().load()
""",
}
CASES["contextmanager"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from contextlib import contextmanager
@contextmanager
def loading():
    yield DataLoader([], num_workers=4)  # DLL101
def build():
    with loading() as l:
        pass
""",
}
CASES["class context manager"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

class M:
    def __enter__(self):
        self.l = DataLoader([], num_workers=4)  # DLL101
        return self
    def __exit__(self, *a): pass
def build():
    with M() as m:
        pass
""",
}
CASES["generator"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

def loaders():
    for s in range(2):
        yield DataLoader([], num_workers=4)  # DLL101
def build():
    for l in loaders():
        pass
""",
}
CASES["callbacks list"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

class Hook:
    def on_start(self):
        DataLoader([], num_workers=4)  # DLL101
class Trainer:
    def __init__(self):
        self.hooks = []
    def register(self, h):
        self.hooks.append(h)
    def train(self):
        for h in self.hooks:
            h.on_start()
def build():
    t = Trainer()
    t.register(Hook())
    t.train()
""",
}
CASES["callback attr"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, make):
        self.make = make
    def train(self):
        self.make()
def make():
    DataLoader([], num_workers=4)  # DLL101
def build():
    t = Trainer(make)
    t.train()
""",
}
CASES["dict of functions"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

def a():
    DataLoader([], num_workers=4)  # DLL101
def b():
    DataLoader([], num_workers=0)
TABLE = {"a": a, "b": b}
def build(name="a"):
    TABLE[name]()
""",
}
CASES["factory class"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

def get(name):
    if name == "x":
        class Inner:
            pass
    return Thing
class Thing:
    def __init__(self):
        self.l = DataLoader([], num_workers=4)  # DLL101
def build():
    get("y")()
""",
}
CASES["class attr loader cls"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

class T:
    loader_cls = DataLoader
    def load(self):
        return self.loader_cls([], num_workers=4)  # DLL101
def build():
    T().load()
""",
}
CASES["importlib pattern"] = {
    "main.py": LAUNCHER,
    "data.py": """\
import importlib
def build(name="a"):
    mod = importlib.import_module("pkg." + name)
    mod.make()
""",
    "pkg/__init__.py": "",
    "pkg/a.py": """\
from torch.utils.data import DataLoader

def make():
    DataLoader([], num_workers=4)  # DLL101
""",
}
CASES["getattr module name"] = {
    "main.py": LAUNCHER,
    "data.py": """\
import pkg.a as a
def build(kind="make"):
    getattr(a, kind)()
""",
    "pkg/__init__.py": "",
    "pkg/a.py": """\
from torch.utils.data import DataLoader

def make():
    DataLoader([], num_workers=4)  # DLL101
""",
}
CASES["getattr of a module with a name from outside: any of its classes"] = {
    "main.py": LAUNCHER.replace("build()", "build(input())"),
    "data.py": """\
import sets
import plain
def build(name):
    getattr(sets, name)([])  # DLL101
    getattr(plain, name)()
""",
    "sets.py": """\
from torch.utils.data import DataLoader

class Digits(DataLoader):
    def __init__(self, rows):
        super().__init__(rows, num_workers=4)
""",
    "plain.py": """\
from torch.utils.data import DataLoader

def show():
    DataLoader([], num_workers=4)
""",
}
for kind, named in {
    "whole": '"pkg.a.make"',
    "its beginning": '"pkg.a." + name',
    "in an f-string": 'f"pkg.a.{name}"',
    "a default": '"pkg.a." + str(DEFAULTS["maker"])',
}.items():
    CASES[f"eval of a dotted name: {kind}"] = {
        "main.py": LAUNCHER.replace("build()", "build(input())"),
        "data.py": f"""\
import pkg.a
DEFAULTS = {{"maker": "make"}}
def build(name):
    eval({named})()
    eval("1 + " + name)()
    eval(name)()
""",
        "pkg/__init__.py": "",
        "pkg/a.py": """\
from torch.utils.data import DataLoader

def make():
    DataLoader([], num_workers=4)  # DLL101
""",
    }
CASES["a class method is called on one of the classes that inherit it"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

class Task:
    @classmethod
    def start(cls):
        cls().load()

    def load(self):
        pass

class Words(Task):
    def load(self):
        DataLoader([], num_workers=4)  # DLL101

class Images(Task):
    def load(self):
        DataLoader([], num_workers=4)

def build():
    Words.start()
""",
}
CASES["dataclass default"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from dataclasses import dataclass
@dataclass
class Cfg:
    workers: int = 4
def build():
    cfg = Cfg()
    DataLoader([], num_workers=cfg.workers)  # DLL101
""",
}
CASES["dataclass zero silent"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from dataclasses import dataclass
@dataclass
class Cfg:
    workers: int = 0
def build():
    cfg = Cfg()
    DataLoader([], num_workers=cfg.workers)
""",
}
CASES["dataclass given"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from dataclasses import dataclass, field
@dataclass
class Cfg:
    workers: int = 0
    more: int = field(default=3)
def build():
    cfg = Cfg(workers=2)
    DataLoader([], num_workers=cfg.workers)  # DLL101
    DataLoader([], num_workers=cfg.more)  # DLL101
""",
}
CASES["dataclass field zero"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from dataclasses import dataclass, field
@dataclass
class Cfg:
    more: int = field(default=0)
def build():
    DataLoader([], num_workers=Cfg().more)
""",
}
CASES["hf argument parser"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from dataclasses import dataclass, field
from transformers import HfArgumentParser
@dataclass
class Cfg:
    workers: int = field(default=0)
def build():
    (cfg,) = HfArgumentParser(Cfg).parse_args_into_dataclasses()
    DataLoader([], num_workers=cfg.workers)  # DLL101
""",
}
CASES["yaml"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

import yaml
def build():
    with open("config.yaml") as f:
        cfg = yaml.safe_load(f)
    DataLoader([], num_workers=cfg["workers"])
    DataLoader([], num_workers=cfg["loader"]["n"])  # DLL101
""",
    "config.yaml": """\
workers: 0
loader:
  n: 3
""",
}
CASES["omegaconf yaml"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from omegaconf import OmegaConf
def build():
    cfg = OmegaConf.load("config.yaml")
    DataLoader([], num_workers=cfg.workers)
    DataLoader([], num_workers=cfg.loader.n)  # DLL101
""",
    "config.yaml": """\
workers: 0
loader:
  n: 3
""",
}
CASES["json items"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

import json
def build():
    opt = json.load(open("opt.json"))
    for phase, d in opt["datasets"].items():
        DataLoader([], num_workers=d["n"])  # DLL101
""",
    "opt.json": '{"datasets": {"train": {"n": 2}, "val": {"n": 0}}}\n',
}
CASES["yacs"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from yacs.config import CfgNode as CN
_C = CN()
_C.DATA = CN()
_C.DATA.WORKERS = 4
_C.DATA.NONE = 0
def get():
    return _C.clone()
def build():
    cfg = get()
    DataLoader([], num_workers=cfg.DATA.WORKERS)  # DLL101
    DataLoader([], num_workers=cfg.DATA.NONE)
""",
}
CASES["easydict module"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from easydict import EasyDict as edict
cfg = edict()
cfg.n = 0
cfg.sub = edict()
cfg.sub.n = 2
def build():
    DataLoader([], num_workers=cfg.n)
    DataLoader([], num_workers=cfg.sub.n)  # DLL101
""",
}
CASES["project attr dict"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

class Dict(dict):
    def __getattr__(self, k):
        return self[k]
    def __setattr__(self, k, v):
        self[k] = v
def build():
    cfg = Dict(n=0, m=2)
    cfg.k = 0
    DataLoader([], num_workers=cfg.n)
    DataLoader([], num_workers=cfg.k)
    DataLoader([], num_workers=cfg.m)  # DLL101
""",
}
CASES["env default"] = {
    "main.py": """\
import os
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
def worker():
    DataLoader([], num_workers=2)  # DLL101
def main():
    ctx = mp.get_context(os.environ.get("START", "spawn"))
    ctx.Process(target=worker).start()
""",
    "data.py": "from torch.utils.data import DataLoader\n",
}
CASES["start method conditional"] = {
    "main.py": """\
import os
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
def worker():
    DataLoader([], num_workers=2)  # DLL101
def main(cache):
    method = "fork" if cache else "spawn"
    ctx = mp.get_context(method)
    ctx.Process(target=worker).start()
""",
    "data.py": "from torch.utils.data import DataLoader\n",
}
CASES["try set"] = {
    "main.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
def main():
    try:
        mp.set_start_method("spawn")
    except RuntimeError:
        pass
    DataLoader([], num_workers=2)  # DLL101
""",
    "data.py": "from torch.utils.data import DataLoader\n",
}
CASES["allow none"] = {
    "main.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
def main():
    if mp.get_start_method(allow_none=True) is None:
        mp.set_start_method("spawn")
    DataLoader([], num_workers=2)  # DLL101
""",
    "data.py": "from torch.utils.data import DataLoader\n",
}
CASES["allow none != spawn"] = {
    "main.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
def main():
    if mp.get_start_method(allow_none=True) != "spawn":
        mp.set_start_method("spawn", force=True)
    DataLoader([], num_workers=2)  # DLL101
""",
    "data.py": "from torch.utils.data import DataLoader\n",
}
CASES["hf trainer args"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from transformers import Trainer, TrainingArguments
def build():
    args = TrainingArguments("out", dataloader_num_workers=4)  # DLL101
    Trainer(args=args).train()
""",
}
CASES["lightning datamodule"] = {
    "main.py": LAUNCHER,
    "data.py": """\
import lightning as L
from torch.utils.data import DataLoader
class DM(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader([], num_workers=4)  # DLL101
def build():
    L.Trainer().fit(None, datamodule=DM())
""",
}
CASES["method target with state"] = {
    "main.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
class Job:
    def __init__(self, n):
        self.n = n
    def __call__(self, rank):
        DataLoader([], num_workers=self.n)  # DLL101
def main():
    mp.spawn(Job(4), nprocs=2)
    mp.spawn(Job(0), nprocs=2)
""",
    "data.py": "from torch.utils.data import DataLoader\n",
}
CASES["method target zero"] = {
    "main.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
class Job:
    def __init__(self, n):
        self.n = n
    def run(self, rank):
        DataLoader([], num_workers=self.n)
def main():
    mp.spawn(Job(0).run, nprocs=2)
""",
    "data.py": "from torch.utils.data import DataLoader\n",
}
CASES["setattr namespace"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

def build():
    class A: pass
    ns = A()
    setattr(ns, "n", 0)
    DataLoader([], num_workers=ns.n)
""",
}
CASES["pool handed"] = {
    "main.py": """\
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from torch.utils.data import DataLoader
from data import run
def job():
    DataLoader([], num_workers=4)  # DLL101
def main():
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        run(pool, job)
""",
    "data.py": """\
from torch.utils.data import DataLoader

def run(pool, f):
    pool.submit(f)
""",
}
CASES["launch hook"] = {
    "main.py": """\
from torch.utils.data import DataLoader
from engine import launch
def main_func(cfg):
    DataLoader([], num_workers=4)  # DLL101
if __name__ == "__main__":
    launch(main_func, 2, args=(None,))
""",
    "data.py": "from torch.utils.data import DataLoader\n",
    "engine.py": """\
import torch.multiprocessing as mp
def launch(main_func, n, args=()):
    if n > 1:
        mp.spawn(_worker, nprocs=n, args=(main_func, args))
    else:
        main_func(*args)
def _worker(rank, main_func, args):
    main_func(*args)
""",
}
CASES["hydra main"] = {
    "main.py": """\
import hydra
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
def run(rank, cfg):
    DataLoader([], num_workers=cfg.n)  # DLL101
@hydra.main(config_path="conf", config_name="c")
def main(cfg):
    mp.spawn(run, args=(cfg,))
if __name__ == "__main__":
    main()
""",
    "data.py": "from torch.utils.data import DataLoader\n",
}
CASES["hydra instantiate target"] = {
    "main.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
class Job:
    def go(self):
        for x in self.loader():
            pass
    def loader(self):
        kwargs = dict(batch_size=2)
        kwargs.update(num_workers=4)
        return DataLoader([], **kwargs)  # DLL101
def work(rank, job):
    job.go()
def main():
    job = Job()
    mp.spawn(work, args=(job,))
""",
    "data.py": "from torch.utils.data import DataLoader\n",
}
CASES["super chain"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

class Base:
    def setup(self):
        self.make()
    def make(self):
        raise NotImplementedError
class Child(Base):
    def setup(self):
        super().setup()
    def make(self):
        DataLoader([], num_workers=4)  # DLL101
def build():
    Child().setup()
""",
}
CASES["annotation"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

class Maker:
    def make(self):
        DataLoader([], num_workers=4)  # DLL101
def go(maker: "Maker"):
    maker.make()
def build():
    go(unknown())
""",
}
CASES["optional annotation attr"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from typing import Optional
class Maker:
    def make(self):
        DataLoader([], num_workers=4)  # DLL101
class T:
    maker: Optional[Maker] = None
    def go(self):
        self.maker.make()
def build():
    T().go()
""",
}
CASES["nested dict arg"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

CFG = {"train": {"loader": {"num_workers": 0}}, "val": {"loader": {"num_workers": 2}}}
def build():
    DataLoader([], **CFG["train"]["loader"])
    DataLoader([], **CFG["val"]["loader"])  # DLL101
""",
}
CASES["partial dict"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

from functools import partial
make = partial(DataLoader, num_workers=4)
def build():
    make([])  # DLL101
    make([], num_workers=0)
""",
}
CASES["early return zero"] = {
    "main.py": LAUNCHER,
    "data.py": """\
from torch.utils.data import DataLoader

def build(n=None):
    if n == 0:
        return DataLoader([], num_workers=n)
    return DataLoader([], num_workers=n)  # DLL101
""",
}
CASES["click"] = {
    "main.py": """\
import click
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
def work(rank, n, m):
    DataLoader([], num_workers=n)  # DLL101
@click.command()
@click.option("--n", default=0)
@click.option("--m", type=int, default=4)
def main(n, m):
    mp.spawn(work, args=(n, m))
""",
    "data.py": "from torch.utils.data import DataLoader\n",
}
CASES["argparse store_const 0"] = {
    "main.py": """\
import argparse
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
def work(rank, args):
    DataLoader([], num_workers=args.n)
    args.m = 0
    DataLoader([], num_workers=args.m)
def main():
    p = argparse.ArgumentParser()
    p.add_argument("--n", action="store_const", const=0, default=0)
    p.add_argument("--m", type=int, default=4)
    mp.spawn(work, args=(p.parse_args(),))
""",
    "data.py": "from torch.utils.data import DataLoader\n",
}
CASES["importlib fstring"] = {
    "main.py": """\
import torch.multiprocessing as mp
import data

def worker(rank):
    data.build(rank)

if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
""",
    "data.py": """\
import importlib
def build(name):
    mod = importlib.import_module(f"pkg.{name}_data")
    getattr(mod, "make")()
""",
    "pkg/__init__.py": "",
    "pkg/a_data.py": """\
from torch.utils.data import DataLoader

def make():
    DataLoader([], num_workers=4)  # DLL101
""",
    "pkg/b.py": """\
from torch.utils.data import DataLoader

def make():
    DataLoader([], num_workers=4)
""",
}
for kind, template in {
    "str.format": '"pkg.{}.{}".format(kind, name)',
    "an f-string": 'f"pkg.{kind}.{name}"',
    "a percent sign": '"pkg.%s.%s" % (kind, name)',
}.items():
    CASES[f"importlib two levels down, by {kind}"] = {
        "main.py": LAUNCHER.replace("build()", "build(input(), input())"),
        "data.py": f"""\
import importlib
def build(kind, name):
    module = importlib.import_module({template})
    make = getattr(module, "make")
    make()
""",
        "pkg/__init__.py": "",
        "pkg/near.py": """\
from torch.utils.data import DataLoader

def make():
    DataLoader([], num_workers=4)
""",
        "pkg/small/__init__.py": "",
        "pkg/small/digits.py": """\
from torch.utils.data import DataLoader

def make():
    DataLoader([], num_workers=4)  # DLL101
""",
        "pkg/small/deep/__init__.py": "",
        "pkg/small/deep/letters.py": """\
from torch.utils.data import DataLoader

def make():
    DataLoader([], num_workers=4)
""",
    }
CASES["importlib scan"] = {
    "main.py": LAUNCHER,
    "data.py": """\
import importlib, os
files = [f[:-3] for f in os.listdir("pkg")]
mods = [importlib.import_module(f"pkg.{f}") for f in files]
def build(cls="Make"):
    for m in mods:
        c = getattr(m, cls, None)
        if c is not None:
            break
    c()
""",
    "pkg/__init__.py": "",
    "pkg/a.py": """\
from torch.utils.data import DataLoader

class Make:
    def __init__(self):
        DataLoader([], num_workers=4)  # DLL101
""",
}

CASES["an option of click is as likely as its default"] = {
    "main.py": """\
import click
from torch.utils.data import DataLoader

@click.command()
@click.option("--workers", "num_workers", default=0)
@click.option("--keep/--no-keep", default=True)
def main(num_workers, keep):
    DataLoader([], num_workers=num_workers, persistent_workers=True)  # DLL605

if __name__ == "__main__":
    main()
""",
}
CASES["an option of typer is as likely as its default"] = {
    "main.py": """\
import typer
from torch.utils.data import DataLoader

app = typer.Typer()

@app.command()
def main(num_workers: int = typer.Option(0, help="processes"), others: int = 0, some: int = 2):
    DataLoader([], num_workers=num_workers, persistent_workers=True)  # DLL605
    DataLoader([], num_workers=others, persistent_workers=True)  # DLL605
    DataLoader([], num_workers=some, persistent_workers=True)

if __name__ == "__main__":
    app()
""",
}


@pytest.mark.parametrize("files", CASES.values(), ids=CASES)
def test_indirection_is_seen_through(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, select=["DLL101", "DLL605"]) == marks(files)
