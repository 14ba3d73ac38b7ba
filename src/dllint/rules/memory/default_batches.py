"""Batches that torch's default collate function makes: which of their parts are tensors, and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Name, Starred, Tuple
from dllint.inference import limits
from dllint.inference.values import NONE, Class, Const, Display, External, Instance, Mapping, Value
from dllint.libraries.contents import held_by
from dllint.libraries.index import NEW_STORAGE, TENSOR_ITEMS, WRAPPERS, canonical
from dllint.linking.source import last_name
from dllint.project.loaders import Loader
from dllint.rules.memory.item_fields import NUMBERS, are_numbers, is_array
from dllint.rules.memory.split_batches import items_of

if TYPE_CHECKING:
    from dllint.project.model import Project

_OF_TENSORS = "torch.utils.data.TensorDataset"


def gives_only_tensors(project: Project, loader: Loader) -> bool:
    """Whether every part of a batch is provably a tensor, because torch stacks the items: those of a TensorDataset, or
    the pictures and classes of torchvision."""
    values = loader.datasets()
    if not _are_collated(loader) or not values:
        return False
    if NONE in loader.argument("batch_size").values:
        return all(isinstance(one, Instance) and one.of == External(_OF_TENSORS) for one in values)
    return all(_items(project, one) is not None for one in values)


def may_have_tensors(project: Project, loader: Loader) -> bool:
    """Whether a whole batch may be or contain a tensor.

    With `batch_size=None` torch makes no batches. It turns the arrays of an item into tensors and leaves numbers and
    texts as they are (`torch/utils/data/_utils/collate.py`, `default_convert`), so that the items of the project's
    datasets have to show an array or a tensor.
    """
    size = loader.argument("batch_size")
    if size.absent or size.values != (NONE,) or not _are_collated(loader):
        return True
    if not all(isinstance(one, Instance) and isinstance(one.of, Class) for one in loader.datasets()):
        return True
    items = [item for dataset in project.dataset_objects(loader) for item in items_of(project, dataset)]
    return not items or any(_has_array(project, item) for item in items)


def _has_array(project: Project, value: Value, depth: int = 0) -> bool:
    """Whether a value is, or contains, a tensor or an array."""
    if not isinstance(value, (Display, Mapping)):
        return project.tensors.holds(value) or project.arrays.of(value) is not None or is_array(value)
    if limits.CONTAINER_DEPTH.exceeded(depth):
        return True
    mappings = project.world.mappings
    inside = mappings.values_of(value) or mappings.elements(value)
    return any(_has_array(project, one, depth + 1) for one in inside)


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
