"""Loaders whose batches a library makes of new tensors: those that accelerate or Fabric wrap, and those with stages
behind them.

The wrappers (`loader = accelerator.prepare(loader)`) call `set_epoch` themselves and move every batch to the device
(`DataLoaderShard.__iter__` in accelerate/data_loader.py, `_FabricDataLoader.__iter__` in fabric/wrappers.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute
from dllint.inference.values import External, Instance
from dllint.libraries.index import GIVES_ARGUMENTS, MAKES_BATCHES, canonical

if TYPE_CHECKING:
    from dllint.inference.engine import World


def prepared_loaders(world: World) -> Iterator[tuple[str, int]]:
    """Yield the file and the call that make each loader that is wrapped."""
    for name in sorted({name.rpartition(".")[2] for name in GIVES_ARGUMENTS}):
        for file, index in world.called(name):
            site = world.call_site(file, index, None)
            called = world.values.evaluate(file.calls[index].func, site)
            if any(isinstance(one, External) and canonical(one.name) in GIVES_ARGUMENTS for one in called):
                for argument in file.calls[index].args:
                    for value in world.values.evaluate(argument.value, site):
                        if isinstance(value, Instance) and value.file is not None:
                            yield value.file.path, value.call


def rebatched_loaders(world: World) -> Iterator[tuple[str, int]]:
    """Yield the file and the call that make each loader with a stage that makes batches: `loader.batched(16)`."""
    for name in sorted({method for methods in MAKES_BATCHES.values() for method in methods}):
        for file, index in world.called(name):
            func = file.calls[index].func
            if not isinstance(func, Attribute):
                continue
            for value in world.values.evaluate(func.value, world.call_site(file, index, None)):
                of = value.of if isinstance(value, Instance) else None
                stages = MAKES_BATCHES.get(canonical(of.name), ()) if isinstance(of, External) else ()
                if isinstance(value, Instance) and value.file is not None and name in stages:
                    yield value.file.path, value.call
