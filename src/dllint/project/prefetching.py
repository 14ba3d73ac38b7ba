"""How much of the batches that workers make in advance lies in shared memory, as far as the source says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.project.abstract import Class, Const, Display, Value
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.project.model import Project

PREFETCH_FACTOR = 2
"""Batches that each worker makes in advance by default (torch/utils/data/dataloader.py, `DataLoader.__init__`)."""


def ahead(project: Project, loader: Loader) -> int | None:
    """The most bytes that wait in shared memory at a time: (workers x prefetch_factor + 1) x bytes of a batch; None
    where a part of that is not known. Counted is what the source gives a shape, so it is at least this."""
    if not all(loader.argument(name).absent for name in ("collate_fn", "batch_sampler")):
        return None
    workers = loader.workers().count
    factor = _number(loader, "prefetch_factor", PREFETCH_FACTOR)
    items = _number(loader, "batch_size", 1)
    sizes = [
        _item(project, part)
        for value in project.dataset_objects(loader)
        if isinstance(value.of, Class)
        for method in [project.world.hierarchy.method(value.of, "__getitem__")]
        if method is not None
        for part in project.world.values.returned(method, project.world.receiver_frame(value))
    ]
    item = max(sizes, default=0)
    if not workers or factor is None or items is None or not item:
        return None
    return (workers * factor + 1) * items * item


def _number(loader: Loader, name: str, default: int) -> int | None:
    found = loader.argument(name)
    if found.absent and not found.values:
        return default
    numbers = [
        default if value.value is None else value.value
        for value in found.values
        if isinstance(value, Const) and (value.value is None or isinstance(value.value, int))
    ]
    return numbers[0] if len(numbers) == len(found.values) == 1 else None


def _item(project: Project, value: Value) -> int:
    """The bytes of the arrays of known shape that an item is or is made of."""
    if isinstance(value, Display) and value.kind in ("list", "tuple"):
        parts = value.written.expr[1] if value.written.expr[0] in ("list", "tuple") else ()
        given = (project.world.values.evaluate(part, value.written.site) for part in parts)
        return sum(max((_item(project, one) for one in part), default=0) for part in given)
    array = project.arrays.array(value)
    return array.size or 0 if array is not None and array.source == "shape" else 0
