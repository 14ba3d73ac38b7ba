"""Lightning's trainers whose strategy runs a model's hooks in processes that inherit a start method."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint.facts.nodes import Attribute, List, Tuple
from dllint.inference.edges import Target
from dllint.inference.interface import Engine
from dllint.inference.values import Actuals, Class, Const, Display, External, Instance, Value, Values
from dllint.libraries.hooks import called_hooks
from dllint.libraries.index import HOOKS, canonical
from dllint.libraries.pytorch_lightning import SPAWNING_STRATEGIES
from dllint.linking.source import SourceFile, last_name

TRAINER = "lightning.pytorch.Trainer"
CHOICES = ("strategy", "accelerator", "distributed_backend")
"""Trainer arguments that determine how it starts processes; the last two exist in old releases."""

_GPUS = "gpus"
"""This argument exists up to release 1.9, in which the strategy for several GPUs is `ddp_spawn` unless another one is
chosen (1.2 to 1.9, `trainer/connectors/accelerator_connector.py`)."""
_BY_DEFAULT = ", Lightning's default for several GPUs before 2.0"
_NO_STRATEGY = (None, "gpu", "cuda", "auto")
_ALL_GPUS = (-1, "-1")
"""All GPUs of the machine, which may be one."""
_COUNTING = "torch.cuda.device_count"


class TrainerRun(NamedTuple):
    """A call such as `trainer.fit(model)` that starts processes.

    Attributes:
        method: the start method that the trainer's strategy uses.
        targets: the project's hooks that the processes run; guessed if the trainer may start none.
        note: why it is this method, if the trainer's arguments do not name it.
    """

    file: SourceFile
    call: int
    method: str
    targets: tuple[Target, ...]
    note: str


def trainer_runs(world: Engine) -> Iterator[TrainerRun]:
    """Yield the calls that run hooks in processes which inherit a start method, one for each method and reason."""
    for name in HOOKS[TRAINER].entries:
        for file, index in world.called(name):
            call = file.calls[index]
            if not isinstance(call.func, Attribute):
                continue
            trainers = world.values.evaluate(call.func.value, world.call_site(file, index, None))
            strategies = dict.fromkeys(one for value in trainers for one in _strategies(world, value))
            targets = tuple(_hooks(world, file, index)) if strategies else ()
            for one in strategies if targets else ():
                run = tuple(target._replace(guessed=target.guessed or not one.sure) for target in targets)
                yield TrainerRun(file, index, one.method, run, one.note)


class _Strategy(NamedTuple):
    """A start method that a trainer uses. `sure`: it certainly starts processes. `note` as in `TrainerRun`."""

    method: str
    sure: bool = True
    note: str = ""


def _strategies(world: Engine, value: Value) -> Iterator[_Strategy]:
    """Yield the start methods of the processes in which a trainer runs hooks."""
    if not isinstance(value, Instance) or value.file is None or value.call < 0:
        return
    names = world.hierarchy.externals(value.of) if isinstance(value.of, Class) else [value.of.name]
    if not any(HOOKS.get(canonical(name)) is HOOKS[TRAINER] for name in names):
        return
    actuals = world.made_with(value)
    chosen = False
    for one in (one for name in CHOICES for one in _given(world, actuals, name)):
        if isinstance(one, Const) and one.value in SPAWNING_STRATEGIES:
            yield _Strategy(SPAWNING_STRATEGIES[one.value])
        elif isinstance(one, Instance):
            yield from map(_Strategy, _of_strategy(world, one))
        chosen = chosen or not (isinstance(one, Const) and one.value in _NO_STRATEGY)
    if not (chosen or actuals.mappings or actuals.under or "plugins" in actuals.keywords):
        counts = _given(world, actuals, _GPUS)
        if any(map(_several, counts)):
            yield _Strategy("spawn", all(map(_surely_several, counts)), _BY_DEFAULT)


def _given(world: Engine, actuals: Actuals, name: str) -> Values:
    """Return the values of a keyword argument; empty if it is absent."""
    choice = actuals.keywords.get(name)
    return world.values.evaluate(choice.expr, choice.site) if choice is not None and choice.site is not None else ()


def _several(gpus: Value) -> bool:
    """Whether a number of GPUs, or a list or text of their numbers, may stand for more than one."""
    if isinstance(gpus, Instance) and isinstance(gpus.of, External) and canonical(gpus.of.name) == _COUNTING:
        return True
    return (isinstance(gpus, Const) and gpus.value in _ALL_GPUS) or _surely_several(gpus)


def _surely_several(gpus: Value) -> bool:
    if isinstance(gpus, Display):
        return isinstance(gpus.written.expr, (List, Tuple)) and len(gpus.written.expr.elements) > 1
    if not isinstance(gpus, Const) or isinstance(gpus.value, bool):
        return False
    if isinstance(gpus.value, str):
        return len([part for part in gpus.value.split(",") if part.strip()]) > 1
    return isinstance(gpus.value, int) and gpus.value > 1


def _of_strategy(world: Engine, value: Instance) -> Iterator[str]:
    """Yield the start method of `DDPStrategy(start_method="spawn")`."""
    if not isinstance(value.of, External) or not value.of.name.endswith("Strategy"):
        return
    if value.file is None or value.call < 0:
        return
    given = world.made_with(value).keywords.get("start_method")
    if given is not None and given.site is not None:
        for one in world.values.evaluate(given.expr, given.site):
            if isinstance(one, Const) and one.value in ("fork", "spawn", "forkserver"):
                yield one.value


def _hooks(world: Engine, file: SourceFile, index: int) -> Iterator[Target]:
    name = last_name(file.calls[index].func)
    for method, activation in called_hooks(world, f"{TRAINER}().{name}", file, index, None):
        yield Target(method, activation)
