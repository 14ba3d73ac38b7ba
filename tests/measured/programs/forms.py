"""Counts datasets of many forms, then pickles them as a spawned worker's start does, and compares. Word: strategy."""

import collections
import dataclasses
import gc
import json
import multiprocessing
import os
import sys
from multiprocessing import context
from multiprocessing.reduction import ForkingPickler

import numpy as np
import torch
from torch.utils.data import ConcatDataset, Dataset, Subset, TensorDataset, random_split

from dllint.probe import procfs, storages

STRATEGY = sys.argv[1]
N = 10


class Holder(Dataset):
    def __init__(self, held):
        self.held = held

    def __len__(self):
        return N

    def __getitem__(self, index):
        return index


class Slots:
    __slots__ = ("tensor",)


class Picky(Holder):
    """Leaves out what it holds, but for one."""

    def __getstate__(self):
        return {"held": self.held[0]}


class Own(torch.Tensor):
    pass


@dataclasses.dataclass
class Row:
    tensor: torch.Tensor


class Spawning:
    """Takes descriptors over as a spawned process does."""

    class DupFd:
        def __init__(self, fd):
            self.fd = fd

    def __init__(self):
        self.fds = []

    def duplicate_for_child(self, fd):
        self.fds.append(fd)
        return fd


def slots():
    made = Slots()
    made.tensor = torch.ones(3)
    return made


def objects():
    made = np.empty(N, dtype=object)
    made[:] = [torch.ones(2) for _ in range(N)]
    return made


def forms():
    tensor, table, array = torch.ones(5), torch.ones(N, 64), np.ones((N, 64))
    return {
        "separate": [torch.ones(64) for _ in range(N)],
        "views": [table[i] for i in range(N)],
        "split": list(torch.ones(N, 64).split(1)),
        "unbind": torch.ones(N, 5).unbind(),
        "repeats": [tensor] * N,
        "detached and viewed": [tensor, tensor.detach(), tensor.view(5, 1)],
        "clones": [tensor.clone() for _ in range(N)],
        "from_numpy of rows": [torch.from_numpy(row) for row in array],
        "rows of from_numpy": list(torch.from_numpy(array)),
        "empty": [torch.empty(0) for _ in range(N)],
        "some empty": [torch.empty(0) if i % 2 else torch.ones(3) for i in range(N)],
        "sparse COO": [torch.eye(4).to_sparse() for _ in range(N)],
        "sparse CSR": [torch.eye(4).to_sparse_csr() for _ in range(N)],
        "sparse CSC": [torch.eye(4).to_sparse_csc() for _ in range(N)],
        "parameters": [torch.nn.Parameter(torch.ones(3)) for _ in range(N)],
        "module": torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)),
        "dict": {i: torch.ones(1) for i in range(N)},
        "dataclasses": [Row(torch.ones(2)) for _ in range(N)],
        "TensorDataset": TensorDataset(torch.ones(10, 3), torch.ones(10)),
        "Subset": Subset(TensorDataset(torch.ones(10, 3)), [0, 1]),
        "ConcatDataset": ConcatDataset([TensorDataset(torch.ones(10, 3)) for _ in range(3)]),
        "random_split": random_split(TensorDataset(torch.ones(10, 3)), [5, 5])[0],
        "already shared": [torch.ones(9).share_memory_() for _ in range(N)],
        "deque": collections.deque(torch.ones(2) for _ in range(N)),
        "array of objects": objects(),
        "arrays": [np.ones(1000) for _ in range(N)],
        "views of arrays": [array[i] for i in range(N)],
        "meta": [torch.ones(3, device="meta") for _ in range(N)],
        "subclass": [torch.ones(3).as_subclass(Own) for _ in range(N)],
        "slots": slots(),
        "left out": Picky([torch.ones(3) for _ in range(N)]),
        "leaves with grad": [torch.ones(3, requires_grad=True) for _ in range(N)],
        "storages": [torch.ones(3).untyped_storage() for _ in range(N)],
        "typed storages": [torch.FloatStorage(5) for _ in range(N)],
        "dtypes": [torch.ones(3, dtype=kind) for kind in (torch.bool, torch.half, torch.complex64, torch.int8)],
        "several pages": [torch.ones(5000) for _ in range(3)],
        "a page exactly": [torch.ones(1024) for _ in range(3)],
        "expanded": [torch.ones(1).expand(100)],
        "packed sequence": torch.nn.utils.rnn.pack_sequence([torch.ones(3), torch.ones(2)]),
        "nested": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        "queue": multiprocessing.get_context("spawn").Queue(),
        "strings": ["x" * 50] * 5 + [str(i) for i in range(100)],
        "bytes": b"x" * 100_000,
        "quantized": torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8),
    }


def taken():
    """Descriptors, maps of storages, and the bytes of those."""
    with open("/proc/self/maps") as file:
        ranges = [line.split()[0].split("-") for line in file if "/torch_" in line]
    return procfs.descriptors(), len(ranges), sum(int(end, 16) - int(start, 16) for start, end in ranges)


def compare(held):
    dataset = Holder(held)
    before, threads = taken(), procfs.threads()
    counted = storages.count((dataset, None, None))
    assert (taken(), procfs.threads()) == (before, threads), "counting took something"
    spawning = Spawning()
    context.set_spawning_popen(spawning)
    try:
        length = len(ForkingPickler.dumps((dataset, None, None)))
    finally:
        context.set_spawning_popen(None)
    after = taken()
    sent = counted.references - counted.empty if STRATEGY == "file_descriptor" else 0
    shared = counted.shared if STRATEGY == "file_descriptor" else 0
    return {
        "real": [*(late - early for early, late in zip(before, after, strict=True)), len(spawning.fds)],
        "counted": [
            counted.descriptors(STRATEGY) - shared,
            counted.maps(STRATEGY) - counted.shared,
            counted.shm_bytes[STRATEGY],
            sent + counted.handles,
        ],
        "pickled": length,
        "pickled_counted": counted.pickled_bytes,
        "storages": counted.storages,
    }


if __name__ == "__main__":
    torch.multiprocessing.set_sharing_strategy(STRATEGY)
    if STRATEGY == "file_system":
        torch.ones(1).share_memory_()  # Connects to the manager of names, once a process.
    told = {}
    for name, held in forms().items():
        told[name] = compare(held)
        del held
        gc.collect()
    print("\n" + json.dumps(told), flush=True)
    os._exit(0)
