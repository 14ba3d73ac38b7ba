"""Indices by which NumPy and torch return a view of an array: numbers and slices, neither lists nor masks; and keys
that only a dict has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Comprehension,
    Constant,
    Element,
    List,
    Name,
    Opaque,
    Slice,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.all_entries import inside
from dllint.inference.folding import is_text
from dllint.inference.values import Const, Display, External, Function, Instance, Site, Value
from dllint.linking.bindings import Binding
from dllint.linking.source import last_name
from dllint.project.item_run import ItemRun

if TYPE_CHECKING:
    from dllint.inference.engine import World

_NUMBERS = frozenset({"int", "len", "randint", "randrange", "round"})
"""Last names of functions that return one integer."""
_SEVERAL_NUMBERS = frozenset({"range", "trange", "arange", "count", "randint", "integers", "permutation", "randperm"})
"""Last names of functions that return integers."""
_CHOOSING = frozenset({"choice", "choices", "sample"})
"""Last names of functions that return some of what they are given, or of the numbers below it."""


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
                made = site.file.calls[call]
                several = len(made.args) > 2 or any(one.keyword == "size" for one in made.args)
                return last_name(made.func) in _NUMBERS and not several
            case Subscript(base, key) if not isinstance(key, (Slice, Opaque)) and self.is_plain(key, site, depth + 1):
                if self._lists_numbers(base, site, depth + 1):
                    return True
            case Name(name):
                run = self.runs.get((site.file.path, site.scope))
                if run is not None and self._is_entry(run) and name in run.given:
                    return True
                found = self.world.symbols.lookup(name, site)
                return bool(found) and all(self._binds_number(name, *one, depth + 1) for one in found)
        values = self.world.values.evaluate(index, site)
        return bool(values) and all(isinstance(one, Const) and type(one.value) is int for one in values)

    def is_text(self, index: Expr, site: Site) -> bool:
        """Whether an index is a text, which only a dict has as a key, or an archive or a structured array as a
        field."""
        if isinstance(index, CallRef) and site.file.calls[index.index].func == Name("str"):
            return True
        values = self.world.values.evaluate(index, site)
        return bool(values) and all(map(is_text, values))

    def _lists_numbers(self, expr: Expr, site: Site, depth: int) -> bool:
        """Whether what a loop goes through are numbers, or the keys of a dict, which are no lists either."""
        if limits.COUNTING_DEPTH.exceeded(depth):
            return False
        match expr:
            case CallRef(call):
                return self._are_numbers(call, site, depth)
            case List(elements) | Tuple(elements):
                return bool(elements) and all(self._is_number(one, site, depth) for one in elements)
            case BinOp("+", left, right):
                return all(self._lists_numbers(one, site, depth + 1) for one in (left, right))
            case Comprehension(_, None, element):
                return self.is_plain(element, inside(expr, site), depth + 1)
            case Subscript(base, Slice()):
                return self._lists_numbers(base, site, depth + 1)
            case Name(name):
                found = [one for one in self.world.symbols.lookup(name, site) if not self.world.impossible(one[1])]
                return bool(found) and all(
                    binding.kind == "value"
                    and binding.expr is not None
                    and self._lists_numbers(binding.expr, where, depth + 1)
                    for binding, where in found
                )
            case Attribute():
                values = self.world.values.evaluate(expr, site)
                return bool(values) and all(self._holds_numbers(one, depth) for one in values)
        return False

    def _are_numbers(self, call: int, site: Site, depth: int) -> bool:
        made = site.file.calls[call]
        name, args = last_name(made.func), [one.value for one in made.args if one.keyword is None]
        if name in _SEVERAL_NUMBERS or (name == "keys" and not args):
            return True
        if name == "tolist" and isinstance(made.func, Attribute):
            return self._lists_numbers(made.func.value, site, depth + 1)
        if name in ("list", "tuple", "sorted", "reversed") and args:
            return self._lists_numbers(args[0], site, depth + 1)
        below = name in _CHOOSING and bool(args)
        return below and (self.is_plain(args[0], site, depth + 1) or self._lists_numbers(args[0], site, depth + 1))

    def _holds_numbers(self, value: Value, depth: int) -> bool:
        """Whether a container has nothing but numbers, or the keys of a dict."""
        if isinstance(value, Display):
            return self._lists_numbers(value.written.expr, value.written.site, depth + 1)
        outside = value.of if isinstance(value, Instance) else None
        return isinstance(outside, External) and outside.name.endswith(".keys")

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
            case Subscript(Element(CallRef(call)), Constant(position)):
                args = where.file.calls[call].args
                counted = last_name(where.file.calls[call].func) == "enumerate" and bool(args)
                return counted and (position == 0 or self._lists_numbers(args[0].value, where, depth))
            case Element(iterable):
                return self._lists_numbers(iterable, where, depth)
            case None:
                return False
            case expr:
                return not isinstance(expr, Slice) and self.is_plain(expr, where, depth)
