"""Lightning's trainers whose strategy runs a model's hooks in processes that inherit a start method."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute
from dllint.inference.edges import Target
from dllint.inference.interface import Engine
from dllint.inference.values import Class, Const, External, Instance, Value
from dllint.libraries.hooks import called_hooks
from dllint.libraries.index import HOOKS, canonical
from dllint.libraries.pytorch_lightning import SPAWNING_STRATEGIES
from dllint.linking.source import SourceFile, last_name

TRAINER = "lightning.pytorch.Trainer"
CHOICES = ("strategy", "accelerator", "distributed_backend")
"""Trainer arguments that determine how it starts processes; the last two exist in old releases."""


def trainer_runs(world: Engine) -> Iterator[tuple[SourceFile, int, str, tuple[Target, ...]]]:
    """Yield calls such as `trainer.fit(model)`, each with a start method that the trainer's strategy uses, and the
    project's hooks that the call runs."""
    for name in HOOKS[TRAINER].entries:
        for file, index in world.called(name):
            call = file.calls[index]
            if not isinstance(call.func, Attribute):
                continue
            site = world.call_site(file, index, None)
            methods = [
                method for value in world.values.evaluate(call.func.value, site) for method in _methods_of(world, value)
            ]
            targets = tuple(_hooks(world, file, index)) if methods else ()
            if targets:
                for method in dict.fromkeys(methods):
                    yield file, index, method, targets


def _methods_of(world: Engine, value: Value) -> Iterator[str]:
    if not isinstance(value, Instance) or value.file is None or value.call < 0:
        return
    names = world.hierarchy.externals(value.of) if isinstance(value.of, Class) else [value.of.name]
    if not any(HOOKS.get(canonical(name)) is HOOKS[TRAINER] for name in names):
        return
    given = world.made_with(value).keywords
    for choice in (given[name] for name in CHOICES if name in given):
        for one in world.values.evaluate(choice.expr, choice.site) if choice.site is not None else ():
            if isinstance(one, Const) and one.value in SPAWNING_STRATEGIES:
                yield SPAWNING_STRATEGIES[one.value]
            elif isinstance(one, Instance):
                yield from _of_strategy(world, one)


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
