"""DLL102: what starts processes at the top level of a file, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

from dllint.fixes.passes import fix_files
from dllint.rules.start_methods import top_level_starts

SELECT = {"select": ["DLL102"]}

LOADING = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

rows = TensorDataset(torch.rand(100, 8))
"""
SPAWNED = f"""\
{LOADING}
loader = DataLoader(rows, num_workers=4, multiprocessing_context="spawn")
"""
LAUNCHING = """\
import multiprocessing

def work(number):
    print(number)

"""

THREADS_OR_PROCESSES = f"""\
{LAUNCHING}
from multiprocessing.pool import Pool, ThreadPool

def each(items, use_process=False, sequential=False):
    if not sequential:
        if use_process:
            pool = Pool(processes=4)
        else:
            pool = ThreadPool(processes=4)
        return [pool.apply_async(work, (item,)) for item in items]
    return [work(item) for item in items]

def both(items, use_process):
    with (Pool if use_process else ThreadPool)(4) as pool:
        return pool.map(work, items)
"""

THREADS = f"""{SPAWNED}
import threading

class Trainer(threading.Thread):
    def __init__(self, loader, start=False):
        super().__init__(daemon=True)
        self.loader = loader
        if start:
            self.start()

    def run(self):
        for batch in self.loader:
            print(batch)

class Quick(Trainer):
    pass

class Lazy(Trainer):
    def start(self):
        print("not yet")
"""

FOUND: dict[str, str] = {
    "a thread of the project's class": f"""{THREADS}
trainer = Trainer(loader)
trainer.start()  # DLL102
""",
    "a thread that its constructor starts": f"""{THREADS}
trainer = Trainer(loader, start=True)  # DLL102
""",
    "a thread of a class derived twice": f"""{THREADS}
Quick(loader=loader).start()  # DLL102
""",
    "threads in a list": f"""{THREADS}
threads = [Trainer(loader)]
for thread in threads:
    thread.start()  # DLL102
""",
    "a thread that an object starts": f"""{THREADS}
class Stream:
    def __init__(self):
        self.trainer = Trainer(loader)
        self.trainer.start()

stream = Stream()  # DLL102
""",
    "a pool of threads": f"""{THREADS}
from concurrent.futures import ThreadPoolExecutor

def train(batches):
    for batch in batches:
        print(batch)

with ThreadPoolExecutor(1) as pool:
    pool.submit(train, loader)  # DLL102
""",
    "processes where an argument asks for them": f"""{THREADS_OR_PROCESSES}
each([1, 2], use_process=True)  # DLL102
""",
    "processes where the last argument asks for them": f"""{THREADS_OR_PROCESSES}
both([1, 2], True)  # DLL102
""",
    "processes where it is not known": f"""{THREADS_OR_PROCESSES}
import somewhere
each([1, 2], somewhere.use_process)  # DLL102
""",
    "spawn by another name": """\
from torch.multiprocessing import spawn as go

def work(rank):
    print(rank)

go(work, nprocs=2)  # DLL102
""",
    "a function that is not known": """\
import torch.multiprocessing as mp
from somewhere import work

mp.spawn(work, nprocs=2)  # DLL102
""",
    "start_processes": """\
from torch.multiprocessing import start_processes

def work(rank):
    print(rank)

start_processes(work, nprocs=2, start_method="forkserver")  # DLL102
""",
    "a process of a context": f"""{LAUNCHING}
process = multiprocessing.get_context("spawn").Process(target=work, args=(1,))
process.start()  # DLL102
""",
    "processes in a loop": f"""{LAUNCHING}
context = multiprocessing.get_context("forkserver")
for number in range(3):
    process = context.Process(target=work, args=(number,))
    process.start()  # DLL102
""",
    "a list of processes": f"""{LAUNCHING}
context = multiprocessing.get_context("spawn")
processes = [context.Process(target=work, args=(number,)) for number in range(3)]
for process in processes:
    process.start()  # DLL102
""",
    "after set_start_method": f"""{LAUNCHING}
multiprocessing.set_start_method("spawn")
process = multiprocessing.Process(target=work, args=(1,))
process.start()  # DLL102
""",
    "an executor": f"""{LAUNCHING}
from concurrent.futures import ProcessPoolExecutor

with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
    pool.submit(work, 1)  # DLL102
""",
    "under a condition on something else": f"""{LAUNCHING}
import sys

if len(sys.argv) > 1:
    multiprocessing.get_context("spawn").Process(target=work, args=(1,)).start()  # DLL102
""",
    "main without a guard": """\
import torch.multiprocessing as mp

def work(rank):
    print(rank)

def main():
    mp.spawn(work, nprocs=2)

main()  # DLL102
""",
    "two calls deep": f"""{SPAWNED}
def epoch():
    for batch in loader:
        print(batch)

def train():
    epoch()

train()  # DLL102
""",
    "enumerate": f"""{SPAWNED}
for number, batch in enumerate(loader):  # DLL102
    print(batch)
""",
    "tqdm": f"""{SPAWNED}
from tqdm import tqdm

for number, batch in tqdm(enumerate(loader), total=len(loader)):  # DLL102
    print(batch)
""",
    "a progress bar by its name": f"""{SPAWNED}
from tqdm.auto import tqdm

bar = tqdm(enumerate(loader), total=len(loader))  # DLL102
for number, batch in bar:
    print(batch)
""",
    "a progress bar that a with statement opens": f"""{SPAWNED}
from tqdm import tqdm as progress

with progress(loader) as bar:
    for batch in bar:  # DLL102
        print(batch)
""",
    "a progress bar of an object": f"""{SPAWNED}
from tqdm import tqdm

class Task:
    def __init__(self, batches):
        self.bar = tqdm(iterable=batches)

    def run(self):
        for batch in self.bar:
            print(batch)

Task(loader).run()  # DLL102
""",
    "a progress bar that a function makes": f"""{SPAWNED}
from tqdm import tqdm

def shown(batches, **options):
    return tqdm(batches, **options)

bar = shown(zip(loader, loader), leave=False)  # DLL102
for one, other in bar:
    print(one, other)
""",
    "a progress bar of a class of the project": f"""{SPAWNED}
from tqdm import tqdm

class Bar(tqdm):
    def __init__(self, batches, **options):
        super().__init__(batches, **options)

class Same(Bar):
    pass

bar = Same(loader, leave=False)
for batch in bar:  # DLL102
    print(batch)
""",
    "a progress bar on some processes": f"""{SPAWNED}
import os
from tqdm import tqdm

batches = enumerate(loader)  # DLL102
if "RANK" not in os.environ:
    batches = tqdm(batches)
for number, batch in batches:
    print(batch)
""",
    "a loop beside an enumeration that only a main program makes": f"""{SPAWNED}
if __name__ == "__main__":
    first = enumerate(loader)
for batch in loader:  # DLL102
    print(batch)
""",
    "a progress bar beside such an enumeration": f"""{SPAWNED}
from tqdm import tqdm

bar = tqdm(loader)
if __name__ == "__main__":
    first = enumerate(loader)
for batch in bar:  # DLL102
    print(batch)
""",
    "an enumeration that is read later": f"""{SPAWNED}
running = []
running.append(enumerate(loader))  # DLL102
for batches in zip(*running):
    print(batches)
""",
    "loaders that are paired": f"""{SPAWNED}
pairs = zip(loader, [1, 2])  # DLL102
""",
    "a map over a loader": f"""{SPAWNED}
batches = map(str, loader)  # DLL102
""",
    "next": f"""{SPAWNED}
batch = next(iter(loader))  # DLL102
""",
    "a comprehension": f"""{SPAWNED}
batches = [batch for batch in loader]  # DLL102
""",
    "handed to a function": f"""{SPAWNED}
def train(batches):
    for batch in batches:
        print(batch)

train(loader)  # DLL102
""",
    "made by a function": f"""{LOADING}
def build():
    return DataLoader(rows, num_workers=4, multiprocessing_context="spawn")

for batch in build():  # DLL102
    print(batch)
""",
    "kept by an object": f"""{LOADING}
class Trainer:
    def __init__(self):
        self.loader = DataLoader(rows, num_workers=4, multiprocessing_context="spawn")

    def run(self):
        for batch in self.loader:
            print(batch)

trainer = Trainer()
trainer.run()  # DLL102
""",
    "options in a dict": f"""{LOADING}
options = {{"num_workers": 4, "multiprocessing_context": "spawn"}}
for batch in DataLoader(rows, **options):  # DLL102
    print(batch)
""",
    "the default of a later Python": f"""{LOADING}
for batch in DataLoader(rows, num_workers=4):  # DLL102
    print(batch)
""",
    "a method of a later Python's default": f"""{LAUNCHING}
process = multiprocessing.Process(target=work, args=(1,))
process.start()  # DLL102
""",
    "guarded only at the end": f"""{SPAWNED}
for batch in loader:  # DLL102
    print(batch)

if __name__ == "__main__":
    print("done")
""",
}

FOUND |= {
    "a loader that accelerate prepared": f"""{SPAWNED}
from accelerate import Accelerator
accelerator = Accelerator()
loader = accelerator.prepare(loader)
for batch in loader:  # DLL102
    print(batch)
""",
    "a loader prepared together with a model": f"""{SPAWNED}
from accelerate import Accelerator
accelerator = Accelerator()
model, loader = accelerator.prepare(torch.nn.Linear(8, 1), loader)
for batch in loader:  # DLL102
    print(batch)
""",
    "a loader that Fabric set up": f"""{SPAWNED}
from lightning.fabric import Fabric
loader = Fabric().setup_dataloaders(loader)
for batch in loader:  # DLL102
    print(batch)
""",
    "an engine of ignite": f"""{SPAWNED}
from ignite.engine import Engine, create_supervised_evaluator
Engine(lambda engine, batch: batch).run(loader, max_epochs=2)  # DLL102
create_supervised_evaluator(None).run(loader)
""",
    "a data module's loader": f"""{LOADING}
import lightning as L
class Rows(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
class Net(L.LightningModule):
    def training_step(self, batch, index):
        return batch
L.Trainer().fit(Net(), datamodule=Rows())  # DLL102
""",
    "a trainer with options": f"""{LOADING}
from torch import multiprocessing
from transformers import Trainer, TrainingArguments
class Mine(Trainer):
    pass
multiprocessing.set_start_method("spawn")
options = TrainingArguments("out", dataloader_num_workers=2)
Mine(None, options, train_dataset=rows).train()  # DLL102
""",
    "loaders of parts of a graph": """\
import torch
from torch_geometric.data import NeighborSampler
from torch_geometric.nn import Node2Vec
for size, nodes, edges in NeighborSampler(torch.load("x.pt"), sizes=[4], num_workers=2):  # DLL102
    print(size)
for first, second in Node2Vec(None, 8, 2, 2).loader(num_workers=2):
    print(first)
""",
}
FOUND |= {
    "a loader unpacked into a list": f"""{SPAWNED}
batches = [*loader]  # DLL102
""",
    "a loader unpacked into a call": f"""{SPAWNED}
print(*loader)  # DLL102
""",
    "a loader that Composer's trainer is made with": f"""{SPAWNED}
from composer import Trainer
trainer = Trainer(model=None, train_dataloader=loader, max_duration="1ep")
trainer.fit()  # DLL102
""",
    "a loader that Composer's trainer is given": f"""{SPAWNED}
from composer.trainer import Trainer
Trainer(model=None).fit(train_dataloader=loader)  # DLL102
""",
    "a dict of loaders that Catalyst's runner is given": f"""{SPAWNED}
from catalyst import dl
dl.SupervisedRunner().train(model=None, loaders={{"train": loader}})  # DLL102
""",
    "a list of loaders that Lightning's trainer is given": f"""{SPAWNED}
import lightning as L
L.Trainer().validate(None, dataloaders=[DataLoader(rows), loader])  # DLL102
""",
    "a loader unpacked into names": f"""{SPAWNED}
first, *others = loader  # DLL102
""",
    "workers that this call of the function asks for": f"""{LOADING}
from torch import multiprocessing
multiprocessing.set_start_method("spawn")
def load(workers=0):
    if workers is None:
        workers = 8
    return DataLoader(rows, num_workers=workers)
def validate(loader):
    for batch in loader:
        print(batch)
validate(load(workers=None))  # DLL102
""",
    "the first of what repeats a loader": f"""{SPAWNED}
import itertools
batches = itertools.cycle(loader)
print(next(batches))  # DLL102
""",
    "the first of what counts batches, in a function": f"""{SPAWNED}
def first(batches):
    return next(batches)
print(first(enumerate(loader)))  # DLL102
""",
    "loaders one after another": f"""{SPAWNED}
from itertools import chain
for batch in chain.from_iterable([loader, DataLoader(rows)]):  # DLL102
    print(batch)
""",
    "loaders beside one another": f"""{SPAWNED}
loaders = [loader, DataLoader(rows)]
for batch, other in zip(*loaders):  # DLL102
    print(batch, other)
""",
    "loaders that Lightning combines": f"""{SPAWNED}
from lightning.pytorch.utilities import CombinedLoader
for batch, number, index in CombinedLoader({{"a": loader, "b": [1]}}, "max_size"):  # DLL102
    print(batch)
""",
    "an object that yields from a loader": f"""{SPAWNED}
class Fast:
    def __init__(self, loader):
        self.loader = loader
    def __iter__(self):
        yield from self.loader
for batch in Fast(loader):  # DLL102
    print(batch)
""",
}
SILENT: dict[str, str] = {
    "a pair of loaders that is one loader for some data": """
from torch.utils.data import DataLoader

def build(rows, kind):
    if kind == "test":
        return DataLoader(rows, num_workers=2)
    return DataLoader(rows, num_workers=2), DataLoader(rows, num_workers=2)

def main():
    for batch in train:
        print(batch)

train, test = build(range(9), open("kind").read())

if __name__ == "__main__":
    main()
""",
    "functions of the project that are named like builtins": f"""{SPAWNED}
def filter(rows, kept):
    return kept

def map(change, rows):
    return change

kept = filter(1, loader)
changed = map(str, loader)
""",
    "functions that dicts and lists keep": f"""\
{LAUNCHING}
def build(count=2):
    with multiprocessing.get_context("spawn").Pool(count) as pool:
        return pool.map(work, range(9))

rows = dict(type=build, count=32)
others = list((build, work))
""",
    "what goes through a loader later": f"""{SPAWNED}
import itertools
batches = itertools.cycle(loader)
pairs = zip(*[loader, loader])
joined = itertools.chain.from_iterable([loader])
print(*[len(loader), *rows.tensors])
""",
    "a trainer that is made and not run": f"""{SPAWNED}
from composer import Trainer
trainer = Trainer(model=None, train_dataloader=loader, max_duration="1ep")
trainer.save_checkpoint("a.pt")
""",
    "workers that another call of the function asks for": f"""{LOADING}
from torch import multiprocessing
multiprocessing.set_start_method("spawn")
def load(workers=0):
    if workers is None:
        workers = 8
    return DataLoader(rows, num_workers=workers)
def validate(loader):
    for batch in loader:
        print(batch)
validate(load(workers=0))
def main():
    validate(load(workers=4))
""",
    "the next of something else": f"""{SPAWNED}
import itertools
print(next(itertools.cycle([loader])))
print(next(iter([loader])))
""",
    "prepared and never iterated": f"""{SPAWNED}
from accelerate import Accelerator
accelerator = Accelerator()
model, loader = accelerator.prepare(torch.nn.Linear(8, 1), loader)
for name in model.parameters():
    print(len(loader))
""",
    "trainers whose loaders have no workers": f"""{LOADING}
import lightning as L
from ignite.engine import Engine
from torch import multiprocessing
from transformers import Trainer, TrainingArguments
multiprocessing.set_start_method("spawn")
class Rows(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(rows)
    def helper(self):
        return DataLoader(rows, num_workers=2)
Engine(print).run(DataLoader(rows))
L.Trainer().fit(None, datamodule=Rows())
Trainer(None, TrainingArguments("out"), train_dataset=rows).train()
""",
    "a progress bar that counts batches": f"""{SPAWNED}
from tqdm import tqdm, trange

with tqdm(total=len(loader)) as bar:
    for step in range(3):
        bar.update(step)
count = tqdm(range(len(loader)))
for step in count:
    print(step)
for step in trange(len(loader)):
    print(step)
""",
    "a class of the project that iterates something else": f"""{SPAWNED}
from tqdm import tqdm

class Counting(tqdm):
    def __init__(self, batches):
        super().__init__(range(len(batches)))

class Own(tqdm):
    def __iter__(self):
        return iter([1, 2])

for step in Counting(loader):
    print(step)
for step in Own(loader):
    print(step)
""",
    "what something from outside makes of a loader": f"""{SPAWNED}
import somewhere

losses = somewhere.losses(loader)
for loss in losses:
    print(loss)
""",
    "threads, unless an argument asks for processes": f"""{THREADS_OR_PROCESSES}
each([1, 2])
each([1, 2], use_process=False)
each([1, 2], True, sequential=True)
""",
    "threads in one of many calls": f"""{THREADS_OR_PROCESSES}
def many():
{"".join(f"    each([{number}], use_process=True){chr(10)}" for number in range(30))}
each([1, 2])
""",
    "threads that an expression chooses": f"""{THREADS_OR_PROCESSES}
both([1, 2], False)
""",
    "a thread that is not started": f"""{THREADS}
trainer = Trainer(loader)
""",
    "a thread whose start does something else": f"""{THREADS}
Lazy(loader).start()
""",
    "a thread that is started under the guard": f"""{THREADS}
trainer = Trainer(loader)
if __name__ == "__main__":
    trainer.start()
""",
    "the start of something else": f"""{THREADS}
class Timer:
    def start(self):
        print("started")

    def run(self):
        for batch in loader:
            print(batch)

Timer().start()
""",
    "a function for a button": f"""{THREADS}
import gradio

def train():
    for batch in loader:
        print(batch)

gradio.Button("train").click(train)
""",
    "guarded": f"""{SPAWNED}
if __name__ == "__main__":
    for batch in loader:
        print(batch)
""",
    "guarded the other way around": f"""{SPAWNED}
if "__main__" == __name__:
    print(next(iter(loader)))
""",
    "left early": f"""{SPAWNED}
import sys

if __name__ != "__main__":
    sys.exit()
for batch in loader:
    print(batch)
""",
    "only in the parent": f"""{LAUNCHING}
if multiprocessing.parent_process() is None:
    multiprocessing.get_context("spawn").Process(target=work, args=(1,)).start()
""",
    "in a function that nobody calls here": f"""{SPAWNED}
def train():
    for batch in loader:
        print(batch)
""",
    "made and not iterated": f"""{SPAWNED}
print(len(loader), loader.dataset)
for number in range(len(loader)):
    print(number)
""",
    "a process that is started under the guard": f"""{LAUNCHING}
process = multiprocessing.get_context("spawn").Process(target=work, args=(1,))

if __name__ == "__main__":
    process.start()
""",
    "forked": f"""{LAUNCHING}
multiprocessing.get_context("fork").Process(target=work, args=(1,)).start()
""",
    "set to fork": f"""{LOADING}
import multiprocessing

multiprocessing.set_start_method("fork", force=True)
for batch in DataLoader(rows, num_workers=4):
    print(batch)
""",
    "no workers": f"""{LOADING}
for batch in DataLoader(rows, num_workers=0):
    print(batch)
for batch in DataLoader(rows):
    print(batch)
""",
    "a thread": """\
from threading import Thread

def work():
    print(1)

thread = Thread(target=work)
thread.start()
""",
    "the dataset is iterated": f"""{SPAWNED}
for row in loader.dataset:
    print(row)
""",
    "workers that cannot be followed": f"""{LOADING}
from somewhere import options

for batch in DataLoader(rows, **options):
    print(batch)
""",
}


FOUND |= {
    "a pool starts its processes where it is made": f"""\
{LAUNCHING}
pool = multiprocessing.get_context("spawn").Pool(2)  # DLL102
rows = range(9)
if rows:
    pool.map(work, rows)
else:
    pool.apply_async(work, (1,))
""",
    "a pool of a with statement": f"""\
{LAUNCHING}
with multiprocessing.get_context("spawn").Pool(2) as pool:  # DLL102
    for number in range(9):
        pool.apply_async(work, (number,))
""",
    "a pool that another function uses": f"""\
{LAUNCHING}
def each(pool):
    return pool.map(work, range(9))

each(multiprocessing.get_context("spawn").Pool(2))  # DLL102
""",
    "an executor starts its processes with its first task": f"""\
{LAUNCHING}
from concurrent.futures import ProcessPoolExecutor

executor = ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))
rows = list(range(9))
executor.map(work, rows)  # DLL102
""",
}


test_found, test_silent = in_one_file("DLL102", FOUND, SILENT)


@pytest.mark.parametrize(
    ("call", "severity"),
    [("each(work)", "error"), ("map(work, [1])", "error"), ("elsewhere.each(work)", "warning")],
)
def test_what_another_package_calls_is_a_guess(call: str, severity: str, told: Callable[..., Any]) -> None:
    text = f"""\
import elsewhere
{SPAWNED}
def each(function):
    function(1)

def work(number):
    for batch in loader:
        print(batch)

list({call})
"""
    (finding,) = told({"train.py": text}, **SELECT)

    assert finding.severity == severity


FILES = {
    "loading.py": f"""{LOADING}
def build(workers):
    return DataLoader(rows, num_workers=workers, multiprocessing_context="forkserver")
""",
    "training.py": """
def train(dataloader):
    for batch in dataloader:
        print(batch)
""",
    "script.py": """
from loading import build
from training import train

train(build(4))  # DLL102
""",
}


def test_across_files(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    assert findings(FILES, **SELECT) == marks(FILES)


def test_what_a_script_does_is_no_matter_of_the_files_it_imports(findings: Callable[..., Any]) -> None:
    script = FILES["script.py"].replace("train(build(4))", "if __name__ == '__main__':\n    train(build(4))")

    assert findings({**FILES, "script.py": script}, **SELECT) == set()


@pytest.mark.parametrize("name", ["__main__.py", "package/__main__.py"])
def test_a_main_module_is_not_imported_again(name: str, findings: Callable[..., Any]) -> None:
    assert findings({name: FOUND["enumerate"]}, **SELECT) == set()


def test_severity_by_what_shows_the_start_method(told: Callable[..., Any]) -> None:
    (shown,) = told({"train.py": FOUND["enumerate"]}, **SELECT)
    (default,) = told({"train.py": FOUND["the default of a later Python"]}, **SELECT)

    assert (shown.severity, shown.start_methods) == ("error", ("spawn",))
    assert (default.severity, default.start_methods) == ("warning", ("forkserver",))
    assert "forkserver, the default on Linux from Python 3.14," in default.text


def test_targets_that_fork(findings: Callable[..., Any]) -> None:
    files = {"train.py": FOUND["the default of a later Python"]}

    assert findings(files, target_python=">=3.10,<3.14", **SELECT) == set()
    assert findings(files, target_python="3.12", target_platform=["macos"], **SELECT) == {("train.py", 6, "DLL102")}


def test_one_finding_a_file_that_names_all(told: Callable[..., Any]) -> None:
    source = f"""{SPAWNED}
other = DataLoader(rows, num_workers=2, multiprocessing_context="spawn")

for batch in loader:
    print(batch)
for batch in other:
    print(batch)
"""
    (finding,) = told({"train.py": source}, **SELECT)

    assert finding.span.line == 10
    assert [place.span.line for place in finding.related] == [6, 8, 12]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(FOUND["main without a guard"], ["safe"], id="a call"),
        pytest.param(FOUND["enumerate"], ["unsafe"], id="a loop binds a name"),
        pytest.param(FOUND["under a condition on something else"], ["unsafe"], id="inside another block"),
    ],
)
def test_fixes(source: str, expected: list[str], told: Callable[..., Any]) -> None:
    (finding,) = told({"train.py": source}, **SELECT)

    assert [fix.applicability for fix in finding.fixes] == expected


def test_the_fix_of_a_file_that_others_import_is_unsafe(told: Callable[..., Any]) -> None:
    (finding,) = told({"train.py": FOUND["main without a guard"], "other.py": "import train\n"}, **SELECT)

    assert [fix.applicability for fix in finding.fixes] == ["unsafe"]


FOLLOWED: dict[str, tuple[str, int, str]] = {
    "a call": (
        """\
train()
print("done")
""",
        2,
        "safe",
    ),
    "a call that an assignment keeps": (
        """\
train()
rows = collect()
print(rows)
""",
        3,
        "unsafe",
    ),
    "a call below constants": (
        """\
train()
EPOCHS = 3

test()
""",
        4,
        "unsafe",
    ),
    "a loop": (
        """\
train()
for path in paths:
    remove(path)
    print(path)
""",
        4,
        "unsafe",
    ),
    "what the start gives": (
        """\
result = train()
best = result[0]
""",
        2,
        "unsafe",
    ),
    "a change": (
        """\
train()
settings.done = True
""",
        2,
        "unsafe",
    ),
    "constants alone": (
        """\
train()
EPOCHS = 3
""",
        1,
        "safe",
    ),
    "a guarded call": (
        """\
train()

if __name__ == "__main__":
    print("done")
""",
        1,
        "safe",
    ),
    "a definition with a decorator": (
        """\
train()

@cached()
def rows():
    return 3
""",
        1,
        "safe",
    ),
}


@pytest.mark.parametrize(("tail", "last", "kind"), FOLLOWED.values(), ids=FOLLOWED)
def test_what_follows_moves_too_where_it_does_something(
    tail: str, last: int, kind: str, told: Callable[..., Any]
) -> None:
    head = f"{SPAWNED}\ndef train():\n    for batch in loader:\n        print(batch)\n\n"

    (finding,) = told({"train.py": head + tail}, **SELECT)
    (fix,) = finding.fixes

    assert fix.applicability == kind
    assert fix.edits[0].last.end_line - head.count("\n") == last


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param("import results\nresults.show()\n", id="an import"),
        pytest.param("def show():\n    print(1)\n\nshow()\n", id="a function"),
    ],
)
def test_no_fix_where_a_definition_stands_before_what_has_to_move(tail: str, told: Callable[..., Any]) -> None:
    source = FOUND["main without a guard"].replace("  # DLL102", "")

    (finding,) = told({"train.py": source + tail}, **SELECT)

    assert finding.fixes == ()


@pytest.mark.parametrize(
    ("made", "flagged"),
    [
        ("button = gr.Button()\nbutton.click(train, [])", False),
        ("import fire\nfire.Fire(train)", True),
        ("gr.Button().click(train).then(train)\ntrain()", True),
        ("app = fastapi.FastAPI(lifespan=train)", False),
        ("app = fastapi.FastAPI(on_startup=[train])", False),
        ("options = dict(title='x')\napp = fastapi.FastAPI(lifespan=train, **options)", False),
        ("def make():\n    return fastapi.FastAPI(lifespan=train)\n\n\napp = make()", False),
        ("app = fastapi.FastAPI(lifespan=functools.partial(train, 3))", False),
        ("app = fastapi.FastAPI(lifespan=lambda app: train(app))", False),
        ("thread = threading.Thread(target=train)\nthread.start()", True),
        ("def main():\n    threading.Thread(target=train).start()\n\n\nmain()", True),
        ("app = fastapi.FastAPI(lifespan=train())", True),
        ("def make():\n    train()\n    return fastapi.FastAPI(lifespan=train)\n\n\napp = make()", True),
        ("fastapi.run_now(train)", True),
    ],
)
def test_a_handler_that_an_object_from_outside_is_given_runs_later(
    findings: Callable[..., Any], made: str, flagged: bool
) -> None:
    text = (
        "import functools\nimport threading\n\nimport fastapi\nimport gradio as gr\n"
        "from torch.utils.data import DataLoader\n\n\n"
        "def train(event=None):\n"
        '    for batch in DataLoader(list(range(9)), num_workers=2, multiprocessing_context="spawn"):\n'
        "        print(batch)\n\n\n" + made + "\n"
    )
    assert bool(findings({"train.py": text}, select=["DLL102"])) == flagged


@pytest.mark.parametrize("start", ["self.process = context.Process(target=work, args=(0,))", "self.process = made"])
def test_a_process_that_an_object_keeps_and_starts(findings: Callable[..., Any], start: str) -> None:
    text = (
        "import argparse\n"
        "import multiprocessing\n\n\n"
        "def work(rank):\n"
        "    print(rank)\n\n\n"
        "class Engine:\n"
        "    def __init__(self, opt):\n"
        "        if opt.world_size > 1:\n"
        '            context = multiprocessing.get_context("spawn")\n'
        "            made = context.Process(target=work, args=(0,))\n"
        f"            {start}\n"
        "            self.process.start()\n\n\n"
        "parser = argparse.ArgumentParser()\n"
        'parser.add_argument("--world_size", type=int, default=1)\n'
        "engine = Engine(parser.parse_args())\n"
    )
    assert findings({"train.py": text}, **SELECT) == {("train.py", 20, "DLL102")}


LOOP = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

size = 100
rows = TensorDataset(torch.rand(size, 1000))
loader = DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
for batch in loader:
    print(batch)
"""


def test_the_fix_takes_along_what_the_loop_uses(told: Callable[..., Any]) -> None:
    (finding,) = told({"train.py": LOOP}, **SELECT)

    (fix,) = finding.fixes
    assert (fix.applicability, fix.edits[0].first.line, fix.edits[0].last.end_line) == ("unsafe", 5, 8)


@pytest.mark.parametrize(
    ("between", "first"),
    [
        pytest.param("with open('rows') as stream:\n    rows = rows[: len(stream.read())]\n", 5, id="a block"),
        pytest.param("print(len(rows))\nif size:\n    rows = rows[size:]\n", 5, id="a call and a branch"),
        pytest.param("try:\n    rows = rows.cuda()\nexcept RuntimeError as error:\n    print(error)\n", 5, id="try"),
        pytest.param("torch.backends.cudnn.benchmark = True\n", 7, id="a setting of a module"),
        pytest.param("import os\n", 7, id="an import"),
        pytest.param("if size:\n    def scaled(row):\n        return row\n", 9, id="a function in a branch"),
        pytest.param("if size:\n    kept = 1\n\ndef show():\n    return kept\n\n", 12, id="a function"),
        pytest.param("options = {}\noptions['a'] = 1\n", 5, id="an item of a variable"),
    ],
)
def test_the_fix_takes_along_what_stands_between(between: str, first: int, told: Callable[..., Any]) -> None:
    text = LOOP.replace("loader =", f"{between}loader =")

    (finding,) = told({"train.py": text}, **SELECT)

    (fix,) = finding.fixes
    assert (fix.applicability, fix.edits[0].first.line) == ("unsafe", first)


@pytest.mark.parametrize(
    ("block", "fixed"),
    [
        ("for epoch in range(2):\n", True),
        ("while size:\n", True),
        ("if size:\n", True),
        ("if not size:\n    pass\nelse:\n", True),
        ("with torch.no_grad():\n", True),
        ("try:\n    size = 3\nfinally:\n", False),
        ("class Run:\n", False),
    ],
)
def test_the_fix_of_a_loop_in_a_block_guards_the_block(block: str, fixed: bool, told: Callable[..., Any]) -> None:
    head, _, loop = LOOP.partition("for batch")
    loop = "".join(f"    {line}\n" for line in f"for batch{loop}".splitlines())
    text = head + block + loop

    (finding,) = told({"train.py": text}, **SELECT)

    assert bool(finding.fixes) == fixed
    if fixed:
        lines = [f"    {line}\n" if line else "\n" for line in text.splitlines()[4:]]
        expected = "".join([*text.splitlines(True)[:4], 'if __name__ == "__main__":\n', *lines])
        assert list(fix_files([finding], lambda path: text, unsafe=True).texts.values()) == [expected]


def test_a_narrower_fix_stays_safe(told: Callable[..., Any]) -> None:
    text = LOOP.replace("size =", "def train(rows):\n    for batch in rows:\n        print(batch)\n\nsize =")
    text = text[: text.index("for batch in loader")] + "train(loader)\n"

    (finding,) = told({"train.py": text}, **SELECT)

    assert [(fix.applicability, fix.edits[0].first.line) for fix in finding.fixes] == [("unsafe", 9), ("safe", 11)]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        pytest.param(
            LOOP.replace("for batch in loader:", "last = None\nfor batch in loader:\n    last = batch"),
            "from train import last\n",
            id="imported elsewhere",
        ),
        pytest.param(
            LOOP.replace("for batch in loader:\n", "total = 0\nfor batch in loader:\n    total += 1\n"),
            "from train import total\n",
            id="counted, and imported elsewhere",
        ),
        pytest.param(
            LOOP.replace("for batch in loader:", "seen = False\nfor batch in loader:") + "    seen = True\n",
            "from train import seen\n",
            id="set to a constant at the end of the block, and imported elsewhere",
        ),
        pytest.param(
            LOOP.replace("size =", "def show():\n    print(batch)\n\nsize ="), "", id="read by a function of the file"
        ),
    ],
)
def test_no_fix_that_leaves_a_name_undefined(text: str, other: str, told: Callable[..., Any]) -> None:
    files = {"train.py": text, **({"other.py": other} if other else {})}

    (finding,) = told(files, **SELECT)

    assert finding.fixes == ()


TRAINER = """\
class Trainer:
    def train(self, loader, tests):
        for epoch in range(3):
            self.train_one_epoch(loader)
            self.evaluate_all(tests)

    def train_one_epoch(self, loader):
        for index, batch in enumerate(loader):
            print(batch)

    def evaluate_all(self, tests):
        for name, test in tests.items():
            self.evaluate(test)

    def evaluate(self, test):
        for index, batch in enumerate(test):
            print(batch)
"""
SCRIPT = """\
from torch.utils.data import DataLoader
from trainer import Trainer

loader = DataLoader(list(range(8)){})
tests = {{1: DataLoader(list(range(8)){})}}
Trainer().train(loader, tests)  {}
"""


@pytest.mark.parametrize("scripts", [2, 20])
def test_scripts_that_share_a_trainer_are_judged_by_their_own_loaders(
    scripts: int, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    options = {True: ", num_workers=2", False: ""}
    files = {"trainer.py": TRAINER}
    for number in range(scripts):
        trains, tests = number % 4 == 1, number % 8 == 7
        mark = "# DLL102" if trains or tests else ""
        files[f"script{number}.py"] = SCRIPT.format(options[trains], options[tests], mark)

    assert findings(files, **SELECT) == marks(files)


SHARED = """\
import multiprocessing as mp
from torch.utils.data import DataLoader

def made():
    return DataLoader(list(range(8)), num_workers=2)

def start():
    mp.Process().start()
"""
SETTING = """\
from torch.multiprocessing import set_start_method
from shared import made, start
from trainer import Trainer

if __name__ == "__main__":
    set_start_method("spawn")
    Trainer().train(made(), {1: made()})
    start()
"""


@pytest.mark.parametrize(
    ("imported", "method", "severity"),
    [("", "forkserver", "warning"), ("import script\n", "spawn", "error")],
)
@pytest.mark.parametrize("start", ["start()", "Trainer().train(made(), {})"])
def test_a_start_method_that_another_program_sets_is_not_in_force(
    imported: str, method: str, severity: str, start: str, told: Callable[..., Any]
) -> None:
    files = {
        "trainer.py": TRAINER,
        "shared.py": SHARED,
        "script.py": f"from shared import made, start\nfrom trainer import Trainer\n{start}\n",
        "setting.py": imported + SETTING,
    }

    (found,) = told(files, **SELECT)

    assert found.path.endswith("script.py")
    assert (found.start_methods, found.severity) == ((method,), severity)


ENCODER = """\
import torch.multiprocessing as mp


def work(device):
    print(device)


class Encoder:
    def encode(self, rows, device=None, pool=None):
        if TEST:
            return self.several(device)
        return rows

    def several(self, devices):
        context = mp.get_context("spawn")
        for device in devices:
            context.Process(target=work, args=(device,)).start()
"""
LISTS = "pool is not None or (isinstance(device, list) and len(device) > 0)"


@pytest.mark.parametrize(
    ("test", "given", "found"),
    [
        (LISTS, "", False),
        (LISTS, ', "cuda"', False),
        (LISTS, ", device=0", False),
        (LISTS, ', ["cuda:0", "cuda:1"]', True),
        (LISTS, ", device=chosen()", True),
        (LISTS, ", pool=3", True),
        ("isinstance(device, (list, tuple))", ', "cuda"', False),
        ("isinstance(device, (list, str))", ', "cuda"', True),
        ("not isinstance(device, str)", ', "cuda"', False),
        ("not isinstance(device, str)", ", ['cuda']", True),
        ("isinstance(device, Sequence)", ', "cuda"', True),
        ("isinstance(device, six.string_types)", ', "cuda"', True),
        ("isinstance(device, collections.Iterable)", ', "cuda"', True),
        ("isinstance(device, six.string_types)", "", False),
        ("isinstance(device, int)", ", True", True),
    ],
)
def test_a_branch_for_another_class_of_argument(
    test: str, given: str, found: bool, findings: Callable[..., Any]
) -> None:
    files = {
        "encoder.py": "import collections\nimport six\nfrom collections.abc import Sequence\n"
        + ENCODER.replace("TEST", test),
        "main.py": f"from encoder import Encoder\nfrom outside import chosen\n\nEncoder().encode([1]{given})\n",
    }

    assert findings(files, **SELECT) == ({("main.py", 4, "DLL102")} if found else set())


LOADING_ELSEWHERE = f"""\
{LOADING}
def train():
    for batch in DataLoader(rows, num_workers=WORKERS, multiprocessing_context="spawn"):
        print(batch)
"""
IMPORTS = {
    "module": "import loading\n\nloading.train()\n",
    "function under another name": "from loading import train as go\n\ngo()\n",
    "in a function": "def main():\n    from loading import train\n    train()\nmain()\n",
    "through another module": "import middle\n\nmiddle.train()\n",
    "by name": "import importlib\n\nimportlib.import_module('loading').train()\n",
    "beside one of an unknown name": "import sys, loading\n__import__(sys.argv[1])\nloading.train()\n",
}


@pytest.mark.parametrize("text", IMPORTS.values(), ids=IMPORTS)
@pytest.mark.parametrize("workers", [0, 4])
def test_a_start_in_a_module_that_the_script_imports(text: str, workers: int, findings: Callable[..., Any]) -> None:
    files = {
        "loading.py": LOADING_ELSEWHERE.replace("WORKERS", str(workers)),
        "middle.py": "from loading import train\n",
    }
    line = len(text.splitlines())

    assert findings({**files, "main.py": text}, **SELECT) == ({("main.py", line, "DLL102")} if workers else set())


def test_scripts_whose_programs_start_nothing_are_not_looked_into(
    monkeypatch: pytest.MonkeyPatch, findings: Callable[..., Any]
) -> None:
    asked: list[object] = []
    plain = top_level_starts.reach
    monkeypatch.setattr(
        top_level_starts, "reach", lambda *given, **more: asked.extend(given[1]) or plain(*given, **more)
    )
    calls = "def step(number):\n    return number\n\n" + "step(1)\n" * 50
    loading = LOADING_ELSEWHERE.replace("WORKERS", "0") + "\ntrain()\n"

    assert findings(
        {
            "script.py": calls,
            "main.py": loading,
            "other.py": f"{SPAWNED}\nfor batch in loader:  # DLL102\n    print(batch)\n",
        },
        **SELECT,
    )
    assert asked == []


NEVER = [
    *("sys.exit()", "raise SystemExit", "assert False", "while True:\n    pass", "print(); os._exit(0)"),
    *(
        "if [x for x in ()]:\n    BODY",
        "if (0, 1)[0]:\n    BODY",
        "if [1, 2][2:]:\n    BODY",
        "if {}.get('x'):\n    BODY",
    ),
    *("if {'a': 0}.get('a'):\n    BODY", "if {'a': 0}['a']:\n    BODY", "if list(enumerate([])):\n    BODY"),
    *("for _ in enumerate(()):\n    BODY", "for _ in zip([], [1]):\n    BODY", "if ord('a') == 98:\n    BODY"),
    *(
        "if no():\n    BODY",
        "if either(0):\n    BODY",
        "if NotImplemented is None:\n    BODY",
        "if divmod(0, 1)[0]:\n    BODY",
    ),
    *("if {'a': sys.argv} == {'a': 1} and 0:\n    BODY", "if {x: x for x in []}:\n    BODY"),
]
PERHAPS = [
    *(
        "exit(0)",
        "with suppress(ValueError):\n    raise ValueError",
        "while True:\n    break",
        "if x: raise ValueError",
    ),
    *("try:\n    raise ValueError\nexcept ValueError:\n    pass", "for x in 1, 2:\n    continue", "assert x"),
    *(
        "if [x for x in (1,)]:\n    BODY",
        "if (0, 1)[1]:\n    BODY",
        "if {'a': x}.get('a'):\n    BODY",
        "if yes():\n    BODY",
    ),
    *("for _ in enumerate([1]):\n    BODY", "if enumerate([]):\n    BODY", "if {'a': x} == {'a': y}:\n    BODY"),
    *(
        "for _ in zip(x, y):\n    BODY",
        "if (x for x in ()):\n    BODY",
        "if x[0]:\n    BODY",
    ),
]
PROGRAM = """\
import os, sys
from contextlib import suppress
import torch.multiprocessing as mp
from elsewhere import exit, x, y

def no():
    "Never."
    return False

def yes():
    return 1

def either(a):
    return a

def work(rank):
    pass

BEFORE
"""
START = "mp.spawn(work, nprocs=2)"


@pytest.mark.parametrize("before", NEVER)
def test_what_never_runs_starts_nothing(before: str, findings: Callable[..., Any]) -> None:
    text = before.replace("BODY", START) if "BODY" in before else f"{before}\n{START}"
    assert findings({"main.py": PROGRAM.replace("BEFORE", text)}, **SELECT) == set()


@pytest.mark.parametrize("before", PERHAPS)
def test_what_may_run_starts_processes(before: str, findings: Callable[..., Any]) -> None:
    text = before.replace("BODY", START) if "BODY" in before else f"{before}\n{START}"
    assert len(findings({"main.py": PROGRAM.replace("BEFORE", text)}, **SELECT)) == 1


@pytest.mark.parametrize(
    ("head", "call", "found"),
    [
        ("async def go():", "go()", False),
        ("async def go():", "asyncio.run(go())", True),
        ("async def go():", "asyncio.get_event_loop().run_until_complete(go())", True),
        ("@wrapped\nasync def go():", "go()", True),
        ("def go():\n    yield 1", "go()", False),
        ("def go():\n    yield 1", "list(go())", True),
        ("def go():\n    yield 1", "for one in go():\n    pass", True),
        ("def go():\n    yield 1", "print(*go())", True),
        ("def go():\n    print(1)", "go()", True),
        ("def go():\n    if not no():\n        return", "go()", False),
        ("def go():\n    return", "go()", False),
    ],
)
def test_a_coroutine_or_generator_that_nothing_runs(
    head: str, call: str, found: bool, findings: Callable[..., Any]
) -> None:
    before = f"import asyncio\nfrom elsewhere import wrapped\n\n{head}\n    {START}\n\n{call}"
    assert bool(findings({"main.py": PROGRAM.replace("BEFORE", before)}, **SELECT)) is found


DEEP = """\
from torch.utils.data import DataLoader
from tqdm import tqdm

def scan(names, num_workers=0):
    num_workers = min(num_workers, len(names))
    loader = DataLoader(names, num_workers=num_workers, batch_size=None)
    found = list(tqdm(loader))
    times, rates = zip(*found)
    return times, rates

class Videos:
    def __init__(self, root, num_workers=0):
        self.times = scan(list(root), num_workers=num_workers)

def opened(root, workers=0):
    if root.endswith("videos"):
        return Videos(root, num_workers=workers)

class Data:
    def __init__(self, root, workers=0):
        self.rows = opened(root, workers=workers)
"""


@pytest.mark.parametrize(("given", "found"), [("", 0), (", workers=0", 0), (", workers=2", 1)])
def test_workers_that_a_script_does_not_ask_for_over_four_calls(
    given: str, found: int, findings: Callable[..., Any]
) -> None:
    """However deep the chain, what counts is what this script passes, not what another one does."""
    files = {
        "library.py": DEEP,
        "script.py": f"from library import Data\nData('videos'{given})\n",
        "other.py": "from library import Data\ndef main(n):\n    return Data('b', workers=n)\n",
    }
    assert len(findings(files, **SELECT)) == found


CONVERT = """\
import multiprocessing

def square(number):
    return number * number

def convert():
    with multiprocessing.Pool(4) as pool:
        print(pool.map(square, range(4)))

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    convert()
"""


def test_a_start_method_under_the_guard_of_a_file_that_is_imported(told: Callable[..., Any]) -> None:
    files = {
        "convert.py": CONVERT,
        "train.py": "from torch.utils.data import DataLoader\nfrom convert import convert\nconvert()\n",
    }

    (latent,) = told(files, select=["DLL102"])

    assert (latent.message, latent.severity, latent.span.line) == ("latent", "warning", 3)
    assert told(files, select=["DLL102"], target_python="3.12") == ()


@pytest.mark.parametrize(
    ("call", "severity"),
    [
        ("run(True)", "error"),
        ("run(len(sys.argv) > 1)", "warning"),
        ("prepare('rows.bin')", "warning"),
        ("Rows(4)", "error"),
        ("Rows(int(sys.argv[1]))", "warning"),
        ("if sys.argv[1:]:\n    run(True)", "error"),
    ],
)
def test_a_test_on_the_way_may_keep_it_from_starting(call: str, severity: str, told: Callable[..., Any]) -> None:
    text = f"""\
import multiprocessing
import os
import sys

def work(number):
    return number

def run(parallel):
    if parallel:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            pool.map(work, range(9))

def prepare(path):
    if not os.path.exists(path):
        run(True)

class Rows:
    def __init__(self, processes):
        self.parallel = processes > 1
        run(self.parallel)

{call}
"""
    (finding,) = told({"train.py": text}, **SELECT)

    assert finding.severity == severity
