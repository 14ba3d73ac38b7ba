"""Code of items under a test that the dataset's arguments decide: `if self.augment: …`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import dataclasses
from types import SimpleNamespace

import cv2
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


@dataclasses.dataclass
class Config:
    augment: bool = False
    size: int = 3


"""
DATASET = """\
class Images(Dataset):
    def __init__(self, files{params}):
        self.files = files
        self.generator = np.random.default_rng(0)
        self.seen = {{}}
        {kept}

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        x = torch.zeros(3)
        if {test}:
            {code}
        return x


def main(files):
    net = torch.nn.Linear(3, 3).cuda()
    for batch in DataLoader(Images(files{given}), num_workers=4, multiprocessing_context="fork"):
        net(batch)
"""
HAZARDS = {
    "DLL103": "x = x.cuda()",
    "DLL304": "self.seen[i] = np.zeros(100000)",
    "DLL501": "x = cv2.resize(cv2.imread(self.files[i]), (900, 900))",
    "DLL602": "x = self.generator.normal()",
}
# The parameters, what is kept, the test, and the arguments for which the test is false and true.
GUARDS = {
    "attribute": (", augment=False", "self.augment = augment", "self.augment", "", ", True"),
    "mode": (', mode="test"', "self.mode = mode", 'self.mode == "train"', "", ', "train"'),
    "comparison": (', mode="test"', 'self.train = mode in ("train", "all")', "self.train", "", ', "all"'),
    "none": (", other=None", "self.other = other", "self.other is not None", "", ", files"),
    "options": (", **options", "self.options = options", 'self.options.get("augment")', "", ", augment=True"),
    "dict": (", options", "self.options = options", 'self.options["augment"]', ', {"augment": 0}', ', {"augment": 1}'),
    "dataclass": (", config", "self.config = config", "self.config.augment", ", Config()", ", Config(augment=True)"),
    "namespace": (
        *(", args", "self.args = args", "self.args.augment"),
        *(", SimpleNamespace(augment=False)", ", SimpleNamespace(augment=True)"),
    ),
}


def program(code: str, guard: str, holds: bool) -> str:
    params, kept, test, false, true = GUARDS[guard]
    given = true if holds else false
    return HEAD + DATASET.format(params=params, kept=kept, test=test, given=given, code=HAZARDS[code])


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("code", HAZARDS)
def test_found(code: str, guard: str, told: Callable[..., Any]) -> None:
    found = told({"train.py": program(code, guard, holds=True)}, select=[code])

    assert [one.code for one in found] == [code]


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("code", HAZARDS)
def test_silent(code: str, guard: str, told: Callable[..., Any]) -> None:
    assert told({"train.py": program(code, guard, holds=False)}, select=[code]) == ()


@pytest.mark.parametrize("code", HAZARDS)
def test_unknown(code: str, told: Callable[..., Any]) -> None:
    text = program(code, "namespace", holds=True).replace("main(files)", "main(files, args)")
    found = told({"train.py": text.replace("SimpleNamespace(augment=True)", "args")}, select=[code])

    assert [one.code for one in found] == [code]


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("code", HAZARDS)
@pytest.mark.parametrize("first", [False, True])
def test_two_datasets_of_a_class(code: str, guard: str, first: bool, told: Callable[..., Any]) -> None:
    text = program(code, guard, holds=first)
    head, _, use = text.partition("def main")
    other = program(code, guard, holds=not first).partition("def main")[2].replace("(files)", "_again(files)", 1)
    found = told({"train.py": f"{head}def main{use}\n\ndef main{other}"}, select=[code])

    assert [one.code for one in found] == [code]
