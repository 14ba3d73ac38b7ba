"""Indices by which NumPy and torch return a view of an array: numbers and slices, neither lists nor masks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp, CallRef, Constant, Element, Name, Opaque, Slice, Subscript
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.values import Const, Function, Site
from dllint.linking.bindings import Binding
from dllint.linking.source import last_name
from dllint.project.item_run import ItemRun

if TYPE_CHECKING:
    from dllint.inference.engine import World

_NUMBERS = frozenset({"int", "len", "randint", "randrange", "round"})
"""Last names of functions that return one integer."""


class ViewIndices:
    """Classifies the indices in the code that reads an item. `runs` are its functions, by path and scope."""

    def __init__(self, world: World, runs: Mapping[tuple[str, int], ItemRun]) -> None:
        self.world = world
        self.runs = runs

    def is_plain(self, index: Expr, site: Site, depth: int = 0) -> bool:
        """Whether an index is a number or a slice, so that NumPy and torch return a view."""
        if limits.COUNTING_DEPTH.exceeded(depth):
            return False
        match index:
            case Slice() | Opaque():
                return True
            case Constant(number):
                return number is None or type(number) is int
            case BinOp(_, left, right):
                return self._is_number(left, site, depth) and self._is_number(right, site, depth)
            case CallRef(call):
                return last_name(site.file.calls[call].func) in _NUMBERS
            case Name(name):
                run = self.runs.get((site.file.path, site.scope))
                if run is not None and self._is_entry(run) and name in run.given:
                    return True
                found = self.world.symbols.lookup(name, site)
                return bool(found) and all(self._binds_number(name, *one, depth + 1) for one in found)
        values = self.world.values.evaluate(index, site)
        return bool(values) and all(isinstance(one, Const) and type(one.value) is int for one in values)

    def _is_number(self, expr: Expr, site: Site, depth: int) -> bool:
        return isinstance(expr, Attribute) or (not isinstance(expr, Slice) and self.is_plain(expr, site, depth + 1))

    @staticmethod
    def _is_entry(run: ItemRun) -> bool:
        return not run.run.hops and run.run.entry == "__getitem__"

    def _binds_number(self, name: str, binding: Binding, where: Site, depth: int) -> bool:
        if binding.kind == "param":
            if where.frame is None or where.frame.actuals is None:
                return False
            actual = self.world.parameters.bound(Function(where.file, where.scope), name, where.frame).actual
            known = actual is not None and actual.expr is not None and actual.site is not None
            return known and self.is_plain(actual.expr, actual.site, depth)  # type: ignore[union-attr,arg-type]
        match binding.expr if binding.kind == "value" else None:
            case Element(CallRef(call)):
                return last_name(where.file.calls[call].func) in ("range", "trange", "count")
            case Subscript(Element(CallRef(call)), Constant(0)):
                return last_name(where.file.calls[call].func) == "enumerate"
            case None | Element():
                return False
            case expr:
                return not isinstance(expr, Slice) and self.is_plain(expr, where, depth)
