"""DLL604: which loaders begin anew in each turn of a loop for nothing, and which not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL604"]}
HEAD = "from torch.utils.data import DataLoader, Subset\n\n"
MADE = HEAD + "loader = DataLoader(rows, num_workers=2)\n"

AHEAD = """
class Ahead:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        yield from self.loader

def make(rows):
    return Ahead(DataLoader(rows, num_workers=2))

"""
FOUND: dict[str, str] = {
    "in a function that each step calls": HEAD
    + "def batch(rows):\n    loader = DataLoader(rows, shuffle=True, num_workers=4)\n"
    "    return next(iter(loader))  # DLL604\n\n"
    "def fit(rows):\n    for i in range(1000):\n        print(batch(rows))\n",
    "in a method that each step calls": HEAD
    + "class Task:\n    def __init__(self, rows):\n        self.loader = DataLoader(rows, num_workers=4)\n\n"
    "    def batch(self):\n        return next(iter(self.loader))  # DLL604\n\n"
    "    def fit(self):\n        step = 0\n        while step < 9:\n            print(self.batch())\n"
    "            step += 1\n",
    "by its methods": MADE + "for i in range(9):\n    batch = next(loader.__iter__())  # DLL604\n",
    "by the methods of both": MADE + "for i in range(9):\n    batch = loader.__iter__().__next__()  # DLL604\n",
    "in a few of the steps": MADE
    + "for i, x in enumerate(train):\n    if i % 10 == 0:\n        _, y = next(enumerate(loader, 0))  # DLL604\n",
    "in a few of the steps, the last of ten": MADE
    + "while True:\n    step += 1\n    if (step % 5) == 4:\n        pass\n"
    "    if not step % 5:\n        print(next(iter(loader)))  # DLL604\n",
    "by enumerate": MADE + "for i in range(9):\n    _, batch = next(enumerate(loader))  # DLL604\n",
    "for": MADE + "for i in range(9):\n    batch = next(iter(loader))  # DLL604\n",
    "while, inside of an expression": MADE
    + "while True:\n    x, y = [t.cuda() for t in next(iter(loader))]  # DLL604\n",
    "an attribute": HEAD
    + "class Task:\n    def __init__(self, rows):\n        self.loader = DataLoader(rows, 4, num_workers=2)\n\n"
    "    def fit(self):\n        for step in range(9):\n            with self.timer():\n"
    "                print(next(iter(self.loader)))  # DLL604\n",
    "an argument": HEAD
    + "def fit(batches):\n    for step in range(9):\n        print(next(iter(batches)))  # DLL604\n\n"
    "def main(rows):\n    fit(DataLoader(rows, num_workers=4))\n",
    "a factory": "import torch.utils.data as d\n\ndef make(a):\n    return d.DataLoader(a, num_workers=4)\n"
    "def fit(rows):\n    it = make(rows)\n    for step in range(9):\n        print(next(iter(it)))  # DLL604\n",
    "the same batch without workers": HEAD
    + "loader = DataLoader(rows, 4)\nfor i in range(9):\n    batch = next(iter(loader))  # DLL604\n",
    "built in each step": HEAD + "for step in range(9):\n    loader = DataLoader(rows, num_workers=2)  # DLL604\n"
    "    for batch in loader:\n        print(batch)\n",
    "built in each iteration of a while": HEAD
    + "def fit(rows, limit):\n    iteration = 0\n    while iteration < limit:\n"
    "        for batch in DataLoader(rows, num_workers=2):  # DLL604\n            iteration += 1\n",
    "built in an endless loop, by a function": HEAD
    + AHEAD.replace("Ahead(", "(").replace("class (", "class Ahead(")
    + "def fit(rows):\n    while True:\n        loader = make(rows)  # DLL604\n"
    "        for step, batch in enumerate(loader):\n            print(batch)\n",
    "built in an endless loop, by a function that wraps it": HEAD
    + AHEAD
    + "def fit(rows, limit):\n    step = 0\n    while step < limit:\n"
    "        for batch in make(rows):  # DLL604\n            step += 1\n",
    "built in each epoch": HEAD + "for epoch in range(9):\n"
    "    for batch in DataLoader(rows, num_workers=2, shuffle=True):  # DLL604\n        print(batch)\n",
    "in a function called in a loop": HEAD + "def make(rows):\n    return DataLoader(rows, num_workers=2)\n\n"
    "for epoch in range(5):\n    for batch in make(rows):  # DLL604\n        print(batch)\n",
    "in a function, of a sampler of each epoch and under a test of what stays": HEAD
    + "from torch.utils.data import RandomSampler\n\ndef make(rows, size, sampler=None):\n"
    "    workers = max(1, int(size))\n    return DataLoader(rows, sampler=sampler, num_workers=workers)\n\n"
    "def fit(rows, count, size):\n    for epoch in range(5):\n        if count > 0:\n"
    "            sampler = RandomSampler(rows, replacement=True, num_samples=count * int(size))\n"
    "            loader = make(rows, size, sampler=sampler)  # DLL604\n        else:\n            loader = []\n"
    "        for batch in loader:\n            print(batch)\n",
    "with its dataset in each epoch": HEAD
    + "class Rows:\n    def __init__(self, path, size):\n        self.rows = open(path).readlines()[:size]\n\n"
    "    def __getitem__(self, index):\n        return self.rows[index]\n\n"
    "def fit(path, conf):\n    for epoch in range(5):\n        size = conf.block // 3\n"
    "        rows = Rows(path, size)\n        loader = DataLoader(rows, num_workers=2)  # DLL604\n"
    "        for batch in loader:\n            print(batch)\n",
    "with a dataset whose constructor calls a method that calls itself": HEAD
    + "class Rows:\n    def __init__(self, path):\n        self.rows = []\n"
    "        self.walk(open(path).readlines())\n\n"
    "    def walk(self, lines):\n        if lines:\n            self.rows.append(lines[0])\n"
    "            self.walk(lines[1:])\n\n    def __getitem__(self, index):\n        return self.rows[index]\n\n"
    "def fit(path):\n    for epoch in range(5):\n        rows = Rows(path)\n"
    "        for batch in DataLoader(rows, num_workers=2):  # DLL604\n            print(batch)\n",
    "with its dataset in each epoch, without workers": HEAD
    + "import pickle\n\ndef read(path):\n    with open(path, 'rb') as file:\n        return pickle.load(file)\n\n"
    "class Rows:\n    def __init__(self, path):\n        self.rows = read(path)\n\n"
    "    def __getitem__(self, index):\n        return self.rows[index]\n\n"
    "def fit(path):\n    for epoch in range(5):\n"
    "        for batch in DataLoader(Rows(path)):  # DLL604\n            print(batch)\n",
    "in a loop that counts to a number of epochs": HEAD
    + "def fit(rows, args):\n    for e in range(args.first, args.num_epochs):\n"
    "        loader = DataLoader(rows, num_workers=args.workers)  # DLL604\n"
    "        for batch in loader:\n            print(batch)\n",
    "in a loop over inner epochs, with a lambda that reads nothing of it": HEAD
    + "def fit(rows, args, fields):\n    for e in range(args.epoch):\n        for _ in range(args.inner_epoch):\n"
    "            loader = DataLoader(rows, num_workers=2, collate_fn=lambda x: x[fields])  # DLL604\n"
    "            for batch in loader:\n                print(batch)\n",
    "in a progress bar of epochs": HEAD + "from tqdm import tqdm\n\nclass Task:\n    def fit(self, first_epoch):\n"
    "        for _ in tqdm(range(first_epoch, first_epoch + 100)):\n"
    "            loader = DataLoader(self.rows, num_workers=2)  # DLL604\n"
    "            for batch in loader:\n                print(batch)\n",
    "built in each epoch but the first": HEAD + "loader = DataLoader(rows, num_workers=2)\nfor epoch in range(9):\n"
    "    if epoch > 0:\n        loader = DataLoader(rows, shuffle=True, num_workers=2)  # DLL604\n"
    "    for batch in loader:\n        print(batch)\n",
    "built where an epoch is not the first": HEAD + "for number, epoch in enumerate(range(9)):\n"
    "    if not number:\n        print('first')\n    else:\n"
    "        loader = DataLoader(rows, num_workers=2)  # DLL604\n",
}

SILENT: dict[str, str] = {
    "with a dataset in each epoch that reads nothing": HEAD
    + "class Rows:\n    def __init__(self, rows):\n        self.rows = rows\n\n"
    "    def __getitem__(self, index):\n        return self.rows[index]\n\n"
    "def fit(rows):\n    for epoch in range(5):\n"
    "        for batch in DataLoader(Rows(rows)):\n            print(batch)\n",
    "with a dataset that reads another file in each epoch": HEAD
    + "import numpy\n\nclass Rows:\n    def __init__(self, path):\n        self.rows = numpy.load(path)\n\n"
    "    def __getitem__(self, index):\n        return self.rows[index]\n\n"
    "def fit(paths):\n    for epoch in range(5):\n"
    "        for batch in DataLoader(Rows(paths[epoch])):\n            print(batch)\n",
    "with a dataset in each epoch that draws what it reads": HEAD
    + "import numpy, random\n\nclass Rows:\n    def __init__(self, path):\n"
    "        self.rows = random.sample(list(numpy.load(path)), 9)\n\n"
    "    def __getitem__(self, index):\n        return self.rows[index]\n\n"
    "def fit(path):\n    for epoch in range(5):\n"
    "        for batch in DataLoader(Rows(path)):\n            print(batch)\n",
    "in a loop over the folds of a few epochs": HEAD + "def fit(rows, epochs, folds):\n    for fold in range(folds):\n"
    "        loader = DataLoader(rows, num_workers=2)\n        for number in range(epochs):\n"
    "            for batch in loader:\n                print(batch)\n",
    "in a loop over the parts of an epoch": HEAD
    + "def fit(rows, parts_per_epoch):\n    for part in range(parts_per_epoch):\n"
    "        for batch in DataLoader(rows, num_workers=2):\n            print(batch)\n",
    "in a loop over the epochs, of what each of them selects": HEAD
    + "def fit(rows, epochs):\n    for e in range(epochs):\n        some = rows.sample()\n"
    "        for batch in DataLoader(some, num_workers=2):\n            print(batch)\n",
    "in a function that each split calls": HEAD
    + "def batch(rows):\n    loader = DataLoader(rows, num_workers=4)\n    return next(iter(loader))\n\n"
    "def show(splits):\n    for rows in splits:\n        print(batch(rows))\n",
    "in a function that each step calls with other data": HEAD
    + "def batch(rows):\n    loader = DataLoader(rows, num_workers=4)\n    return next(iter(loader))\n\n"
    "def show(splits):\n    for i in range(9):\n        print(batch(splits[i]))\n",
    "in a function that each epoch calls": MADE + "def sample():\n    return next(iter(loader))\n\n"
    "for epoch in range(9):\n    print(sample())\n",
    "in a function, for the first call": MADE
    + "it = None\ndef batch():\n    global it\n    if it is None:\n        it = iter(loader)\n"
    "    try:\n        return next(it)\n    except StopIteration:\n        return next(iter(loader))\n\n"
    "for i in range(9):\n    print(batch())\n",
    "no loop": MADE + "batch = next(iter(loader))\n",
    "an iterator": MADE + "it = iter(loader)\nfor i in range(9):\n    batch = next(it)\n",
    "of each loader": HEAD + "loaders = [DataLoader(a, num_workers=2), DataLoader(b, num_workers=2)]\n"
    "for loader in loaders:\n    print(next(iter(loader)))\n",
    "of each split": HEAD + "loaders = {'a': DataLoader(a, num_workers=2), 'b': DataLoader(b, num_workers=2)}\n"
    "for split in ['a', 'b']:\n    print(next(iter(loaders[split])))\n",
    "in a comprehension": HEAD
    + "loaders = [DataLoader(a, num_workers=2)]\nfirst = [next(iter(one)) for one in loaders]\n",
    "in a few of the epochs": MADE
    + "for epoch in range(9):\n    fit()\n    if epoch % 5 == 0:\n        print(next(iter(loader)))\n",
    "a few of the batches, under a second condition": MADE
    + "for i in steps:\n    if i % 10 == 0 and ready:\n        print(next(iter(loader)))\n",
    "in a few of the steps that are left": MADE
    + "for i in steps:\n    if i % 5 == 0:\n        if i % 7 == 0:\n            print(next(iter(loader)))\n",
    "in an unknown number of steps": MADE
    + "for i in steps:\n    if i % every == 0:\n        print(next(iter(loader)))\n",
    "the first batch, without workers": HEAD + "loader = DataLoader(rows, 4)\n"
    "for i in steps:\n    if i % 10 == 0:\n        batch = next(iter(loader))\n",
    "under a condition": MADE + "for i in range(9):\n    if i % 100 == 0:\n        print(next(iter(loader)))\n",
    "after the end": MADE + "it = iter(loader)\nfor i in range(9):\n    try:\n        b = next(it)\n"
    "    except StopIteration:\n        b = next(iter(loader))\n",
    "once an epoch": MADE
    + "for epoch in range(9):\n    print(next(iter(loader)))\n    for batch in loader:\n        print(batch)\n",
    "at random, without workers": HEAD
    + "loader = DataLoader(rows, 4, shuffle=True)\nfor i in range(9):\n    batch = next(iter(loader))\n",
    "no loader": "import torch.utils.data\nrows = {1: 2}\nfor i in range(9):\n    print(next(iter(rows)))\n",
    "what is not known": HEAD + "def fit(rows):\n    for i in range(9):\n        print(next(iter(rows)))\n",
    "at one epoch": HEAD + "for epoch in range(9):\n    if epoch == 5:\n"
    "        loader = DataLoader(rows, shuffle=True, num_workers=2)\n",
    "before one epoch": HEAD + "for epoch in range(9):\n    if epoch < 2:\n"
    "        loader = DataLoader(rows, shuffle=True, num_workers=2)\n",
    "where something else says so": HEAD + "for epoch in range(9):\n    if grown > 0:\n"
    "        loader = DataLoader(rows, shuffle=True, num_workers=2)\n",
    "folds": HEAD + "for fold in range(5):\n    loader = DataLoader(rows, num_workers=2)\n",
    "a split of each epoch": HEAD
    + "for epoch in range(5):\n    part = parts[epoch]\n    DataLoader(part, num_workers=2)\n",
    "a sampler of each epoch": HEAD
    + "for epoch in range(5):\n    DataLoader(rows, sampler=make(epoch), num_workers=2)\n",
    "another dataset in each epoch": HEAD + "class Task:\n    def draw(self):\n        self.rows = list(range(9))\n\n"
    "    def fit(self):\n        for epoch in range(5):\n            self.draw()\n"
    "            loader = DataLoader(self.rows, num_workers=2)\n",
    "built once in a while": HEAD
    + "for epoch in range(5):\n    if epoch == 3:\n        l = DataLoader(rows, num_workers=2)\n",
    "built without workers": HEAD + "for step in range(5):\n    l = DataLoader(rows)\n",
    "a lambda that reads what the loop counts": HEAD + "def fit(rows, epochs):\n    for e in range(epochs):\n"
    "        for batch in DataLoader(rows, num_workers=2, collate_fn=lambda x: x[e]):\n            print(batch)\n",
    "a sweep": HEAD + "for epochs in [5, 10]:\n    for rate in rates:\n        l = DataLoader(rows, num_workers=2)\n",
    "in a function called in a loop, of drawn rows": HEAD
    + "import random\n\ndef make(rows):\n    chosen = random.sample(rows, 9)\n"
    "    return DataLoader(chosen, num_workers=2)\n\nfor epoch in range(5):\n    make(rows)\n",
    "in a function called in a loop, with the epoch": HEAD
    + "def make(rows, epoch):\n    return DataLoader(rows[epoch:], num_workers=2)\n\n"
    "for epoch in range(5):\n    make(rows, epoch)\n",
    "in a function called in a loop, that keeps its loader": HEAD
    + "class Task:\n    loader = None\n\n    def batches(self, rows):\n        if self.loader is None:\n"
    "            self.loader = DataLoader(rows, num_workers=2)\n        return self.loader\n\n"
    "    def fit(self, rows):\n        for epoch in range(5):\n            self.batches(rows)\n",
    "a dataset that draws its rows anew in each epoch": HEAD
    + "import random\n\nclass Rows:\n    def __init__(self, path):\n        self.rows = self.pick(path)\n\n"
    "    def pick(self, path):\n        return random.sample(open(path).readlines(), 9)\n\n"
    "    def __getitem__(self, index):\n        return self.rows[index]\n\n"
    "def fit(path):\n    for epoch in range(5):\n        rows = Rows(path)\n"
    "        for batch in DataLoader(rows, num_workers=2):\n            print(batch)\n",
    "a dataset that draws in a method which calls itself": HEAD
    + "import random\n\nclass Rows:\n    def __init__(self, path):\n        self.rows = open(path).readlines()\n"
    "        self.mix(9)\n\n    def mix(self, depth):\n        if depth:\n            self.mix(depth - 1)\n"
    "            random.shuffle(self.rows)\n\n    def __getitem__(self, index):\n        return self.rows[index]\n\n"
    "def fit(path):\n    for epoch in range(5):\n        rows = Rows(path)\n"
    "        for batch in DataLoader(rows, num_workers=2):\n            print(batch)\n",
    "in a function that reads it to the end": HEAD
    + "def check(model, rows):\n    for batch in DataLoader(rows, num_workers=2):\n        model(batch)\n\n"
    "def fit(model, rows):\n    for epoch in range(5):\n        check(model, rows)\n",
    "a test of what the loop changes": HEAD
    + "def fit(rows, grown):\n    for epoch in range(5):\n        if grown > 3:\n"
    "            loader = DataLoader(rows, num_workers=2)\n        grown += 1\n",
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_found(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": text}

    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": text}, **SELECT) == set()


@pytest.mark.parametrize(
    ("loop", "options", "message", "severity"),
    [
        ("epoch", "", "epoch", "info"),
        ("epoch", ", persistent_workers=True", "persistent", "warning"),
        ("step", "", "step", "warning"),
    ],
)
def test_what_it_costs(loop: str, options: str, message: str, severity: str, told: Callable[..., Any]) -> None:
    text = HEAD + f"for {loop} in range(9):\n    loader = DataLoader(rows, num_workers=2{options})\n"

    (found,) = told({"train.py": text}, **SELECT)

    assert (found.message, found.severity) == (message, severity)


SAMPLES = """\
from torch.utils.data import DataLoader

def samples(loader, count):
    rows = []
    while len(rows) < count:
        rows.append(next(iter(loader)))
    return rows

def shown(rows):
    return samples(DataLoader(rows, shuffle=True), 9)

def trained(rows):
    return samples(DataLoader(rows, shuffle=True, num_workers=4), 9)
"""


def test_the_loader_that_is_told_is_the_one_that_costs(told: Callable[..., Any]) -> None:
    (found,) = told({"data.py": SAMPLES}, select=["DLL604"])

    assert found.message == "next"
    assert [place.span.line for place in found.related if place.message == "the loader"] == [13]
