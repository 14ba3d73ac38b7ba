"""DLL606: changes to datasets by hooks that a framework calls in each epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL606"]}
DATA = """\
from mmengine.dataset import BaseDataset
from mmengine.registry import DATASETS

@DATASETS.register_module()
class Clusters(BaseDataset):
    def __init__(self, **kwargs):
        self.labels = []
        super().__init__(**kwargs)

    def assign(self, labels):
        self.labels = labels

    def prepare_data(self, index):
        return self.labels[index]
"""
CONFIG = """\
train_dataloader = dict(
    batch_size=64,
    num_workers=4,
    persistent_workers=True,
    dataset=dict(type='Clusters', ann_file='rows.json'))
custom_hooks = [dict(type='Cluster')]
"""
HOOK = """\
from mmengine.hooks import Hook
from mmengine.registry import HOOKS
import data

@HOOKS.register_module()
class Cluster(Hook):
"""
TRAIN = """\
from mmengine.config import Config
from mmengine.runner import Runner
import hook

if __name__ == "__main__":
    Runner.from_cfg(Config.fromfile("configs/rows.py")).train()
"""


def mmengine(hook: str, config: str = CONFIG) -> dict[str, str]:
    return {"data.py": DATA, "configs/rows.py": config, "hook.py": HOOK + hook, "train.py": TRAIN}


STORED = """\
    def before_train(self, runner):
        self.loader = runner.train_dataloader
        self.cluster(runner)

    def after_train_epoch(self, runner):
        if runner.epoch % 2 == 0:
            self.cluster(runner)

    def cluster(self, runner):
        self.loader.dataset.assign(runner.model.labels())  # DLL606
"""
DIRECT = """\
    def before_train_epoch(self, runner):
        runner.train_dataloader.dataset.labels = runner.model.labels()  # DLL606
"""
RESTARTED = """\
    def before_train_epoch(self, runner):
        loader = runner.train_dataloader
        loader.dataset.assign(runner.model.labels())
        if loader.persistent_workers:
            loader._DataLoader__initialized = False
            loader._iterator = None
"""
ROWS = """\
import lightning as L
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __getitem__(self, index):
        return index + self.epoch

class Data(L.LightningDataModule):
    def setup(self, stage):
        self.rows = Rows()

    def train_dataloader(self):
        return DataLoader(self.rows, num_workers=2, persistent_workers=True)

    def val_dataloader(self):
        return DataLoader(Rows(), num_workers=2)

"""
FIT = "\n\ndef main():\n    L.Trainer(max_epochs=9).fit(Model(), datamodule=Data())\n\nmain()\n"
MODEL = """\
class Model(L.LightningModule):
    def on_train_epoch_start(self):
        self.trainer.train_dataloader.dataset.set_epoch(self.current_epoch)  # DLL606
"""
OF_CALLBACK = """\
class Model(L.LightningModule):
    pass

class Curriculum(L.Callback):
    def on_train_epoch_end(self, trainer, module):
        rows = trainer.train_dataloader.dataset
        self.move(rows, trainer.current_epoch)
        rows.set_epoch(trainer.current_epoch)  # DLL606

    def move(self, rows, epoch):
        pass
"""
OWN_LOADER = """\
class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.rows = Rows()

    def train_dataloader(self):
        return DataLoader(self.rows, num_workers=2, persistent_workers=True)

    def on_train_epoch_start(self):
        self.rows.set_epoch(self.current_epoch)  # DLL606

def main():
    L.Trainer().fit(Model())

main()
"""
MMCV_HOOK = """\
from mmcv.runner import HOOKS, Hook

@HOOKS.register_module()
class Cluster(Hook):
    def before_train_epoch(self, runner):
        runner.data_loader.dataset.assign(runner.model.labels())  # DLL606
"""
MMCV = {
    "data.py": DATA.replace("from mmengine.dataset import BaseDataset", "from mmcls.datasets import BaseDataset"),
    "configs/rows.py": "data = dict(\n    samples_per_gpu=8,\n    workers_per_gpu=4,\n    persistent_workers=True,\n"
    "    train=dict(type='Clusters', data_prefix='rows'))\n",
    "hook.py": MMCV_HOOK,
    "train.py": "from mmcv import Config\nimport data, hook\n\nprint(Config.fromfile('configs/rows.py'))\n",
}
PERSISTENT = (
    ", persistent_workers=True)\n\n    def val_dataloader(self):\n        return DataLoader(Rows(), num_workers=2)",
    ")\n\n    def val_dataloader(self):\n        return DataLoader(Rows(), num_workers=2, persistent_workers=True)",
)
FOUND: dict[str, dict[str, str]] = {
    "a loader that a hook keeps, in a method that it calls": mmengine(STORED),
    "an attribute": mmengine(DIRECT),
    "a hook whose base is the project's": {
        **mmengine(""),
        "hook.py": HOOK.replace("Cluster(Hook)", "Base(Hook)") + "    pass\n\nclass Cluster(Base):\n" + STORED,
    },
    "mmcv's": MMCV,
    "Lightning's module": {"train.py": ROWS + MODEL + FIT},
    "Lightning's callback": {"train.py": ROWS + OF_CALLBACK + FIT},
    "a dataset that the module keeps": {"train.py": ROWS + OWN_LOADER},
}
SILENT: dict[str, dict[str, str]] = {
    "not persistent": mmengine(STORED, CONFIG.replace("    persistent_workers=True,\n", "")),
    "no workers": mmengine(STORED, CONFIG.replace("num_workers=4", "num_workers=0")),
    "before the first epoch": mmengine(STORED.replace("after_train_epoch", "after_train")),
    "workers that start again": mmengine(RESTARTED),
    "the loader of another phase": mmengine(STORED, CONFIG.replace("train_dataloader", "val_dataloader")),
    "another attribute": mmengine(STORED.replace("runner.train_dataloader", "runner.extract_dataloader")),
    "what workers do not read": mmengine(DIRECT.replace("dataset.labels", "dataset.names")),
    "the sampler": mmengine(DIRECT.replace("dataset.labels", "sampler.labels")),
    "no hook": mmengine(STORED.replace("after_train_epoch", "restart")),
    "a class that the framework does not call": {
        **mmengine(""),
        "hook.py": "import data\n\nclass Cluster:\n" + STORED,
    },
    "Lightning, with loaders of each epoch": {
        "train.py": ROWS + MODEL + FIT.replace("max_epochs=9", "max_epochs=9, reload_dataloaders_every_n_epochs=1")
    },
    "Lightning, with one epoch": {"train.py": ROWS + MODEL + FIT.replace("=9", "=1")},
    "Lightning, before the first epoch": {
        "train.py": ROWS + MODEL.replace("on_train_epoch_start", "on_fit_start") + FIT
    },
    "Lightning, the loader of another phase": {"train.py": ROWS.replace(*PERSISTENT) + MODEL + FIT},
    "Lightning, with workers that start again": {
        "train.py": ROWS + MODEL + "        self.trainer.train_dataloader._iterator = None\n" + FIT
    },
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_found(files: dict[str, str], findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_silent(files: dict[str, str], findings: Callable[..., Any]) -> None:
    unmarked = {name: text.replace("  # DLL606", "") for name, text in files.items()}

    assert findings(unmarked, **SELECT) == set()


def test_workers_that_start_again_in_a_loop(findings: Callable[..., Any]) -> None:
    lines = (
        "def main():\n    rows = Rows()\n    loader = DataLoader(rows, num_workers=2, persistent_workers=True)\n"
        "    for epoch in range(9):\n        rows.set_epoch(epoch)\n        RESTART\n"
        "        for batch in loader:\n            print(batch)\n"
    )
    restart = "loader._iterator = None"

    assert findings({"train.py": ROWS + lines.replace("RESTART", "pass")}, **SELECT)
    assert not findings({"train.py": ROWS + lines.replace("RESTART", restart)}, **SELECT)
