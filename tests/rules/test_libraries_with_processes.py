"""Libraries that make loaders or start processes of their own: skorch, pytorch-forecasting, environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

ROWS = """\
from torch.utils.data import Dataset

class Rows(Dataset):
    def __init__(self):
        self.scale = lambda row: row  # DLL201

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.scale(index), 0
"""
FOUND: dict[str, Mapping[str, str]] = {
    "a dataset that skorch fits": {
        "train.py": ROWS
        + """
from skorch import NeuralNetClassifier

net = NeuralNetClassifier(None, iterator_train__num_workers=4, iterator_train__multiprocessing_context="spawn")
net.fit(Rows(), y=None)
"""
    },
    "a subclass of a skorch net, of another file": {
        "net.py": """\
from skorch.net import NeuralNet

class Net(NeuralNet):
    pass

def build(workers):
    return Net(None, iterator_train__num_workers=workers, iterator_train__multiprocessing_context="spawn")
""",
        "train.py": ROWS
        + "\nfrom net import build\n\nnet = build(2)\nfor epoch in range(3):\n    net.partial_fit(X=Rows())\n",
    },
    "loaders of a time series": {
        "train.py": """\
from pytorch_forecasting.data import TimeSeriesDataSet

def build(table):
    training = TimeSeriesDataSet(table, time_idx="hour", target="load", group_ids=["site"])
    validation = TimeSeriesDataSet.from_dataset(training, table, predict=True)
    first = training.to_dataloader(train=True, batch_size=64, num_workers=0, persistent_workers=True)  # DLL605
    return first, validation.to_dataloader(prefetch_factor=4)  # DLL605
"""
    },
    "functions that make environments": {
        "train.py": """\
import gym
from stable_baselines3.common.vec_env import SubprocVecEnv

def make(rank):
    def create():
        return gym.make("CartPole-v1")
    return create

environments = SubprocVecEnv([make(rank) for rank in range(4)])  # DLL102
"""
    },
    "lambdas that make environments": {
        "train.py": """\
import gymnasium

makers = [lambda: gymnasium.make("CartPole-v1")] * 4
environments = gymnasium.vector.AsyncVectorEnv(makers, context="spawn")  # DLL102
"""
    },
}
SILENT: dict[str, Mapping[str, str]] = {
    "a net without workers, and an array": {
        "train.py": ROWS.replace("  # DLL201", "")
        + """
import numpy as np
from skorch import NeuralNetRegressor

NeuralNetRegressor(None).fit(Rows(), y=None)
net = NeuralNetRegressor(None, iterator_train__num_workers=4, iterator_train__multiprocessing_context="spawn")
net.fit(np.zeros((9, 3)), np.zeros(9))
"""
    },
    "loaders of a time series with workers": {
        "train.py": """\
from pytorch_forecasting import TimeSeriesDataSet

def build(table):
    return TimeSeriesDataSet(table).to_dataloader(num_workers=4, persistent_workers=True)
"""
    },
    "environments below a guard, by cloudpickle": {
        "train.py": """\
import gym
from gym.vector import AsyncVectorEnv
from stable_baselines3.common.vec_env import SubprocVecEnv

if __name__ == "__main__":
    environments = SubprocVecEnv([lambda: gym.make("CartPole-v1")] * 4)
    environments = AsyncVectorEnv([lambda: gym.make("CartPole-v1")] * 4, context="spawn")
"""
    },
    "environments in forked processes": {
        "train.py": """\
import gym
from stable_baselines3.common.vec_env import SubprocVecEnv

environments = SubprocVecEnv([lambda: gym.make("CartPole-v1")], start_method="fork")
"""
    },
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_found(files: Mapping[str, str], told: Callable[..., Any], marks: Callable[..., Any], relative: Any) -> None:
    found = told(files, target_python="3.12")

    severe = {(relative(one.path), one.span.line, one.code) for one in found if one.severity != "info"}
    assert severe == marks(files)


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_silent(files: Mapping[str, str], told: Callable[..., Any]) -> None:
    assert [one for one in told(files, target_python="3.12") if one.severity != "info"] == []
