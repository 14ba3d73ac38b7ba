"""DLL602: generators that a function makes, which workers may call too."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

def make(seed=None):
    generator = torch.Generator()
    generator.manual_seed(17 if seed is None else seed)
    return generator
"""
BAG = """
class Bags:
    def __init__(self, size, generator=None):
        self.size = size
        self.generator = generator{mark}

    def take(self, index, generator=None):
        {chosen}
        return torch.randperm(self.size, generator=generator)

class Rows(Dataset):
    def __init__(self, rows, generator=None):
        self.rows = rows
        self.bags = Bags(len(rows), generator)

    def __getitem__(self, index):
        return self.rows[self.bags.take(index)]

def build(rows, seed):
    return DataLoader(Rows(rows, {given}), num_workers=4)
"""
MARK = "  # DLL602"


def _bag(chosen: str, given: str = "generator=make(seed)", mark: str = "") -> str:
    return BAG.format(chosen=chosen, given=given, mark=mark)


FOUND = {
    "the kept one, or a new one": _bag("generator = self.generator or make()", mark=MARK),
    "a new one only where none is kept": _bag(
        "generator = self.generator if self.generator is not None else make()", mark=MARK
    ),
    "a new one only where none is given and none is kept": _bag(
        "if generator is None:\n            generator = self.generator or make(index)", mark=MARK
    ),
    "one of numpy": """
def numbers(seed=None):
    return np.random.default_rng(seed)

class Rows(Dataset):
    def __init__(self, rows, seed):
        self.rows = rows
        self.rng = numbers(seed)  # DLL602

    def __getitem__(self, index):
        rng = self.rng if self.rng is not None else numbers()
        return self.rows[index] + rng.normal()

def build(rows, seed):
    return DataLoader(Rows(rows, seed), num_workers=4)
""",
}
SILENT = {
    "a new one for each item, beside one that only the parent uses": _bag("generator = make(index)"),
    "none is kept": _bag("generator = self.generator or make(index)", given="generator=None"),
    "a new one for each item, of numpy": """
def numbers(seed):
    return np.random.default_rng(seed)

class Rows(Dataset):
    def __init__(self, rows, seed):
        self.rng = numbers(seed)
        self.rows = self.rng.permutation(rows)

    def __getitem__(self, index):
        rng = numbers(torch.initial_seed() + index)
        return self.rows[index] + rng.normal()

def build(rows, seed):
    return DataLoader(Rows(rows, seed), num_workers=4)
""",
    "the kept one is seeded for each item": _bag("generator = self.generator.manual_seed(index)"),
}
test_found, test_silent = in_one_file("DLL602", FOUND, SILENT, HEAD)


LEFT_OUT = """
class Rows(Dataset):
    def __init__(self, rows, seed):
        self.rows = rows
        self.rng = {made}{mark}

    def __getstate__(self):
        state = self.__dict__.copy()
        {state}
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        {again}

    def __getitem__(self, index):
        return self.rows[{draw}]

def build(rows, seed):
    return DataLoader(Rows(rows, seed), num_workers=4{options})
"""


INSIDE = """
class Rows(Dataset):
    def __init__(self, rows, seed):
        self.draws = Draws(rows, seed)

    def __getitem__(self, index):
        return self.draws.take(index)
"""


def _left_out(mark: str = "", options: str = "", **parts: str) -> str:
    given = {"made": "np.random.default_rng(seed)", "state": "del state['rng']", "draw": "self.rng.integers(9)"}
    return LEFT_OUT.format(
        **(given | {"again": "self.rng = np.random.default_rng()"} | parts), mark=mark, options=options
    )


LEFT_OUT_FOUND = {
    "forked workers inherit what __getstate__ leaves out": _left_out(MARK),
    "of torch": _left_out(
        MARK,
        made="torch.Generator()",
        state="state['rng'] = self.rng.get_state()",
        again="self.rng = make()",
        draw="torch.randint(9, (1,), generator=self.rng)",
    ),
    "of an object inside": _left_out(MARK)
    .replace("class Rows(Dataset)", "class Draws")
    .replace("__getitem__", "take")
    .replace("\ndef build", INSIDE + "\ndef build"),
}
LEFT_OUT_SILENT = {
    "spawned workers make it anew": _left_out(options=", multiprocessing_context='spawn'"),
    "no draw": _left_out(draw="index"),
    "each worker makes it anew": _left_out(
        draw="(self.rng if self.rng is not None else np.random.default_rng()).integers(9)", made="None"
    ),
}
test_left_out, test_left_out_and_silent = in_one_file("DLL602", LEFT_OUT_FOUND, LEFT_OUT_SILENT, HEAD)
