"""DLL605: options that arrive in keyword dicts, and in classes whose fields a command line fills."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

HEAD = """\
import argparse
from dataclasses import dataclass, field

from torch.utils.data import DataLoader
from transformers import HfArgumentParser, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--many", type=int, default=8)
parser.add_argument("--ahead", type=int, default=100)
parser.add_argument("--not-ahead", type=int, default=None)
parser.add_argument("--lasting", action="store_true")
args = parser.parse_args()
"""
FOUND = {
    "an option that another one of the command line sets": """
loader = DataLoader([], num_workers=args.workers, prefetch_factor=args.ahead)  # DLL605
""",
    "two such options in a dict": """
options = dict(num_workers=args.workers, prefetch_factor=args.ahead)
loader = DataLoader([], **options)  # DLL605
""",
    "two such options by their names": """
workers, ahead = args.workers, args.ahead
loader = DataLoader([], num_workers=workers, prefetch_factor=ahead)  # DLL605
""",
    "two such options of another function": """
def build(args):
    return DataLoader([], num_workers=args.workers, prefetch_factor=args.ahead)  # DLL605

build(args)
""",
    "one dict": """
options = {"prefetch_factor": 2, "num_workers": args.workers}
loader = DataLoader([], **options)  # DLL605
""",
    "a dict that may be set to 0": """
options = dict(prefetch_factor=2, num_workers=args.many)
loader = DataLoader([], **options)  # DLL605
""",
    "a dict that a function returns": """
def options():
    return {"prefetch_factor": 2, "num_workers": args.many}

loader = DataLoader([], **options())  # DLL605
""",
    "a dict of an object": """
class Data:
    def __init__(self, args):
        self.options = {"num_workers": args.workers, "persistent_workers": True}

    def loader(self):
        return DataLoader([], **self.options)  # DLL605

Data(args).loader()
""",
    "fields with a field function of simple-parsing": """
from simple_parsing import ArgumentParser, field as option

@dataclass
class Loading:
    workers: int = option(0, alias="-w")

parser = ArgumentParser()
parser.add_arguments(Loading, "loading")
loader = DataLoader([], num_workers=parser.parse_args().loading.workers, prefetch_factor=2)  # DLL605
""",
    "fields with a field function of pyrallis": """
import pyrallis

@dataclass
class Loading:
    workers: int = pyrallis.field(default=0)

config = pyrallis.parse(Loading)
loader = DataLoader([], num_workers=config.workers, prefetch_factor=2)  # DLL605
""",
    "options of a trainer": """
class Mine(Trainer):
    def get_train_dataloader(self):
        options = {"num_workers": self.args.dataloader_num_workers, "prefetch_factor": 4}
        return DataLoader(self.train_dataset, **options)  # DLL605

Mine(None, TrainingArguments("out"), train_dataset=[]).train()
""",
    "options of a trainer from a command line": """
@dataclass
class Mine(TrainingArguments):
    rate: float = 0.1

mine, = HfArgumentParser(Mine).parse_args_into_dataclasses()
loader = DataLoader([], num_workers=mine.dataloader_num_workers, prefetch_factor=2)  # DLL605
""",
}
SILENT = {
    "an option whose default is off": """
loader = DataLoader([], num_workers=args.workers, prefetch_factor=args.not_ahead, persistent_workers=args.lasting)
""",
    "an option that depends on the count": """
ahead = args.ahead if args.workers else None
loader = DataLoader([], num_workers=args.workers, prefetch_factor=ahead)
""",
    "an option that is switched off without workers": """
if args.workers == 0:
    args.ahead = None
loader = DataLoader([], num_workers=args.workers, prefetch_factor=args.ahead)
""",
    "made under a condition": """
options = {"prefetch_factor": 2, "num_workers": args.workers}
loader = DataLoader([], **options) if args.workers > 0 else None
if args.workers:
    loader = DataLoader([], **options)
""",
    "made under a condition on the dict": """
options = {"prefetch_factor": 2, "num_workers": args.workers}
if options["num_workers"]:
    loader = DataLoader([], **options)
""",
    "never 0": """
options = {"prefetch_factor": 2, "num_workers": max(1, args.many)}
loader = DataLoader([], **options)
""",
    "tested where the dict is made": """
options = {"num_workers": args.many}
if args.many:
    options["prefetch_factor"] = 2
loader = DataLoader([], **options)
""",
    "options of a trainer that are set": """
class Mine(Trainer):
    def get_train_dataloader(self):
        return DataLoader([], num_workers=self.args.dataloader_num_workers, prefetch_factor=4)

Mine(None, TrainingArguments("out", dataloader_num_workers=4)).train()
""",
    "options of a trainer that follow it": """
class Mine(Trainer):
    def get_train_dataloader(self):
        options = {"num_workers": self.args.dataloader_num_workers}
        options["prefetch_factor"] = self.args.dataloader_prefetch_factor
        options["persistent_workers"] = self.args.dataloader_persistent_workers
        return DataLoader([], **options)

Mine(None, TrainingArguments("out")).train()
""",
}
test_found, test_silent = in_one_file("DLL605", FOUND, SILENT, HEAD)


@pytest.mark.parametrize(
    "parsed",
    ["HfArgumentParser(Loading).parse_args_into_dataclasses()[0]", "HfArgumentParser((Loading,)).parse_dict({})[0]"],
)
def test_a_field_is_a_default(parsed: str, told: Callable[..., Any]) -> None:
    files = {
        "options.py": "from dataclasses import dataclass\n\n@dataclass\nclass Loading:\n    workers: int = 0\n",
        "train.py": f"{HEAD}\nfrom options import Loading\n\noptions = {parsed}\n"
        "loader = DataLoader([], num_workers=options.workers, prefetch_factor=2)\n",
    }

    (found,) = told(files, select=["DLL605"])

    assert (found.severity, "the default of `Loading.workers` at options.py:5" in found.text) == ("warning", True)
