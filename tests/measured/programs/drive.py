"""Starts a real loader whose dataset holds so many tensors, and says what became of it.

Words: start method, sharing strategy, tensors, workers, RLIMIT_NOFILE (0: as it is), maps made beforehand. With
tensors `-1` it only counts, and gives what a prediction needs.
"""

import json
import mmap
import os
import resource
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from dllint.probe import procfs, storages

METHOD, STRATEGY = sys.argv[1:3]
TENSORS, WORKERS, NOFILE, MAPS = map(int, sys.argv[3:7])


def use_strategy(worker=None):
    torch.multiprocessing.set_sharing_strategy(STRATEGY)


class Tensors(Dataset):
    def __init__(self, count):
        self.tensors = [torch.zeros(1) for _ in range(count)]

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index


def start(dataset):
    loader = DataLoader(
        dataset, num_workers=WORKERS, multiprocessing_context=METHOD, worker_init_fn=use_strategy, timeout=60
    )
    try:
        next(iter(loader))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "started"


if __name__ == "__main__":
    use_strategy()
    if NOFILE:
        resource.setrlimit(resource.RLIMIT_NOFILE, (NOFILE, NOFILE))
    kept = [mmap.mmap(-1, mmap.PAGESIZE) for _ in range(MAPS)]
    dataset = Tensors(max(TENSORS, 0))
    counted = storages.count((dataset, None, use_strategy))
    told = {"counted": counted.storages, "fds": procfs.descriptors(), "maps": procfs.maps()}
    if TENSORS >= 0:
        told["outcome"] = start(dataset)
    print("\n" + json.dumps(told), flush=True)
    os._exit(0)
