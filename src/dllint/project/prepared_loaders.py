"""Loaders that accelerate or Fabric wrap: `loader = accelerator.prepare(loader)`.

Their wrappers call `set_epoch` themselves and move every batch to the device (`DataLoaderShard.__iter__` in
accelerate/data_loader.py, `_FabricDataLoader.__iter__` in fabric/wrappers.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.inference.values import External, Instance
from dllint.libraries.index import GIVES_ARGUMENTS, canonical

if TYPE_CHECKING:
    from dllint.inference.engine import World


def prepared_loaders(world: World) -> Iterator[tuple[str, int]]:
    """Yield the file and the call that make each of them."""
    for name in sorted({name.rpartition(".")[2] for name in GIVES_ARGUMENTS}):
        for file, index in world.called(name):
            site = world.call_site(file, index, None)
            called = world.values.evaluate(file.calls[index].func, site)
            if any(isinstance(one, External) and canonical(one.name) in GIVES_ARGUMENTS for one in called):
                for argument in file.calls[index].args:
                    for value in world.values.evaluate(argument.value, site):
                        if isinstance(value, Instance) and value.file is not None:
                            yield value.file.path, value.call
