"""Containers that the function which fills them empties again: `for key in self.files: self.files[key] = None`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dllint.facts.nodes import CallRef, Compare, Constant, Name, Not, Subscript
from dllint.facts.schema import Expr
from dllint.inference.entries import Change
from dllint.inference.interface import Engine
from dllint.inference.values import Display, Mapping
from dllint.linking.source import SourceFile, last_name

_KEYS = frozenset({"keys", "list", "tuple", "sorted", "range", "len"})
"""What a loop over the keys of a dict, or over the positions of a list, calls."""


class Emptied:
    """Finds the emptied containers of one project."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._removing: dict[str, list[Change]] = {}

    def contains(self, value: Display | Mapping, filling: Callable[[Display | Mapping], Iterable[Change]]) -> bool:
        """Whether nothing is left of what a list or a dict got, because a later statement of the same function removes
        it all.

        Args:
            value: the list or the dict.
            filling: gives the changes that add to it before it matters.
        """
        written = value.written.site
        removing = self._removing_in(written.file)
        if not removing:
            return False
        added = [one for one in filling(value) if one.value != Constant(None)]
        file, scope, last = written.file, written.scope, written.at
        if added:
            file, scope, last = added[0].file, added[0].scope, max(one.at for one in added)
        if any((one.file, one.scope) != (file, scope) for one in added):
            return False
        later = {id(one) for one in removing if (one.file, one.scope) == (file, scope) and one.at > last}
        return bool(later) and any(id(change) in later for change, _ in self.world.mappings.changes_of(value))

    def _removing_in(self, file: SourceFile) -> list[Change]:
        found = self._removing.get(file.path)
        if found is None:
            found = [one for one in self.world.mappings.changes_in(file) if _removes_all(one)]
            self._removing[file.path] = found
        return found


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
