"""Loggers, writers of logs and modules that a dataset keeps."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import json
import logging
import logging.handlers
import sys

import numpy as np
import wandb
from loguru import logger
from tensorboardX import SummaryWriter as OldWriter
from torch.utils.data import DataLoader, Dataset
from torch.utils.tensorboard import SummaryWriter

"""
DATASET = """\
class Rows(Dataset):
    def __init__(self{params}):
        self.kept = {value}{mark}

    def __getitem__(self, index):
        return index

    def __len__(self):
        return 9

{setup}

def main():
    for batch in DataLoader(Rows({given}), num_workers=2, multiprocessing_context="spawn"):
        print(batch)
"""


def kept(value: str, params: str = "", given: str = "", setup: str = "", mark: str = "  # DLL203") -> str:
    return DATASET.format(value=value, params=params, given=given, setup=setup, mark=mark)


test_found, test_silent = in_one_file(
    "DLL203",
    {
        "loguru's logger": kept("logger"),
        "of a parameter": kept("log", ", log", "logger"),
        "with a name": kept('logger.bind(name="rows")'),
        "with a sink that is a file": kept("logger", setup='logger.remove()\nlogger.add("rows.log")'),
        "with a sink that is a stream": kept("logger", setup="logger.remove()\nlogger.add(sys.stdout)"),
        "with one more sink": kept("logger", setup="logger.add(print)"),
        "a writer": kept('SummaryWriter("runs")'),
        "a writer of tensorboardX": kept('OldWriter("runs")'),
        "a handler that rotates": kept('logging.handlers.RotatingFileHandler("rows.log")'),
        "a module": kept("np"),
        "a module in a dict": kept('{"np": np, "json": json}'),
        "a module of a parameter": kept("library", ", library", "np"),
        "a module by default": kept("library", ", library=json"),
        "a module of one of two": kept("np if library else json", ", library", "True"),
        "a module inside a package": kept("np.random"),
        "a module of a package": kept("mask", setup="from pycocotools import mask"),
        "a module of a package, renamed": kept("F", setup="from torchvision.transforms import functional as F"),
        "a module by a text": kept('importlib.import_module("scipy")', setup="import importlib"),
        "a module by any text": kept("importlib.import_module(sys.argv[1])", setup="import importlib"),
    },
    {
        "a logger": kept("logging.getLogger(__name__)", mark=""),
        "no sinks": kept("logger", setup="logger.remove()", mark=""),
        "sinks that are functions": kept(
            "logger", setup="logger.remove()\nlogger.add(write)\n\ndef write(text):\n    pass", mark=""
        ),
        "a class of a package": kept("COCO", setup="from pycocotools.coco import COCO", mark=""),
        "a function of a module": kept("np.zeros", mark=""),
        "a function of a module inside": kept("np.random.rand", mark=""),
        "a function of a module by a text": kept(
            'importlib.import_module("scipy").load', setup="import importlib", mark=""
        ),
        "a function of any module": kept(
            "importlib.import_module(sys.argv[1]).load", setup="import importlib", mark=""
        ),
        "what a module makes": kept("json.loads('[]')", mark=""),
        "a run of wandb, which pickles itself": kept("wandb.init()", mark=""),
        "a name": kept("logger.__class__.__name__", mark=""),
        "for another class": kept(
            "3", setup="class Logs:\n    def __init__(self):\n        self.log = logger", mark=""
        ),
    },
    HEAD,
)


DROPPED = """
    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "kept"}
"""
test_kept_here, test_dropped = in_one_file(
    "DLL203",
    {"kept": kept("logger")},
    {"dropped": kept("logger", mark="").replace("\n    def __len__", f"{DROPPED}\n    def __len__")},
    HEAD,
)
