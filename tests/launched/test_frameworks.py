"""Programs of the usual frameworks behind the overlay: each ends after the epochs that were asked for, at the user's
lines. Lightning, accelerate and transformers are tested where the interpreter has them.

The oldest versions that are tested are those of the time of torch 2.0, the oldest torch that a run supports:
`pip install torch==2.0.1 "numpy<2" pytorch_lightning==2.0.0 transformers==4.30.0 accelerate==0.20.3 "setuptools<70"`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.launched.conftest import Start

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="start methods, procfs")]

DATA = """\
import random
import torch
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(1)

class Numbers(Dataset):
    def __init__(self):
        self.random = random.Random(0)

    def __len__(self):
        return 32

    def __getitem__(self, index):
        return {"x": torch.full((4,), self.random.random()), "labels": torch.ones(1)}

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 1)

    def forward(self, x, labels):
        out = self.inner(x)
        return {"loss": ((out - labels) ** 2).mean(), "logits": out}
"""
TORCHRUN = """\
import torch.distributed as dist
from data import *
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(Net())
numbers = Numbers()
sampler = DistributedSampler(numbers)
loader = DataLoader(numbers, batch_size=4, sampler=sampler, num_workers=1)
for epoch in range(30):
    sampler.set_epoch(epoch)
    for batch in loader:
        model(**batch)["loss"].backward()
    print("epoch", epoch, flush=True)
dist.destroy_process_group()
"""
ACCELERATE = """\
from accelerate import Accelerator
from data import *

accelerator = Accelerator(cpu=True)
loader = DataLoader(Numbers(), batch_size=4, num_workers=1)
model, loader = accelerator.prepare(Net(), loader)
for epoch in range(30):
    for batch in loader:
        accelerator.backward(model(**batch)["loss"])
    print("epoch", epoch, flush=True)
"""
TRANSFORMERS = """\
from transformers import Trainer, TrainerCallback, TrainingArguments
from data import *

class Telling(TrainerCallback):
    def on_epoch_end(self, args, state, control, **kwargs):
        print("epoch", round(state.epoch) - 1, flush=True)

cpu = {"use_cpu" if hasattr(TrainingArguments, "use_cpu") else "no_cuda": True}
given = TrainingArguments("out", num_train_epochs=30, per_device_train_batch_size=4, dataloader_num_workers=1,
                          report_to=[], save_strategy="epoch", disable_tqdm=True, **cpu)
trainer = Trainer(Net(), given, train_dataset=Numbers(), callbacks=[Telling])
trainer.train()
"""
LIGHTNING = """\
import {name} as lightning
from data import *

class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def training_step(self, batch, index):
        return self.net(**batch)["loss"]

    def validation_step(self, batch, index):
        self.log("loss", self.net(**batch)["loss"])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)

    def on_train_epoch_end(self):
        print("epoch", self.current_epoch, flush=True)

train = DataLoader(Numbers(), batch_size=4, num_workers=1)
check = DataLoader(Numbers(), batch_size=4, num_workers=1)
trainer = lightning.Trainer(max_epochs=30, logger=False, enable_progress_bar=False, accelerator="cpu")
trainer.fit(Module(), train, check)
"""


FINDING = ("DLL602", "data.py", 8)
"""The dataset's own generator draws the same in every epoch."""
LIMITS = ("--max-epochs", "3", "--time-limit", "240")
"""The default time is too short where a busy machine starts the ranks and their workers."""
OTHER_NAMES = {"lightning": ("pytorch_lightning",)}
"""The packages that are the same, of which an interpreter may have one only."""


def epochs(out: str) -> list[str]:
    return sorted({line for line in out.splitlines() if line.startswith("epoch ")})


def said_at(report: dict[str, Any]) -> list[tuple[str, str, int]]:
    """The rule and the place of all that is confirmed."""
    confirmed = [one for one in report["findings"] if one["verdict"] == "confirmed"]
    return [(one["code"], Path(one["filename"]).name, one["location"]["row"]) for one in confirmed]


def test_torchrun(train: Start) -> None:
    python = os.environ["DLLINT_TORCH_PYTHON"]
    words = ("--", python, "-m", "torch.distributed.run", "--nproc_per_node", "2", "train.py")
    ran = train(TORCHRUN, *words, files={"data.py": DATA}, options=LIMITS)
    assert epochs(ran.out) == ["epoch 0", "epoch 1", "epoch 2"], (ran.report["exit"], ran.err)
    assert (ran.status, ran.report["exit"]["ending"], ran.report["uninstrumented"]) == (1, "shortened", [])
    assert FINDING in said_at(ran.report)
    (loader,) = ran.report["loaders"]
    assert loader["site"]["location"]["row"] == 9
    said = [one["message"] for one in loader["predictions"]]
    assert any("after 3 epochs with 2 workers in 2 processes" in one for one in said), said


@pytest.mark.parametrize(
    ("name", "program", "rows"),
    [
        ("accelerate", ACCELERATE, {5}),
        ("transformers", TRANSFORMERS, {12}),
        ("lightning", LIGHTNING, {21, 22}),
    ],
)
def test_frameworks(train: Start, name: str, program: str, rows: set[int], tmp_path: Path) -> None:
    python = os.environ["DLLINT_TORCH_PYTHON"]
    found = (
        f"from importlib.util import find_spec as found; print(*filter(found, {(name, *OTHER_NAMES.get(name, ()))}))"
    )
    names = subprocess.run([python, "-c", found], capture_output=True, text=True, check=True).stdout.split()
    if not names:
        pytest.skip(f"the interpreter has no {name}")
    ran = train(program.replace("{name}", names[0]), files={"data.py": DATA}, options=LIMITS)
    assert epochs(ran.out) == ["epoch 0", "epoch 1", "epoch 2"], (ran.report["exit"], ran.err)
    assert said_at(ran.report) == [FINDING]
    assert (ran.status, ran.report["exit"]["ending"]) == (1, "shortened")
    assert {one["site"]["location"]["row"] for one in ran.report["loaders"]} == rows
    assert {Path(one["site"]["filename"]).name for one in ran.report["loaders"]} == {"train.py"}
    assert not (tmp_path / "out").exists() and not (tmp_path / "checkpoints").exists()
