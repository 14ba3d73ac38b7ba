"""Coqui's package `trainer`: `fit()` iterates the loader that a method of the model makes from the trainer's config."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
from dataclasses import dataclass

from torch.utils.data import DataLoader
from trainer import Trainer, TrainerArgs, TrainerConfig, TrainerModel
from trainer.trainer import Trainer as Runs


@dataclass
class Config(TrainerConfig):
    num_loader_workers: int = 0


class Model(TrainerModel):
    def get_data_loader(self, config, assets, is_eval, samples, verbose, num_gpus, rank=None):
        if is_eval and not config.run_eval:
            loader = None
        else:
            loader = DataLoader(samples, num_workers=config.num_loader_workers)
        return loader


class Bare:
    pass


config = Config(num_loader_workers=4)
model = Model()
args = TrainerArgs()
"""


@pytest.mark.parametrize(
    "lines",
    [
        'trainer = Trainer(args, config, "out", model=model, train_samples=[1, 2])\ntrainer.fit()\n',
        'Runs(args, config, "out", None, None, model).fit()\n',
        'Trainer(args, config=Config(num_loader_workers=2), output_path="out", model=Model()).fit()\n',
        "config.num_loader_workers = 8\nTrainer(args, config, model=model).fit_with_largest_batch_size()\n",
        "Trainer(args, config, model=Bare(), train_loader=DataLoader([1], num_workers=2)).fit()\n",
        'class Mine(Trainer):\n    pass\n\n\nMine(args, config, "out", model=model).fit()\n',
    ],
)
def test_a_trainer_goes_through_the_loader_of_its_model(lines: str, told: Callable[..., Any]) -> None:
    (found,) = told({"main.py": HEAD + lines}, select=["DLL102"])

    assert (found.severity, found.span.line) == ("warning", (HEAD + lines).rstrip().count("\n") + 1)


@pytest.mark.parametrize(
    "lines",
    [
        'Trainer(args, Config(), "out", model=model).fit()\n',  # no workers
        'Trainer(args, Config(num_loader_workers=0), "out", model=model).fit()\n',
        'Trainer(args, config, "out", model=Bare()).fit()\n',
        'trainer = Trainer(args, config, "out", model=model)\n',
        'if __name__ == "__main__":\n    Trainer(args, config, "out", model=model).fit()\n',
    ],
)
def test_a_trainer_that_starts_no_worker_while_it_is_imported(lines: str, told: Callable[..., Any]) -> None:
    assert not told({"main.py": HEAD + lines}, select=["DLL102"])
