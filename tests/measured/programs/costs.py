"""Counts what a word names, in this process; then, what counting it left behind."""

import json
import os
import time

import torch

from dllint.probe import procfs, storages, trials


class Concatenating:
    def __init__(self):
        self.parts = [torch.ones(2), torch.ones(3)]

    def __getstate__(self):
        return {"parts": torch.cat(self.parts)}


class Generating:
    def __init__(self):
        self.generator = torch.Generator()


class Closing:
    """Its __getstate__ changes it."""

    def __init__(self):
        self.file = open(os.devnull)  # noqa: SIM115

    def __getstate__(self):
        self.file = None
        return {}


class Slow:
    def __getstate__(self):
        time.sleep(60)


def count(objects):
    return storages.count(objects)


if __name__ == "__main__":
    closing, large = Closing(), torch.ones(1 << 20)
    in_fork = trials.counted((closing, None, None))
    before = procfs.descriptors(), procfs.maps(), procfs.threads()
    refused = trials.counted((lambda: None, None, None))
    counted = trials.counted((large, None, None))
    after = procfs.descriptors(), procfs.maps(), procfs.threads()
    told = {
        "concatenated": count(Concatenating()).temporary,
        "generator": count(Generating()).temporary,
        "kept": count([torch.ones(2)]).temporary,
        "file": closing.file is not None,
        "closing": type(in_fork).__name__,
        "refused": refused.exception,
        "slow": vars(trials.counted(Slow(), 1.0)),
        "large": counted.storage_bytes,
        "large_shared": large.is_shared(),
        "left": [late - early for early, late in zip(before, after, strict=True)],
    }
    print("\n" + json.dumps(told), flush=True)
