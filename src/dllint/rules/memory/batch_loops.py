"""The loops over batches in a file, found by their shape: the statements that may keep what they yield."""

from __future__ import annotations

from dllint.facts.nodes import CallRef, Comprehension, Constant, List, Name, Starred, Subscript, Tuple
from dllint.facts.schema import Event, Expr, Operator
from dllint.linking.expressions import walk
from dllint.linking.reads import RegionRef
from dllint.linking.source import SourceFile, last_name
from dllint.rules.memory.batch_bodies import ADDING
from dllint.rules.memory.batch_names import JOINING
from dllint.rules.memory.data_loops import is_range
from dllint.span import Span

_SHORT = 100
"""Batches. A process may have 1024 descriptors open, and most batches take a few."""


def looping(file: SourceFile, scope: int, *keeping: str) -> list[tuple[Event, RegionRef]]:
    """Return the `for` statements of a scope whose bodies put something into a container, or call a function with one
    of these names, each with its body."""
    loops = [one for one in file.scopes[scope].events_of("for") if one.detail != "comp" and one.target is not None]
    bodies: dict[tuple[Span, int], int] = {}
    for index, region in file.regions_of("for") if loops else ():
        bodies.setdefault((region.span, region.parent), index)
    numbers = [index for name in (*ADDING, *keeping) for index in file.facts.called.get(name, ())] if loops else []
    implicit = range(len(file.facts.calls), len(file.calls)) if loops else ()
    numbers += (index for index in implicit if last_name(file.calls[index].func) in keeping)
    places = [file.calls[index].region for index in numbers if file.calls[index].scope == scope]
    places += [region.number for region in extending(file, scope)] if loops else ()
    found = []
    for event in loops:
        body = bodies.get((event.span, event.region), 0)
        if body and any(file.encloses(body, one) for one in places):
            found.append((event, RegionRef(body)))
    return found


def gathering(file: SourceFile, scope: int) -> list[tuple[Event, list[tuple[Expr, bool]]]]:
    """Return the statements of a scope that may gather what a loop yields, each with the comprehensions of lists, and
    the displays with unpacked elements, in it; and whether a call that joins tensors comes before them."""
    found: list[tuple[Event, list[tuple[Expr, bool]]]] = []
    for event in file.scopes[scope].events:
        if event.value is None or event.kind not in ("assign", "expr", "return") or event.value_span is None:
            continue
        joined = False
        here: list[tuple[Expr, bool]] = []
        for expr in walk(event.value, file):
            if isinstance(expr, CallRef):
                joined = joined or last_name(file.calls[expr.index].func) in JOINING
            elif isinstance(expr, (List, Tuple)):
                if any(isinstance(one, Starred) for one in expr.elements):
                    here.append((expr, joined))
            elif isinstance(expr, Comprehension) and len(expr.clauses) == 1:
                here += [(expr, joined)] if expr.kind in ("list", "dict") and not expr.clauses[0].ifs else []
        if here:
            found.append((event, here))
    return found


def extending(file: SourceFile, scope: int) -> list[RegionRef]:
    """Return the regions of the statements of a scope that may put a batch somewhere: `kept += [batch]`, `kept[number]
    = batch`."""
    return [
        RegionRef(event.region)
        for event in file.scopes[scope].events
        if isinstance(event.target, Subscript)
        or (event.detail == Operator("+") and not isinstance(event.value, Constant))
    ]


def taking(file: SourceFile, scope: int) -> list[tuple[Event, RegionRef, Expr]]:
    """Return the assignments of `iter(loader)` in a scope, each with a loop beside it that takes the batches one by
    one, and what they are taken from: `batch = next(batches)`."""
    calls = [file.calls[index] for index in file.facts.called.get("next", ()) if file.calls[index].scope == scope]
    found: dict[tuple[Span, int], tuple[Event, RegionRef, Expr]] = {}
    for event in file.scopes[scope].events_of("assign") if calls else ():
        made = file.calls[event.value.index] if isinstance(event.value, CallRef) else None
        if made is None or made.func != Name("iter") or len(made.args) != 1 or event.target is None:
            continue
        for call in calls:
            around = list(file.regions(call.region)) if call.args and call.args[0].value == event.target else []
            for region in around:
                entry = file.facts.regions[region]
                looping = entry.kind in ("for", "while") and entry.parent == event.region
                if looping and not _is_short(entry.expr, file):
                    found.setdefault((event.span, region), (event, RegionRef(region), event.target))
    return list(found.values())


def _is_short(iterated: Expr | None, file: SourceFile) -> bool:
    """Whether a loop makes no more passes than a process can keep batches: `for _ in range(12)`."""
    if not isinstance(iterated, CallRef) or not is_range(iterated, file):
        return False
    bounds = [one.value.value for one in file.calls[iterated.index].args if isinstance(one.value, Constant)]
    numbers = [one for one in bounds if isinstance(one, int)]
    return 0 < len(numbers) == len(file.calls[iterated.index].args) and max(numbers) <= _SHORT
