"""Counts the elements of a list or dict if the source determines their number, and the loops around a place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Comprehension,
    Constant,
    Dict,
    List,
    Name,
    Set,
    Slice,
    Starred,
    Subscript,
    Tuple,
    UnaryOp,
)
from dllint.facts.schema import Call, Event, Expr
from dllint.inference import limits
from dllint.inference.values import Const, Display, Function, Instance, Mapping, Site
from dllint.inference.written_changes import ADDING
from dllint.libraries.index import SAME_LENGTH
from dllint.linking.source import SourceFile, last_name

_TESTED = 0.25
"""The part of the data that `train_test_split` puts aside unless it is told another."""
_ROUNDING: dict[str, Callable[[float], int]] = {"int": int, "round": round, "floor": math.floor, "ceil": math.ceil}

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.inference.entries import Change
    from dllint.project.datasets import Datasets


def whole_number(world: World, expr: Expr, site: Site) -> int | None:
    """The single whole number that an expression evaluates to; None if unknown."""
    values = world.values.evaluate(expr, site)
    if len(values) == 1 and isinstance(values[0], Const) and isinstance(values[0].value, (int, float)):
        return int(values[0].value) if math.isfinite(values[0].value) else None
    return None


def loops(file: SourceFile, region: int) -> list[int]:
    """The regions of the loops around a place, innermost first."""
    return [index for index in file.regions(region) if file.facts.regions[index].kind in ("for", "while")]


def called_in_loop(world: World, file: SourceFile, method: int) -> bool:
    """Whether a method is called in a loop, or by another method of the same object that is: `for path in paths:
    self.read(path)`.

    Constructing objects in a loop does not count: each has containers of its own.
    """
    return next(looped_calls(world, file, method), None) is not None


def looped_calls(world: World, file: SourceFile, method: int, depth: int = 0) -> Iterator[tuple[SourceFile, Call]]:
    """The calls in loops that run a method, itself or through another method of the same object."""
    if limits.COUNTING_DEPTH.reached(depth) or file.scopes[method].name == "__init__":
        return
    for caller in world.calls.callers(Function(file, method)):
        if caller.call < 0 or caller.guessed:
            continue
        call = caller.file.calls[caller.call]
        if loops(caller.file, call.region):
            yield caller.file, call
        params = caller.file.scopes[call.scope].params
        if isinstance(call.func, Attribute) and params and call.func.value == Name(params[0].name):
            yield from looped_calls(world, caller.file, call.scope, depth + 1)


def goes_through_per_item(world: World, file: SourceFile, scope: int, loop: Event) -> bool:
    """Whether a method that runs again and again has a loop from which no item comes: each item goes through the whole
    container, which is small then."""
    if not called_in_loop(world, file, scope):
        return False
    bodies = {
        index
        for index, region in file.regions_of("for")
        if region.parent == loop.region and region.span.line == loop.span.line
    }
    calls = (file.calls[index] for index in file.calls_of(scope))
    adding = (one.region for one in calls if isinstance(one.func, Attribute) and one.func.attr in ADDING - {"update"})
    giving = (event.region for event in file.scopes[scope].events_of("yield", "return"))
    return not any(bodies.intersection(file.regions(region)) for region in (*adding, *giving))


def iterations(datasets: Datasets, expr: Expr, site: Site, depth: int = 0) -> int | None:
    """The number of elements that iterating an expression yields; None if unknown."""
    if limits.COUNTING_DEPTH.exceeded(depth):
        return None
    if isinstance(expr, CallRef):
        call = site.file.calls[expr.index]
        plain = [argument.value for argument in call.args if argument.keyword is None]
        if last_name(call.func) in ("range", "trange") and plain:
            numbers = [whole_number(datasets.world, one, site) for one in plain[:3]]
            known = [number for number in numbers if number is not None]
            if len(known) < len(numbers):
                return None
            return _length(range(*known)) if len(known) < 3 or known[2] else None
        if last_name(call.func) in SAME_LENGTH and plain:
            return iterations(datasets, plain[0], site, depth + 1)
        return None
    values = datasets.world.values.evaluate(expr, site)
    if len(values) == 1 and isinstance(values[0], (Display, Mapping)):
        return items(datasets, values[0], depth + 1)
    return None


def applications(datasets: Datasets, value: Instance) -> int | None:
    """How often `map`, or a method of a pool, calls a function whose results a value is; None if unknown."""
    if value.file is None or value.call < 0:
        return None
    plain = [one.value for one in value.file.calls[value.call].args if one.keyword is None]
    site = datasets.world.call_site(value.file, value.call, value.frame)
    return iterations(datasets, plain[1], site) if len(plain) > 1 else None


def _length(numbers: range) -> int:
    """The length of a range, computed because `len` raises OverflowError above sys.maxsize."""
    return max(0, (numbers.stop - numbers.start + numbers.step - (numbers.step > 0 or -1)) // numbers.step)


def items(datasets: Datasets, value: Display | Mapping, depth: int = 0) -> int | None:
    """The number of elements that a display or mapping has once it is filled; None if unknown."""
    expr, site = value.written.expr, value.written.site
    if limits.COUNTING_DEPTH.exceeded(depth):
        return None
    made = value.made.expr if value.made is not None else None
    if isinstance(value, Display) and isinstance(made, BinOp) and made.op == "*":
        # Assigning to its elements adds none.
        return _repeated(datasets, value, made, depth)
    if isinstance(value, Display) and isinstance(made, Subscript):
        return _part(datasets, value, made, depth)
    if isinstance(expr, Comprehension):
        total = _generated(datasets, expr, site, depth)
    elif isinstance(expr, (List, Tuple, Set)):
        total = None if any(isinstance(one, Starred) for one in expr.elements) else len(expr.elements)
    elif isinstance(expr, Dict):
        total = None if any(key is None for key, _ in expr.items) else len(expr.items)
    elif isinstance(expr, CallRef) and not site.file.calls[expr.index].args:
        total = 0
    else:
        total = None
    for change in datasets.filling(value):
        if total is None or (change.scope != site.scope and called_in_loop(datasets.world, change.file, change.scope)):
            return None
        added = _added(datasets, change, datasets.world.mappings.changed_at(change, value), depth)
        total = None if added is None else total + added
    return total


def _repeated(datasets: Datasets, value: Display, made: BinOp, depth: int) -> int | None:
    """The length of `[None] * size`, if nothing changes it; None if unknown."""
    assert value.made is not None
    part = items(datasets, value.parts[0], depth + 1)
    sizes = (whole_number(datasets.world, side, value.made.site) for side in (made.right, made.left))
    size = next((one for one in sizes if one is not None), None)
    if part is None or size is None or any(change.kind != "set" for change in datasets.filling(value)):
        return None
    return part * max(size, 0)


def _part(datasets: Datasets, value: Display, made: Subscript, depth: int) -> int | None:
    """The length of a slice of a list, or of one of the two lists into which a call splits it; None if unknown."""
    assert value.made is not None
    site, whole = value.made.site, items(datasets, value.parts[0], depth + 1)
    earlier = list(datasets.filling(value.parts[0]))
    if whole is None or any(one.kind != "set" and one not in earlier for one in datasets.filling(value)):
        return None
    if isinstance(made.index, Slice):
        bounds = (made.index.lower, made.index.upper, made.index.step)
        numbers = [None if one is None else _computed(datasets, one, site, depth) for one in bounds]
        if any(given is not None and one is None for given, one in zip(bounds, numbers, strict=True)):
            return None
        cut = slice(*(None if one is None else int(one) for one in numbers))
        return _length(range(*cut.indices(whole))) if cut.step != 0 else None
    if isinstance(made.value, CallRef) and isinstance(made.index, Constant):
        return _of_split(datasets, site.file.calls[made.value.index], made.index.value % 2, whole, site)
    return None


def _of_split(datasets: Datasets, call: Call, part: int, whole: int, site: Site) -> int | None:
    """The length of one part of what `train_test_split` returns: 0 for the training data, 1 for the others."""
    given = {one.keyword: one.value for one in call.args if one.keyword in ("train_size", "test_size")}
    sizes = {name: _computed(datasets, one, site, 0) for name, one in given.items() if one != Constant(None)}
    if any(one is None or one < 0 for one in sizes.values()):
        return None
    counts = {name: one * whole if one < 1 else one for name, one in sizes.items() if one is not None}
    name, other = ("train_size", "test_size") if part == 0 else ("test_size", "train_size")
    count = counts.get(name, whole - counts[other] if other in counts else whole * (_TESTED if part else 1 - _TESTED))
    return max(0, round(count))


def _computed(datasets: Datasets, expr: Expr, site: Site, depth: int) -> float | None:
    """The number that an expression gives, also by the length of a list that is counted: `int(0.8 * len(rows))`."""
    if limits.COUNTING_DEPTH.exceeded(depth):
        return None
    values = datasets.world.values.evaluate(expr, site)
    if len(values) == 1 and isinstance(values[0], Const) and isinstance(values[0].value, (int, float)):
        return values[0].value if math.isfinite(values[0].value) else None
    if isinstance(expr, UnaryOp) and expr.op == "-":
        inner = _computed(datasets, expr.operand, site, depth)
        return None if inner is None else -inner
    if isinstance(expr, BinOp):
        left, right = (_computed(datasets, one, site, depth) for one in (expr.left, expr.right))
        return _result(expr.op, left, right) if left is not None and right is not None else None
    if isinstance(expr, CallRef):
        call = site.file.calls[expr.index]
        if len(call.args) != 1 or call.args[0].keyword is not None:
            return None
        if last_name(call.func) == "len":
            return iterations(datasets, call.args[0].value, site, depth)
        inner = _computed(datasets, call.args[0].value, site, depth)
        rounded = _ROUNDING.get(last_name(call.func))
        return rounded(inner) if rounded is not None and inner is not None else None
    if isinstance(expr, Name):
        found = datasets.world.symbols.lookup(expr.id, site)
        if len(found) == 1 and found[0][0].kind == "value" and found[0][0].expr is not None:
            return _computed(datasets, found[0][0].expr, found[0][1], depth + 1)
    return None


def _result(operator: str, left: float, right: float) -> float | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" if right:
            return left / right
        case "//" if right:
            return left // right
    return None


def _generated(datasets: Datasets, expr: Comprehension, site: Site, depth: int) -> int | None:
    total = 1
    for _, iterable, tests in expr.clauses:
        count = None if tests else iterations(datasets, iterable, site, depth + 1)
        if count is None:
            return None
        total *= count
    return total


def _added(datasets: Datasets, change: Change, here: Site, depth: int) -> int | None:
    """The number of elements that all executions of a change at `here` add; None if unknown.

    A change adds one element, or as many as it extends by, per iteration of the loops around it. Under a constant key
    it adds at most one.
    """
    if change.kind in ("set", "default") and isinstance(change.key, (Constant, str)):
        return 1
    total: int | None = 1
    if change.kind == "extend" and change.value is not None:
        total = iterations(datasets, change.value, here, depth + 1)
    elif change.kind == "merge":
        return None
    for index in here.file.regions(change.region):
        region = here.file.facts.regions[index]
        if total is None or region.kind in ("while", "if", "try", "handler", "case"):
            return None
        if region.kind == "for" and region.expr is not None:
            where = Site(here.file, change.scope, region.parent, region.span.start, here.frame)
            count = iterations(datasets, region.expr, where, depth + 1)
            total = None if count is None else total * count
    return total
