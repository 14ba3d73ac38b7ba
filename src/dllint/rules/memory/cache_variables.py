"""Where a cache is kept, and whether it is empty when workers start."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import BinOp, CallRef, Comprehension, Constant, Dict, List, Tuple
from dllint.facts.nodes import Set as SetDisplay
from dllint.facts.schema import Expr
from dllint.inference.values import Class, Const, Display, External, Instance, Mapping, Site, Value
from dllint.project.item_run import ItemRun

if TYPE_CHECKING:
    from dllint.project.model import Project


class Variable(NamedTuple):
    """An attribute of the object that has the cache, or a variable in a scope of `file`: of the module or of a class.

    `inside`: the addition goes into an element of the container, under a key that does not depend on the item.
    `record`: it goes into the record of the item.
    """

    file: str
    name: str
    scope: int = 0
    inside: bool = False
    record: bool = False

    @property
    def whole(self) -> Variable:
        """The variable itself, whichever part of it receives the addition."""
        return self._replace(inside=False, record=False)


class Beginnings:
    """What the containers of one project hold when workers start."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    def starts_empty(self, value: Instance, holder: Instance, held: Variable) -> bool:
        """Whether the attribute of an object inside the dataset is an empty list or dict when workers start, which
        nothing else fills."""
        assert isinstance(value.of, Class) and isinstance(holder.of, Class)
        started = False
        for kept in self.project.datasets.kept(holder):
            if kept.attr != held.name:
                continue
            started = True
            for one in kept.values:
                if isinstance(one, Const) or _only_none(kept.store.value) or self._is_default_dict(one):
                    continue
                if not isinstance(one, (Display, Mapping)) or not self._is_empty(one, held.inside):
                    return False
                for change in self.world.mappings.history(one):
                    place = (change.file.path, change.scope)
                    if not _only_none(change.value) and any(
                        self.project.datasets.construction.fills(cls, place) for cls in (value.of, holder.of)
                    ):
                        return False
        if not started:
            # A class variable, which all objects of the class share.
            for owner in self.world.hierarchy.line(holder.of):
                if isinstance(owner, Class) and held.name in owner.file.bindings(owner.scope):
                    of_class = held._replace(file=owner.file.path, scope=owner.scope)
                    return self.is_blank(of_class, self.project.item_code.all_runs(value))
        return started

    def is_blank(self, held: Variable, runs: list[ItemRun]) -> bool:
        """Whether a module or class variable is bound once to an empty list or dict that only worker code fills."""
        file = self.world.files[held.file]
        bindings = file.bindings(held.scope)[held.name]
        if len(bindings) != 1 or any(own == held.name for _, own in file.within):
            return False
        inside = {(run.file.path, run.scope) for run in runs}
        values = self.world.values.name(held.name, Site(file, held.scope, 0, (0, 0), None))
        return bool(values) and all(
            self._is_default_dict(one)
            or (
                isinstance(one, (Display, Mapping))
                and self._is_empty(one, held.inside)
                and all((change.file.path, change.scope) in inside for change in self.world.mappings.history(one))
            )
            for one in values
        )

    @staticmethod
    def _is_default_dict(value: Value) -> bool:
        if not isinstance(value, Instance) or value.of != External("collections.defaultdict") or value.file is None:
            return False
        return len(value.file.calls[value.call].args) <= 1

    def _is_empty(self, value: Display | Mapping, inside: bool = False) -> bool:
        """Whether a container starts out empty; with `inside`, whether all its element containers do."""
        expr, file = value.written.expr, value.written.site.file
        if inside and isinstance(expr, Dict):
            parts = [self.world.values.evaluate(entry, value.written.site) for _, entry in expr.items]
            return all(
                isinstance(one, (Display, Mapping)) and self._is_empty(one) for part in parts for one in part
            ) and all(parts)
        if isinstance(expr, (List, SetDisplay, Tuple)):
            return not expr.elements or _only_none(expr)
        if isinstance(expr, Dict):
            return not expr.items
        if isinstance(expr, Comprehension):
            return _only_none(expr)
        return bool(isinstance(expr, CallRef) and len(file.calls[expr.index].args) <= 1)


def _only_none(expr: Expr | None) -> bool:
    """Whether an expression is None, or a list of nothing else: `[None] * size`, `[None for _ in names]`."""
    if isinstance(expr, BinOp) and expr.op == "*":
        return _only_none(expr.left)
    if isinstance(expr, Comprehension):
        return expr.element == Constant(None)
    return expr == Constant(None) or expr == List((Constant(None),))
