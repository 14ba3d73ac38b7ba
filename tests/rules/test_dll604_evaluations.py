"""DLL604: loaders that a function makes for each evaluation, once per epoch of a training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rules.conftest import in_one_file

HEAD = """\
import argparse
import functools
import os
import random
import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler, Subset
from tqdm import tqdm
"""
EVALUATE = """
def evaluate(model, data):
    loader = DataLoader(data, batch_size=8, num_workers=4)
    for x, y in loader:
        print(model(x, y))
"""
TRAIN = """
def train(model, rows, data, epochs):
    loader = DataLoader(rows, num_workers=4)
    for epoch in range(epochs):
        for x, y in loader:
            model(x, y).backward()
"""
EPOCHS = TRAIN + "        evaluate(model, data)  # DLL604\n"
SILENT_EPOCHS = TRAIN + "        evaluate(model, data)\n"
ROWS = """
class Rows(Dataset):
    def __init__(self, path, size=3):
        self.path, self.size = path, size
    def __len__(self):
        return self.size
    def __getitem__(self, index):
        return self.path
"""
FOUND = {
    "a function": EVALUATE + EPOCHS,
    "a function that shows its progress": EVALUATE.replace("in loader", "in enumerate(tqdm(loader))") + EPOCHS,
    "without a variable": EVALUATE.replace("    loader = ", "    print(model)\n    for x, y in ").replace(
        "num_workers=4)\n    for x, y in loader:", "num_workers=4):"
    )
    + EPOCHS,
    "a number of workers from the command line": """
def evaluate(args, model, data):
    loader = DataLoader(data, batch_size=args.batch, num_workers=args.workers)
    with torch.no_grad():
        for x, y in loader:
            print(model(x, y))

def step(model, x, y, training=False):
    loss = model(x, y)
    if training:
        loss.backward()
    return loss

def main(model, rows, data):
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1)
    args = parser.parse_args()
    loader = DataLoader(rows, num_workers=args.workers)
    state = {"worse_epochs": 0}
    while state["worse_epochs"] < 9:
        for x, y in loader:
            step(model, x, y, training=True)
        loss = evaluate(args, model, data)  # DLL604
        if loss > 1:
            state["worse_epochs"] += 1
    evaluate(args, model, rows)
""",
    "the dataset, too": ROWS
    + """
def evaluate(model, epoch, folder):
    path = os.path.join(folder, "val")
    rows = Rows(path, size=4)
    loader = DataLoader(Subset(rows, range(3)), num_workers=4)
    for x in loader:
        print(model(x), epoch)
"""
    + TRAIN
    + "        evaluate(model, epoch, 'data')  # DLL604\n",
    "transforms, too": """
from torchvision import transforms
from torchvision.datasets import ImageFolder

def evaluate(model, folder, size):
    changes = transforms.Compose([transforms.Resize(size), transforms.ToTensor()])
    loader = DataLoader(ImageFolder(os.path.join(folder, "val"), changes), num_workers=4)
    for x, y in loader:
        print(model(x, y))
"""
    + TRAIN
    + "        evaluate(model, 'data', 224)  # DLL604\n",
    "a method": """
class Trainer:
    def __init__(self, model, rows, data):
        self.model, self.rows, self.data = model, rows, data
    def evaluate(self):
        for x, y in DataLoader(self.data, num_workers=2):
            print(self.model(x, y))
    def train(self, epochs):
        loader = DataLoader(self.rows, num_workers=2)
        for epoch in range(epochs):
            for x, y in loader:
                self.model(x, y).backward()
            self.evaluate()  # DLL604
""",
    "a method of another object": """
class Evaluator:
    def __init__(self, model, data):
        self.model, self.data = model, data
    def evaluate(self):
        for x, y in DataLoader(self.data, num_workers=2):
            print(self.model(x, y))

def train(model, rows, data, epochs):
    loader = DataLoader(rows, num_workers=4)
    evaluator = Evaluator(model, data)
    for epoch in range(epochs):
        for x, y in loader:
            model(x, y).backward()
        evaluator.evaluate()  # DLL604
""",
}
SILENT = {
    "once after the training": EVALUATE + TRAIN + "    evaluate(model, data)\n",
    "in some epochs": EVALUATE + TRAIN + "        if epoch % 5 == 0:\n            evaluate(model, data)\n",
    "in some epochs, told by the function": EVALUATE.replace(
        "data):\n", "data, epoch):\n    if epoch % 5:\n        return\n"
    )
    + TRAIN
    + "        evaluate(model, data, epoch)\n",
    "data of the epoch": EVALUATE + TRAIN + "        evaluate(model, data[epoch])\n",
    "data that the loop draws": EVALUATE + TRAIN + "        evaluate(model, random.sample(data, 9))\n",
    "data that the loop sets": EVALUATE + TRAIN + "        data = model.next(data)\n        evaluate(model, data)\n",
    "a size that depends on the epoch": EVALUATE.replace("data):", "data, size):").replace("=8", "=size")
    + TRAIN
    + "        evaluate(model, data, 8 + epoch)\n",
    "a part of the data that each call draws": EVALUATE.replace(
        "DataLoader(data", "DataLoader(Subset(data, random.sample(range(99), 9))"
    )
    + SILENT_EPOCHS,
    "a dataset that draws": ROWS.replace("self.path, self.size = path,", "self.path, self.size = random.choice(path),")
    + EVALUATE.replace("DataLoader(data", "DataLoader(Rows(data)")
    + SILENT_EPOCHS,
    "what an unknown function gives": EVALUATE.replace("DataLoader(data", "DataLoader(model.rows(data)")
    + SILENT_EPOCHS,
    "no workers": EVALUATE.replace("num_workers=4", "num_workers=0") + SILENT_EPOCHS,
    "no workers unless asked for": """
def evaluate(args, model, data):
    for x, y in DataLoader(data, num_workers=args.workers):
        print(model(x, y))

def main(model, rows, data):
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    loader = DataLoader(rows, num_workers=args.workers)
    for epoch in range(9):
        for x, y in loader:
            model(x, y).backward()
        evaluate(args, model, data)
""",
    "a loader that is kept": """
KEPT = {}

def evaluate(model, data):
    if "loader" not in KEPT:
        KEPT["loader"] = DataLoader(data, num_workers=4)
    for x, y in KEPT["loader"]:
        print(model(x, y))
"""
    + SILENT_EPOCHS,
    "a loader that is kept if there is none": """
KEPT = {}

def evaluate(model, data):
    for x, y in KEPT.setdefault("loader", DataLoader(data, num_workers=4)):
        print(model(x, y))
"""
    + SILENT_EPOCHS,
    "a loader that the object keeps": """
class Trainer:
    def __init__(self, model, rows, data):
        self.model, self.rows, self.data = model, rows, data
        self.loader = None
    def evaluate(self):
        if self.loader is None:
            self.loader = DataLoader(self.data, num_workers=2)
        for x, y in self.loader:
            print(self.model(x, y))
    def train(self, epochs):
        loader = DataLoader(self.rows, num_workers=2)
        for epoch in range(epochs):
            for x, y in loader:
                self.model(x, y).backward()
            self.evaluate()
""",
    "a loader that a cache returns": """
@functools.lru_cache
def loader_of(data):
    return DataLoader(data, num_workers=4)

def evaluate(model, data):
    for x, y in loader_of(data):
        print(model(x, y))
"""
    + SILENT_EPOCHS,
    "a loader that a cache returns to the loop": """
@functools.lru_cache(maxsize=None)
def loader_of(data):
    return DataLoader(data, num_workers=4)

def train(model, rows, data, epochs):
    for epoch in range(epochs):
        for x, y in loader_of(rows):
            model(x, y).backward()
""",
    "parts into which each call splits the data": EVALUATE.replace(
        "DataLoader(data", "DataLoader(torch.utils.data.random_split(data, [8, 2])[0]"
    )
    + SILENT_EPOCHS,
    "a loader whose length counts": EVALUATE.replace("for x, y in loader:", "for x, y in [data[0]] * len(loader):")
    + SILENT_EPOCHS,
    "no training": EVALUATE
    + """
def main(model, data, epochs):
    for epoch in range(epochs):
        model.load(epoch)
        evaluate(model, data)
""",
    "two evaluations by one function, and no training": """
def step(model, x, y, training=False):
    loss = model(x, y)
    if training:
        loss.backward()
    return loss

def evaluate(model, data):
    for x, y in DataLoader(data, num_workers=4):
        step(model, x, y)

def main(model, data, rows, epochs):
    for epoch in range(epochs):
        evaluate(model, data)
        evaluate(model, rows)
""",
    "a method of an object whose data changes": """
class Evaluator:
    def __init__(self, model, data):
        self.model, self.data = model, data
    def choose(self, number):
        self.data = self.data.part(number)
    def evaluate(self):
        for x, y in DataLoader(self.data, num_workers=2):
            print(self.model(x, y))

def train(model, rows, data, epochs):
    loader = DataLoader(rows, num_workers=4)
    evaluator = Evaluator(model, data)
    for epoch in range(epochs):
        evaluator.choose(epoch)
        for x, y in loader:
            model(x, y).backward()
        evaluator.evaluate()
""",
    "a method of an object whose data is set": """
class Evaluator:
    def __init__(self, model, data):
        self.model, self.data = model, data
    def evaluate(self):
        for x, y in DataLoader(self.data, num_workers=2):
            print(self.model(x, y))

def train(model, rows, data, epochs):
    loader = DataLoader(rows, num_workers=4)
    evaluator = Evaluator(model, data)
    for epoch in range(epochs):
        evaluator.data = data[epoch]
        for x, y in loader:
            model(x, y).backward()
        evaluator.evaluate()
""",
    "folds": EVALUATE
    + """
def train(model, rows, data):
    loader = DataLoader(rows, num_workers=4)
    for fold in range(5):
        for x, y in loader:
            model(x, y).backward()
        evaluate(model, data)
""",
}
test_found, test_silent = in_one_file("DLL604", FOUND, SILENT, HEAD)


def test_an_evaluation_in_another_file_is_an_info(told: Callable[..., Any]) -> None:
    files = {"train.py": f"from test import evaluate\n{HEAD}{EPOCHS}", "test.py": HEAD + EVALUATE}

    (found,) = told(files, select=["DLL604"])

    assert (found.severity, found.path.rpartition("/")[2]) == ("info", "train.py")
    assert [place.path.rpartition("/")[2] for place in found.related] == ["train.py", "test.py"]
