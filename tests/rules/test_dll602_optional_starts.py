"""DLL602: a worker_init_fn that seeds, and that the loader gets on some paths only."""

from tests.rules.conftest import in_one_file

HEAD = """\
import argparse

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
parser.add_argument("--workers", type=int, default=4)
args = parser.parse_args()


def seed_worker(worker_id):
    get_worker_info().dataset.rng = np.random.default_rng(torch.initial_seed())
"""
ROWS = """
class Rows(Dataset):
    def __init__(self, train=True):
        self.rng = np.random.default_rng(0) if train else None{}

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.rng.random() if self.rng is not None else index
"""
SHARED, OWN = ROWS.format("  # DLL602"), ROWS.format("")
FOUND = {
    "in the call": SHARED
    + "\nloader = DataLoader(Rows(), num_workers=4, worker_init_fn=seed_worker if args.seed is not None else None)\n",
    "by a name": SHARED
    + """
start = None if args.seed is None else seed_worker
loader = DataLoader(Rows(), num_workers=args.workers, worker_init_fn=start)
""",
    "by a name that a branch sets": SHARED
    + """
start = None
if args.seed:
    start = seed_worker
loader = DataLoader(Rows(), num_workers=4, worker_init_fn=start)
""",
    "by a setting of the object that the dataset is made with": SHARED
    + """
args.sets = Rows(args)

def build(rows, options, seed=None):
    return DataLoader(rows, num_workers=options.workers, worker_init_fn=seed_worker if seed is not None else None)

def main(options):
    return build(options.sets, options, options.seed)

main(args)
""",
    "in a dict": SHARED
    + """
options = {"num_workers": 4}
if args.seed is not None:
    options["worker_init_fn"] = seed_worker
loader = DataLoader(Rows(), **options)
""",
    "in a dict that a branch makes": SHARED
    + """
options = {}
if args.seed is not None:
    options = dict(worker_init_fn=seed_worker)
loader = DataLoader(Rows(), num_workers=4, **options)
""",
    "in one of two loaders": SHARED
    + """
loader = DataLoader(Rows(), num_workers=4, worker_init_fn=seed_worker)
other = DataLoader(Rows(), num_workers=4)
""",
}
SILENT = {
    "always": OWN + "\nloader = DataLoader(Rows(), num_workers=4, worker_init_fn=seed_worker)\n",
    "one of two that seed": OWN
    + """
def seed_alike(worker_id):
    get_worker_info().dataset.rng = np.random.default_rng((args.seed, torch.initial_seed()))

start = seed_worker if args.seed is None else seed_alike
loader = DataLoader(Rows(), num_workers=4, worker_init_fn=start)
""",
    "where there are workers": OWN
    + """
start = seed_worker if args.workers > 0 else None
loader = DataLoader(Rows(), num_workers=args.workers, worker_init_fn=start)
""",
    "where the dataset draws": OWN
    + """
def build(train):
    return DataLoader(Rows(train), num_workers=4, worker_init_fn=seed_worker if train else None)

loaders = build(True), build(False)
""",
    "for datasets of one kind": OWN
    + """
def build(rows):
    draws = isinstance(rows, Rows)
    return DataLoader(rows, num_workers=4, worker_init_fn=seed_worker if draws else None)

loaders = build(Rows()), build([1, 2])
""",
    "in a branch that decides more": OWN
    + """
options = {"num_workers": 0}
if args.seed is not None:
    options["worker_init_fn"] = seed_worker
    options["num_workers"] = 4
loader = DataLoader(Rows(), **options)
""",
}
test_found, test_silent = in_one_file("DLL602", FOUND, SILENT, HEAD)
