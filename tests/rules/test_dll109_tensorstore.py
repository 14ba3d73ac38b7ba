"""DLL109: stores of TensorStore, which abort in processes that are forked after the first one was opened."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import numpy as np
import tensorstore as ts
from torch.utils.data import DataLoader, Dataset


class Volumes(Dataset):
    def __init__(self, spec):
        self.spec = spec
"""
LENGTH = "\n    def __len__(self):\n        return 9\n"
LOADER = "\nloader = DataLoader(Volumes({}), num_workers=4, multiprocessing_context='%s')\n"


def program(init: str, item: str, method: str = "fork") -> str:
    return f"        {init}\n{LENGTH}\n    def __getitem__(self, index):\n        return {item}\n{LOADER % method}"


OPENED = "self.store = ts.open(spec).result()"
test_found, test_silent = in_one_file(
    "DLL109",
    {
        "an item": program(OPENED, "self.store[index].read().result()  # DLL109"),
        "a slice": program(OPENED, "self.store[index : index + 4].read().result()  # DLL109"),
        "all of it": program(OPENED, "self.store.read().result()  # DLL109"),
        "opened anew": program("self.size = ts.open(spec).result().shape", "ts.open(self.spec).result()  # DLL109"),
        "a future kept": program("self.store = ts.open(spec)", "self.store.result()[index].read()  # DLL109"),
    },
    {
        "spawned": program(OPENED, "self.store[index].read().result()", "spawn"),
        "opened by workers alone": program("self.count = 9", "ts.open(self.spec).result()[index].read().result()"),
        "the shape": program(OPENED, "self.store.shape[0] * index"),
        "only made": program("self.dim = ts.Dim(10)", "ts.open(self.spec).result()[index].read().result()"),
    },
    HEAD,
)
