"""DLL101: which loaders inherit spawn or forkserver, whatever form the launch and the loader take, and which do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LAUNCHERS: dict[str, dict[str, str]] = {
    "mp.spawn": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def worker(rank, dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

if __name__ == "__main__":
    mp.spawn(worker, args=([],), nprocs=2)
"""
    },
    "init_dist of mmcv": {
        "train.py": """\
from mmcv.runner import get_dist_info, init_dist
from loaders import build

def main(launcher):
    if launcher != "none":
        init_dist(launcher)
    build([])

if __name__ == "__main__":
    main("pytorch")
""",
        "loaders.py": """\
from torch.utils.data import DataLoader

def build(rows):
    return DataLoader(rows, num_workers=4)  # DLL101
""",
    },
    "set_start_method at the start of main": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def main():
    mp.set_start_method("spawn", force=True)
    DataLoader([], num_workers=4)  # DLL101

if __name__ == "__main__":
    main()
"""
    },
    "a plain Process inside a spawned one": {
        "main.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def evaluate(dataset):
    DataLoader(dataset, num_workers=4)  # DLL101

def train(rank):
    job = mp.Process(target=evaluate, args=([],))
    job.start()

def main():
    mp.spawn(train, nprocs=2)
"""
    },
    "ignite's spawn": {
        "main.py": """\
import ignite.distributed as idist
from torch.utils.data import DataLoader

def train(rank, rows, size=1):
    DataLoader(rows, num_workers=4)  # DLL101

def main(rows):
    idist.spawn("nccl", train, (rows,), {"size": 2}, nproc_per_node=2)
"""
    },
    "Lightning's ddp_spawn": {
        "main.py": """\
import lightning.pytorch as pl
from torch.utils.data import DataLoader

class Model(pl.LightningModule):
    def train_dataloader(self):
        return DataLoader([], num_workers=4)  # DLL101

def main():
    pl.Trainer(strategy="ddp_spawn", devices=2).fit(Model())
"""
    },
}

LOADERS: dict[str, str] = {
    "subclass that sets the count itself": """\
from torch.utils.data import DataLoader

class Loader(DataLoader):
    def __init__(self, dataset):
        super(Loader, self).__init__(dataset, batch_size=4, num_workers=8)

def build():
    return Loader([])  # DLL101
""",
    "count of the command line that is 0 only by default": """\
import argparse
from torch.utils.data import DataLoader

def build():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    return DataLoader([], num_workers=args.workers)  # DLL101
""",
}

SILENT_LOADERS: dict[str, str] = {
    "no count": "from torch.utils.data import DataLoader\ndef build():\n    return DataLoader([])\n",
    "explicit spawn": """\
from torch.utils.data import DataLoader

def build():
    return DataLoader([], num_workers=4, multiprocessing_context="spawn")
""",
    "paddle's": "from paddle.io import DataLoader\ndef build():\n    return DataLoader([], num_workers=4)\n",
    "made in a function that is not called": """\
from torch.utils.data import DataLoader

def other():
    return DataLoader([], num_workers=4)

def build():
    return [other]
""",
}

SPAWNED = """\
import torch.multiprocessing as mp
import data

def worker(rank):
    data.build()

if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
"""

CONFIGURED = """\
from detectron2.config import configurable, get_cfg
from detectron2.engine import default_argument_parser, launch
from torch.utils.data import DataLoader

def of_configuration(cfg, mapper=None):
    return {{"rows": cfg.DATASETS, "mapper": mapper, "num_workers": {workers}}}

@configurable(from_config=of_configuration)
def build(rows, *, mapper, num_workers=0):
    return DataLoader(rows, num_workers=num_workers){mark}

def setup(args):
    cfg = get_cfg()
    cfg.merge_from_file(args.config_file)
    return cfg

class Trainer:
    @classmethod
    def test(cls, cfg):
        for batch in {build}:
            print(batch)

def main(args):
    Trainer.test(setup(args))

if __name__ == "__main__":
    args = default_argument_parser().parse_args()
    launch(main, args.num_gpus, args=(args,))
"""
WORKERS = "cfg.DATALOADER.NUM_WORKERS"
LAUNCHERS |= {
    "detectron2's, for a function that takes a configuration": {
        "train.py": CONFIGURED.format(workers=WORKERS, mark="  # DLL101", build="build(cfg, mapper=print)")
    },
    "the same with a number of workers": {
        "train.py": CONFIGURED.format(workers=4, mark="  # DLL101", build="build(cfg, mapper=print)")
    },
    "the same by keyword": {
        "train.py": CONFIGURED.format(workers=WORKERS, mark="  # DLL101", build="build(cfg=cfg, mapper=print)")
    },
}
SILENT_LAUNCHES: dict[str, dict[str, str]] = {
    "a function that takes a configuration, without workers": {
        "train.py": CONFIGURED.format(workers=0, mark="", build="build(cfg, mapper=print)")
    },
    "a function that may take a configuration, and is given its arguments": {
        "train.py": CONFIGURED.format(workers=4, mark="", build="build([1], mapper=print)")
    },
    "no launch": {
        "train.py": """\
from torch.utils.data import DataLoader

def main():
    DataLoader([], num_workers=4)

if __name__ == "__main__":
    main()
"""
    },
    "start_processes by fork": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def worker(rank):
    DataLoader([], num_workers=4)

def main():
    mp.start_processes(worker, nprocs=2, start_method="fork")
"""
    },
    "init_dist of mmcv beside what sets another method": {
        "train.py": """\
from mmcv.runner import init_dist
from mmdet.utils import setup_multi_processes
from torch.utils.data import DataLoader

def main(cfg):
    setup_multi_processes(cfg)
    init_dist("pytorch")
    DataLoader([], num_workers=4)
"""
    },
    "init_dist of mmcv, in a program that sets fork": {
        "train.py": """\
import multiprocessing
from mmcv.runner import init_dist
from torch.utils.data import DataLoader

def main(cfg):
    multiprocessing.set_start_method("fork")
    init_dist("pytorch")
    DataLoader([], num_workers=4)
"""
    },
    "init_dist of the project": {
        "distributed.py": """\
import torch.distributed

def init_dist(launcher):
    torch.distributed.init_process_group("nccl")
""",
        "train.py": """\
from distributed import init_dist
from torch.utils.data import DataLoader

def main(cfg):
    init_dist("pytorch")
    DataLoader([], num_workers=4)
""",
    },
    "set_start_method fork": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def main():
    mp.set_start_method("fork")
    DataLoader([], num_workers=4)
"""
    },
    "a spawned logger beside the loader": {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def log(queue):
    print(queue.get())

def main():
    context = mp.get_context("spawn")
    context.Process(target=log, args=(context.Queue(),)).start()
    DataLoader([], num_workers=4)
"""
    },
}

ASKED_HEAD = """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, DistributedSampler

"""
ASKED_MAIN = """\

if __name__ == "__main__":
    mp.spawn(work, args=({"workers": 3},), nprocs=2)
"""
ASKED: dict[str, str] = {
    "asked for its dataset by who makes another": """\
def load(config):
    train = DataLoader([1], num_workers=config["workers"])
    val = DataLoader([2], num_workers=config["workers"])
    return train, val, None

def work(rank, config):
    _, _, scale = load(config)
    train, val, _ = load(config)
    train = DataLoader(train.dataset, batch_size=len(val), num_workers=train.num_workers)  # DLL101
    for batch in train:
        print(batch)
""",
    "asked for its dataset, returned at once": """\
def load(config):
    return DataLoader([1], num_workers=config["workers"])

def work(rank, config):
    rows = load(config)
    print(rows.dataset, rows.batch_size)
""",
    "iterated after it is asked": """\
def load(config):
    train = DataLoader([1], num_workers=config["workers"])  # DLL101
    return train, None

def work(rank, config):
    train, _ = load(config)
    print(train.dataset)
    for batch in train:
        print(batch)
""",
    "handed on after it is asked": """\
def load(config):
    return DataLoader([1], num_workers=config["workers"])  # DLL101

def work(rank, config):
    train = load(config)
    print(train.dataset, list(map(str, train)))
""",
    "kept on an object": """\
def load(config):
    return DataLoader([1], num_workers=config["workers"])  # DLL101

class Trainer:
    def __init__(self, config):
        train = load(config)
        self.train = train

def work(rank, config):
    print(list(Trainer(config).train))
""",
    "returned once more": """\
def load(config):
    return DataLoader([1], num_workers=config["workers"])  # DLL101

def again(config):
    train = load(config)
    print(train.dataset)
    return train

def work(rank, config):
    print(list(again(config)))
""",
    "asked by one and iterated by another": """\
def load(config):
    return DataLoader([1], num_workers=config["workers"])  # DLL101

def work(rank, config):
    rows = load(config)
    print(rows.dataset, list(load(config)))
""",
    "read by a function inside": """\
def load(config):
    return DataLoader([1], num_workers=config["workers"])  # DLL101

def work(rank, config):
    rows = load(config)

    def read():
        return list(rows)

    print(rows.dataset, read())
""",
}

SELECT = {"select": ["DLL101"]}


@pytest.mark.parametrize("text", ASKED.values(), ids=ASKED)
def test_a_loader_that_is_only_asked_for_its_options_starts_no_workers(
    findings: Callable[..., Any], marks: Callable[..., Any], text: str
) -> None:
    files = {"train.py": ASKED_HEAD + text + ASKED_MAIN}
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("files", LAUNCHERS.values(), ids=LAUNCHERS)
def test_every_kind_of_launch_is_found(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("data", LOADERS.values(), ids=LOADERS)
def test_every_kind_of_loader_is_found(findings: Callable[..., Any], marks: Callable[..., Any], data: str) -> None:
    files = {"main.py": SPAWNED, "data.py": data}
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("data", SILENT_LOADERS.values(), ids=SILENT_LOADERS)
def test_other_loaders_are_silent(findings: Callable[..., Any], data: str) -> None:
    assert findings({"main.py": SPAWNED, "data.py": data}, **SELECT) == set()


@pytest.mark.parametrize("files", SILENT_LAUNCHES.values(), ids=SILENT_LAUNCHES)
def test_other_launches_are_silent(findings: Callable[..., Any], files: dict[str, str]) -> None:
    assert findings(files, **SELECT) == set()


def test_the_trace_names_every_call_site_in_order(told: Callable[..., Any], relative: Callable[..., Any]) -> None:
    files = {
        "dist.py": """\
import torch.multiprocessing as mp

def launch(main_func, gpus):
    mp.spawn(run, args=(main_func,), nprocs=gpus)

def run(rank, main_func):
    main_func()
""",
        "loaders.py": """\
from torch.utils.data import DataLoader

def build(dataset):
    return make(dataset, 4)

def make(dataset, workers):
    return DataLoader(dataset, num_workers=workers)
""",
        "train.py": """\
import dist
from loaders import build

class Trainer:
    def __init__(self):
        self.loader = build([])

def main():
    Trainer()

if __name__ == "__main__":
    dist.launch(main, 4)
""",
    }

    (finding,) = told(files, **SELECT)

    assert [(relative(place.path), place.span.line) for place in finding.trace] == [
        ("train.py", 12),
        ("dist.py", 4),
        ("dist.py", 7),
        ("train.py", 9),
        ("train.py", 6),
        ("loaders.py", 4),
    ]
    assert (relative(finding.path), finding.span.line) == ("loaders.py", 7)
    assert "dist.py:4" in finding.text


def test_the_trace_of_a_nested_launch_names_both(told: Callable[..., Any]) -> None:
    files = {
        "train.py": """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def evaluate():
    DataLoader([], num_workers=4)

def train(rank):
    mp.Process(target=evaluate).start()

def main():
    mp.spawn(train, nprocs=2)
"""
    }

    (finding,) = told(files, **SELECT)

    assert [place.span.line for place in finding.trace] == [11, 8]


def test_the_trace_of_a_program_wide_method(told: Callable[..., Any], relative: Callable[..., Any]) -> None:
    files = {
        "setup.py": "import multiprocessing\n\ndef prepare():\n    multiprocessing.set_start_method('spawn')\n",
        "train.py": """\
from setup import prepare
from torch.utils.data import DataLoader

def load():
    return DataLoader([], num_workers=4)

def main():
    prepare()
    load()
""",
    }

    (finding,) = told(files, **SELECT)

    assert [(relative(place.path), place.span.line) for place in finding.trace] == [
        ("train.py", 8),
        ("setup.py", 4),
        ("train.py", 9),
    ]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        ("1", "this DataLoader (1 worker) inherits spawn from `mp.spawn` at"),
        ("4", "this DataLoader (4 workers) inherits spawn from `mp.spawn` at"),
        ("args.workers", "this DataLoader (`args.workers` workers) inherits spawn from `mp.spawn` at"),
    ],
)
def test_the_message_reads_well_for_every_count(told: Callable[..., Any], count: str, text: str) -> None:
    data = f"from torch.utils.data import DataLoader\ndef build(args):\n    DataLoader([], num_workers={count})\n"
    files = {"main.py": SPAWNED, "data.py": data}

    (finding,) = told(files, **SELECT)

    assert text in finding.text


def test_one_loader_under_two_launchers_is_one_finding(told: Callable[..., Any]) -> None:
    files = {
        "data.py": "from torch.utils.data import DataLoader\ndef build():\n    DataLoader([], num_workers=2)\n",
        "one.py": SPAWNED,
        "two.py": SPAWNED,
        "three.py": SPAWNED.replace("mp.spawn(worker", "mp.start_processes(worker"),
    }

    (finding,) = told(files, **SELECT)

    assert "2 other launchers do so too" in finding.trace[-1].message


def test_no_error_beside_the_one_that_says_what_fails(told: Callable[..., Any]) -> None:
    data = """\
from torch.utils.data import DataLoader

def build():
    return DataLoader([], num_workers=2, collate_fn=lambda rows: rows)
"""

    found = {one.code: one for one in told({"main.py": SPAWNED, "data.py": data}, select=["DLL101", "DLL204"])}

    assert {code: one.severity for code, one in found.items()} == {"DLL101": "warning", "DLL204": "error"}
    assert "DLL204" not in found["DLL101"].text
    assert "starts" in found["DLL204"].trace[0].message


GROUPED = """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def train(rank):
    for batch in DataLoader(load("train"), num_workers=4):  # DLL101
        print(batch)
    for batch in DataLoader(load("test"), num_workers=2):
        print(batch)
    score()

def score():
    for batch in DataLoader(load("score"), num_workers=2):  # DLL101
        print(batch)
"""


def test_one_finding_for_each_launcher_and_function(told: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": GROUPED + "\ndef main():\n    mp.spawn(train, nprocs=2)\n"}

    found = told(files, **SELECT)

    assert {one.span.line for one in found} == {line for _, line, _ in marks(files)}
    assert [place.span.line for place in found[0].related] == [7]
    assert [len(fix.edits) for fix in found[0].fixes] == [2, 2]


def test_one_finding_for_all_objects_of_a_loader_class(told: Callable[..., Any]) -> None:
    batches = (
        "from torch.utils.data import DataLoader\n\n"
        "class Batches(DataLoader):\n    def __init__(self, rows, workers):\n"
        "        super().__init__(rows, num_workers=workers)\n"
    )
    train = (
        "import torch.multiprocessing as mp\nfrom batches import Batches\n\n"
        "def train(rank, rows):\n    first(rows)\n    second(rows)\n\n"
        "def first(rows):\n    for batch in Batches(rows, 4):\n        print(batch)\n\n"
        "def second(rows):\n    for batch in Batches(rows, 2):\n        print(batch)\n\n"
        "if __name__ == '__main__':\n    mp.spawn(train, args=([],), nprocs=2)\n"
    )

    (found,) = told({"batches.py": batches, "train.py": train}, **SELECT)

    assert found.span.line == 9
    assert [(place.path.rsplit("/", 1)[-1], place.span.line) for place in found.related] == [
        ("batches.py", 5),
        ("train.py", 13),
    ]


def test_one_finding_for_a_setting_of_the_whole_program(told: Callable[..., Any]) -> None:
    files = {
        "train.py": GROUPED + "\ndef main():\n    mp.set_start_method('spawn')\n    train(0)\n",
        "other.py": "import torch.multiprocessing as mp\nfrom train import GROUPS\n",
    }

    (finding,) = told(files, **SELECT)

    assert finding.severity == "info"
    assert [place.span.line for place in finding.related] == [7, 12]


SMALL = """\
from pathlib import Path
import numpy as np
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, root, rows):
        self.root = Path(root)
        self.size = 32
        {kept}

    def __getitem__(self, index):
        return (self.root / str(index)).read_bytes()

def train(rank, rows):
    for batch in DataLoader(Rows("rows", rows), num_workers=4):
        print(batch)

def main(rows):
    mp.spawn(train, args=(rows,), nprocs=2)
"""


@pytest.mark.parametrize(
    ("kept", "severity"),
    [
        ("pass", "info"),
        ("self.file = None", "info"),
        ("self.rows = rows", "warning"),
        ("self.rows = np.load('rows.npy')", "warning"),
        ("self.rows = list(range(10))", "warning"),
    ],
)
def test_info_where_little_is_sent(told: Callable[..., Any], kept: str, severity: str) -> None:
    (finding,) = told({"train.py": SMALL.format(kept=kept)}, **SELECT)

    assert finding.severity == severity


@pytest.mark.parametrize(
    ("code", "titles"),
    [
        ("", ["fork", "spawn"]),
        ("import torch.distributed as dist\ndist.init_process_group('nccl')\n", ["spawn"]),
        ("import torch.distributed as dist\ndist.init_process_group('NCCL')\n", ["spawn"]),
        ("import torch.distributed as dist\ndist.init_process_group('cpu:gloo,cuda:nccl')\n", ["spawn"]),
        ("import torch.distributed as dist\ndist.init_process_group(dist.Backend.NCCL)\n", ["spawn"]),
        (
            "from torch.distributed import Backend as B, init_process_group\ninit_process_group(B.NCCL)\n",
            ["spawn"],
        ),
        ("import torch.distributed as dist\ndist.init_process_group(dist.Backend('NCCL'))\n", ["spawn"]),
        (
            "import torch.distributed as dist\ndist.init_process_group(dist.Backend.GLOO)\nmodel.cuda()\n",
            ["fork", "spawn"],
        ),
        ("import torch.distributed as dist\ndist.init_process_group(backend='gloo')\n", ["fork", "spawn"]),
        ("import torch.distributed as dist\ndist.init_process_group(backend())\n", ["fork", "spawn"]),
        ("import torch.distributed as dist\ndist.init_process_group(backend())\nnet.cuda()\n", ["spawn"]),
        ("import torch\ntorch.distributed.init_process_group()\ntorch.cuda.set_device(0)\n", ["spawn"]),
        ("import torch.distributed as dist\ndist.init_process_group(chosen())\nmodel.cuda()\n", ["spawn"]),
    ],
)
def test_fork_is_offered_only_where_it_is_sound(told: Callable[..., Any], code: str, titles: list[str]) -> None:
    body = "".join(f"    {line}\n" for line in code.splitlines())
    data = f"from torch.utils.data import DataLoader\n\ndef build():\n{body}    return DataLoader([], num_workers=2)\n"

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert [fix.edits[0].value.strip('"') for fix in finding.fixes] == titles
    kinds = {"fork": "unsafe", "spawn": "suggestion"}
    assert [fix.applicability for fix in finding.fixes] == [kinds[title] for title in titles]


@pytest.mark.parametrize("opener", ["open('rows')", "sqlite3.connect('rows.db')"])
def test_fork_is_not_offered_where_it_would_share_a_handle(told: Callable[..., Any], opener: str) -> None:
    data = f"""\
import sqlite3
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.file = {opener}

    def __getitem__(self, index):
        return self.file.read(index)

def build():
    return DataLoader(Rows(), num_workers=2)
"""

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert [fix.edits[0].value for fix in finding.fixes] == ['"spawn"']
    assert "Open the handle on first use" in finding.help


def test_fork_is_not_offered_for_macos(told: Callable[..., Any]) -> None:
    data = "from torch.utils.data import DataLoader\n\ndef build():\n    return DataLoader([], num_workers=2)\n"

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT, target_platform=["linux", "macos"])

    assert [fix.edits[0].value for fix in finding.fixes] == ['"spawn"']


def test_fork_is_not_offered_to_workers_that_use_cuda(told: Callable[..., Any]) -> None:
    data = """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index].cuda()

def build():
    return DataLoader(Rows([]), num_workers=2)
"""

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert [fix.edits[0].value for fix in finding.fixes] == ['"spawn"']
    assert "CUDA" in finding.help


@pytest.mark.parametrize(
    ("kept", "cause"),
    [
        ("lambda row: row", "DLL201 at data.py:8"),
        ('open("rows.bin", "rb")', "DLL203 at data.py:8"),
        ("[torch.zeros(3) for _ in range(3000)]", "DLL303 at data.py:8"),
        ('np.memmap("rows.bin")', "DLL404 at data.py:8"),
    ],
)
def test_what_else_the_start_method_does_to_the_dataset_is_named(
    told: Callable[..., Any], kept: str, cause: str
) -> None:
    files = {
        "data.py": f"""\
import numpy as np
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.rows = {kept}
    def __getitem__(self, index):
        return self.rows[index]

def train(rank):
    DataLoader(Rows(), num_workers=4)

def main():
    mp.spawn(train, nprocs=2)
"""
    }

    (finding,) = told(files, **SELECT)

    assert finding.severity == "warning"
    assert (f"({cause}):" in finding.text) is cause.startswith("DLL404")
    assert [place.span.line for place in finding.related] == [8]


@pytest.mark.parametrize(
    ("count", "fork"),
    [
        pytest.param("4", '"fork"', id="some"),
        pytest.param("4 if args.fast else 2", '"fork"', id="some either way"),
        pytest.param("args.workers", '"fork" if args.workers > 0 else None', id="unknown"),
        pytest.param('args["workers"]', "\"fork\" if args['workers'] > 0 else None", id="entry"),
        pytest.param("int(args.workers)", '"fork" if int(args.workers) > 0 else None', id="call"),
        pytest.param(
            "0 if args.debug else 4", '"fork" if (0 if args.debug else 4) > 0 else None', id="none on one way"
        ),
        pytest.param("args.count()", None, id="a call that is not made twice"),
    ],
)
def test_the_fix_holds_without_workers_too(told: Callable[..., Any], count: str, fork: str | None) -> None:
    data = f"from torch.utils.data import DataLoader\n\ndef build(args):\n    DataLoader([], num_workers={count})\n"

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert [fix.edits[0].value for fix in finding.fixes][:1] == ([fork] if fork else [])
    assert len(finding.fixes) in (0, 2)


def test_no_context_for_a_count_that_is_unpacked(told: Callable[..., Any]) -> None:
    data = """\
from torch.utils.data import DataLoader

def build(debug):
    options = {"num_workers": 0 if debug else 4}
    DataLoader([], **options)
"""

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert finding.fixes == ()


@pytest.mark.parametrize(
    ("params", "offered"),
    [
        ("self, dataset, num_workers", False),
        ("self, dataset, num_workers, **options", True),
        ("self, dataset, num_workers, multiprocessing_context=None", True),
    ],
)
def test_a_context_is_offered_only_to_classes_that_take_one(
    told: Callable[..., Any], params: str, offered: bool
) -> None:
    data = f"""\
from torch.utils.data import DataLoader

class Batches(DataLoader):
    def __init__({params}):
        super().__init__(dataset, num_workers=num_workers)

def build():
    Batches([], num_workers=4)
"""

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert bool(finding.fixes) is offered


def test_no_fix_where_the_count_comes_with_other_options(told: Callable[..., Any]) -> None:
    data = """\
from torch.utils.data import DataLoader

class Settings:
    workers = 4

def build(settings=Settings()):
    options = {"num_workers": settings.workers}
    return DataLoader([], **options)
"""

    (finding,) = told({"main.py": SPAWNED, "data.py": data}, **SELECT)

    assert finding.fixes == ()


def test_no_fork_where_the_program_chose_spawn(told: Callable[..., Any]) -> None:
    text = LAUNCHERS["set_start_method at the start of main"]["train.py"].replace("  # DLL101", "")

    (finding,) = told({"train.py": text}, **SELECT)

    assert [fix.edits[0].value for fix in finding.fixes] == ['"spawn"']


BATCHER = """\
import multiprocessing as mp


def fill(loader, queue):
    for batch in loader:
        queue.put(batch)


class Batcher:
    def __init__(self, loader):
        self.loader = loader
        self.queue = mp.get_context("forkserver").Queue(2)

    def __call__(self, size):
        context = mp.get_context("forkserver")
        process = context.Process(target=fill, args=(self.loader, self.queue))
        process.start()
        yield from iter(self.queue.get, None)


class Pipeline:
    def __init__(self, batcher):
        self.batcher = batcher

    def train(self):
        for batch in self.batcher(32):
            print(batch)
"""
TRAINING = """\
from torch.utils.data import DataLoader
from batcher import Batcher, Pipeline


def build(rows):
    loader = DataLoader(rows, num_workers={})  {}
    return Batcher(loader), 3


def main():
    batcher, size = build(list(range({})))
    Pipeline(batcher).train()


if __name__ == "__main__":
    main()
"""


def test_loaders_that_several_scripts_give_one_launcher(
    findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {
        "batcher.py": BATCHER,
        "first.py": TRAINING.format(4, "# DLL101", 100),
        "second.py": TRAINING.format(2, "# DLL101", 200),
        "third.py": TRAINING.format(0, "", 300),
    }

    assert findings(files, select=["DLL101"]) == marks(files)


DISTRIBUTED = """\
import numpy as np
from mmcv.runner import init_dist
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return np.random.rand()  # DLL602

def main(launcher):
    {test}init_dist(launcher)
    return DataLoader(Rows(), num_workers=4)  # DLL101

if __name__ == "__main__":
    import sys
    main(sys.argv[1])
"""


@pytest.mark.parametrize(
    ("test", "codes"),
    [
        pytest.param('if launcher != "none":\n        ', {"DLL101", "DLL602"}, id="on some ways"),
        pytest.param("", {"DLL101"}, id="always"),
    ],
)
def test_a_library_that_sets_spawn_on_some_ways_leaves_fork_on_the_others(
    test: str, codes: set[str], told: Callable[..., Any]
) -> None:
    files = {"train.py": DISTRIBUTED.replace("{test}", test), "requirements.txt": "torch==1.4\n"}

    assert {one.code for one in told(files, select=["DLL101", "DLL602"])} == codes


SETTING = """\
import os
import sys
import numpy as np
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return np.random.rand()

def init_dist(launcher):
    if mp.get_start_method(allow_none=True) is None:
        mp.set_start_method("spawn")

def main(args):
    {setting}
    {loader}

if __name__ == "__main__":
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--launcher", choices=["none", "slurm"], default="none")
    parser.add_argument("--num_workers", type=int, default=4)
    parser.add_argument("--distributed", action="store_true")
    main(parser.parse_args())
"""
_LOADER = "loader = DataLoader(Rows(), num_workers=args.num_workers)"
_SET = "mp.set_start_method('spawn')"


@pytest.mark.parametrize(
    ("setting", "loader", "forks"),
    [
        pytest.param(f"if args.distributed:\n        {_SET}", _LOADER, True, id="an option"),
        pytest.param("if args.launcher == 'none':\n        pass\n    else:\n        init_dist(args.launcher)",
                     _LOADER, True, id="an option of the caller"),
        pytest.param("distributed = args.launcher != 'none'\n    if distributed and not args.num_workers == 1:\n"
                     f"        {_SET}", _LOADER, True, id="a name for it"),
        pytest.param(_SET, _LOADER, False, id="always"),
        pytest.param("init_dist('slurm')", _LOADER, False, id="unless it is set"),
        pytest.param(f"if args.num_workers > 0:\n        {_SET}", _LOADER, False, id="where there are workers"),
        pytest.param(f"if sys.platform != 'win32':\n        {_SET}", _LOADER, False, id="the platform"),
        pytest.param(f"if os.name == 'posix':\n        {_SET}", _LOADER, False, id="the name of the platform"),
        pytest.param(f"distributed = True\n    if distributed:\n        {_SET}", _LOADER, False, id="a constant"),
        pytest.param(f"if args.distributed:\n        {_SET}", f"if args.distributed:\n        {_LOADER}", False,
                     id="the same option around the loader"),
    ],
)  # fmt: skip
def test_an_option_that_sets_spawn_leaves_fork_without_it(
    setting: str, loader: str, forks: bool, told: Callable[..., Any]
) -> None:
    text = SETTING.replace("{setting}", setting).replace("{loader}", loader)
    files = {"train.py": text, "requirements.txt": "torch==1.4\n"}

    assert {one.code for one in told(files, select=["DLL602"])} == ({"DLL602"} if forks else set())


NAMED = """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def train(rank, rows):
    for batch in DataLoader(rows, num_workers=4):  # DLL101
        print(batch)

STARTERS = {"spawn": mp.spawn}

def chosen():
    return mp.spawn

class Launcher:
    make = mp.get_context("spawn").Process

    def __init__(self, start):
        self.start = start

    def run(self, rows):
        self.start(train, args=(rows,), nprocs=2)

def main(rows):
    LAUNCH

if __name__ == "__main__":
    main(open("rows").read().split())
"""


@pytest.mark.parametrize(
    "launch",
    [
        'start = mp.start_processes\n    start(train, args=(rows,), nprocs=2, start_method="spawn")',
        "start = mp.spawn\n    other = start\n    other(train, args=(rows,), nprocs=2)",
        'STARTERS["spawn"](train, args=(rows,), nprocs=2)',
        "Launcher(mp.spawn).run(rows)",
        "chosen()(train, args=(rows,), nprocs=2)",
        "Launcher.make(target=train, args=(0, rows)).start()",
    ],
)
def test_launchers_under_other_names(launch: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": NAMED.replace("LAUNCH", launch)}
    assert findings(files, select=["DLL101"]) == marks(files)


def test_the_start_method_is_set_under_another_name(told: Callable[..., Any]) -> None:
    text = NAMED.replace("LAUNCH", 'choose = mp.set_start_method\n    choose("spawn")\n    train(0, rows)')
    (finding,) = told({"train.py": text}, select=["DLL101"])
    assert finding.message == "program"


def test_a_loader_in_a_tuple_is_not_only_asked(findings: Callable[..., Any]) -> None:
    files = {
        "data.py": "from torch.utils.data import DataLoader\n\n\ndef loaders(rows, workers):\n"
        "    loader = DataLoader(rows, num_workers=workers)\n    return (loader,)\n",
        "train.py": """\
import torch
from data import loaders


class Trainer:
    def __init__(self, rank, config):
        self.train, self.val = self.both(config)

    def both(self, config):
        train = loaders([1], config["workers"])
        val = loaders([2], config["workers"])
        return train, val

    def run(self):
        for parts in zip(*self.train):
            print(parts)


def main(rank, config):
    Trainer(rank, config).run()


if __name__ == "__main__":
    torch.multiprocessing.spawn(main, args=({},))
""",
    }

    assert findings(files, select=["DLL101"]) == {("data.py", 5, "DLL101")}
