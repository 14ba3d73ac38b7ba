"""What a dataset puts under a key of its items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import BinOp, CallRef, Constant, Dict, List, Name, Starred, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import Const, Display, External, Instance, Mapping, Site, Value
from dllint.linking.source import last_name
from dllint.project.loaders import Loader
from dllint.rules.memory.split_batches import items_of

if TYPE_CHECKING:
    from dllint.project.model import Project

NUMBERS = frozenset({"len", "int", "float", "min", "max", "abs", "round", "sum", "bool", "index"})
"""Last names of functions and methods that return a number."""
_ARRAYS = ("torch.", "numpy.")


def may_be_text(project: Project, loader: Loader, key: str) -> bool:
    """Whether the source shows what the items have under a key, and not that it is a number or an array: torch's
    default collate function then makes a list of it, unless it is one."""
    return any(not _is_number(project, *one) for one in fields(project, loader, key))


def are_numbers(project: Project, loader: Loader, key: str) -> bool:
    """Whether the source shows that the items have numbers or arrays under a key."""
    found = list(fields(project, loader, key))
    return bool(found) and all(_is_number(project, *one) for one in found)


def fields(project: Project, loader: Loader, key: int | str) -> Iterator[tuple[Expr, Site]]:
    """Yield what the items of the project's datasets have at a position or under a key, as far as the source shows."""
    for dataset in project.dataset_objects(loader):
        for item in items_of(project, dataset):
            if isinstance(key, int):
                row = item.written.expr if isinstance(item, Display) else None
                before = row.elements[: key + 1] if isinstance(row, (Tuple, List)) else ()
                whole = not any(isinstance(one, Starred) for one in before)
                if isinstance(item, Display) and len(before) > key and whole:
                    yield before[key], item.written.site
                continue
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
    if isinstance(expr, CallRef) and last_name(site.file.calls[expr.index].func) in NUMBERS:
        return True
    if isinstance(expr, Name) and any(one.name == expr.id for one in site.file.scopes[site.scope].params):
        return True
    values = project.world.values.evaluate(expr, site)
    return bool(values) and all(is_array(one) or _is_constant(one) for one in values)


def _is_constant(value: Value) -> bool:
    return isinstance(value, Const) and not isinstance(value.value, str)


def is_array(value: Value) -> bool:
    """Whether torch or NumPy makes a value."""
    return isinstance(value, Instance) and isinstance(value.of, External) and value.of.name.startswith(_ARRAYS)
