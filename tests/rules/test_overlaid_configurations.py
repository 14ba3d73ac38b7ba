"""Configurations that the program lays over others: the user's own may choose what the default does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

DATA = """\
import sys
import lmdb, yaml
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __getitem__(self, index):
        return index

class Store(Dataset):
    def __init__(self, path):
        self.env = lmdb.open(path)

    def __getitem__(self, index):
        with self.env.begin() as reading:
            return reading.get(str(index))

def lay_over(one, other):
    for key, value in other.items():
        if isinstance(value, dict):
            lay_over(one[key], value)
        else:
            one[key] = value

def load(path):
    with open("default.yaml") as file:
        config = yaml.safe_load(file)
    with open(path) as file:
        own = yaml.safe_load(file)
    OVERLAY
    return config

def chosen(config):
    if config["data"]["name"] == "store":
        return Store("rows")
    return Images()
"""
TRAIN = """\
import sys
from torch.utils.data import DataLoader
from data import chosen, load

config = load(sys.argv[1])
for rows in DataLoader(chosen(config), num_workers=config["workers"]):
    print(rows)
"""


@pytest.mark.parametrize(
    ("overlay", "found"),
    [
        ("config.update(own)", True),
        ("lay_over(config, own)", True),
        ("for key in own:\n        config[key] = own[key]", True),
        ("config['data']['name'] = own['name']", True),
        ("print(own)", False),
        ("own.update(config)\n    print(own)", False),
        ("config['data']['size'] = own['size']", False),
        ("config.update(size=3)", False),
    ],
)
def test_what_the_default_does_not_choose_may_be_chosen(
    overlay: str, found: bool, findings: Callable[..., Any]
) -> None:
    files = {
        "data.py": DATA.replace("OVERLAY", overlay),
        "train.py": TRAIN,
        "default.yaml": "workers: 4\ndata:\n  name: images\n",
    }
    assert bool(findings(files, select=["DLL402"])) is found
