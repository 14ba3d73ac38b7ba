"""The backends of torch.distributed that a value names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.inference.values import Const, External, Instance, Value
from dllint.libraries.index import canonical

if TYPE_CHECKING:
    from dllint.inference.engine import World

INIT_PROCESS_GROUP = "torch.distributed.init_process_group"
BACKEND = "torch.distributed.Backend"
"""A string with the backends as attributes: `Backend.NCCL == Backend("NCCL") == "nccl"` (`torch/distributed/
distributed_c10d.py`)."""


def backends(world: World, value: Value) -> list[str]:
    """The names of backends that a value stands for; none if it is unknown."""
    return list(_names(world, value))


def _names(world: World, value: Value) -> Iterator[str]:
    if isinstance(value, Const):
        yield str(value.value)
    elif isinstance(value, External):
        owner, _, name = canonical(value.name).rpartition(".")
        if owner == BACKEND:
            yield name
    elif isinstance(value, Instance) and isinstance(value.of, External) and canonical(value.of.name) == BACKEND:
        for given in world.made_with(value).positional[:1]:
            if given.expr is not None and given.site is not None:
                for one in world.values.evaluate(given.expr, given.site):
                    yield from _names(world, one)
