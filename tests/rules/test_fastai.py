"""fastai: factories that make loaders, with workers unless they are told otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import fastai.vision.all as fv
from fastai.data.block import DataBlock as Block
from fastai.tabular.all import *
from fastai.text.all import *
from fastai.vision.all import *


def label(name):
    return name[0]


def main(path, names):
    def local(name):
        return name[1]

"""
TAIL = '\n\nif __name__ == "__main__":\n    main("images", [])\n'
LOCAL = "the local function `local`"
LAMBDA = "the lambda in"


def program(text: str) -> dict[str, str]:
    return {"main.py": f"{HEAD}    return {text}{TAIL}"}


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("ImageDataLoaders.from_name_func(path, names, label_func=lambda name: name[0])", "DLL201", LAMBDA),
        ("ImageDataLoaders.from_path_func(path, names, lambda name: name[0], num_workers=4)", "DLL201", LAMBDA),
        ("fv.ImageDataLoaders.from_name_func(path, names, local)", "DLL202", LOCAL),
        ("SegmentationDataLoaders.from_label_func(path, names, label_func=lambda name: name)", "DLL201", LAMBDA),
        ("DataBlock(blocks=[], get_y=lambda name: name[0]).dataloaders(path, bs=8)", "DLL201", LAMBDA),
        ("DataBlock(blocks=[], get_items=local).dataloaders(path)", "DLL202", LOCAL),
    ],
)
def test_functions_that_factories_keep_are_sent_to_workers(
    text: str, code: str, what: str, told: Callable[..., Any]
) -> None:
    (found,) = told(program(text), select=["DLL2"])

    assert (found.code, found.severity) == (code, "warning")
    assert what in found.text


@pytest.mark.parametrize(
    "text",
    [
        "ImageDataLoaders.from_name_func(path, names, label_func=lambda name: name[0], num_workers=0)",
        "ImageDataLoaders.from_name_func(path, names, label_func=label)",
        "DataBlock(blocks=[], get_y=label).dataloaders(path)",
        "DataBlock(blocks=[], get_y=lambda name: name[0])",
        "[ImageDataLoaders.from_folder(path), sorted(names, key=lambda name: name[0])]",
    ],
)
def test_functions_that_come_to_no_worker(text: str, told: Callable[..., Any]) -> None:
    assert not told(program(text), select=["DLL2"])


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("learner = vision_learner(dls, resnet34)\nlearner.fine_tune(1)\n", ["DLL102"]),
        ("Learner(dls=dls, model=None).fit_one_cycle(1)\n", ["DLL102"]),
        ("learner = vision_learner(dls, resnet34)\n", []),
        ('if __name__ == "__main__":\n    vision_learner(dls, resnet34).fit(1)\n', []),
    ],
)
def test_a_learner_goes_through_its_loaders(lines: str, expected: list[str], told: Callable[..., Any]) -> None:
    text = f'from fastai.vision.all import *\n\ndls = ImageDataLoaders.from_folder("images")\n{lines}'

    assert [one.code for one in told({"main.py": text}, select=["DLL102"])] == expected


@pytest.mark.parametrize(
    ("imported", "bunch"),
    [
        ("from fastai.vision import *", "ImageDataBunch"),
        ("from fastai.basic_data import DataBunch as Bunch", "Bunch"),
        ("import fastai.vision as fv", "fv.ImageDataBunch"),
        ("from fastai.text.data import TextDataBunch", "TextDataBunch"),
    ],
)
@pytest.mark.parametrize(("workers", "expected"), [("4", {"DLL201"}), ("0", set())])
def test_loaders_of_fastai_1(
    imported: str, bunch: str, workers: str, expected: set[str], told: Callable[..., Any]
) -> None:
    text = f"""\
{imported}
from torch.utils.data import Dataset


class Rows(Dataset):
    def __init__(self):
        self.scale = lambda x: x

    def __getitem__(self, index):
        return self.scale(index)


def main():
    return {bunch}.create(Rows(), Rows(), bs=8, num_workers={workers}).normalize()
"""
    assert {one.code for one in told({"main.py": text}, select=["DLL201"])} == expected
