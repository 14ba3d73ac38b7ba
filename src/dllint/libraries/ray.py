"""Ray 2 (docs.ray.io, "Ray Train Overview": each worker is a process of its own that runs the training function).

`ray/train/torch/torch_trainer.py`: the function takes no argument, or `train_loop_config`. Ray starts its workers as
new interpreters and sends functions by cloudpickle. They inherit nothing from the program that creates the trainer, not
even its start method. `prepare_data_loader` returns the loader itself, or with several training workers a loader with
the same dataset, `num_workers` and `collate_fn` and a DistributedSampler (`ray/train/torch/train_loop_utils.py`).

`ray.remote` turns a function into a task and a class into an actor ("Tasks", "Actors"): `train.remote(4)` runs the
function, `Actor.remote(rows)` creates an object, and `actor.step.remote()` calls its method, each in a Ray worker.
"""

from __future__ import annotations

from dllint.facts.nodes import Attribute
from dllint.inference.edges import Given
from dllint.inference.interface import Engine, Handler
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Class, External, Site, Values
from dllint.libraries.facets import LauncherApi, Library
from dllint.linking.source import SourceFile

_REMOTE = "ray.remote()"
REMOTE = {name: External(f"{_REMOTE}.{name}") for name in ("remote", "options")}
"""The values of the attributes of a task, of an actor class and of an actor's methods."""

LIBRARY = Library(
    aliases={
        "ray.train.torch.torch_trainer.TorchTrainer": "ray.train.torch.TorchTrainer",
        "ray.train.torch.train_loop_utils.prepare_data_loader": "ray.train.torch.prepare_data_loader",
    },
    launchers={
        "ray.train.torch.TorchTrainer": LauncherApi(
            "train_loop_per_worker",
            ("train_loop_per_worker",),
            args="",
            kwargs="",
            config="train_loop_config",
            method="fresh",
        ),
        f"{_REMOTE}.remote": LauncherApi("", (), args="*", method="fresh"),
    },
    gives_argument=frozenset({"ray.train.torch.prepare_data_loader"}),
    pickles_by_value=frozenset({"ray.cloudpickle.dumps"}),
)


def _receiver(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    func = file.calls[index].func
    return world.values.evaluate(func.value, site) if isinstance(func, Attribute) else None


def _same(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the function or class passed to `ray.remote`, which stands for the task or actor class."""
    plain = [one.value for one in file.calls[index].args if one.keyword is None]
    return world.values.evaluate(plain[0], site) if plain else None


def _made(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the object that stands for an actor; unknown for the result of a task."""
    given = Given(file, index, site.frame)
    values = _receiver(world, file, index, site) or ()
    return union(world.values.result(one, given) if isinstance(one, Class) else (UNKNOWN,) for one in values) or None


RESULTS: dict[str, Handler] = {
    "ray.remote": _same,
    _REMOTE: _same,
    f"{_REMOTE}.options": _receiver,
    f"{_REMOTE}.remote": _made,
}
