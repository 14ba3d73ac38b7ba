"""Datasets, and what they hold, that reach a loader by what annotations, tests and base classes say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Generic, Optional, TypeVar, Union

from lightning.pytorch import LightningDataModule
from pydantic import BaseModel
from torch.utils.data import ConcatDataset, DataLoader, Dataset
from transformers import Trainer

class Rows(Dataset):
    def __init__(self, path="rows"):
        self.change = lambda row: row + 1  # DLL201

    def __getitem__(self, index):
        return self.change(index)

class Texts(Dataset):
    def __getitem__(self, index):
        return index
"""
OPTIONS = 'num_workers=2, multiprocessing_context="spawn"'
FOUND = {
    "a configuration builds it": """
class Config(BaseModel):
    path: str = "rows"

    def build(self):
        raise NotImplementedError

class RowsConfig(Config):
    def build(self):
        return Rows(self.path)

class Program(BaseModel):
    data: Config

def main(program: Program):
    return DataLoader(program.data.build(), {options})
""",
    "a list of configurations": """
class Config(BaseModel):
    def build(self):
        return Rows()

class Program(BaseModel):
    data: list[Config]

def main(program: Program):
    return DataLoader(ConcatDataset([one.build() for one in program.data]), {options})
""",
    "an abstract method is annotated": """
class Task(ABC):
    @abstractmethod
    def rows(self) -> "tuple[Rows, Texts]": ...

def main(task: Task):
    train, test = task.rows()
    return DataLoader(train, {options})
""",
    "a parameter is annotated with an abstract class": """
class Base(Dataset):
    @abstractmethod
    def __getitem__(self, index): ...

class Own(Base):
    def __init__(self):
        self.change = lambda row: row + 1  # DLL201

    def __getitem__(self, index):
        return self.change(index)

def main(rows: Base):
    return DataLoader(rows, {options})
""",
    "an assertion": """
def main(made):
    assert isinstance(made, Rows)
    return DataLoader(made, {options})
""",
    "the hyperparameters of Lightning": """
class Module(LightningDataModule):
    def __init__(self, rows, workers=2):
        super().__init__()
        self.save_hyperparameters()

    def train_dataloader(self):
        return DataLoader(self.hparams.rows, num_workers=self.hparams.workers, multiprocessing_context="spawn")

Module(Rows())
""",
    "a dataset given to a trainer": """
class Own(Trainer):
    def get_train_dataloader(self):
        return DataLoader(self.train_dataset, {options})

Own(model=None, train_dataset=Rows()).train()
""",
    "options from the fields of a dataclass": """
@dataclass
class Options:
    num_workers: int = 2
    multiprocessing_context: str = "spawn"

def main(options: Options):
    return DataLoader(Rows(), **asdict(options))
""",
    "a type variable": """
TRows = TypeVar("TRows", bound=Rows)

class Task(Generic[TRows]):
    def rows(self, made) -> TRows:
        return made()

def main(task: Task, made):
    return DataLoader(task.rows(made), {options})
""",
    "keyword arguments that a dataset keeps": """
class Several(Dataset):
    def __init__(self, **parts):
        self.parts = parts

    def __getitem__(self, index):
        return {name: part[index] for name, part in self.parts.items()}

def main():
    return DataLoader(Several(rows=Rows(), texts=Texts()), {options})
""",
}
SILENT = {
    "another class is annotated": """
def main(texts: "Optional[Texts]"):
    return DataLoader(texts, {options})
""",
    "another class is asserted": """
def main(made):
    assert isinstance(made, Texts)
    return DataLoader(made, {options})
""",
    "the hyperparameter is left out": """
class Module(LightningDataModule):
    def __init__(self, rows, texts):
        super().__init__()
        self.save_hyperparameters(ignore=["rows"])

    def train_dataloader(self):
        return DataLoader(self.hparams.texts, {options})

Module(Rows(), Texts())
""",
    "no workers in the fields": """
@dataclass
class Options:
    num_workers: int = 0

def main(options: Options):
    return DataLoader(Rows(), **asdict(options))

main(Options())
""",
    "the overriding method makes another dataset": """
class Task(ABC):
    @abstractmethod
    def rows(self) -> Dataset: ...

    def more(self) -> Rows:
        raise NotImplementedError

class Own(Task):
    def rows(self):
        return Texts()

    def more(self):
        return Texts()

def main(task: Task):
    return DataLoader(task.rows(), {options}), DataLoader(task.more(), {options})
""",
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND)
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], source: str) -> None:
    own = source.replace("{options}", OPTIONS)
    head = HEAD.replace("  # DLL201", "") if "# DLL201" in source else HEAD
    files = {"main.py": head + own}

    assert findings(files, select=["DLL201"]) == marks(files)


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings({"main.py": HEAD + source.replace("{options}", OPTIONS)}, select=["DLL201"]) == set()
