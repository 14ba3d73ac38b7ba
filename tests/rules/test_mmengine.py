"""mmengine: the runner builds its loaders, datasets and transforms from dicts that name registered classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

DATA = """\
import lmdb
from mmengine.dataset import BaseDataset
from mmengine.registry import DATASETS

@DATASETS.register_module({name})
class Rows(BaseDataset):
    def __init__(self, lmdb_path="rows", **kwargs):
        self.env = lmdb.open(lmdb_path)  # DLL402
        super().__init__(**kwargs)

    def get_data_info(self, index):
        with self.env.begin() as reading:
            return reading.get(str(index).encode())
"""
JITTER = """\
import cv2
import numpy as np
from mmcv.transforms import BaseTransform
from mmengine.registry import TRANSFORMS

@TRANSFORMS.register_module()
class Jitter(BaseTransform):
    def __init__(self, most):
        self.most = most
        self.rng = np.random.default_rng(0)  # DLL602

    def transform(self, results):
        results["img"] = cv2.resize(results["img"], None, fx=self.rng.uniform(1, self.most))
        return results
"""
CONFIG = """\
dataset_type = 'Rows'
train_pipeline = [dict(type='LoadImageFromFile'), {jitter}]
train_dataloader = dict(
    batch_size=2,
    num_workers={workers},
    sampler=dict(type='DefaultSampler', shuffle=True),
    dataset=dict(type={type}, ann_file='rows.json', pipeline=train_pipeline))
"""
PLAIN = "dict(type='PackInputs')"
TRAIN = """\
from mmengine.config import Config
from mmengine.runner import Runner

if __name__ == "__main__":
    Runner.from_cfg(Config.fromfile("configs/rows.py")).train()
"""


def project(config: str, name: str = "") -> dict[str, str]:
    return {
        "rows/data.py": DATA.format(name=name),
        "rows/jitter.py": JITTER,
        "configs/rows.py": config,
        "train.py": TRAIN,
    }


def config(**parts: str) -> str:
    return CONFIG.format(**{"workers": "4", "type": "dataset_type", "jitter": PLAIN, **parts})


HANDLE = ("rows/data.py", 8, "DLL402")
DRAWS = ("rows/jitter.py", 10, "DLL602")
CONFIGURED: dict[str, tuple[dict[str, str], set[tuple[str, int, str]]]] = {
    "a dataset by its class's name": (project(config()), {HANDLE}),
    "a dataset by another name": (project(config(type="'Named'"), "name=['Named', 'Same']"), {HANDLE}),
    "a dataset by a scope and its name": (project(config(type="'rows.Rows'")), {HANDLE}),
    "a transform": (project(config(jitter="dict(type='Jitter', most=2)")), {HANDLE, DRAWS}),
    "a transform inside one of a library": (
        project(config(jitter="dict(type='RandomApply', transforms=[dict(type='Jitter', most=2)])")),
        {HANDLE, DRAWS},
    ),
    "a dataset inside one of a library": (
        project(config(type="'RepeatDataset', dataset=dict(type='Rows', lmdb_path='other'), times=2")),
        {HANDLE},
    ),
    "a class in the place of a name": (
        project("from rows.data import Rows\n\n" + config(type="Rows")),
        {HANDLE},
    ),
    "no workers": (project(config(workers="0")), set()),
    "a class that nobody registered": (project(config(type="'Other'")), set()),
    "an entry that is no loader": (project(config().replace("train_dataloader", "train_data")), set()),
}


@pytest.mark.parametrize(("files", "expected"), CONFIGURED.values(), ids=CONFIGURED)
def test_configurations(files: dict[str, str], expected: Any, findings: Callable[..., Any]) -> None:
    assert findings(files, extend_select=["DLL"]) == expected


def inheriting(base: str, child: str, path: str = "../_base_/rows.py") -> dict[str, str]:
    files = project(f"_base_ = ['{path}']\n{child}")
    return {**files, "_base_/rows.py": base, "configs/child.py": files["configs/rows.py"]}


BASE_WITHOUT_WORKERS = config().replace("    num_workers=4,\n", "")
INHERITED: dict[str, tuple[dict[str, str], set[tuple[str, int, str]]]] = {
    "workers of the child": (
        inheriting(BASE_WITHOUT_WORKERS, "train_dataloader = dict(num_workers=4)\n"),
        {HANDLE},
    ),
    "a pipeline of the child": (
        inheriting(config(), "train_dataloader = dict(dataset=dict(pipeline=[dict(type='Jitter', most=2)]))\n"),
        {HANDLE, DRAWS},
    ),
    "a type of the child": (
        inheriting(config(type="'Other'"), "train_dataloader = dict(dataset=dict(type='Rows'))\n"),
        {HANDLE},
    ),
    "a path instead of a list": (
        {
            **inheriting(BASE_WITHOUT_WORKERS, ""),
            "configs/rows.py": "_base_ = '../_base_/rows.py'\ntrain_dataloader = dict(num_workers=4)\n",
        },
        {HANDLE},
    ),
    "a base of the base": (
        {
            **inheriting(BASE_WITHOUT_WORKERS, "train_dataloader = dict(num_workers=4)\n", "./middle.py"),
            "configs/middle.py": "_base_ = ['../_base_/rows.py']\ntrain_dataloader = dict(batch_size=3)\n",
        },
        {HANDLE},
    ),
    "variables of the base": (
        inheriting(
            "rows = dict(type='Rows', ann_file='rows.json')\npipeline = [dict(type='Jitter', most=2)]\n",
            "train_list = [_base_.rows]\ntrain_dataloader = dict(\n    num_workers=4,\n"
            "    dataset=dict(type='ConcatDataset', datasets=train_list, pipeline=_base_.pipeline))\n",
        ),
        {HANDLE, DRAWS},
    ),
    "other variables of the base": (
        inheriting(
            "rows = dict(type='Rows', ann_file='rows.json')\nother = dict(type='Other', ann_file='rows.json')\n",
            "train_dataloader = dict(\n    num_workers=4,\n    dataset=_base_.other)\n",
        ),
        set(),
    ),
    "no workers in either": (inheriting(BASE_WITHOUT_WORKERS, "train_dataloader = dict(batch_size=3)\n"), set()),
    "a dict that replaces the inherited one": (
        inheriting(BASE_WITHOUT_WORKERS, "train_dataloader = dict(_delete_=True, num_workers=4)\n"),
        set(),
    ),
    "another entry": (inheriting(BASE_WITHOUT_WORKERS, "val_dataloader = dict(num_workers=4)\n"), set()),
    "no base": (
        {
            **project("train_dataloader = dict(num_workers=4)\n"),
            "_base_/rows.py": BASE_WITHOUT_WORKERS,
        },
        set(),
    ),
    "a base that is itself": (
        inheriting(BASE_WITHOUT_WORKERS, "train_dataloader = dict(num_workers=4)\n", "./rows.py"),
        set(),
    ),
}


@pytest.mark.parametrize(("files", "expected"), INHERITED.values(), ids=INHERITED)
def test_configurations_that_inherit(files: dict[str, str], expected: Any, findings: Callable[..., Any]) -> None:
    assert findings(files, select=["DLL402", "DLL602"]) == expected


def test_a_configuration_without_workers_stands_for_no_other(findings: Callable[..., Any]) -> None:
    files = {"rows/data.py": DATA.format(name=""), "a.py": config(workers="0"), "b.py": config(), "c.py": config()}

    assert findings(files) == {HANDLE}


def test_a_runner_that_gets_its_loaders(findings: Callable[..., Any]) -> None:
    train = """\
from mmengine.runner import Runner
import rows.data

def main(path):
    loader = dict(batch_size=2, num_workers=2, dataset=dict(type="Rows", lmdb_path=path))
    Runner(model=None, work_dir="out", train_dataloader=loader).train()
"""
    assert findings({"rows/data.py": DATA.format(name=""), "train.py": train}) == {HANDLE}


OLD = """\
data = dict(
    samples_per_gpu=2,
    workers_per_gpu={workers},
    train=dict(type='Rows', lmdb_path='rows', pipeline=[dict(type='Jitter', most=2)]))
"""


@pytest.mark.parametrize(("workers", "expected"), [("2", {HANDLE, DRAWS}), ("0", set())])
def test_a_configuration_for_mmcv_1(workers: str, expected: Any, findings: Callable[..., Any]) -> None:
    jitter = JITTER.replace("TRANSFORMS", "PIPELINES").replace("mmengine.registry", "mmseg.datasets.builder")
    jitter = jitter.replace("(BaseTransform)", "").replace("def transform", "def __call__")
    data = DATA.format(name="").replace("mmengine.dataset ", "mmseg.datasets ").replace("BaseDataset", "CustomDataset")
    data = data.replace("get_data_info", "prepare_train_img")
    files = {"rows/data.py": data, "rows/jitter.py": jitter, "configs/rows.py": OLD.format(workers=workers)}

    assert findings(files) == expected


PROGRAM = """\
import mmcv
from mmseg.apis import train_segmentor
from mmseg.utils import setup_multi_processes

import rows.data

def main(path):
    cfg = mmcv.Config.fromfile(path)
    {set_up}
    train_segmentor(None, [], cfg)
"""
TURNING = """\
import mmcv
from mmseg.datasets import CustomDataset
from mmseg.datasets.builder import DATASETS, PIPELINES

@DATASETS.register_module()
class Rows(CustomDataset):
    def prepare_train_img(self, index):
        return self.pipeline(index)

@PIPELINES.register_module()
class Jitter:
    def __init__(self, most):
        self.most = most

    def __call__(self, row):
        return mmcv.imrotate(row["img"], self.most)
"""


@pytest.mark.parametrize(
    ("set_up", "capped"), [("setup_multi_processes(cfg)", True), ("print(cfg)", False), ("", True)]
)
def test_threads_of_opencv_with_mmcv_1(set_up: str, capped: bool, findings: Callable[..., Any]) -> None:
    """Without a program of its own, a project runs the one of the package, which sets up the processes."""
    files = {"rows/data.py": TURNING, "configs/rows.py": OLD.format(workers=2).replace("lmdb_path='rows', ", "")}
    train = {"tools/train.py": PROGRAM.format(set_up=set_up)} if set_up else {}

    found = findings({**files, **train}, select=["DLL501"])

    assert found == (set() if capped else {("rows/data.py", 16, "DLL501")})


def test_the_runner_seeds_the_workers(findings: Callable[..., Any]) -> None:
    jitter = JITTER.replace("self.rng.uniform", "np.random.uniform").replace("np.random.default_rng(0)", "None")
    files = {**project(config(jitter="dict(type='Jitter', most=2)")), "rows/jitter.py": jitter}

    assert findings({**files, "requirements.txt": "torch==1.7.0\n"}) == {HANDLE}


LAMBDA = """\
from mmengine.dataset import BaseDataset
from mmengine.registry import DATASETS

@DATASETS.register_module()
class Rows(BaseDataset):
    def __init__(self, **kwargs):
        self.key = lambda name: name.lower()
        super().__init__(**kwargs)
"""


@pytest.mark.parametrize("method", ["", "fork", "spawn"])
def test_the_runner_sets_the_start_method_under_every_python(method: str, told: Callable[..., Any]) -> None:
    environment = f"env_cfg = dict(mp_cfg=dict(mp_start_method='{method}', opencv_num_threads=0))\n" if method else ""

    assert not told({"rows/data.py": LAMBDA, "configs/rows.py": environment + config()}, target_python="3.14")


CONVERTED = """\
from mmengine.config import Config

def convert(path, method):
    cfg = Config.fromfile(path)
    cfg.env_cfg = dict(mp_cfg=dict(mp_start_method=GIVEN, opencv_num_threads=0))
    cfg.dump(path)
"""


@pytest.mark.parametrize(("given", "known"), [("cfg.mp_start_method", True), ("method", False), ("'spawn'", False)])
def test_a_converter_of_configurations_sets_no_start_method(
    given: str, known: bool, findings: Callable[..., Any]
) -> None:
    """It passes on what the configuration has."""
    files = {**project(config()), "tools/convert.py": CONVERTED.replace("GIVEN", given)}

    assert (HANDLE in findings(files, select=["DLL402"])) == known


BUILT = """\
import mmcv
from mmdet.datasets import DATASETS, build_dataloader
from mmcv.utils import build_from_cfg
from torch.utils.data import Dataset

@DATASETS.register_module()
class Rows(Dataset):
    def __init__(self, ann_file):
        self.infos = self.load(ann_file)
    def load(self, path):
        return sorted(mmcv.load(path)["infos"], key=lambda one: one["time"])[::2]
    def __len__(self):
        return len(self.infos)
    def __getitem__(self, index):
        return self.infos[index]["token"], self.infos[index]["sweeps"]

def train(cfg):
    rows = build_from_cfg(cfg.data.train, DATASETS)
    return build_dataloader(rows, cfg.data.samples_per_gpu, WORKERS)
"""
OWN = "def build_dataloader(rows, batch, workers_per_gpu):\n    return [rows]\n"


@pytest.mark.parametrize("module", ["mmdet.datasets", "mmseg.datasets", "mmdet3d.datasets", "mmdet.datasets.builder"])
@pytest.mark.parametrize("workers", ["cfg.data.workers_per_gpu", "workers_per_gpu=4"])
def test_loaders_that_a_function_of_a_package_for_mmcv_1_builds(
    module: str, workers: str, findings: Callable[..., Any]
) -> None:
    """The configuration is a YAML file, which names the class of the project."""
    source = BUILT.replace(
        "import DATASETS, build_dataloader", f"import DATASETS\nfrom {module} import build_dataloader"
    )

    assert findings({"rows.py": source.replace("WORKERS", workers)}, select=["DLL302"]) == {("rows.py", 10, "DLL302")}


@pytest.mark.parametrize(
    "source",
    [
        BUILT.replace("WORKERS", "0"),
        BUILT.replace("WORKERS", "4").replace("DATASETS, build_dataloader", f"DATASETS\n{OWN}"),
        BUILT.replace("WORKERS", "4").replace("mmdet.datasets", "vendor.datasets"),
    ],
    ids=["no workers", "a function of the project that makes no loader", "a function of an unknown package"],
)
def test_calls_of_build_dataloader_that_start_no_workers(source: str, findings: Callable[..., Any]) -> None:
    assert findings({"rows.py": source}, select=["DLL302"]) == set()
