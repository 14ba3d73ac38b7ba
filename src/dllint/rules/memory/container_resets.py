"""Containers and sums that the code of a loop resets, itself or by a method that it calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Compare,
    Constant,
    Dict,
    List,
    Name,
    Not,
    Slice,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Event, Expr, Operator
from dllint.inference import limits
from dllint.inference.values import Frame
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name

if TYPE_CHECKING:
    from dllint.inference.engine import World

_EMPTY = frozenset({"list", "dict", "deque", "defaultdict", "OrderedDict", "zeros", "zeros_like", "tensor"})
"""Last names of functions that make an empty container or a tensor without a graph."""


def of_entries(expr: Expr) -> Expr:
    """Return the object that an entry belongs to, or the expression itself."""
    while isinstance(expr, Subscript):
        expr = expr.value
    return expr


def moved(expr: Expr, old: Expr, new: Expr) -> Expr | None:
    """Return an attribute of one object as that of another: `self.sum` as `meter.sum`. None if it is of neither."""
    if expr == old:
        return new
    if not isinstance(expr, (Attribute, Subscript)):
        return None
    inner = moved(expr.value, old, new)
    return None if inner is None else replace(expr, value=inner)


def is_reset(
    world: World, file: SourceFile, scope: int, loop: int, container: Expr, frame: Frame | None, depth: int = 0
) -> bool:
    """Whether the code inside a loop, or a method that it calls, replaces or empties a container at least after some
    iterations: `if step % 10 == 0: meter.reset()`.

    Args:
        loop: its region; 0 for the whole function.
        container: also an entry of one.
    """
    whole = of_entries(container)
    for event in file.scopes[scope].events_of("assign", "delete"):
        if event.target is not None and file.encloses(loop, event.region) and _replaces(file, event, container):
            return True
    for index in file.calls_of(scope):
        call = file.calls[index]
        if not isinstance(call.func, Attribute) or not file.encloses(loop, call.region):
            continue
        if call.func.attr == "clear" and of_entries(call.func.value) == whole:
            return True
        if whole == call.func.value or moved(whole, call.func.value, Name("self")) is None:
            continue
        for target in world.calls.targets(file, index, frame) if not limits.COUNTING_DEPTH.reached(depth) else ():
            function = target.function
            params = function.file.scopes[function.scope].params
            inner = moved(container, call.func.value, Name(params[0].name)) if params and not target.guessed else None
            if inner and is_reset(world, function.file, function.scope, 0, inner, target.frame, depth + 1):
                return True
    return False


def _replaces(file: SourceFile, event: Event, container: Expr) -> bool:
    """Whether a statement puts something else in the place of a container, or a value without a graph in that of an
    entry."""
    assert event.target is not None
    if isinstance(event.detail, Operator):
        return False
    bound = event.target.elements if isinstance(event.target, (Tuple, List)) else (event.target,)
    if not any(_is_put(file, one, event, container) for one in bound):
        return False
    tests = (file.facts.regions[one] for one in file.regions(event.region))
    return not any(one.kind == "if" and one.expr is not None and _asks_first(file, one.expr) for one in tests)


def _is_put(file: SourceFile, target: Expr, event: Event, container: Expr) -> bool:
    whole, value = of_entries(container), event.value
    if of_entries(target) != whole:
        return False
    if target == whole:
        cut = isinstance(value, Subscript) and isinstance(value.index, Slice)
        return cut or value is None or whole not in walk(value, file)
    called = last_name(file.calls[value.index].func) if isinstance(value, CallRef) else ""
    if event.kind != "delete" and not isinstance(value, (Constant, List, Dict, Tuple)) and called not in _EMPTY:
        return False
    written, grown = _keys(target), _keys(container)
    last = len(written) - 1
    return len(written) <= len(grown) and all(
        key == other or not isinstance(key, Constant) or (at < last and not isinstance(other, Constant))
        for at, (key, other) in enumerate(zip(written, grown, strict=False))
    )


def _keys(expr: Expr) -> list[Expr]:
    """The keys of an entry, outermost first: `kind` and `"loss"` of `self.sums[kind]["loss"]`."""
    found: list[Expr] = []
    while isinstance(expr, Subscript):
        found.append(expr.index)
        expr = expr.value
    return found[::-1]


def _asks_first(file: SourceFile, test: Expr) -> bool:
    """Whether a test asks if something is there yet: `self.sum is None`, `name not in self.sums`, `self.count == 0`."""
    if isinstance(test, Not):
        return _asks_first(file, test.operand)
    if isinstance(test, CallRef):
        return last_name(file.calls[test.index].func) == "hasattr"
    if not isinstance(test, Compare):
        return False
    operator, right = test.comparisons[0]
    counts = operator == "==" and isinstance(right, Constant) and not isinstance(test.left, BinOp)
    return operator in ("is", "in", "not in") or counts
