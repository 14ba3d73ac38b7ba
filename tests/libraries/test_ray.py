"""Ray's trainer starts new interpreters; what it prepares is still the loader it was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint import linter
from dllint.config import Settings
from dllint.inference.values import const
from dllint.linter import Execution
from dllint.project import Project
from dllint.project.process_starts import Starting

TRAIN = """\
import multiprocessing

import ray.train.torch
from ray.train.torch import TorchTrainer
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __getitem__(self, index):
        return index


def train_loop(config):
    loader = DataLoader(Rows(), num_workers=config["workers"])
    loader = ray.train.torch.prepare_data_loader(loader)
    for batch in loader:
        pass


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    trainer = TorchTrainer(train_loop, train_loop_config={"workers": 4})
    trainer.fit()
"""


ACTORS = """\
import multiprocessing

import ray
from torch.utils.data import DataLoader


@ray.remote(num_gpus=1)
class Actor:
    def __init__(self, rows, workers=0):
        self.loader = DataLoader(rows, num_workers=workers)

    def step(self):
        for batch in self.loader:
            print(batch)


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    actors = [Actor.remote([1], workers=4) for _ in range(2)]
    ray.get([actor.step.remote() for actor in actors])
"""


def linked(top: Path, text: str) -> Project:
    path = top / "train.py"
    path.write_text(text)
    return linter.link(str(path), Settings(root=str(top)), Execution(jobs=1, cache=False)).project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return linked(tmp_path, TRAIN)


def test_the_train_loop_is_the_target_of_a_launch_that_inherits_nothing(project: Project) -> None:
    (launch,) = project.launches.all()
    (target,) = launch.targets
    assert target.function.file.scopes[target.function.scope].name == "train_loop"
    assert launch.methods == ("fresh",)
    assert project.ask(Starting).methods(launch) == []


def test_the_start_method_is_the_default_of_the_target_and_not_what_the_program_sets(project: Project) -> None:
    (loader,) = project.loaders
    call = loader.file.calls[loader.call]
    assert project.methods.at(loader.file, call.scope, call.region, (call.span.line, call.span.column)) == []
    assert {(one.method, one.source) for one in project.regimes(loader)} == {
        ("fork", "default"),
        ("forkserver", "default"),
    }


def test_the_config_is_the_argument_of_the_train_loop(project: Project) -> None:
    (launch,) = project.launches.all()
    (loader,) = project.loaders
    assert loader.workers(launch.targets[0].frame).count == 4
    assert const(4) in loader.argument("num_workers", launch.targets[0].frame).values


def test_iterating_a_prepared_loader_iterates_the_loader(project: Project) -> None:
    (loader,) = project.loaders
    (file,) = project.files
    (iteration,) = project.ask(Starting).iterations(file, file.calls[loader.call].scope, None)
    assert iteration.loader == loader
    assert iteration.span.line == 16


def test_actors_and_their_methods_are_targets_of_launches_that_inherit_nothing(tmp_path: Path) -> None:
    project = linked(tmp_path, ACTORS)
    launches = project.launches.all()
    targets = [target.function for launch in launches for target in launch.targets]
    assert [one.file.scopes[one.scope].name for one in targets] == ["__init__", "step"]
    assert {launch.methods for launch in launches} == {("fresh",)}


def test_workers_of_an_actor_are_those_it_is_made_with_and_inherit_no_start_method(tmp_path: Path) -> None:
    project = linked(tmp_path, ACTORS)
    (loader,) = project.loaders
    assert loader.workers().count == 4
    assert {(one.method, one.source) for one in project.regimes(loader)} == {
        ("fork", "default"),
        ("forkserver", "default"),
    }
