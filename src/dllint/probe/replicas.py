"""Record that a process trains a replica of a model, whose gradients are averaged over all ranks."""

from __future__ import annotations

import functools

from dllint.probe import recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any


def hook(module: ModuleType) -> None:
    """Replace the constructor of `torch.nn.parallel.DistributedDataParallel`."""
    cls = module.DistributedDataParallel
    original = cls.__init__

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        recorder.guarded(_built, self)

    cls.__init__ = __init__


def _built(model: Any) -> None:
    import torch.distributed

    ranks, world = model.process_group.size(), torch.distributed.get_world_size()
    # Ranks outside of the group, as with tensor or pipeline parallelism, may well be given the same data.
    if ranks == world > 1:
        recorder.record("replica", ranks=ranks)
