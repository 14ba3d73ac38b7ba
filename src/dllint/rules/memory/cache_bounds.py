"""How many entries a cache can have: bounds in the code around what fills it, and those of `functools`."""

from __future__ import annotations

from dllint.facts.nodes import CallRef, Compare, Name
from dllint.facts.schema import Expr
from dllint.inference.engine import World
from dllint.inference.values import NONE, Const, External, Site, Values
from dllint.linking.expressions import walk
from dllint.project.item_run import ItemRun

_MANY_ITEMS = 10_000
"""Entries from which on a bounded cache counts as one that keeps all: as many as a small data set has items."""


def is_bounded(world: World, run: ItemRun, region: int) -> bool:
    """Whether a statement is guarded by a comparison with the length of the cache or another bound, unless that is
    one that data sets of usual sizes hardly reach."""
    for index in run.file.regions(region):
        entry = run.file.facts.regions[index]
        for part in walk(entry.expr, run.file) if entry.kind in ("if", "while") and entry.expr is not None else ():
            if isinstance(part, Compare) and is_ordering(part):
                site = Site(run.file, run.scope, region, entry.span.start, run.run.frame)
                if not _leaves_room(world, run, part, site):
                    return True
    return False


def is_ordering(test: Compare) -> bool:
    """Whether a comparison asks which of two is larger."""
    return any(op in ("<", ">", "<=", ">=") for op, _ in test.comparisons)


def _leaves_room(world: World, run: ItemRun, test: Compare, site: Site) -> bool:
    """Whether a test compares a length with a number above that of the items of many data sets."""
    if len(test.comparisons) != 1:
        return False
    ((_, right),) = test.comparisons
    limits = [other for one, other in ((test.left, right), (right, test.left)) if _is_length(one, run)]
    values = world.values.evaluate(limits[0], site) if len(limits) == 1 else ()
    return all(isinstance(one, Const) and one != NONE for one in values) and _is_wide(values)


def _is_length(expr: Expr, run: ItemRun) -> bool:
    return isinstance(expr, CallRef) and run.file.calls[expr.index].func == Name("len")


def keeps_results(world: World, run: ItemRun) -> bool:
    """Whether a function that is called per item caches its results: `functools.cache`, or `lru_cache` without a
    bound, or with one that data sets of usual sizes hardly reach."""
    if not (run.given or run.given_parts):
        return False
    site = Site(run.file, run.file.scopes[run.scope].parent, 0, (0, 0), None)
    for decorator in run.file.scopes[run.scope].decorators:
        expr = decorator.expr
        called = run.file.calls[expr.index] if isinstance(expr, CallRef) else None
        for one in world.values.evaluate(called.func if called is not None else expr, site):
            if not isinstance(one, External):
                continue
            if called is None and one.name == "functools.cache":
                return True
            if called is not None and one.name == "functools.lru_cache" and called.args:
                return _is_wide(world.values.evaluate(called.args[0].value, site))
    return False


def _is_wide(most: Values) -> bool:
    """Whether a bound is None, or a number above that of the items of many data sets."""
    known = [one.value for one in most if isinstance(one, Const)]
    return bool(known) and all(one is None or (isinstance(one, int) and one >= _MANY_ITEMS) for one in known)
