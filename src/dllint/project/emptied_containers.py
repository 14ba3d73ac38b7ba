"""Containers that the function which fills them empties again: `for key in self.files: self.files[key] = None`."""

from __future__ import annotations

from collections.abc import Iterable

from dllint.facts.nodes import CallRef, Compare, Constant, Name, Not, Subscript
from dllint.facts.schema import Expr
from dllint.inference.entries import Change
from dllint.inference.interface import Engine
from dllint.inference.values import Display, Mapping
from dllint.linking.source import SourceFile, last_name

_KEYS = frozenset({"keys", "list", "tuple", "sorted", "range", "len"})
"""What a loop over the keys of a dict, or over the positions of a list, calls."""


def is_emptied(world: Engine, value: Display | Mapping, filling: Iterable[Change]) -> bool:
    """Whether nothing is left of what a list or a dict got, because a later statement of the same function removes it
    all.

    Args:
        world: the project.
        value: the list or the dict.
        filling: the changes that add to it before it matters.
    """
    changes = [change for change, _ in world.mappings.changes_of(value)]
    if not any(map(_removes_all, changes)):
        return False
    filling = [one for one in filling if one.value != Constant(None)]
    written = value.written.site
    file, scope, last = written.file, written.scope, written.at
    if filling:
        file, scope, last = filling[0].file, filling[0].scope, max(one.at for one in filling)
    if any((one.file, one.scope) != (file, scope) for one in filling):
        return False
    return any((one.file, one.scope) == (file, scope) and one.at > last and _removes_all(one) for one in changes)


def _removes_all(change: Change) -> bool:
    if change.kind == "clear":
        return not change.region
    if change.kind != "set" or change.value != Constant(None) or not isinstance(change.key, Name):
        return False
    file = change.file
    regions = list(file.regions(change.region))
    for at, region in enumerate(regions):
        entry = file.facts.regions[region]
        if entry.kind == "if" and entry.expr is not None and entry.holds and _asks_entry(entry.expr, change):
            continue
        return entry.kind == "for" and at == len(regions) - 1 and _goes_through(file, region, change)
    return False


def _asks_entry(test: Expr, change: Change) -> bool:
    """Whether a test asks only whether there is an entry: `if self.files[key] is not None`."""
    if isinstance(test, Not):
        return False
    if isinstance(test, Compare):
        there = test.comparisons in ((("is not", Constant(None)),), (("!=", Constant(None)),))
        return there and _asks_entry(test.left, change)
    return isinstance(test, Subscript) and test.value == change.base and test.index == change.key


def _goes_through(file: SourceFile, region: int, change: Change) -> bool:
    """Whether a loop goes through all keys, or positions, of the container that a change in it empties."""
    entry = file.facts.regions[region]
    loops = file.scopes[change.scope].events_of("for")
    loop = next((one for one in loops if (one.span, one.region) == (entry.span, entry.parent)), None)
    if loop is None or loop.target != change.key or loop.value is None:
        return False
    expr = loop.value
    while isinstance(expr, CallRef):
        call = file.calls[expr.index]
        given = [one.value for one in call.args if one.keyword is None]
        name = last_name(call.func)
        if name not in _KEYS:
            return False
        if name == "keys":
            return not given and getattr(call.func, "value", None) == change.base
        if name == "range" and len(given) == 2 and given[0] == Constant(0):
            del given[0]
        if len(given) != 1:
            return False
        expr = given[0]
    return expr == change.base
