"""DLL610: in which loops over epochs a distributed sampler keeps its order, and where its epoch is set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

HEAD = """\
import argparse
import itertools
import os
import random

from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, Sampler
from tqdm import tqdm

"""
STEP = "model(batch).mean().backward()"

OWN = """
class Shuffled(Sampler):
    def __init__(self, rows, shuffle=True):
        self.rows, self.shuffle, self.epoch = rows, shuffle, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        indices = list(range(len(self.rows)))
        if self.shuffle:
            random.Random(self.epoch).shuffle(indices)
        return iter(indices)

"""

FLAGGED = """
def prepare(args):
    if "RANK" in os.environ:
        args.distributed = True
    else:
        args.distributed = False

def train(dataset, model, args):
    sampler = DistributedSampler(dataset) if args.distributed else None
    loader = DataLoader(dataset, sampler=sampler, num_workers=4)
    for epoch in range(10):
        if args.distributed > 1:
            sampler.set_epoch(epoch)
        for batch in loader:
            model(batch).mean().backward()

def main(dataset, model):
    parser = argparse.ArgumentParser()
    args = parser.parse_args()
    prepare(args)
    train(dataset, model, args)
"""

FOUND = {
    "an engine, and another sampler for one process": """
import deepspeed
from torch.utils.data import RandomSampler

def train(dataset, model, args):
    if args.rank == -1:
        sampler = RandomSampler(dataset)
    else:
        sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    model, *_ = deepspeed.initialize(model=model, args=args)
    for _ in range(args.epochs):  # DLL610
        for _, batch in enumerate(loader):
            model.backward(model(**batch).loss)
            model.step()
""",
    "an engine that another function is given": """
def step(accelerator, model, batch):
    with accelerator.accumulate(model):
        accelerator.backward(model(batch))

def train(accelerator, dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset, shuffle=True, drop_last=True))
    for epoch in range(10):  # DLL610
        for batch in loader:
            step(accelerator, model, batch)
""",
    "under a test that never holds": FLAGGED.replace("range(10):", "range(10):  # DLL610"),
    "an endless generator, and a step with arguments that a partial holds": """
import functools

def cycle(batches):
    while True:  # DLL610
        for batch in batches:
            yield batch

def started(scale, loss):
    if scale:
        loss.backward(scale)
    else:
        loss.backward()

def train(dataset, model, scale):
    batches = cycle(DataLoader(dataset, sampler=DistributedSampler(dataset)))
    start = functools.partial(started, scale)
    for step in range(1000):
        start(model(next(batches)))
""",
    "an entry of a file says whether in order": f"""
import json

def train(dataset, model, path):
    options = json.load(open(path))
    sampler = DistributedSampler(dataset, shuffle=options["shuffle"])
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(10):  # DLL610
        for batch in loader:
            {STEP}
""",
    "a branch that a call may take": f"""
def loader_of(dataset, distributed):
    if distributed:
        sampler = DistributedSampler(dataset)
    else:
        sampler = None
    return DataLoader(dataset, sampler=sampler, num_workers=4)

def train(dataset, model):
    loader = loader_of(dataset, model.distributed)
    for epoch in range(10):  # DLL610
        for batch in loader:
            {STEP}
""",
    "a helper that makes another loader in the loop": f"""
def loader_of(dataset, shuffle):
    sampler = DistributedSampler(dataset, shuffle=shuffle)
    return DataLoader(dataset, sampler=sampler, num_workers=4)

def evaluate(model, rows):
    for batch in loader_of(rows, False):
        model(batch)

def train(dataset, rows, model):
    loader = loader_of(dataset, True)
    for epoch in range(10):  # DLL610
        for batch in loader:
            {STEP}
        evaluate(model, rows)
""",
    "a progress bar of the project": f"""
class Progress:
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        self.inner = iter(self.rows)
        return self

    def __next__(self):
        return next(self.inner)

def loader_of(dataset, shuffle=False, kind=DataLoader, **options):
    if shuffle:
        return kind(dataset, sampler=DistributedSampler(dataset), **options)
    return kind(dataset, **options)

class Solver:
    def __init__(self, data):
        self.loader = data["train"]

    def train(self, model, rows):
        for epoch in range(10):  # DLL610
            self.run(epoch, model)
            for batch in loader_of(rows):
                model(batch)

    def run(self, epoch, model):
        loader = self.loader
        loader.epoch = epoch
        for batch in enumerate(Progress(loader)):
            {STEP}

def main(dataset, model, rows):
    Solver({{"train": loader_of(dataset, shuffle=True, num_workers=4)}}).train(model, rows)
""",
    "a helper that also makes the loader before the loop": f"""
def loader_of(dataset, shuffle):
    sampler = DistributedSampler(dataset, shuffle=shuffle)
    return DataLoader(dataset, sampler=sampler, num_workers=4)

def train(dataset, rows, model):
    print(len(loader_of(rows, True)))
    for epoch in range(10):  # DLL610
        for batch in loader_of(dataset, True):
            {STEP}
""",
    "a sampler for each epoch": f"""
def loader_of(dataset, distributed):
    sampler = DistributedSampler(dataset) if distributed else None
    return DataLoader(dataset, sampler=sampler, num_workers=4)

def train_one(dataset, model, epoch):
    print(epoch)
    for batch in loader_of(dataset, model.distributed):
        {STEP}

def train(dataset, model):
    for epoch in range(10):  # DLL610
        train_one(dataset, model, epoch)
""",
    "a sampler for each epoch, in the loop": f"""
def train(dataset, model, epochs):
    for number in range(epochs):  # DLL610
        rows = dataset.rows
        loader = DataLoader(rows, sampler=DistributedSampler(rows))
        for batch in loader:
            {STEP}
""",
    "while": f"""
def train(dataset, model, steps):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    done = 0
    while done < steps:  # DLL610
        for batch in loader:
            {STEP}
            done += 1
""",
    "batches taken one by one": f"""
def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(10):  # DLL610
        batches = iter(loader)
        done = 0
        while done < len(loader):
            batch = next(batches)
            {STEP}
            done += 1
""",
    "batches taken one by one in another function": f"""
class Run:
    def __init__(self, dataset):
        self.loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    def epoch(self, model):
        batches = iter(self.loader)
        for _ in range(len(self.loader)):
            batch = next(batches)
            {STEP}
    def fit(self, model):
        for number in range(10):  # DLL610
            self.epoch(model)

Run([]).fit(None)
""",
    "through tqdm, by number": f"""
from tqdm import tqdm, trange

def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset, seed=3))
    for _ in trange(10):  # DLL610
        for index, batch in enumerate(tqdm(loader)):
            {STEP}
""",
    "an alias": f"""
from torch.utils.data.distributed import DistributedSampler as Part

def train(dataset, model):
    loader = DataLoader(dataset, sampler=Part(dataset, 4, 0, True))
    for number in itertools.count():  # DLL610
        for batch in loader:
            {STEP}
""",
    "a subclass that changes nothing about it": f"""
class Part(DistributedSampler):
    def describe(self):
        return self.rank

def train(dataset, model):
    loader = DataLoader(dataset, sampler=Part(dataset))
    for epoch in range(3):  # DLL610
        for batch in loader:
            {STEP}
""",
    "inside a wrapper that has no such method": f"""
from typing import Protocol

class Batches(Protocol):
    def __iter__(self): ...

class Moved(Batches):
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        for batch in self.loader:
            yield batch.cuda()

def train(dataset, model):
    loader = Moved(DataLoader(dataset, sampler=DistributedSampler(dataset)))
    for epoch in range(3):  # DLL610
        if hasattr(loader, "set_epoch"):
            loader.set_epoch(epoch)
        for batch in loader:
            {STEP}
""",
    "a generator, whose batches a step takes that another function makes": """
def make_step(optimizer, training):
    def step(model, batch):
        loss = model(batch)
        if training:
            loss.backward()
            optimizer.step()
        return loss
    return step

def cycle(loader, sampler=None):
    while 1:  # DLL610
        if sampler is not None:
            sampler.set_epoch(3)
        for batch in loader:
            yield batch

def train(dataset, model, optimizer):
    batches = iter(cycle(DataLoader(dataset, sampler=DistributedSampler(dataset))))
    train_step = make_step(optimizer, True)
    while model.steps < 900:
        batch = next(batches)
        print(train_step(model, batch))
""",
    "an iterator of a wrapper": f"""
class Endless:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        batches = iter(self.loader)
        while True:
            try:
                yield next(batches)
            except StopIteration:
                return

def train(dataset, model):
    loader = Endless(DataLoader(dataset, sampler=DistributedSampler(dataset)))
    for epoch in range(3):  # DLL610
        for batch in loader:
            {STEP}
""",
    "a wrapper that yields from it": f"""
class Moved:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        yield from self.loader

def train(dataset, model):
    loader = Moved(DataLoader(dataset, sampler=DistributedSampler(dataset)))
    for epoch in range(3):  # DLL610
        for batch in loader:
            {STEP}
""",
    "a generator": f"""
def moved(loader):
    for batch in loader:
        yield batch.cuda()

def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(3):  # DLL610
        for batch in moved(loader):
            {STEP}
""",
    "a prefetcher that is reset in each epoch": f"""
class Prefetcher:
    def __init__(self, loader):
        self.origin = loader
        self.batches = iter(loader)

    def next(self):
        try:
            return next(self.batches)
        except StopIteration:
            return None

    def reset(self):
        self.batches = iter(self.origin)

class Trainer:
    def __init__(self, dataset):
        self.prefetcher = Prefetcher(DataLoader(dataset, sampler=DistributedSampler(dataset)))

    def train(self, model):
        for epoch in range(9):  # DLL610
            self.prefetcher.reset()
            batch = self.prefetcher.next()
            while batch is not None:
                {STEP}
                batch = self.prefetcher.next()

Trainer([]).train(None)
""",
    "a prefetcher for each epoch": f"""
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)

    def next(self):
        return next(self.loader, None)

def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(9):  # DLL610
        prefetcher = Prefetcher(loader)
        batch = prefetcher.next()
        while batch is not None:
            {STEP}
            batch = prefetcher.next()
""",
    "an iterator that a method renews when it has ended": f"""
class Batches:
    def __init__(self, dataset):
        self.loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
        self.batches = iter(self.loader)

    def take(self):
        try:
            return next(self.batches)
        except StopIteration:
            self.batches = iter(self.loader)
            return next(self.batches)

def train(dataset, model, steps):
    batches = Batches(dataset)
    for step in range(steps):  # DLL610
        batch = batches.take()
        {STEP}
""",
    "a generator without an end": f"""
def endless(batches):
    while True:  # DLL610
        for batch in batches:
            yield batch

def train(dataset, model, steps):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    loader = endless(loader)
    for step in range(steps):
        batch = next(loader)
        {STEP}
""",
    "a generator without an end, that another function loops over": f"""
class Batches:
    def __init__(self, dataset):
        self.loader = DataLoader(dataset, sampler=DistributedSampler(dataset))

    def __iter__(self):
        while True:  # DLL610
            yield from self.loader

def update(model, batch):
    {STEP}

def train(dataset, model):
    for batch in Batches(dataset):
        update(model, batch)
""",
    "in a batch sampler": f"""
def train(dataset, model):
    batches = BatchSampler(DistributedSampler(dataset), 4, drop_last=True)
    loader = DataLoader(dataset, batch_sampler=batches)
    for epoch in range(3):  # DLL610
        for batch in loader:
            {STEP}
""",
    "phases": f"""
def train(dataset, others, model):
    loaders = {{
        "train": DataLoader(dataset, sampler=DistributedSampler(dataset)),
        "val": DataLoader(others),
    }}
    for epoch in range(3):  # DLL610
        for phase in ["train", "val"]:
            for batch in loaders[phase]:
                if phase == "train":
                    {STEP}
""",
    "an object, and gradients two calls away": f"""
class Trainer:
    def __init__(self, dataset, model, epochs):
        self.model, self.epochs = model, epochs
        self.loader = DataLoader(dataset, sampler=DistributedSampler(dataset))

    def update(self, batch):
        model = self.model
        {STEP}

    def step(self, batch):
        self.update(batch)

    def one_epoch(self):
        for batch in self.loader:
            self.step(batch)

    def run(self):
        for number in range(self.epochs):  # DLL610
            self.one_epoch()
""",
    "batches by next, and a new iterator when the last one has ended": f"""
def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    batches = iter(loader)
    for step in range(9000):  # DLL610
        try:
            batch = next(batches)
        except StopIteration:
            batches = iter(loader)
            batch = next(batches)
        {STEP}
""",
    "batches by next, in each epoch": f"""
def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(9):  # DLL610
        batches = iter(loader)
        for step in range(100):
            batch = next(batches)
            {STEP}
""",
    "batches by next, in a function for each epoch": f"""
def one_epoch(loader, model):
    batches = iter(loader)
    for step in range(len(loader)):
        batch = next(batches)
        {STEP}

def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(9):  # DLL610
        one_epoch(loader, model)
""",
    "a progress bar that counts": f"""
def train(dataset, model, steps):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    batches = iter(loader)
    bar = tqdm(range(steps))
    for step in bar:  # DLL610
        try:
            batch = next(batches)
        except StopIteration:
            batches = iter(loader)
            batch = next(batches)
        {STEP}
""",
    "a wrapper that is counted": f"""
class Prefetched:
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        for batch in self.rows:
            yield batch.cuda()

def train(dataset, model):
    loader = Prefetched(DataLoader(dataset, sampler=DistributedSampler(dataset)))
    for epoch in range(3):  # DLL610
        for step, batch in enumerate(tqdm(loader)):
            {STEP}
""",
    "iterators of several tasks that a function renews": """
def one_step(task, done, batches, loaders, model):
    if done % len(loaders[task]) == 0:
        batches[task] = iter(loaders[task])
    batch = batches[task].next()
    return model(batch).mean()

def train(datasets, model):
    batches, loaders = {}, {}
    for task, dataset in datasets.items():
        loaders[task] = DataLoader(dataset, sampler=DistributedSampler(dataset))
        batches[task] = None
    for step in range(9000):  # DLL610
        for task in loaders:
            one_step(task, step, batches, loaders, model).backward()
""",
    "an iterator that a generator renews": f"""
class Endless:
    def __init__(self, rows):
        self.rows = rows
        self.iterator = iter(rows)

    def __iter__(self):
        while True:  # DLL610
            try:
                batch = next(self.iterator)
            except StopIteration:
                self.iterator = iter(self.rows)
                batch = next(self.iterator)
            yield batch

def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for step, batch in enumerate(Endless(loader)):
        {STEP}
""",
    "a sampler of the project": OWN
    + f"""
def train(dataset, model):
    loader = DataLoader(dataset, sampler=Shuffled(dataset))
    for epoch in range(3):  # DLL610
        for batch in loader:
            {STEP}
""",
    "a sampler of the project, inside a batch sampler": OWN
    + f"""
def train(dataset, model):
    loader = DataLoader(dataset, batch_sampler=BatchSampler(Shuffled(dataset, shuffle=True), 4, False))
    for epoch in range(3):  # DLL610
        for batch in loader:
            {STEP}
""",
    "a batch sampler of the project": f"""
class Buckets(BatchSampler):
    def __init__(self, rows, size):
        self.rows = rows
        self.size = size
        self.number = 0

    def set_epoch(self, number):
        self.number = number

    def __iter__(self):
        order = numpy.random.default_rng([7, self.number]).permutation(len(self.rows))
        for start in range(0, len(order), self.size):
            yield order[start : start + self.size]

def train(dataset, model):
    loader = DataLoader(dataset, batch_sampler=Buckets(dataset, 4))
    for epoch in range(3):  # DLL610
        for batch in loader:
            {STEP}
""",
    "an order of its own for a distributed sampler": f"""
class Sorted(DistributedSampler):
    def __iter__(self):
        generator = torch.Generator()
        generator.manual_seed(self.seed + self.epoch)
        order = torch.randperm(len(self.dataset), generator=generator)
        return iter(sorted(order[self.rank :: self.num_replicas], key=self.dataset.length))

def train(dataset, model):
    loader = DataLoader(dataset, sampler=Sorted(dataset))
    for epoch in range(3):  # DLL610
        for batch in loader:
            {STEP}
""",
    "options in a dict": f"""
def train(dataset, model, distributed):
    options = {{"batch_size": 4}}
    if distributed:
        options["sampler"] = DistributedSampler(dataset)
    loader = DataLoader(dataset, **options)
    for epoch in range(3):  # DLL610
        for batch in loader:
            {STEP}
""",
}

SET = "def train(dataset, model, epochs):\n    sampler = DistributedSampler(dataset)\n"
LOADER = "    loader = DataLoader(dataset, sampler=sampler)\n"
LOOP = "    for epoch in range(epochs):\n"
BATCHES = f"        for batch in loader:\n            {STEP}\n"

SILENT = {
    "under a test that holds": FLAGGED.replace("> 1", "== 1"),
    "under a test of what the command line may give": FLAGGED.replace(
        "    args = parser", '    parser.add_argument("--distributed", type=int)\n    args = parser'
    ).replace("        args.distributed = False", "        pass"),
    "a prefetcher that is made once": f"""
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)

    def next(self):
        return next(self.loader, None)

def train(dataset, model, rounds):
    prefetcher = Prefetcher(DataLoader(dataset, sampler=DistributedSampler(dataset)))
    for number in range(rounds):
        batch = prefetcher.next()
        {STEP}
""",
    "a prefetcher for each evaluation": f"""
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)

    def next(self):
        return next(self.loader, None)

def evaluate(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for number in range(3):
        prefetcher = Prefetcher(loader)
        model(prefetcher.next())

def train(dataset, model):
    for batch in DataLoader(dataset):
        {STEP}
""",
    "a prefetcher for each epoch, whose sampler knows the epoch": f"""
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)

    def next(self):
        return next(self.loader, None)

def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(9):
        loader.sampler.set_epoch(epoch)
        prefetcher = Prefetcher(loader)
        batch = prefetcher.next()
        while batch is not None:
            {STEP}
            batch = prefetcher.next()
""",
    "a generator that is read once": f"""
def read(batches):
    for batch in batches:
        for row in batch:
            yield row

def train(dataset, model):
    for batch in read(DataLoader(dataset, sampler=DistributedSampler(dataset))):
        {STEP}
""",
    "a generator without an end that sets the epoch": f"""
def endless(loader):
    epoch = 0
    while True:
        loader.sampler.set_epoch(epoch)
        yield from loader
        epoch += 1

def train(dataset, model, steps):
    batches = endless(DataLoader(dataset, sampler=DistributedSampler(dataset)))
    for step in range(steps):
        batch = next(batches)
        {STEP}
""",
    "a generator without an end that only an evaluation reads": f"""
def endless(loader):
    while True:
        yield from loader

def evaluate(dataset, model, steps):
    batches = endless(DataLoader(dataset, sampler=DistributedSampler(dataset)))
    for step in range(steps):
        model(next(batches))

def train(dataset, model):
    for batch in DataLoader(dataset):
        {STEP}
""",
    "batches of one pass, taken in several rounds": f"""
def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    batches = iter(loader)
    for epoch in range(10):
        for _ in range(100):
            batch = next(batches)
            {STEP}
""",
    "a branch that no call takes": f"""
def loader_of(dataset, distributed):
    if distributed:
        sampler = DistributedSampler(dataset)
    else:
        sampler = None
    return DataLoader(dataset, sampler=sampler, num_workers=4)

def train(dataset, model):
    loader = loader_of(dataset, False)
    for epoch in range(10):
        for batch in loader:
            {STEP}
""",
    "a wrapper that hands the epoch on": f"""
class Moved:
    def __init__(self, loader):
        self.loader = loader

    def set_epoch(self, epoch):
        self.loader.sampler.set_epoch(epoch)

    def __iter__(self):
        yield from self.loader

def train(dataset, model):
    loader = Moved(DataLoader(dataset, sampler=DistributedSampler(dataset)))
    for epoch in range(3):
        loader.set_epoch(epoch)
        for batch in loader:
            {STEP}
""",
    "a wrapper that hands all on": f"""
class Moved:
    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader.sampler, name)

    def __iter__(self):
        for batch in self.loader:
            yield batch

def train(dataset, model):
    loader = Moved(DataLoader(dataset, sampler=DistributedSampler(dataset)))
    for epoch in range(3):
        loader.set_epoch(epoch)
        for batch in loader:
            {STEP}
""",
    "set": SET + LOADER + LOOP + "        sampler.set_epoch(epoch)\n" + BATCHES,
    "by the loader": SET + LOADER + LOOP + "        loader.sampler.set_epoch(epoch)\n" + BATCHES,
    "by another name": SET + LOADER + "    same = sampler\n" + LOOP + "        same.set_epoch(epoch)\n" + BATCHES,
    "by a method that is passed on": SET
    + LOADER
    + "    say = sampler.set_epoch\n"
    + LOOP
    + "        say(epoch)\n"
    + BATCHES,
    "by its attribute": SET + LOADER + LOOP + "        sampler.epoch = epoch\n" + BATCHES,
    "in a function": "def announce(loader, epoch):\n    loader.sampler.set_epoch(epoch)\n\n"
    + (SET + LOADER + LOOP + "        announce(loader, epoch)\n" + BATCHES),
    "in a hook": """
class Hook:
    def before_epoch(self, runner):
        runner.loader.sampler.set_epoch(runner.epoch)

"""
    + (SET + LOADER + LOOP + "        model.call('before_epoch')\n" + BATCHES),
    "in order": SET.replace("(dataset)\n", "(dataset, shuffle=False)\n") + LOADER + LOOP + BATCHES,
    "not known whether in order": SET.replace("(dataset)\n", "(dataset, shuffle=model.flag)\n")
    + LOADER
    + LOOP
    + BATCHES,
    "one epoch": SET + LOADER + "    for epoch in range(1):\n" + BATCHES,
    "no epochs": SET + LOADER + "    if epochs:\n" + BATCHES,
    "no gradients": SET + LOADER + LOOP + "        for batch in loader:\n            model(batch)\n",
    "made anew": "def train(dataset, model, epochs):\n"
    + LOOP
    + f"        loader = DataLoader(dataset, sampler=DistributedSampler(dataset, seed=epoch))\n{BATCHES}",
    "a sampler of its own order": """
class Part(DistributedSampler):
    def __iter__(self):
        self.epoch += 1
        return super().__iter__()

"""
    + (SET.replace("DistributedSampler(", "Part(") + LOADER + LOOP + BATCHES),
    "another sampler": SET.replace("DistributedSampler(dataset)", "None") + LOADER + LOOP + BATCHES,
    "accelerate": "from accelerate import Accelerator\n\n"
    + (SET + LOADER + "    loader = Accelerator().prepare(loader)\n" + LOOP + BATCHES),
    "a function that trains with another loader": f"""
def go(model, loader, train):
    for batch in loader:
        loss = model(batch)
        if train:
            {STEP}

def main(dataset, others, model):
    loader = DataLoader(dataset, shuffle=True)
    validation = DataLoader(others, sampler=DistributedSampler(others))
    for epoch in range(10):
        go(model, loader, True)
        go(model, validation, False)
""",
    "batches by next, as far as one iterator goes": f"""
def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    batches = iter(loader)
    for step in range(100):
        batch = next(batches)
        {STEP}
""",
    "batches by next, and the epoch set": f"""
def train(dataset, model):
    sampler = DistributedSampler(dataset)
    loader, epoch = DataLoader(dataset, sampler=sampler), 0
    batches = iter(loader)
    for step in range(9000):
        try:
            batch = next(batches)
        except StopIteration:
            epoch += 1
            sampler.set_epoch(epoch)
            batches = iter(loader)
            batch = next(batches)
        {STEP}
""",
    "an iterator that nothing takes a batch of": f"""
def train(dataset, others, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(9):
        batches = iter(loader)
        model.show(batches)
        for batch in others:
            {STEP}
""",
    "batches by next, of a loader made anew": f"""
def train(dataset, model):
    for epoch in range(9):
        loader = DataLoader(dataset, sampler=DistributedSampler(dataset, seed=epoch))
        batches = iter(loader)
        for step in range(100):
            batch = next(batches)
            {STEP}
""",
    "a progress bar over the batches": f"""
def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    bar = tqdm(loader)
    for batch in bar:
        {STEP}
""",
    "a generator that makes one iterator": f"""
class Once:
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        iterator = iter(self.rows)
        while True:
            yield next(iterator)

def train(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for batch in Once(loader):
        {STEP}
""",
    "a sampler of the project that is told the epoch": OWN
    + f"""
def train(dataset, model):
    loader = DataLoader(dataset, sampler=Shuffled(dataset))
    for epoch in range(3):
        loader.sampler.set_epoch(epoch)
        for batch in loader:
            {STEP}
""",
    "a sampler of the project that does not shuffle": OWN
    + f"""
def train(dataset, model):
    loader = DataLoader(dataset, sampler=Shuffled(dataset, shuffle=False))
    for epoch in range(3):
        for batch in loader:
            {STEP}
""",
    "a sampler of the project that seeds its generator but does not shuffle": f"""
class Parts(Sampler):
    def __init__(self, rows, shuffle=True):
        self.rows, self.shuffle, self.epoch = rows, shuffle, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        generator = random.Random(self.epoch)
        indices = list(range(len(self.rows)))
        if self.shuffle:
            generator.shuffle(indices)
        return iter(indices)

def train(dataset, model):
    loader = DataLoader(dataset, sampler=Parts(dataset, shuffle=False))
    for epoch in range(3):
        for batch in loader:
            {STEP}
""",
    "a sampler of the project that may shuffle": OWN
    + f"""
def train(dataset, model, options):
    loader = DataLoader(dataset, sampler=Shuffled(dataset, options.shuffle))
    for epoch in range(3):
        for batch in loader:
            {STEP}
""",
    "a sampler of the project that counts its epochs": f"""
class Shuffled(Sampler):
    def __init__(self, rows):
        self.rows, self.epoch = rows, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        order = random.Random(self.epoch).sample(range(len(self.rows)), len(self.rows))
        self.epoch += 1
        return iter(order)

def train(dataset, model):
    loader = DataLoader(dataset, sampler=Shuffled(dataset))
    for epoch in range(3):
        for batch in loader:
            {STEP}
""",
    "a sampler of the project whose epoch is set in the loop": OWN
    + f"""
def train(dataset, model):
    sampler = Shuffled(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(3):
        sampler.epoch = epoch
        for batch in loader:
            {STEP}
""",
    "a sampler of the project with a seed alone": f"""
class Shuffled(Sampler):
    def __init__(self, rows, seed):
        self.rows, self.seed, self.epoch = rows, seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        return iter(random.Random(self.seed).sample(range(len(self.rows)), len(self.rows)))

def train(dataset, model):
    loader = DataLoader(dataset, sampler=Shuffled(dataset, 7))
    for epoch in range(3):
        for batch in loader:
            {STEP}
""",
    "a sampler for each epoch, with a seed of its own": f"""
def train(dataset, model, epochs):
    for epoch in range(epochs):
        loader = DataLoader(dataset, sampler=DistributedSampler(dataset, seed=epoch))
        for batch in loader:
            {STEP}
""",
    "a sampler for each epoch, with a number that the object counts": f"""
class Trainer:
    def loader(self, dataset):
        return DataLoader(dataset, sampler=DistributedSampler(dataset, seed=self.current_epoch))

    def train(self, dataset, model):
        for epoch in range(10):
            self.current_epoch = epoch
            for batch in self.loader(dataset):
                {STEP}
""",
    "a loader for each epoch, of other data": f"""
def loader_of(folder, part):
    rows = [folder, part]
    sampler = DistributedSampler(rows)
    return DataLoader(rows, sampler=sampler)

def train(folder, model):
    for epoch in range(10):
        for batch in loader_of(folder, epoch % 3):
            {STEP}
""",
    "a loader for each part, and one pass": f"""
def train(folders, model):
    for number in range(10):
        rows = folders.pop()
        for batch in DataLoader(rows, sampler=DistributedSampler(rows)):
            {STEP}
""",
    "a sampler for each epoch, which is told": f"""
def train(dataset, model):
    for epoch in range(10):
        sampler = DistributedSampler(dataset)
        sampler.set_epoch(epoch)
        for batch in DataLoader(dataset, sampler=sampler):
            {STEP}
""",
    "one pass per dataset": f"""
def train(datasets, model):
    loader = DataLoader(datasets, sampler=DistributedSampler(datasets))
    for dataset in datasets:
        for batch in loader:
            {STEP}
""",
}

test_found, test_silent = in_one_file("DLL610", FOUND, SILENT, HEAD)


def test_a_program_of_its_own_sets_another_sampler(told: Callable[..., Any]) -> None:
    files = {
        "one.py": HEAD + SET + LOADER + LOOP + BATCHES + "\nif __name__ == '__main__':\n    train([], 0, 9)\n",
        "two.py": HEAD
        + (SET + LOADER + LOOP + "        sampler.set_epoch(epoch)\n" + BATCHES)
        + "\nif __name__ == '__main__':\n    train([], 0, 9)\n",
    }

    (found,) = told(files, select=["DLL610"])

    assert found.path.endswith("one.py")
    assert "`sampler.set_epoch(epoch)`" in found.help


GUARD = "\nif __name__ == '__main__':\n    train([], 0, 9)\n"
MADE = "\nif __name__ == '__main__':\n    train(DataLoader([], sampler=DistributedSampler([])), 0, 9)\n"
RUN = HEAD + SET + LOADER + LOOP + BATCHES
MODULES = {
    "other/library/__init__.py": "",
    "other/library/samplers.py": """
from torch.utils.data import DataLoader

class Batches:
    def __init__(self, dataset):
        self.dataset, self.epoch = dataset, 0

    def __iter__(self):
        self.dataset.set_epoch(self.epoch)
        return iter(self.dataset)

def loader_of(dataset):
    return DataLoader(dataset, sampler=Batches(dataset))
""",
}
"""A module that nothing imports, and that sets the epoch of what it is given."""


@pytest.mark.parametrize(
    "files",
    [
        {"run.py": RUN + GUARD},
        {
            "run.py": HEAD + "from steps import train\n" + MADE,
            "again.py": HEAD + "from steps import train\n" + MADE,
            "steps.py": f"def train(loader, model, epochs):\n{LOOP}{BATCHES}",
        },
        {
            "run.py": RUN + GUARD,
            "other/library/tools.py": "from importlib import import_module\nimport_module(input())\n",
        },
    ],
    ids=["one file", "a module of two programs", "a program outside of packages"],
)
def test_a_module_that_the_program_does_not_import(files: dict[str, str], findings: Callable[..., Any]) -> None:
    loop = next(name for name, text in files.items() if LOOP in text)

    found = findings({**MODULES, **files}, select=["DLL610"])

    assert {(path, code) for path, _, code in found} == {(loop, "DLL610")}


@pytest.mark.parametrize(
    "files",
    [
        {"run.py": f"from importlib import import_module\n{RUN}\nimport_module(input())\n{GUARD}"},
        {"run.py": f"import pkgutil\nmodules = pkgutil.walk_packages(['other'])\n{RUN}{GUARD}"},
        {"run.py": RUN},
        {"run.py": f"from library.samplers import Batches\n{RUN}{GUARD}"},
        {"run.py": RUN + GUARD, "launch.py": "import run\nfrom library.samplers import loader_of\nloader_of(run)\n"},
        {
            "__init__.py": "",
            "run.py": RUN + GUARD,
            "other/library/samplers.py": f"import importlib\n{MODULES['other/library/samplers.py']}\n"
            "importlib.import_module(input())\n",
        },
    ],
    ids=["by name", "all modules", "no program", "imported", "both imported", "a module that imports by name"],
)
def test_a_module_that_the_program_may_load(files: dict[str, str], findings: Callable[..., Any]) -> None:
    assert findings({**MODULES, **files}, select=["DLL610"]) == set()


@pytest.mark.parametrize(
    ("made", "call"),
    [
        ("loader = DataLoader(dataset, sampler=DistributedSampler(dataset))", "loader.sampler.set_epoch(epoch)"),
        ("part = DistributedSampler(dataset); loader = DataLoader(dataset, sampler=part)", "part.set_epoch(epoch)"),
    ],
)
def test_the_help_names_the_call(made: str, call: str, told: Callable[..., Any]) -> None:
    text = f"def train(dataset, model, epochs):\n    {made}\n" + LOOP + BATCHES

    (found,) = told({"train.py": HEAD + text}, select=["DLL610"])

    assert f"`{call}`" in found.help


def test_the_help_counts_epochs_where_the_loop_counts_steps(told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": HEAD + FOUND["batches by next, and a new iterator when the last one has ended"]})

    assert "`loader.sampler.set_epoch(epoch)`" in found.help


def test_two_loops_of_one_sampler_are_one_finding(told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": HEAD + SET + LOADER + (LOOP + BATCHES) * 2}, select=["DLL610"])

    assert "these epochs have the same order too" in [place.message for place in found.related]
