"""The hazards that are about a loader's workers, each by several ways in which a dataset comes to its loader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

HEAD = """\
import random
import threading
from concurrent.futures import ThreadPoolExecutor as Threads

import cv2
import lmdb
import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset

"""
SPAWN = 'num_workers=2, multiprocessing_context="spawn"'
FORK = 'num_workers=2, multiprocessing_context="fork"'


class Hazard(NamedTuple):
    """A dataset `Data` and the options of its loader; `here` where the loader is what is found."""

    options: str
    data: str
    here: bool = False


READ = """
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return {}
"""
HAZARDS: dict[str, Hazard] = {
    "DLL103": Hazard(
        FORK + ", pin_memory=True",
        "class Data(Dataset):" + READ.format("torch.zeros(3).cuda()  # DLL103") + "\ntorch.cuda.set_device(0)\n",
    ),
    "DLL107": Hazard(
        FORK,
        "class Data(Dataset):\n    def __init__(self):\n        self.pool = Threads(2)  # DLL107\n"
        "        self.pool.submit(print)\n" + READ.format("self.pool.submit(abs, index).result()"),
    ),
    "DLL201": Hazard(
        SPAWN,
        "class Data(Dataset):\n    def __init__(self):\n        self.change = lambda row: row + 1  # DLL201\n"
        + READ.format("self.change(index)"),
    ),
    "DLL202": Hazard(
        SPAWN,
        "class Data(Dataset):\n    def __init__(self):\n        def change(row):  # DLL202\n"
        "            return row + 1\n\n        self.change = change\n" + READ.format("self.change(index)"),
    ),
    "DLL203": Hazard(
        SPAWN,
        "class Data(Dataset):\n    def __init__(self):\n        self.lock = threading.Lock()  # DLL203\n"
        + READ.format("index"),
    ),
    "DLL204": Hazard(
        SPAWN + ", collate_fn=collate",
        "collate = lambda rows: rows  # DLL204\n\nclass Data(Dataset):" + READ.format("index"),
    ),
    "DLL205": Hazard(
        "num_workers=2, collate_fn=collate",
        "def collate(rows):\n    return (row for row in rows)  # DLL205\n\nclass Data(Dataset):" + READ.format("index"),
    ),
    "DLL206": Hazard(
        SPAWN,
        "class Data(Dataset):\n    def __init__(self):\n        self.generator = torch.Generator()  # DLL206\n"
        + READ.format("torch.rand(2, generator=self.generator)"),
    ),
    "DLL301": Hazard(
        SPAWN,
        "class Data(Dataset):\n    def __init__(self):\n        self.rows = np.zeros((1 << 20, 64))  # DLL301\n"
        + READ.format("self.rows[index]"),
    ),
    "DLL302": Hazard(
        FORK,
        "class Data(Dataset):\n    def __init__(self):\n"
        '        self.lines = [line.split() for line in open("lines.txt")]  # DLL302\n'
        + READ.format("self.lines[index]"),
    ),
    "DLL303": Hazard(
        SPAWN,
        "class Data(Dataset):\n    def __init__(self):\n"
        "        self.rows = [torch.zeros(9) for _ in range(5000)]  # DLL303\n" + READ.format("self.rows[index]"),
    ),
    "DLL304": Hazard(
        FORK,
        "class Data(Dataset):\n    def __init__(self):\n        self.cache = {}\n\n"
        "    def __len__(self):\n        return 9\n"
        "\n    def __getitem__(self, index):\n        row = torch.zeros(index)\n"
        "        self.cache[index] = row  # DLL304\n        return row\n",
    ),
    "DLL307": Hazard(
        FORK + ", batch_size=None",
        "class Data(Dataset):\n    def __init__(self):\n        self.rows = torch.zeros(9999, 999)\n"
        + READ.format("self.rows[index]  # DLL307"),
    ),
    "DLL401": Hazard(
        FORK + ", persistent_workers=True",
        "class Data(Dataset):\n    def __init__(self):\n        self.env = None\n\n"
        "    def __len__(self):\n        return 9\n"
        "\n    def __getitem__(self, index):\n        if self.env is None:\n"
        '            self.env = lmdb.open("db", readonly=True, lock=False)\n'
        "        with self.env.begin() as txn:\n            return txn.get(b'%d' % index)\n",
        True,
    ),
    "DLL402": Hazard(
        FORK,
        'class Data(Dataset):\n    def __init__(self):\n        self.file = open("rows", "rb")  # DLL402\n\n'
        "    def __len__(self):\n        return 9\n\n    def __getitem__(self, index):\n"
        "        self.file.seek(index)\n        return self.file.read(1)\n",
    ),
    "DLL403": Hazard(
        FORK + ", pin_memory=True",
        'class Data(Dataset):\n    def __init__(self):\n        self.rows = np.load("rows.npy", mmap_mode="r")\n'
        + READ.format("torch.from_numpy(self.rows[index].copy())"),
        True,
    ),
    "DLL404": Hazard(
        SPAWN,
        "class Data(Dataset):\n    def __init__(self):\n"
        '        self.rows = np.load("rows.npy", mmap_mode="r")  # DLL404\n' + READ.format("self.rows[index]"),
    ),
    "DLL501": Hazard(
        FORK,
        "class Data(Dataset):" + READ.format("cv2.resize(np.zeros((9, 9)), (640, 640))  # DLL501"),
    ),
    "DLL503": Hazard(
        SPAWN,
        "class Data(Dataset):\n    def __init__(self):\n        cv2.setNumThreads(0)\n"
        + READ.format("cv2.resize(np.zeros((9, 9)), (640, 640))  # DLL503"),
    ),
    "DLL601": Hazard(
        FORK, "class Data(IterableDataset):\n    def __iter__(self):  # DLL601\n        yield from range(9)\n"
    ),
    "DLL602": Hazard(
        FORK,
        "class Data(Dataset):\n    def __init__(self):\n        self.rng = np.random.default_rng(1)  # DLL602\n"
        + READ.format("self.rng.random()"),
    ),
    "DLL603": Hazard(
        FORK + ", worker_init_fn=start",
        "def start(number):\n    random.seed(3)  # DLL603\n\nclass Data(Dataset):" + READ.format("random.random()"),
    ),
    "DLL605": Hazard("num_workers=0, prefetch_factor=4", "class Data(Dataset):" + READ.format("index"), True),
    "DLL607": Hazard(
        FORK,
        "class Data(Dataset):\n    def __init__(self):\n        self.rows = iter(range(9))\n"
        + READ.format("next(self.rows)  # DLL607"),
    ),
}
IMPORTS = "from torch.utils.data import DataLoader\n\nimport data\nfrom data import *\n\n"
END = "\nif __name__ == '__main__':\n    for batch in main():\n        print(batch)\n"

WAYS: dict[str, dict[str, str]] = {
    "an alias of the class": {
        "train.py": """
from torch.utils.data import DataLoader as Batches
from data import *

def main():
    return Batches(Data(), {options})  # HERE
"""
    },
    "a subclass of the loader": {
        "train.py": IMPORTS
        + """
class Loader(DataLoader):
    def __init__(self, dataset, **options):
        super().__init__(dataset, **options)

def main():
    return Loader(Data(), {options})  # HERE
"""
    },
    "a subclass of the dataset": {
        "train.py": IMPORTS
        + """
class More(Data):
    def __init__(self, *args):
        super().__init__(*args)

def main():
    return DataLoader(dataset=More(), {options})  # HERE
"""
    },
    "a keyword dict": {
        "train.py": IMPORTS
        + """
def main():
    options = dict({options})
    options["drop_last"] = False
    return DataLoader(Data(), **options)  # HERE
"""
    },
    "a function of another file": {
        "loading.py": IMPORTS + "\ndef build(dataset):\n    return DataLoader(dataset, {options})  # HERE\n",
        "train.py": "import loading\nfrom data import Data\n\ndef main():\n    return loading.build(Data())\n",
    },
    "deeper calls and an attribute": {
        "loading.py": IMPORTS
        + """
def made(dataset):
    return DataLoader(dataset, {options})  # HERE

class Module:
    def __init__(self, dataset):
        self.dataset = dataset

    def loader(self):
        return made(self.dataset)
""",
        "train.py": """
import loading
import data

def module():
    return loading.Module(data.Data())

def main():
    return module().loader()
""",
    },
    "keyword arguments of a function, asked for by name": {
        "train.py": IMPORTS
        + """
def build(**given):
    dataset = given.pop("dataset")
    options = given.get("options", {})
    return DataLoader(dataset, **options)  # HERE

def main():
    return build(dataset=Data(), options=dict({options}))
"""
    },
    "a partial": {
        "train.py": IMPORTS
        + """
from functools import partial

make = partial(DataLoader, {options})

def main():
    return make(Data())  # HERE
"""
    },
}


def project(way: dict[str, str], hazard: Hazard, code: str) -> dict[str, str]:
    mark = f"# {code}" if hazard.here else ""
    files = {"data.py": HEAD + hazard.data}
    for name, text in way.items():
        whole = text.replace("{options}", hazard.options) + (END if name == "train.py" else "")
        files[name] = whole.replace("  # HERE", f"  {mark}" if mark else "")
    return files


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("code", HAZARDS)
def test_found(code: str, way: dict[str, str], findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = project(way, HAZARDS[code], code)

    assert marks(files)
    assert findings(files, select=[code]) == marks(files)


@pytest.mark.parametrize("code", [code for code in HAZARDS if code not in ("DLL605", "DLL607")])
def test_silent_without_workers(code: str, findings: Callable[..., Any]) -> None:
    hazard = HAZARDS[code]
    options = hazard.options.replace("num_workers=2", "num_workers=0")
    options = options.replace(', multiprocessing_context="spawn"', "").replace(', multiprocessing_context="fork"', "")
    files = project(WAYS["a function of another file"], hazard._replace(options=options), code)

    assert findings(files, select=[code]) == set()


@pytest.mark.parametrize("code", [code for code in HAZARDS if code != "DLL607"])
def test_silent_with_another_loader(code: str, findings: Callable[..., Any]) -> None:
    files = project(WAYS["an alias of the class"], HAZARDS[code], code)
    files["train.py"] = files["train.py"].replace("torch.utils.data", "paddle.io")

    assert findings(files, select=[code]) == set()


LAMBDAS_KEPT = {
    "attributes that a loop sets": """
class Data(Dataset):
    def __init__(self, **options):
        for name, option in options.items():
            setattr(self, name, option)

    def __getitem__(self, index):
        return self.scale(index)

loader = torch.utils.data.DataLoader(Data(scale=lambda x: x), num_workers=2, multiprocessing_context="spawn")
""",
    "attributes of an updated dict": """
class Data(Dataset):
    def __init__(self, **options):
        vars(self).update(options)

    def __getitem__(self, index):
        return self.scale(index)

loader = torch.utils.data.DataLoader(Data(scale=lambda x: x), num_workers=2, multiprocessing_context="spawn")
""",
    "a bound method": """
class Scale:
    def __init__(self):
        self.by = lambda x: x

    def scaled(self, x):
        return self.by(x)

class Data(Dataset):
    def __init__(self):
        self.scale = Scale().scaled

    def __getitem__(self, index):
        return self.scale(index)

loader = torch.utils.data.DataLoader(Data(), num_workers=2, multiprocessing_context="spawn")
""",
    "the sum of datasets": """
class Data(Dataset):
    def __init__(self):
        self.scale = lambda x: x

    def __getitem__(self, index):
        return self.scale(index)

both = Data() + Data()
loader = torch.utils.data.DataLoader(both, num_workers=2, multiprocessing_context="spawn")
""",
    "a dataset times a number": """
import copy

class Data(Dataset):
    def __init__(self):
        self.scale = lambda x: x

    def __getitem__(self, index):
        return self.scale(index)

    def __rmul__(self, times):
        return copy.deepcopy(self)

loader = torch.utils.data.DataLoader(5 * Data(), num_workers=2, multiprocessing_context="spawn")
""",
    "another library's subset": """
from vendor.data import Subset

class Data(Dataset):
    def __init__(self):
        self.scale = lambda x: x

    def __getitem__(self, index):
        return self.scale(index)

loader = torch.utils.data.DataLoader(Subset(Data(), [1]), num_workers=2, multiprocessing_context="spawn")
""",
    "a context manager": """
from contextlib import contextmanager

class Data(Dataset):
    def __init__(self):
        self.scale = lambda x: x

    def __getitem__(self, index):
        return self.scale(index)

@contextmanager
def opened():
    yield Data()

with opened() as rows:
    loader = torch.utils.data.DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
""",
    "loaders that map makes": """
class Data(Dataset):
    def __init__(self):
        self.scale = lambda x: x

    def __getitem__(self, index):
        return self.scale(index)

loaders = list(
    map(lambda rows: torch.utils.data.DataLoader(rows, num_workers=2, multiprocessing_context="spawn"), [Data()])
)
""",
}


@pytest.mark.parametrize("source", LAMBDAS_KEPT.values(), ids=LAMBDAS_KEPT)
def test_what_datasets_keep_by_other_ways(findings: Callable[..., Any], source: str) -> None:
    """Every program sends a lambda to spawned workers."""
    found = findings({"data.py": HEAD + source}, select=["DLL201"])
    assert {code for _, _, code in found} == {"DLL201"}


WEB = """\
import webdataset as wds

rows = wds.WebDataset("rows.tar").decode("pil").to_tuple("jpg", "cls")
loader = wds.WebLoader(rows, batch_size=None, num_workers=4)
loader = loader.STAGES
for epoch in range(10):
    for image, label in loader:  # DLL102
        print(label)
"""


@pytest.mark.parametrize("stages", ["unbatched().shuffle(1000).batched(16)", "slice(100)", "with_epoch(100).repeat(2)"])
def test_a_loader_of_webdataset_with_more_stages(
    stages: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"train.py": WEB.replace("STAGES", stages)}
    assert findings(files, select=["DLL102"]) == marks(files)


def test_what_a_loader_of_webdataset_tells_is_no_loader(findings: Callable[..., Any]) -> None:
    assert findings({"train.py": WEB.replace("loader = loader.STAGES", "loader = loader.source()")}) == set()


STAND_INS = """\
import accelerate
import torch_xla.distributed.parallel_loader as pl
from accelerate import Accelerator, skip_first_batches
from torch.utils.data import DataLoader

accelerator = Accelerator()
loader = DataLoader(open("rows").readlines(), num_workers=4)
for batch in LOOP:  # DLL102
    print(batch)
"""


@pytest.mark.parametrize(
    "loop",
    [
        "accelerator.skip_first_batches(accelerator.prepare(loader), 3)",
        "skip_first_batches(loader, num_batches=3)",
        "accelerate.data_loader.skip_first_batches(dataloader=loader, num_batches=3)",
        'pl.ParallelLoader(loader, ["xla"]).per_device_loader("xla")',
    ],
)
def test_what_libraries_hand_out_for_a_loader(
    loop: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"train.py": STAND_INS.replace("LOOP", loop)}
    assert findings(files, select=["DLL102"]) == marks(files)


@pytest.mark.parametrize(
    "loader",
    [
        "torchio.SubjectsLoader(Rows(), num_workers=4)",
        "speechbrain.dataio.dataloader.SaveableDataLoader(Rows(), num_workers=4)",
        "speechbrain.dataio.dataloader.make_dataloader(Rows(), num_workers=4)",
    ],
)
def test_loaders_of_libraries(loader: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    text = f"""\
import speechbrain
import torchio
from torch.utils.data import Dataset

class Rows(Dataset):
    def __init__(self):
        self.scale = lambda row: row  # DLL201

    def __getitem__(self, index):
        return self.scale(index)

def main():
    for row in {loader}:
        print(row)
"""
    assert findings({"train.py": text}, select=["DLL201"]) == marks({"train.py": text})
