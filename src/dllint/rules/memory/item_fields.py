"""What a dataset puts under a key of its items, or at a position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import BinOp, CallRef, Constant, Dict, Name, Starred, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import Const, Display, External, Instance, Mapping, Site, Value
from dllint.libraries.index import NEW_STORAGE, canonical
from dllint.linking.source import last_name
from dllint.project.loaders import Loader
from dllint.rules.memory.split_batches import items_of

if TYPE_CHECKING:
    from dllint.project.model import Project

_NUMBERS = frozenset({"len", "int", "float", "min", "max", "abs", "round", "sum", "bool", "index"})
_ARRAYS = ("torch.", "numpy.")


def may_be_text(project: Project, loader: Loader, key: str) -> bool:
    """Whether the source shows what the items have under a key, and not that it is a number or an array: torch's
    default collate function then makes a list of it, unless it is one."""
    return any(not _is_number(project, *one) for one in _fields(project, loader, key))


def is_tensor(project: Project, loader: Loader, position: int) -> bool:
    """Whether torch's default collate function makes a tensor of what the items have at a position: the source shows of
    each item that it is a number or an array."""
    if not loader.collates_by_default:
        return False
    items = [item for dataset in project.dataset_objects(loader) for item in items_of(project, dataset)]
    return bool(items) and all(_has_number(project, item, position) for item in items)


def _has_number(project: Project, item: Value, position: int) -> bool:
    written = item.written.expr if isinstance(item, Display) else None
    if not isinstance(item, Display) or not isinstance(written, Tuple):
        return False
    before = written.elements[: position + 1]
    if len(before) <= position or any(isinstance(one, Starred) for one in before):
        return False
    expr, site = before[position], item.written.site
    if isinstance(expr, CallRef) and last_name(site.file.calls[expr.index].func) in _NUMBERS:
        return True
    if isinstance(expr, Name) and expr.id in [one.name for one in site.file.scopes[site.scope].params[1:2]]:
        return True
    values = project.world.values.evaluate(expr, site)
    return bool(values) and all(_is_collated(project, one) for one in values)


def _is_collated(project: Project, value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, (int, float))
    made = value.of.name if isinstance(value, Instance) and isinstance(value.of, External) else ""
    return canonical(made) in NEW_STORAGE or project.arrays.of(value) is not None


def _fields(project: Project, loader: Loader, key: str) -> Iterator[tuple[Expr, Site]]:
    for dataset in project.dataset_objects(loader):
        for item in items_of(project, dataset):
            if not isinstance(item, Mapping):
                continue
            expr, site = item.written.expr, item.written.site
            for name, value in expr.items if isinstance(expr, Dict) else ():
                if name == Constant(key):
                    yield value, site
            for change in project.world.mappings.history(item):
                if change.kind == "set" and change.key in (key, Constant(key)) and change.value is not None:
                    yield change.value, project.world.mappings.changed_at(change, item)


def _is_number(project: Project, expr: Expr, site: Site) -> bool:
    if isinstance(expr, BinOp):
        return any(_is_number(project, side, site) for side in (expr.left, expr.right))
    if isinstance(expr, CallRef) and last_name(site.file.calls[expr.index].func) in _NUMBERS:
        return True
    if isinstance(expr, Name) and any(one.name == expr.id for one in site.file.scopes[site.scope].params):
        return True
    values = project.world.values.evaluate(expr, site)
    return bool(values) and all(map(_is_array, values))


def _is_array(value: Value) -> bool:
    if isinstance(value, Const):
        return not isinstance(value.value, str)
    return isinstance(value, Instance) and isinstance(value.of, External) and value.of.name.startswith(_ARRAYS)
