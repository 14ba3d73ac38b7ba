"""Transforms that a program sets or changes after it has made the dataset: torchvision's, and of hub datasets."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import torchvision
from datasets import load_dataset
from torch.utils.data import DataLoader, Dataset, random_split
from torchvision import transforms

OPTIONS = {"num_workers": 2, "multiprocessing_context": "spawn"}

class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return self.transform(index)

"""

FOUND: dict[str, str] = {
    "inserted into a Compose": """
def build():
    transform = transforms.Compose([transforms.ToTensor()])
    transform.transforms.insert(0, transforms.Lambda(lambda row: row))  # DLL201
    return DataLoader(Rows(transform), **OPTIONS)
""",
    "appended where a helper makes it": """
def made(scaled):
    transform = transforms.Compose(transforms=[transforms.ToTensor()])
    if scaled:
        transform.transforms.append(lambda row: row / 255)  # DLL201
    return transform

def build():
    return DataLoader(Rows(made(True)), **OPTIONS)
""",
    "inserted through the dataset": """
def build():
    rows = torchvision.datasets.CIFAR10("data", transform=transforms.Compose([transforms.ToTensor()]))
    rows.transform.transforms.insert(0, lambda row: row)  # DLL201
    return DataLoader(rows, **OPTIONS)
""",
    "set on a dataset of torchvision": """
def build():
    rows = torchvision.datasets.CIFAR10("data")
    rows.transform = transforms.Lambda(lambda row: row)  # DLL201
    return DataLoader(rows, **OPTIONS)
""",
    "set through a part": """
def build():
    train, test = random_split(torchvision.datasets.CIFAR10("data"), [0.9, 0.1])
    train.dataset.transform = transforms.Compose([transforms.Lambda(lambda row: row)])  # DLL201
    return DataLoader(train, **OPTIONS)
""",
    "of a hub dataset, in place": """
def build():
    rows = load_dataset("rows", split="train")
    rows.set_transform(lambda batch: batch)  # DLL201
    return DataLoader(rows, **OPTIONS)
""",
    "of all splits of a hub dataset": """
def build():
    rows = load_dataset("rows")
    rows.set_transform(transform=lambda batch: batch)  # DLL201
    return DataLoader(rows["train"], **OPTIONS)
""",
    "of a hub dataset, then mapped and selected": """
def build():
    rows = load_dataset("rows")["train"].with_transform(lambda batch: batch)  # DLL201
    return DataLoader(rows.shuffle().select(range(100)), **OPTIONS)
""",
    "of a hub dataset that another one keeps": """
class Hub(Dataset):
    def __init__(self, tokenizer):
        self.rows = load_dataset("rows", split="train").with_transform(lambda batch: tokenizer(batch))  # DLL201

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

def build(tokenizer):
    return DataLoader(Hub(tokenizer), **OPTIONS)
""",
    "of a stream, which runs it later": """
def build():
    rows = load_dataset("rows", split="train", streaming=True)
    return DataLoader(rows.map(lambda row: row), **OPTIONS)  # DLL201
""",
}

SILENT: dict[str, str] = {
    "changed in another Compose": """
def build():
    transform = transforms.Compose([transforms.ToTensor()])
    other = transforms.Compose([transforms.ToTensor()])
    other.transforms.insert(0, lambda row: row)
    transform.transforms.insert(0, transforms.ToTensor())
    return DataLoader(Rows(transform), **OPTIONS), DataLoader(Rows(other), num_workers=0)
""",
    "mapped on disk, at once": """
def tokenized(batch):
    return batch

def build():
    rows = load_dataset("rows")["train"].map(lambda row: row).filter(lambda row: row)
    return DataLoader(rows.with_transform(tokenized), **OPTIONS)
""",
    "another format since": """
def build():
    rows = load_dataset("rows", split="train").with_transform(lambda batch: batch)
    return DataLoader(rows.with_format("torch"), **OPTIONS)
""",
    "reset": """
def build():
    rows = load_dataset("rows", split="train")
    rows.set_transform(lambda batch: batch)
    rows.reset_format()
    return DataLoader(rows, **OPTIONS)
""",
    "of another split": """
def build():
    rows = load_dataset("rows")
    rows["test"].set_transform(lambda batch: batch)
    return DataLoader(rows["train"], **OPTIONS)
""",
}

test_found, test_silent = in_one_file("DLL201", FOUND, SILENT, HEAD)
