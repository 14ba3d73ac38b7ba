"""DLL604: loaders that a training function makes for each epoch."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

FOUND = {
    "a function inside the one that trains": """
from torch.utils.data import DataLoader
from tqdm import tqdm
class Trainer:
    def __init__(self, model, train_dataset, test_dataset, config):
        self.model = model
        self.train_dataset = train_dataset
        self.test_dataset = test_dataset
        self.config = config
    def train(self):
        model, config = self.model, self.config
        def run_epoch(split, epoch_num=0):
            is_train = split == "train"
            data = self.train_dataset if is_train else self.test_dataset
            loader = DataLoader(data, shuffle=True, batch_size=config.batch_size, num_workers=config.num_workers)
            pbar = tqdm(enumerate(loader), total=len(loader)) if is_train else enumerate(loader)
            for it, (x, y) in pbar:
                loss = model(x, y).mean()
                if is_train:
                    model.zero_grad()
                    loss.backward()
                    self.steps += int(len(x))
        for epoch in range(config.max_epochs):
            run_epoch("train", epoch_num=epoch)  # DLL604
            if self.test_dataset is not None:
                run_epoch("test")
""",
    "a method": """
from torch.utils.data import DataLoader
class Trainer:
    def __init__(self, model, data, workers):
        self.model = model
        self.data = data
        self.workers = workers
    def epoch(self, number):
        loader = DataLoader(self.data, shuffle=True, num_workers=4)
        for x, y in loader:
            self.model(x, y).backward()
        print(number)
    def train(self, epochs):
        for epoch in range(epochs):
            self.epoch(epoch)  # DLL604
""",
    "a function that is given the data": """
from torch.utils.data import DataLoader
def train_epoch(model, data, epoch):
    loader = DataLoader(data, shuffle=True, num_workers=4)
    for x, y in loader:
        model(x, y).backward()
def main(model, data, epochs):
    for epoch in range(epochs):
        train_epoch(model, data, epoch)  # DLL604
""",
}
SILENT = {
    "other data in each epoch": """
from torch.utils.data import DataLoader
def train_epoch(model, data, epoch):
    loader = DataLoader(data, shuffle=True, num_workers=4)
    for x, y in loader:
        model(x, y).backward()
def main(model, data, epochs):
    for epoch in range(epochs):
        train_epoch(model, data[epoch], epoch)
""",
    "an evaluation": """
from torch.utils.data import DataLoader
def evaluate(model, data):
    loader = DataLoader(data, num_workers=4)
    for x, y in loader:
        print(model(x, y))
def main(model, data, epochs):
    for epoch in range(epochs):
        evaluate(model, data)
""",
    "data that the loop draws": """
from torch.utils.data import DataLoader
class Trainer:
    def epoch(self, number):
        loader = DataLoader(self.data, shuffle=True, num_workers=4)
        for x, y in loader:
            self.model(x, y).backward()
    def train(self, epochs):
        for epoch in range(epochs):
            self.data = self.sample(epoch)
            self.epoch(epoch)
""",
    "folds": """
from torch.utils.data import DataLoader
def train(model, data, epochs):
    loader = DataLoader(data, shuffle=True, num_workers=4)
    for epoch in range(epochs):
        for x, y in loader:
            model(x, y).backward()
def main(model, data, epochs):
    for fold in range(5):
        train(model, data, epochs)
""",
    "a size that depends on the epoch": """
from torch.utils.data import DataLoader
def train_epoch(model, data, epoch):
    size = 4 if epoch > 5 else 8
    loader = DataLoader(data, batch_size=size, shuffle=True, num_workers=4)
    for x, y in loader:
        model(x, y).backward()
def main(model, data, epochs):
    for epoch in range(epochs):
        train_epoch(model, data, epoch)
""",
    "a part of the data that each call draws": """
import random

from torch.utils.data import DataLoader


def train_epoch(model, data):
    rows = random.sample(data, 100)
    loader = DataLoader(rows, num_workers=4)
    for x, y in loader:
        model(x, y).backward()


def main(model, data, epochs):
    for epoch in range(epochs):
        train_epoch(model, data)
""",
    "without workers": """
from torch.utils.data import DataLoader


def train_epoch(model, data):
    for x, y in DataLoader(data):
        model(x, y).backward()


def main(model, data, epochs):
    for epoch in range(epochs):
        train_epoch(model, data)
""",
}
test_found, test_silent = in_one_file("DLL604", FOUND, SILENT)
