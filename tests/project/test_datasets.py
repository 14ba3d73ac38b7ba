"""Which datasets a loader reads from, and what they hold when its workers start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.project.conftest import whole

HEAD = """\
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, Subset, random_split

class Data(Dataset):
    def __init__(self, name=""):
        self.name = name

class Plain(Dataset):
    pass

def load(dataset):
    return DataLoader(dataset, num_workers=2)

"""
PROGRAMS: dict[str, str] = {
    "what a trainer is given together with its options": """\
from transformers import Seq2SeqTrainer, Trainer, TrainingArguments

class Own(Trainer):
    def __init__(self, options, **given):
        super().__init__(args=options, **given)

class Making(Trainer):
    def get_train_dataloader(self):
        return None

def by_name():
    args = TrainingArguments("out", dataloader_num_workers=2)  # reads: Data | Plain
    Trainer(model=None, args=args, train_dataset=Data(), eval_dataset=Plain())

def by_position():
    Trainer(None, TrainingArguments("out"), None, Data())  # reads: Data

def of_a_class():
    options = {"train_dataset": Plain()}
    Own(TrainingArguments("out"), **options)  # reads: Plain

def with_a_loader_of_its_own():
    Making(None, TrainingArguments("out"), None, Data())  # reads: no

def handed_on(args):
    Seq2SeqTrainer(args=args, train_dataset=Data())

def handing_on():
    handed_on(TrainingArguments("out"))  # reads: Data
""",
    "what a trainer is given together with options that a command line fills": """\
from dataclasses import dataclass, field
from transformers import HfArgumentParser, Trainer, TrainingArguments

@dataclass
class DataArguments:
    path: str = field(default="rows")

@dataclass
class Options(TrainingArguments):
    cache: str = ""

class Own(Trainer):
    def create_optimizer(self):
        pass

def module(arguments):
    return dict(train_dataset=Data(), eval_dataset=None, data_collator=None)

def main():
    parser = HfArgumentParser((DataArguments, Options))
    data, options = parser.parse_args_into_dataclasses()  # reads: Data
    Own(model=None, args=options, **module(data)).train()

def of_another_parser():
    parser = HfArgumentParser(Options)
    options = parser.parse_args_into_dataclasses()[0]  # reads: Plain
    Own(None, options, train_dataset=Plain()).train()

def of_no_trainer():
    HfArgumentParser(Options).parse_args_into_dataclasses()  # reads: no
""",
    "a loader class that a function chooses": """\
def kind(name):
    if name == "plain":
        return DataLoader
    return Loader

class Loader(DataLoader):
    pass

def main(name):
    return kind(name)(Data(), num_workers=2)  # reads: Data
""",
    "items of a dict that a loop fills": """\
def main(names):
    sets = {}
    for name in names:
        sets[name] = Data(name)
    for name, dataset in sorted(sets.items()):
        DataLoader(dataset)  # reads: Data
    return [DataLoader(dataset) for dataset in sets.values()]  # reads: Data
""",
    "a dict by a comprehension over another's items": """\
def main(names):
    sets = {name: Data(name) for name in names}
    parts = {name: Subset(dataset, [1, 2]) for name, dataset in sets.items()}
    DataLoader(parts[names[0]])  # reads: Data
    return {name: DataLoader(sets[name]) for name in names}  # reads: Data
""",
    "an ordered dict of pairs": """\
from collections import OrderedDict

def main(names):
    sets = OrderedDict([(name, Data(name)) for name in names])
    DataLoader(sets[names[0]])  # reads: Data
""",
    "copied, updated and merged dicts": """\
from collections import OrderedDict

def main(names):
    sets = {name: Data(name) for name in names}
    copied = OrderedDict(sets)
    updated = {}
    updated.update({name: Data(name) for name in names})
    merged = {"valid": Plain(), **sets}
    return (
        [DataLoader(dataset) for dataset in copied.values()],  # reads: Data
        [DataLoader(dataset) for dataset in updated.values()],  # reads: Data
        [DataLoader(dataset) for dataset in merged.values()],  # reads: Data | Plain
    )
""",
    "lists put together": """\
from collections import OrderedDict

def more(names):
    return [Data(name) for name in names]

def main(names):
    made = {}
    for name in names:
        made[name] = Data(name)
    pairs = OrderedDict([(name, Plain()) for name in names] + [(name, one) for name, one in made.items()])
    DataLoader(pairs[names[0]])  # reads: Data | Plain
    DataLoader(ConcatDataset([Plain()] + more(names)))  # reads: Data | Plain
    for dataset in [Plain() for name in names] + more(names):
        DataLoader(dataset)  # reads: Data | Plain
""",
    "numbered, zipped and paired": """\
from tqdm import tqdm

def main(names):
    sets = [Data(name) for name in names]
    for number, dataset in enumerate(sets):
        DataLoader(dataset)  # reads: Data
        DataLoader(number)  # reads: no
    for first, second in zip([Plain()], sets):
        DataLoader(first)  # reads: Plain
        DataLoader(second)  # reads: Data
    pairs = {name: (Data(name), 3) for name in names}
    for number, (name, (one, size)) in enumerate(tqdm(pairs.items())):
        DataLoader(one, batch_size=size)  # reads: Data
""",
    "an attribute that a method fills, and one that subclasses fill": """\
class Task:
    def __init__(self):
        self.sets = dict()

    def prepare(self, split):
        pass

    def dataset(self, split):
        return self.sets[split]

class Own(Task):
    def prepare(self, split):
        self.sets[split] = Data(split)

TASKS = {}

def register(name):
    def add(cls):
        TASKS[name] = cls
        return cls
    return add

@register("other")
class Other(Task):
    def prepare(self, split):
        self.sets[split] = Data(split)

def main(config):
    own = Own()
    own.prepare("train")
    DataLoader(own.dataset("train"))  # reads: Data
    task = TASKS[config.task]()
    task.prepare("train")
    DataLoader(task.dataset("train"))  # reads: Data
""",
    "what a function collects": """\
def listed(names):
    sets = []
    for name in names:
        sets.append(Data(name))
    return sets

def paired(names):
    sets = {}
    for name in names:
        sets[name] = Data(name), name
    return sets

def main(names):
    for dataset in listed(names):
        DataLoader(dataset)  # reads: Data
    for key, (dataset, name) in paired(names).items():
        DataLoader(dataset)  # reads: Data
""",
    "another key, and a key that is not there": """\
def main():
    sets = {"train": Plain(), "valid": Data()}
    DataLoader(sets["train"])  # reads: Plain
    DataLoader(sets.get("test"))  # reads: no
""",
    "keywords under keys that are not known": """\
def main(names):
    options = {}
    for name in names:
        options[name] = Data(name)
    DataLoader(Plain(), **options)  # reads: Plain
""",
    "the target of a comprehension and a variable of its name": """\
def main():
    dataset = Plain()
    DataLoader(dataset)  # reads: Plain
    sets = [dataset for dataset in [Data()]]
    DataLoader(sets[0])  # reads: Data
    DataLoader(ConcatDataset([dataset for dataset in [Data()]]))  # reads: Data
    DataLoader(dataset)  # reads: Plain
    return [DataLoader(dataset) for dataset in [Data()]]  # reads: Data
""",
    "the target of a comprehension that the loop around has as a variable, and one of its second clause": """\
def main(names, dataset=Plain()):
    for name in names:
        dataset = Plain()
        loaders = [DataLoader(dataset) for dataset in [Data()]]  # reads: Data
        print(name, dataset, loaders)
    return [DataLoader(dataset) for sets in [[Data()]] for dataset in sets]  # reads: Data
""",
    "a comprehension over a variable of its target's name": """\
def main():
    dataset = [Data()]
    return [DataLoader(dataset) for dataset in dataset]  # reads: Data
""",
    "a lambda in a comprehension": """\
def main():
    dataset = Plain()
    makers = [lambda: DataLoader(dataset) for dataset in [Data()]]  # reads: Data
    return dataset, [maker() for maker in makers]
""",
    "a comprehension in a function around another one": """\
dataset = Data()

def main():
    dataset = Plain()

    def run():
        return DataLoader(dataset, num_workers=2)  # reads: Plain

    sizes = [len(dataset) for dataset in [Data()]]
    return run(), sizes

def other():
    sizes = [len(dataset) for dataset in [Plain()]]
    return sizes, DataLoader(dataset, num_workers=2)  # reads: Data
""",
    "wrapped by torch and by the project": """\
class Cached(Dataset):
    def __init__(self, inner):
        self.inner = inner

def main():
    train, test = random_split(Data(), [4, 1])
    DataLoader(train)  # reads: Data
    DataLoader(Subset(ConcatDataset([Data(), Plain()]), [0]))  # reads: Data | Plain
    DataLoader(Cached(Data()))  # reads: Cached | Data
""",
    "what each caller gives a function that makes the loader": """\
def build(**given):
    dataset = given.pop("dataset")
    return DataLoader(dataset, num_workers=2)  # reads: Data | Plain

build(dataset=Data())
build(dataset=Plain())
""",
    "what one caller gives together with no workers": """\
def build(dataset, workers):
    return DataLoader(dataset, num_workers=workers)  # reads: Plain

build(Data(), 0)
build(Plain(), 4)
""",
    "what tests of the class leave": """\
class Stream(IterableDataset):
    pass

class Shuffled(Stream):
    pass

def make(kind):
    return {"stream": Stream, "shuffled": Shuffled}.get(kind, Plain)()

def one(kind):
    rows = make(kind)
    if isinstance(rows, Stream):
        return rows
    return DataLoader(rows)  # reads: Plain

def two(kind):
    rows = make(kind)
    if isinstance(rows, (Stream, list)) or kind is None:
        return rows
    return DataLoader(rows)  # reads: Plain

def three(kind):
    rows = make(kind)
    if not rows or isinstance(rows, IterableDataset):
        return rows
    return DataLoader(rows)  # reads: Plain

def four(kind):
    rows = make(kind)
    if not isinstance(rows, Plain):
        raise ValueError(kind)
    return DataLoader(rows)  # reads: Plain

def five(kind):
    rows = make(kind)
    if isinstance(rows, Shuffled):
        return rows
    if kind and isinstance(rows, Stream):
        return rows
    if isinstance(rows, Stream):
        print(rows)
    if isinstance(kind, Stream) or isinstance(rows, kind):
        return rows
    return DataLoader(rows)  # reads: Plain | Stream

def six(kind):
    rows = make(kind)
    if isinstance(rows, Stream):
        return rows
    rows = make("stream")
    return DataLoader(rows)  # reads: Stream
""",
    "a dataset that makes its own loader, no call known": """\
class Base(Dataset):
    def loader(self):
        return DataLoader(self, num_workers=2)  # reads: Base | Rows

class Rows(Base):
    def __getitem__(self, index):
        return index

class Own(Base):
    def loader(self):
        return DataLoader(self, num_workers=0)  # reads: Own
""",
    "a dataset that makes its own loader, called on one and on those of a table": """\
class Base(Dataset):
    def loader(self):
        return DataLoader(self, num_workers=2)  # reads: Rows

    def other(self):
        return DataLoader(self, num_workers=2)  # reads: Columns | Rows

class Rows(Base):
    pass

class Columns(Base):
    pass

class Own(Base):
    def other(self):
        return DataLoader(self, num_workers=2)  # reads: Own

def main(name):
    Rows().loader()
    {"r": Rows, "c": Columns, "o": Own}[name]().other()
""",
    "methods of a class below, of its base and of one beside it": """\
class Model:
    def build(self):
        self.rows = Data()

    def setup(self):
        self.build()
        return self.loader(self.rows)

    def loader(self, rows):
        return DataLoader(rows, num_workers=0)

class Below(Model):
    def build(self):
        self.more = 1
        self.rows = Plain()

    def loader(self, rows):
        return DataLoader(rows, num_workers=1)  # reads: Plain

class Calling(Model):
    def build(self):
        super().build()

    def loader(self, rows):
        return DataLoader(rows, num_workers=2)  # reads: Data

class Naming(Model):
    def build(self):
        Model.build(self)

    def loader(self, rows):
        return DataLoader(rows, num_workers=3)  # reads: Data
""",
    "a function of the same name as the method of the base": """\
from torch.utils.data import DataLoader, Dataset
from tools import build

class Rows(Dataset):
    pass

class Sounds(Dataset):
    pass

class Model:
    def build(self):
        self.rows = Sounds()

    def setup(self):
        self.build()
        return self.loader(self.rows)

    def loader(self, rows):
        return DataLoader(rows, num_workers=0)

class Spawned(Model):
    def build(self):
        build()
        self.rows = Rows()

    def loader(self, rows):
        return DataLoader(rows, num_workers=2)  # reads: Rows
# tools.py
def build():
    pass
""",
    "the attribute of an object, by a method and by a data module": """\
import pytorch_lightning as pl

class Module:
    def __init__(self, dataset):
        self.dataset = dataset

    def loader(self):
        return DataLoader(self.dataset, num_workers=2)  # reads: Data

class Lit(pl.LightningDataModule):
    def setup(self, stage=None):
        self.train = Data()

    def train_dataloader(self):
        return DataLoader(self.train, num_workers=2)  # reads: Data

def module():
    return Module(Data())

module().loader()
""",
    "a dataset of another program, handed to a common base class": """\
# brain.py
class Brain:
    def fit(self, train_set):
        self.prepare(train_set)

    def prepare(self, train_set):
        pass
# records.py
from torch.utils.data import Dataset

class Records(Dataset):
    def __init__(self, data):
        self.data = data

class Noise(Dataset):
    pass
# first.py
from brain import Brain
from records import Noise

class Mixing(Brain):
    pass

if __name__ == "__main__":
    Mixing().fit(Noise())
# second.py
from torch.utils.data import DataLoader
from brain import Brain
from records import Records

class Enhancing(Brain):
    def prepare(self, train_set):
        DataLoader(Records(train_set), num_workers=2)  # reads: Records

if __name__ == "__main__":
    Enhancing().fit([1, 2])
""",
    "a class of no library's": """\
class Rows:
    def __getitem__(self, index):
        return index

class Stream:
    def __iter__(self):
        return iter([])

class Table:
    pass

DataLoader(Rows())  # reads: Rows
DataLoader(Stream())  # reads: Stream
DataLoader(Table())  # reads: no
""",
}

KEPT_HEAD = """\
from functools import partial
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, Subset, random_split

"""
KEPT: dict[str, str] = {
    "attributes, in containers and in partials": """\
import collections
from torchvision import transforms

def apply(function, row):
    return function(row)

class Rows(Dataset):
    def __init__(self, step=lambda row: row / 255, given=None):  # kept: Rows.default
        self.plain = lambda row: row / 255  # kept: Rows.plain
        self.default = step
        self.either = given or (lambda row: row / 255)  # kept: Rows.either
        self.listed = [abs, lambda row: row / 255]  # kept: Rows.listed
        self.named = {"scale": lambda row: row / 255}  # kept: Rows.named
        self.entries = {}
        self.entries["scale"] = lambda row: row / 255  # kept: Rows.entries
        self.added = []
        self.added.append(lambda row: row / 255)  # kept: Rows.added
        self.bound = partial(apply, lambda row: row / 255)  # kept: Rows.bound
        self.partial = partial(lambda low, row: row - low, 3)  # kept: Rows.partial
        self.groups = collections.defaultdict(lambda: [])  # kept: Rows.groups
        self.annotated: object = lambda row: row / 255  # kept: Rows.annotated
        self.first = self.second = lambda row: row  # kept: Rows.first
        self.low, self.unpacked = 3, lambda row: row / 255  # kept: Rows.unpacked
        step = lambda row: row / 255  # kept: Rows.variable
        self.variable = step
        self.one = (lambda row: row / 255) if given is None else given  # kept: Rows.one
        self.transform = transforms.Compose([
            transforms.ToTensor(),
            transforms.Lambda(lambda image: image * 2 - 1),  # kept: Rows.transform
        ])

DataLoader(Rows(), num_workers=2)
""",
    "among many": """\
from torchvision import transforms as T

class Rows(Dataset):
    def __init__(self):
        self.transform = T.Compose([
            T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(),
            T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(),
            T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(), T.Step(),
            T.Lambda(lambda image: image),  # kept: Rows.transform
        ])

DataLoader(Rows(), num_workers=2)
""",
    "set by a method that the constructor calls, by a base and by a function of another file": """\
from torch.utils.data import DataLoader, Dataset
from making import *

class Base(Dataset):
    def __init__(self):
        self.base = lambda row: row / 255  # kept: Heir.base | Rows.base

class Rows(Base):
    def __init__(self):
        super().__init__()
        self._prepare()
        self.step = STEP

    def _prepare(self):
        self.scale = lambda row: row / 255  # kept: Rows.scale
        self.made = made()

class Lone(Base):
    def __init__(self):
        self.lone = lambda row: row / 255  # kept: Lone.lone

class Heir(Base):
    pass

DataLoader(Rows(), num_workers=2)
DataLoader(Lone(), num_workers=2)
DataLoader(Heir(), num_workers=2)
# making.py
def made():
    return lambda row: row / 255  # kept: Rows.made

STEP = lambda row: row  # kept: Rows.step
""",
    "in an object that it keeps, and given to one": """\
class Step:
    def __init__(self, function=None):
        self.function = function
        self.scale = lambda row: row / 255  # kept: Rows.step.scale | Rows.transforms.scale

class Rows(Dataset):
    def __init__(self, transforms):
        self.step = Step(lambda row: row / 255)  # kept: Rows.step | Rows.step.function
        self.transforms = transforms

DataLoader(Rows([Step()]), num_workers=2)
""",
    "given to the constructor, through another one and under wrappers": """\
class Base(Dataset):
    def __init__(self, transform):
        self.transform = transform

class Rows(Base):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

def build():
    one = Base(lambda row: row + 1)  # kept: Base.transform | Subset.
    two = Base(transform=lambda row: row + 2)  # kept: Base.transform | ConcatDataset.
    three = Rows(lambda row: row + 3)  # kept: Rows.transform | random_split.
    train, test = random_split(three, [4, 1])
    DataLoader(Subset(one, [0, 1]), num_workers=2)
    DataLoader(ConcatDataset([two, two]), num_workers=2)
    return DataLoader(train, num_workers=2)
""",
    "given to a dataset from outside": """\
from torchvision import transforms as T
from torchvision.datasets import MNIST, ImageFolder

faces = ImageFolder("faces", transform=lambda image: image)  # kept: ImageFolder.
transform = T.Compose([T.ToTensor(), T.Lambda(lambda image: image.view(-1))])  # kept: MNIST.
DataLoader(faces, num_workers=2)
DataLoader(MNIST("digits", transform=transform), num_workers=2)
""",
    "set on an object from outside, and on another one": """\
class Rows(Dataset):
    pass

def make():
    return Rows()

def test_hook():
    rows = make()
    rows.hook = lambda row: row  # kept: no

rows = make()
rows.step = lambda row: row  # kept: Rows.step
DataLoader(rows, num_workers=2)
""",
    "what two objects of a class were given": """\
class Rows(Dataset):
    def __init__(self, step):
        self.step = step

class Mixed(Dataset):
    def __init__(self, parts):
        self.parts = parts

def build(first, second):
    local = Mixed([Rows(lambda row: row)])  # kept: no
    DataLoader(Mixed([Rows(lambda row: 2 * row)]), num_workers=2)  # kept: Mixed.parts | Mixed.parts.step | Rows.step
    return DataLoader(Mixed([]), num_workers=2), local
""",
    "what __getstate__ and __reduce__ leave out": """\
class Dropped(Dataset):
    def __init__(self):
        self.step = lambda row: row / 255  # kept: no
        self.other = lambda row: row  # kept: Dropped.other

    def __getstate__(self):
        state = self.__dict__.copy()
        del state["step"]
        return state

class Popped(Dataset):
    def __init__(self):
        self.step = lambda row: row / 255  # kept: no

    def __getstate__(self):
        state = dict(self.__dict__)
        state.pop("step", None)
        return state

class Replaced(Dataset):
    def __init__(self):
        self.step = lambda row: row / 255  # kept: no

    def __getstate__(self):
        return {**self.__dict__, "step": None}

class Looped(Dataset):
    def __init__(self):
        self.step = lambda row: row / 255  # kept: no

    def __getstate__(self):
        state = {}
        for name, value in self.__dict__.items():
            if name != "step":
                state[name] = value
        return state

class Reduced(Dataset):
    def __init__(self, path="rows"):
        self.path = path
        self.step = lambda row: row / 255  # kept: no

    def __reduce__(self):
        return Reduced, (self.path,)

for dataset in (Dropped(), Popped(), Replaced(), Looped(), Reduced()):
    DataLoader(dataset, num_workers=2)
""",
    "what is not kept": """\
class Others(Dataset):
    def __init__(self):
        self.step = lambda row: row  # kept: no

class Step:
    def __call__(self, row):
        self.scale = lambda value: value / 255  # kept: no
        return self.scale(row)

class Rows(Dataset):
    step = lambda self, row: row / 255  # kept: no

    def __init__(self, rows=(), keep=lambda row: True):  # kept: no
        step = lambda row: row / 255  # kept: no
        self.rows = [step(row) for row in rows if keep(row)]
        self.names = sorted(["b", "a"], key=lambda row: row.lower())  # kept: no
        self.late = None
        self.transform = Step()

    @property
    def scale(self):
        return lambda row: row / 255  # kept: no

    def __getitem__(self, index):
        if self.late is None:
            self.late = lambda row: row / 255  # kept: no
        return Others()[index]

DataLoader(Rows(), num_workers=2)
""",
    "what a split does not keep": """\
import torch

class Rows(Dataset):
    pass

generator = torch.Generator()  # kept: no
first, second = random_split(Rows(), [8, 2], generator=generator)
DataLoader(first, num_workers=2)
""",
    "what is called where it is made": """\
class Rows(Dataset):
    def __init__(self, rows, function):
        self.rows = rows() if callable(rows) else rows
        self.function = function

DataLoader(Rows(lambda: [1, 2], lambda row: row), num_workers=2)  # kept: Rows.function
""",
    "let go by the constructor and by the methods that it calls": """\
class Rows(Dataset):
    def __init__(self, path, flag):
        self.deleted = lambda row: row  # kept: no
        del self.deleted
        self.none = lambda row: row  # kept: no
        self.free()
        self.read()
        del self.helped
        self.twice()
        self.free_again()
        with open(path):
            self.first = lambda row: row  # kept: no
        self.first = None
        path.second = None
        self.second = lambda row: row  # kept: Rows.second

    def read(self):
        self.helped = lambda row: row  # kept: no

    def twice(self):
        self.deep = lambda row: row  # kept: no

    def free(self):
        self.none = None

    def free_again(self):
        self.free_deep()

    def free_deep(self):
        self.deep = None

class Base(Dataset):
    def __init__(self):
        self.base = lambda row: row  # kept: no

class Heir(Base):
    def __init__(self):
        super().__init__()
        self.base = None

class Again(Dataset):
    def __init__(self):
        del self.rows
        self.free()
        self.rows = lambda row: row  # kept: Again.rows
        self.free_others()

    def free(self):
        self.rows = None

    def free_others(self):
        self.others = None

DataLoader(Rows("", 3), num_workers=2)
DataLoader(Heir(), num_workers=2)
DataLoader(Again(), num_workers=2)
""",
    "let go under conditions": """\
class Rows(Dataset):
    def __init__(self, path, flag):
        self.flag = flag
        ready = False
        if flag:
            self.same = lambda row: row  # kept: no
        if flag:
            del self.same
        if self.flag:
            self.helped()
        if self.flag:
            self.method = None
        if flag and path:
            self.both = lambda row: row  # kept: no
        if path:
            self.both = None
        self.always = lambda row: row  # kept: no
        if not ready:
            del self.always
        self.never = lambda row: row  # kept: Rows.never
        if ready:
            del self.never
        self.unsure = lambda row: row  # kept: Rows.unsure perhaps
        if flag:
            del self.unsure
        if flag:
            self.other = lambda row: row  # kept: Rows.other perhaps
        else:
            self.other = None

    def helped(self):
        self.method = lambda row: row  # kept: no

def build(path, flag):
    return DataLoader(Rows(path, flag), num_workers=2)
""",
    "let go where it is there": """\
class Base(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.count = self.read()
        self.finish()

    def finish(self):
        pass

class Rows(Base):
    function = None
    ready = False

    def open(self):
        if self.paths is None:
            if self.function is None:
                self.function = lambda row: row  # kept: no
        elif not self.ready:
            self.all = [lambda row: row]  # kept: no
            self.ready = True
        if not self.known:
            self.known = True
            self.other = lambda row: row  # kept: Rows.other perhaps
        if self.paths:
            self.last = lambda row: row  # kept: Rows.last

    def read(self):
        self.open()
        return 3

    def finish(self):
        if self.function is not None:
            del self.function
            self.function = None
        if self.paths is not None:
            if self.ready:
                del self.all
                self.ready = False
        if self.unknown:
            self.other = None
        if self.last is None:
            self.last = None

class Asked(Base):
    def read(self):
        self.function = lambda row: row  # kept: no
        self.told = lambda row: row  # kept: no
        self.late = lambda row: row  # kept: Asked.late perhaps
        self.ready = self.paths

    def finish(self):
        if self.function:
            self.function = None
        if hasattr(self, "told"):
            del self.told
        if self.ready:
            self.late = None

def build(paths):
    DataLoader(Rows(paths), num_workers=2)
    DataLoader(Asked(paths), num_workers=2)
""",
    "what registries of OpenMMLab's make by a configuration": """\
# registry.py
from mmcv.utils import Registry, build_from_cfg

DATASETS = Registry("dataset")
STEPS = Registry("step")
OTHERS = Registry("other")
# data.py
from torch.utils.data import Dataset
from registry import DATASETS, STEPS, build_from_cfg

@STEPS.register_module()
class Scale:
    def __init__(self, factor):
        self.scale = lambda row: row * factor  # kept: Rows.steps.scale

@DATASETS.register_module()
class Rows(Dataset):
    def __init__(self, path, steps):
        self.handle = open(path)  # kept: Rows.handle
        self.steps = [build_from_cfg(step, STEPS) for step in steps]

@DATASETS.register_module()
class Given(Dataset):
    def __init__(self, transform):
        self.transform = transform
# train.py
from torch.utils.data import DataLoader
from registry import DATASETS, OTHERS, build_from_cfg
import data

def build(cfg):
    DataLoader(build_from_cfg(cfg, DATASETS), num_workers=2)  # reads: Given | Rows
    DataLoader(build_from_cfg(cfg, DATASETS, dict(path="rows.txt")), num_workers=2)  # reads: Given | Rows
    DataLoader(build_from_cfg(cfg, registry=DATASETS), num_workers=2)  # reads: Given | Rows
    DataLoader(build_from_cfg(cfg, OTHERS), num_workers=2)  # reads: no
    DataLoader(build_from_cfg(lambda: cfg, DATASETS), num_workers=2)  # kept: no
    given = build_from_cfg(dict(type="Given", transform=lambda row: row), DATASETS)  # kept: Given.transform
    DataLoader(given, num_workers=2)  # reads: Given
""",
    "what a registry of MMEngine makes by a configuration": """\
from mmengine.registry import Registry

DATASETS = Registry("dataset")

@DATASETS.register_module()
class Rows(Dataset):
    def __init__(self, path):
        self.handle = open(path)  # kept: Rows.handle

def build(cfg):
    return DataLoader(DATASETS.build(cfg), num_workers=2)  # reads: Rows
""",
    "what a registry of the project makes by a configuration": """\
class Registry:
    def __init__(self, name):
        self.name = name
        self.table = {}

    def register_module(self):
        def register(cls):
            self.table[cls.__name__] = cls
            return cls
        return register

    def build(self, cfg, **kwargs):
        return self.table[cfg.pop("type")](**cfg, **kwargs)

def build_from_cfg(cfg, registry):
    return registry.build(cfg)

DATASETS = Registry("dataset")
STEPS = Registry("step")

@STEPS.register_module()
class Scale:
    def __init__(self, factor):
        self.scale = lambda row: row * factor  # kept: Rows.steps.scale

@DATASETS.register_module()
class Rows(Dataset):
    def __init__(self, path, steps):
        self.handle = open(path)  # kept: Rows.handle
        self.steps = [build_from_cfg(step, STEPS) for step in steps]

def build(cfg):
    DataLoader(DATASETS.build(cfg, path="rows.txt"), num_workers=2)  # reads: Rows
    return DataLoader(build_from_cfg(cfg, DATASETS), num_workers=2)  # reads: Rows
""",
    "a wrapper that pickles by value, and what a method replaces by its result": """\
import cloudpickle

class ByValue:
    def __init__(self, held):
        self.held = held

    def __call__(self, row):
        return self.held(row)

    def __reduce__(self):
        return cloudpickle.loads, (cloudpickle.dumps(self.held),)

class Rows(Dataset):
    def __init__(self, rows, function):
        self.rows = rows
        self.function = ByValue(function)
        self.names = self.listed

    @property
    def listed(self):
        if callable(self.rows):
            self.rows = self.rows()
        return self.rows

DataLoader(Rows([1, 2], lambda row: row), num_workers=2)  # kept: no
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_what_loaders_read(program: str, told: Callable[..., Any]) -> None:
    said, expected = told(whole(HEAD, program))
    assert said == expected


@pytest.mark.parametrize("program", KEPT.values(), ids=KEPT)
def test_what_datasets_hold(program: str, told: Callable[..., Any]) -> None:
    said, expected = told(whole(KEPT_HEAD, program))
    assert said == expected


def test_none_is_crowded_out_by_what_another_holds(told: Callable[..., Any]) -> None:
    parts = "".join(f"class Part{number}(Plain):\n    pass\n\n" for number in range(180))
    first, second = (", ".join(f"Part{number}()" for number in range(start, 180, 2)) for start in (0, 1))
    program = f"""\
class Many(Plain):
    def __init__(self):
        self.first = [{first}]
        self.second = [{second}]

def main(names):
    DataLoader(Many() if names else Data())  # reads: MANY
"""
    said, _ = told(HEAD + parts + program)
    assert {"Data", "Many", "Part0", "Part1"} <= set(said[0][3].split(" | "))


def test_what_one_of_many_wrappers_was_given_is_not_what_another_was(told: Callable[..., Any]) -> None:
    program = """\
class Rows(Dataset):
    def __init__(self, step):
        self.step = step

class Mixed(Dataset):
    def __init__(self, parts):
        self.parts = parts

def double(row):
    return row * 2

local = Mixed([Rows(lambda row: row)])  # kept: no
DataLoader(local, num_workers=0)
"""
    said, expected = told(KEPT_HEAD + program + "DataLoader(Mixed([Rows(double)]), num_workers=2)\n" * 20)
    assert said == expected


def test_what_one_of_many_classes_hands_to_their_base_is_not_what_another_does(told: Callable[..., Any]) -> None:
    program = """\
class Step:
    pass

class Base(Dataset):
    def __init__(self, step):
        self.step = step

class Read(Base):
    def __init__(self):
        super().__init__(Step())  # kept: Read.step

class Other(Base):
    def __init__(self):
        super().__init__(Step())  # kept: no

def load(rows: Read):
    return DataLoader(rows, num_workers=2)
"""
    many = "".join(
        f"class Kind{number}(Base):\n    def __init__(self):\n        super().__init__({number})\n"
        f"DataLoader(Kind{number}(), num_workers=2)\n"
        for number in range(16)
    )
    base, _, read = program.partition("class Read")
    said, expected = told(KEPT_HEAD + base + many + "class Read" + read)
    assert said == expected


@pytest.mark.parametrize("name", ["mypackage.BaseData", "bases.Base", "Base"])
def test_base_classes_of_the_settings(name: str, told: Callable[..., Any]) -> None:
    program = f"""\
# bases.py
class Base:
    def load(self, index):
        raise NotImplementedError
# main.py
from torch.utils.data import DataLoader
{"from mypackage import BaseData as Base" if name.startswith("my") else "from bases import Base"}

class Rows(Base):
    def load(self, index):
        return index

DataLoader(Rows())  # reads: Rows
"""
    said, expected = told(program, datasets=(name,))
    assert said == expected
    assert told(program)[0][0][3] == "no"
