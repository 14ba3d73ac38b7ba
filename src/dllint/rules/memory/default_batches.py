"""Batches that torch's default collate function makes: which of their parts are tensors, and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Name, Starred, Tuple
from dllint.inference.values import NONE, Const, Display, External, Instance, Value
from dllint.libraries.contents import held_by
from dllint.libraries.index import NEW_STORAGE, TENSOR_ITEMS, WRAPPERS, canonical
from dllint.linking.source import last_name
from dllint.project.loaders import Loader
from dllint.rules.memory.item_fields import NUMBERS, are_numbers
from dllint.rules.memory.split_batches import items_of

if TYPE_CHECKING:
    from dllint.project.model import Project


def gives_only_tensors(project: Project, loader: Loader) -> bool:
    """Whether every part of a batch is provably a tensor, because torch stacks the items: those of a TensorDataset, or
    the pictures and classes of torchvision."""
    values = loader.datasets()
    return _are_collated(loader) and bool(values) and all(_items(project, one) is not None for one in values)


def is_tensor(project: Project, loader: Loader, position: int | str) -> bool:
    """Whether torch makes a tensor of what the items have at a position or under a key: the source shows of each item
    that it is a number or an array."""
    if not _are_collated(loader) or NONE in loader.argument("batch_size").values:
        return False
    if isinstance(position, str):
        return are_numbers(project, loader, position)
    items = [item for dataset in project.dataset_objects(loader) for item in items_of(project, dataset)]
    return bool(items) and all(_has_number(project, item, position) for item in items)


def known_batches(project: Project, loader: Loader) -> int | None:
    """How many batches an epoch has at most, where libraries give the datasets; None if that is not known."""
    items = sum(_items(project, one) or 0 for one in loader.datasets())
    known = all(_items(project, one) for one in loader.datasets())
    given = loader.argument("batch_size")
    sizes = [one.value for one in given.values if isinstance(one, Const) and isinstance(one.value, int)]
    size = min((one for one in sizes if one > 0), default=1 if given.absent and not given.values else 0)
    return -(-items // size) if items and known and size else None


def _are_collated(loader: Loader) -> bool:
    collate = loader.argument("collate_fn")
    return collate.absent and not collate.values


def _items(project: Project, value: Value) -> int | None:
    """How many items a dataset of a library has at most, all of tensors and numbers; 0 if that is not known, and None
    if they may have anything else."""
    if not isinstance(value, Instance) or not isinstance(value.of, External):
        return None
    name = canonical(value.of.name)
    if name not in WRAPPERS:
        return TENSOR_ITEMS.get(name)
    inside = [_items(project, one) for one in held_by(project.world, value) if isinstance(one, Instance)]
    known = [one for one in inside if one is not None]
    return None if not known or len(known) < len(inside) else sum(known) if all(known) else 0


def _has_number(project: Project, item: Value, position: int) -> bool:
    written = item.written.expr if isinstance(item, Display) else None
    if not isinstance(item, Display) or not isinstance(written, Tuple):
        return False
    before = written.elements[: position + 1]
    if len(before) <= position or any(isinstance(one, Starred) for one in before):
        return False
    expr, site = before[position], item.written.site
    if isinstance(expr, CallRef) and last_name(site.file.calls[expr.index].func) in NUMBERS:
        return True
    method = site.file.scopes[site.scope]
    if method.name == "__getitem__" and isinstance(expr, Name) and expr.id in [one.name for one in method.params[1:2]]:
        # The index of the item
        return True
    values = project.world.values.evaluate(expr, site)
    return bool(values) and all(_is_collated(project, one) for one in values)


def _is_collated(project: Project, value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, (int, float))
    made = value.of.name if isinstance(value, Instance) and isinstance(value.of, External) else ""
    return canonical(made) in NEW_STORAGE or project.arrays.of(value) is not None
