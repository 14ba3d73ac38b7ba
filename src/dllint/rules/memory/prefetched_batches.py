"""Estimates how many bytes of shared memory prefetched batches occupy, from the source alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import List, Tuple
from dllint.inference.values import Class, Const, Display, External, Instance, Value
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.project.model import Project

PREFETCH_FACTOR = 2
"""Batches that each worker prepares in advance by default (torch/utils/data/dataloader.py, `DataLoader.__init__`)."""


def ahead(project: Project, loader: Loader) -> int | None:
    """The bytes of batches in shared memory at a time: (workers x prefetch_factor + 2) x bytes per batch; None if
    unknown.

    The two are the batch in use and the previous one, which the loss keeps alive. An item counts as its arrays with a
    shape in the source; a number beside them hardly matters.
    """
    if not all(loader.argument(name).absent for name in ("collate_fn", "batch_sampler")):
        return None
    workers = loader.workers().count
    factor = argument_number(loader, "prefetch_factor", PREFETCH_FACTOR)
    items = argument_number(loader, "batch_size", 1)
    if not workers or factor is None or items is None:
        return None
    item = max((_returned(project, value) for value in loader.datasets()), default=0)
    return (workers * factor + 2) * items * item or None


def argument_number(loader: Loader, name: str, default: int) -> int | None:
    """The value of an argument that is a single number; the default if it is left out or None; None if unknown."""
    found = loader.argument(name)
    if found.absent and not found.values:
        return default
    value = found.values[0] if len(found.values) == 1 else None
    if not isinstance(value, Const) or not (value.value is None or isinstance(value.value, int)):
        return None
    return default if value.value is None else value.value


def _returned(project: Project, dataset: Value) -> int:
    """The bytes of an item of one of the project's datasets; 0 if unknown."""
    if not isinstance(dataset, Instance) or not isinstance(dataset.of, Class):
        return 0
    method = project.world.hierarchy.method(dataset.of, "__getitem__")
    if method is None:
        return 0
    items = project.world.values.returned(method, project.world.receiver_frame(dataset))
    return max((_size(project, item) for item in items), default=0)


def _size(project: Project, value: Value) -> int:
    """The bytes of the arrays that an item is or contains.

    Only arrays returned as they were created count: a row of an array, or a value computed from one, is smaller.
    """
    if isinstance(value, Display) and isinstance(value.written.expr, (List, Tuple)):
        parts = (project.world.values.evaluate(part, value.written.site) for part in value.written.expr.elements)
        return sum(max((_size(project, one) for one in part), default=0) for part in parts)
    array = project.arrays.array(value)
    if array is None or array.size is None or array.source != "shape" or not isinstance(value, Instance):
        return 0
    whole = isinstance(value.of, External) and "[" not in value.of.name
    return array.size if whole and (array.file, array.call) == (value.file, value.call) else 0
