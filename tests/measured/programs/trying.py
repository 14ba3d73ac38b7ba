"""Tries loaders under spawn and forkserver in forks of this process, and says what came of it, and what was left."""

import json
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from dllint.probe import procfs, trials


class Numbers(Dataset):
    def __init__(self, **held):
        self.__dict__.update(held)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.tensor(index)


class Raising(Numbers):
    def __getitem__(self, index):
        raise ValueError("broken item")


class Hanging(Numbers):
    def __getitem__(self, index):
        time.sleep(1000)


class Dying(Numbers):
    def __getitem__(self, index):
        os._exit(3)


class Iterated(IterableDataset):
    def __iter__(self):
        yield from range(3)


def listed(batch):
    return batch


CASES = {
    "sound": lambda: Numbers(),
    "lambda": lambda: Numbers(scale=lambda x: x),
    "generator": lambda: Numbers(generator=torch.Generator()),
    "raising": lambda: Raising(),
    "hanging": lambda: Hanging(),
    "dying": lambda: Dying(),
    "iterated": lambda: Iterated(),
    "246 tensors": lambda: Numbers(tensors=[torch.ones(1) for _ in range(246)]),
}

if __name__ == "__main__":
    print("not flushed yet", end="")
    told = {}
    before = procfs.descriptors(), procfs.threads()
    names = set(os.listdir("/dev/shm"))
    for word in sys.argv[1:]:
        case, _, method = word.partition(":")
        loader = DataLoader(CASES[case](), batch_size=4, num_workers=2, collate_fn=listed)
        born = []
        seconds = 4 if case == "hanging" else 60
        outcome = trials.attempt(loader, method, seconds, born=born.append)
        told[word] = {
            "stage": outcome.stage,
            "exception": outcome.exception,
            "text": outcome.text,
            "stderr": outcome.stderr,
            "alive": [process for leader in born for process, _ in procfs.session(leader)],
        }
    told["left"] = [late - early for early, late in zip(before, (procfs.descriptors(), procfs.threads()), strict=True)]
    told["names"] = [name for name in set(os.listdir("/dev/shm")) - names if name.startswith("torch_")]
    print("\n" + json.dumps(told), flush=True)
