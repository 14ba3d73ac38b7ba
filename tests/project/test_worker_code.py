"""Which functions the workers of a loader run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.project.conftest import whole

HEAD = """\
from functools import partial
from torch.utils.data import DataLoader, Dataset, IterableDataset

"""
PROGRAMS: dict[str, str] = {
    "functions handed to a constructor that is inherited from outside": """\
from torchvision.datasets import ImageFolder
from torchvision.transforms import Compose

class Steps(Compose):
    pass

class Faces(ImageFolder):
    def __init__(self, root, step):
        super().__init__(root, transform=step)

def shift(row):  # in workers: __getitem__
    return row + 1

def scale(row):  # in workers: transform
    return row * 2

def unused(row):  # in workers: no
    return row

class Rows(Dataset):
    def __init__(self, step):
        self.step = step

    def __getitem__(self, index):
        return self.step(index)

Steps([unused])
DataLoader(Rows(Steps([shift])), num_workers=2)
DataLoader(Faces("faces", Steps([scale])), num_workers=2)
""",
    "the entries of a dataset": """\
class Rows(Dataset):
    def __init__(self):  # in workers: no
        self.rows = self.read()

    def read(self):  # in workers: no
        return [1]

    def __len__(self):  # in workers: no
        return 9

    def __getitem__(self, index):  # in workers: __getitem__
        return self.small(index)

    def small(self, image):  # in workers: __getitem__
        return shrink(image)

    def other(self):  # in workers: no
        return 3

class Batches(Dataset):
    def __getitems__(self, indices):  # in workers: __getitems__
        return indices

class Stream(IterableDataset):
    def __iter__(self):  # in workers: __iter__
        yield from range(3)

class Own:
    def __iter__(self):
        return self

    def __next__(self):  # in workers: __next__
        return 3

def shrink(image):  # in workers: __getitem__
    return [smaller(image) for _ in range(2)]

def smaller(image):  # in workers: __getitem__
    return image

def show(image):  # in workers: no
    return image

for dataset in (Rows(), Batches(), Stream(), Own()):
    DataLoader(dataset, num_workers=2)
""",
    "methods of bases, of classes below and without an object": """\
class Base(Dataset):
    def __getitem__(self, index):  # in workers: __getitem__
        return self.small(index)

    def small(self, image):  # in workers: no
        raise NotImplementedError

class Rows(Base):
    def __getitem__(self, index):  # in workers: __getitem__
        return super().__getitem__(index)

    def small(self, image):  # in workers: __getitem__
        return self.tiny(image)

    @classmethod
    def tiny(cls, image):  # in workers: __getitem__
        return cls.least(image)

    @staticmethod
    def least(image):  # in workers: __getitem__
        return image

class Beside(Base):
    def small(self, image):  # in workers: no
        return image

DataLoader(Rows(), num_workers=2)
""",
    "transforms that the dataset keeps": """\
from torchvision import transforms

class Shrink:
    def __call__(self, image):  # in workers: __getitem__
        return image

class Blur:
    def __call__(self, image):  # in workers: __getitem__
        return image

class Turn:
    def __call__(self, image):  # in workers: __getitem__
        return image

class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, image):  # in workers: __getitem__
        for step in self.steps:
            image = step(image)
        return image

def cropped(size, image):  # in workers: __getitem__
    return image

class Rows(Dataset):
    def __init__(self):
        self.transform = Shrink()
        self.steps = Compose([abs, Blur()])
        self.composed = transforms.Compose([Turn(), transforms.ToTensor()])
        self.step = lambda image: image  # in workers: __getitem__
        self.crop = partial(cropped, (2, 2))

    def __getitem__(self, index):
        return self.crop(self.step(self.composed(self.steps(self.transform(index)))))

DataLoader(Rows(), num_workers=2)
""",
    "transforms given to a dataset from outside": """\
from torchvision.datasets import CIFAR10
from torchvision.transforms import Compose, ToTensor

class Blur:
    def __call__(self, image):  # in workers: transform
        return image

options = {"num_workers": 4}
DataLoader(CIFAR10("data", transform=Compose([Blur(), ToTensor()])), **options)
""",
    "collate_fn and worker_init_fn": """\
# collate.py
def collate(rows):  # in workers: collate_fn
    return rows

def begin(worker):  # in workers: worker_init_fn
    start(worker)

def start(worker):  # in workers: worker_init_fn
    print(worker)

class Padding:
    def __call__(self, rows):  # in workers: collate_fn
        return rows

    def collate(self, rows):  # in workers: collate_fn
        return rows

def bound(padding, rows):  # in workers: collate_fn
    return rows
# train.py
from functools import partial
from torch.utils.data import DataLoader
import collate

class Loader(DataLoader):
    def __init__(self, rows):
        super().__init__(rows, num_workers=4)

    def collate_fn(self, rows):  # in workers: collate_fn
        return rows

def later(rows):  # in workers: collate_fn
    return rows

DataLoader([], num_workers=4, collate_fn=collate.collate)
DataLoader([], **{"num_workers": 4, "worker_init_fn": collate.begin})
DataLoader([], num_workers=4, collate_fn=collate.Padding())
DataLoader([], num_workers=4, collate_fn=collate.Padding().collate)
DataLoader([], num_workers=4, collate_fn=partial(collate.bound, 0))
loader = DataLoader([], num_workers=4)
loader.collate_fn = later
Loader([])
""",
    "helpers by a star import and a package that gives them on": """\
# images/__init__.py
from .shrink import *
# images/shrink.py
def shrink(image):  # in workers: __getitem__
    return image
# data.py
import images
import torch.utils.data as data

class Rows(data.Dataset):
    def __getitem__(self, index):
        return images.shrink(index)

data.DataLoader(Rows(), num_workers=4)
""",
    "an object that is read like a list, and one that only the parent reads": """\
class Reader:
    def __getitem__(self, index):  # in workers: __getitem__
        return index

class Parent:
    def __getitem__(self, index):  # in workers: no
        return index

class Rows(Dataset):
    def __init__(self):
        self.reader = Reader()
        self.parent = Parent()
        self.first = self.parent[0]

    def __getitem__(self, index):
        return len(self.reader[index]), index

DataLoader(Rows(), num_workers=4)
""",
    "a property and its setter": """\
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.size = 3

    @property
    def blurred(self):  # in workers: __getitem__
        return shrink(self.rows)

    @blurred.setter
    def blurred(self, size):  # in workers: no
        self.size = size

    @property
    def other(self):  # in workers: no
        return shrink(self.size)

    def __getitem__(self, index):
        return self.blurred[index]

def shrink(rows):
    return rows

DataLoader(Rows([1]), num_workers=2)
""",
    "functions that a function calls which is given them": """\
def apply(change, rows):
    def inner(row):
        if isinstance(row, list):
            return [inner(one) for one in row]
        return change(row)

    return inner(rows)

def on_gpu(row):  # in workers: no
    return row.cuda()

def on_cpu(row):  # in workers: __getitem__
    return row.cpu()

def halved(row):  # in workers: __getitem__
    return row / 2

def by_lambda(row):  # in workers: __getitem__
    return row

def by_partial(row):  # in workers: __getitem__
    return row

def by_keyword(row):  # in workers: __getitem__
    return row

def handed(row):  # in workers: __getitem__
    return row

def by_default(row):  # in workers: __getitem__
    return row

def not_given(row):  # in workers: no
    return row

def each(rows, change=by_default):
    return apply(change, rows)

def every(rows, change=not_given):
    return apply(change, rows)

class Mover:
    def __call__(self, row):  # in workers: __getitem__
        return row

class Halver:
    def __call__(self, row):  # in workers: no
        return row

class Rows(Dataset):
    def __getitem__(self, index):
        rows = apply(halved, apply(on_cpu, [index]))
        rows = apply(lambda row: by_lambda(row), rows)
        rows = apply(partial(by_partial), rows)
        rows = apply(rows=rows, change=by_keyword)
        return each(every(apply(Mover(), rows), handed))

for rows in DataLoader(Rows(), num_workers=2):
    apply(on_gpu, rows)
    apply(Halver(), rows)
""",
    "methods of an object of which nothing is known, by their names": """\
from elsewhere import processors

class Rows(Dataset):
    def __init__(self, processor):
        self.processor = processor

    def open(self, registry):
        self.reader = registry.pop()

    def __getitem__(self, index):
        return self.processor.preprocess(index) + self.processor.prepare_rows(index)

class Runner:
    def preprocess(self, row):  # in workers: no
        return row

    def prepare_rows(self, row):  # in workers: __getitem__
        return row

Runner().prepare_rows(processors)
Runner().preprocess(processors)
DataLoader(Rows(processors[0] | processors[1]), num_workers=2)
""",
    "a method of an object that is made later on, and of one of which nothing is known": """\
class Reader:
    def fetched(self, index):  # in workers: __getitem__
        return index

    def drawn(self, index):  # in workers: __getitem__
        return index

class Model:
    def fetched(self, index):  # in workers: no
        return index

class Rows(Dataset):
    def __init__(self):
        self.reader = None
        self.other = None

    def open(self, registry):
        self.other = registry.pop()

    def __getitem__(self, index):
        if self.reader is None:
            self.reader = Reader()
        return self.reader.fetched(index), self.other.drawn(index)

DataLoader(Rows(), num_workers=2)
""",
    "a branch that the call does not take": """\
def read(rows, pinned=False):
    if pinned:
        rows = moved(rows)
    return rows

def moved(rows):  # in workers: no
    return rows

class Rows(Dataset):
    def __getitem__(self, index):
        return read(index)

DataLoader(Rows(), num_workers=2)
""",
    "a branch that one call takes and another one does not": """\
class Rows(Dataset):
    def __getitem__(self, index):
        return self.load(index), self.load(index, flip=True), self.part(index, kind="left"), self.part(index, "right")

    def load(self, index, flip=False):
        return self.read(index, mirrored=flip)

    def read(self, index, mirrored):
        return self.mirror(index) if mirrored else index

    def mirror(self, index):  # in workers: __getitem__
        return -index

    def part(self, index, kind):
        if kind == "left":
            return self.left(index)
        if kind == "right":
            return self.right(index)
        return self.middle(index)

    def left(self, index):  # in workers: __getitem__
        return index

    def right(self, index):  # in workers: __getitem__
        return index

    def middle(self, index):  # in workers: no
        return index

DataLoader(Rows(), num_workers=2)
""",
    "switches among keywords, of two objects of one class": """class Steps:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, **given):
        together = given.get("together", True)
        if not together:
            return [self(**part) for part in self.parts(given)]
        for step in self.steps:
            given = step(given)
        return given

    def parts(self, given):
        return [{"image": given["image"]}]

class Shift:
    def __call__(self, given):  # in workers: __getitem__
        return given

class Scale:
    def __call__(self, given):  # in workers: __getitem__
        return given

class Rows(Dataset):
    def __init__(self, first, second):
        self.steps = {"first": first, "second": second}

    def __getitem__(self, index):
        rows = self.steps["first"](image=index)
        for kind in ["second"]:
            rows = self.steps[kind](image=rows, together=False)
        return rows

DataLoader(Rows(Steps(Shift()), Steps(Scale())), num_workers=2)
""",
    "methods of a base that call others which subclasses define": """class Step:
    def __call__(self, row):
        return self.prepared(row)

    def prepared(self, row):
        return self.apply(row, self.drawn())

    def drawn(self):  # in workers: no
        return None

    def named(self):
        return getattr(self, "as_" + "text")()

class Shift(Step):
    def drawn(self):  # in workers: __getitem__
        return 1

    def apply(self, row, by):  # in workers: __getitem__
        return row + by

class Scale(Step):
    def drawn(self):  # in workers: __getitem__
        return 2

    def apply(self, row, by):  # in workers: __getitem__
        return row * by

class Idle(Step):
    def drawn(self):  # in workers: no
        return 3

class Steps:
    def __init__(self, *steps):
        if len(steps) == 1 and isinstance(steps[0], (list, tuple)):
            steps = steps[0]
        self.steps = steps

    def __call__(self, row):
        for step in self.steps:
            row = step(row)
        return row

class Rows(Dataset):
    def __init__(self, steps):
        self.steps = steps

    def __getitem__(self, index):
        return self.steps(index)

Idle()
DataLoader(Rows(Steps(Shift(), Scale())), num_workers=2)
""",
    "collating methods of datasets that others hold": """\
class Plain(Dataset):
    def __init__(self, name=""):
        self.name = name

    def collater(self, rows):  # in workers: collate_fn
        return rows

class Moved(Plain):
    def __init__(self, dataset):
        self.dataset = dataset

    def collater(self, rows):  # in workers: collate_fn
        return rows

class Zipped(Dataset):
    def __init__(self, sets, key=None):
        if isinstance(sets, dict):
            sets = dict(sets)
        self.sets = sets
        self.key = key

    def collater(self, rows):  # in workers: collate_fn
        if self.key is not None:
            return self.sets[self.key].collater(rows)
        return {key: dataset.collater(rows) for key, dataset in self.sets.items()}

class Task:
    def __init__(self):
        self.datasets = dict()

    def dataset(self, split):
        return self.datasets[split]

    def batches(self, split):
        dataset = self.dataset(split)
        return DataLoader(dataset, collate_fn=dataset.collater, num_workers=2)

class Both(Task):
    def prepare(self, split, names):
        plain, back = {}, {}
        for name in names:
            plain[name] = Plain(name)
        for name in names:
            back[name] = Moved(plain[name])
        self.datasets[split] = Zipped(
            dict(
                [(name, dataset) for name, dataset in plain.items()]
                + [(name, dataset) for name, dataset in back.items()]
            )
        )

def main(names):
    task = Both()
    task.prepare("train", names)
    return task.batches("train")
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_worker_code(program: str, told: Callable[..., Any]) -> None:
    said, expected = told(whole(HEAD, program))
    assert said == expected


def test_objects_that_are_not_all_told_apart(told: Callable[..., Any]) -> None:
    kinds = "\n".join(f"class Part{number}(Plain):\n    pass\n" for number in range(50))
    parts = ", ".join(f"Part{number}()" for number in range(50))
    program = f"""\
class Plain(Dataset):
    def collater(self, rows):
        return rows

class Moved(Plain):
    def collater(self, rows):  # in workers: collate_fn
        return rows

class Around(Plain):
    def __init__(self, sets):
        self.sets = sets

    def collater(self, rows):
        return [one.collater(rows) for one in self.sets]

{kinds}
def run(dataset):
    return DataLoader(dataset, collate_fn=dataset.collater, num_workers=2)

for dataset in [Around([Plain()]), {parts}, Around([Moved()])]:
    run(dataset)
"""
    said, expected = told(HEAD + program)
    assert said == expected


STAGES = """\
class Store:
    def draw(self):  # in workers: DRAWN
        return 3

class Stage(IterableDataset):
    def __init__(self, source, function, *args):
        self.source = source
        self.function = function
        self.args = args

    def __iter__(self):
        return self.function(iter(self.source), *self.args)

def cut(rows, size):
    for row in rows:
        yield row[:size]

def add(rows, store, scale):
    for row in rows:
        yield row + USE

def build(paths, noisy):
    rows = Stage(paths, FIRST)
    if noisy:
        rows = Stage(rows, SECOND)
    return DataLoader(rows, num_workers=4)
"""


@pytest.mark.parametrize(
    ("first", "second", "use", "drawn"),
    [
        ("cut, 3", "add, Store(), 0.3", "store.draw()", "__iter__"),
        ("add, Store(), 0.3", "cut, 3", "store.draw()", "__iter__"),
        ("add, 3, 4", "add, Store(), 0.3", "store.draw()", "__iter__"),
        ("cut, 3", "add, Store(), 0.3", "scale", "no"),
        ("cut, 3", "cut, 4", "store.draw()", "no"),
    ],
)
def test_what_a_stage_of_a_pipeline_is_given(
    first: str, second: str, use: str, drawn: str, told: Callable[..., Any]
) -> None:
    program = STAGES.replace("FIRST", first).replace("SECOND", second).replace("USE", use).replace("DRAWN", drawn)
    said, expected = told(HEAD + program)
    assert said == expected


def test_functions_that_many_calls_hand_over(told: Callable[..., Any]) -> None:
    steps = "".join(f"def step{number}(rows):\n    return apply(on_gpu, rows)\n\n" for number in range(20))
    calls = "".join(f"    step{number}([])\n" for number in range(20))
    program = f"""\
def apply(change, rows):
    return [change(row) for row in rows]

def on_gpu(row):  # in workers: no
    return row.cuda()

def on_cpu(row):  # in workers: __getitem__
    return row.cpu()

class Rows(Dataset):
    def __getitem__(self, index):
        return apply(on_cpu, [index])

{steps}def main():
{calls}    return DataLoader(Rows(), num_workers=2)
"""
    said, expected = told(HEAD + program)
    assert said == expected
