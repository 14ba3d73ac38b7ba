"""Loops whose passes are as many as data tells, and the numbers that they count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp, CallRef, Compare, Constant, List, Name, Tuple
from dllint.facts.schema import Expr, Operator, Region
from dllint.inference.values import Site
from dllint.linking.arithmetic import NUMERIC
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.counting import iterations, looped_calls, loops

if TYPE_CHECKING:
    from dllint.project.datasets import Datasets

_RANGES = frozenset({"range", "trange", "arange"})

Loop = tuple[Expr, Site]
"""What a loop iterates, or the test of a `while` loop, with the place around the loop."""


class DataLoops:
    """Finds the loops around a place, and how often they run."""

    def __init__(self, datasets: Datasets) -> None:
        self.datasets = datasets
        self.world = datasets.world

    def around(self, where: Site, made: Site | None = None) -> Iterator[Loop]:
        """The loops around a place, innermost first; in a method that fills what another function made, also those
        around the calls of the method."""
        yield from self._in_function(where.file, where.region, where)
        if made is not None and (where.file is not made.file or where.scope != made.scope):
            for file, call in looped_calls(self.world, where.file, where.scope):
                at = Site(file, call.scope, call.region, call.span.start, None)
                yield from self._in_function(file, call.region, at)

    def _in_function(self, file: SourceFile, inside: int, where: Site) -> Iterator[Loop]:
        for index in loops(file, inside):
            region = file.facts.regions[index]
            if region.expr is not None and (region.kind == "for" or self._counts_up(file, where.scope, region, index)):
                yield region.expr, where._replace(region=region.parent, at=region.span.start)

    @staticmethod
    def _counts_up(file: SourceFile, scope: int, region: Region, index: int) -> bool:
        """Whether a `while` loop compares a number that it increases: `while start < size: start += step`."""
        if not isinstance(region.expr, Compare):
            return False
        compared = {part for part in walk(region.expr, file) if isinstance(part, Name)}
        return any(
            event.target in compared and event.detail == Operator("+") and index in file.regions(event.region)
            for event in file.scopes[scope].events
        )

    def many(self, around: list[Loop]) -> bool:
        """Whether two nested loops run as often as data tells, or one does for each number below a length."""
        unknown = [one for one in around if iterations(self.datasets, *one) is None]
        if len(unknown) > 1:
            return any(self._counts_data(expr, site) for expr, site in unknown)
        return any(self._is_length(expr, site) for expr, site in unknown)

    def over_data(self, around: list[Loop]) -> bool:
        """Whether a loop runs as often as data tells."""
        return any(iterations(self.datasets, *one) is None and self._counts_data(*one) for one in around)

    def numbers_parts(self, name: Name, file: SourceFile, around: list[Loop]) -> bool:
        """Whether a name is the number that a loop counts below a bound which data tells, once for each pass of another
        loop over data: the number of a part of a file."""
        unknown = [one for one in around if iterations(self.datasets, *one) is None]
        return any(
            site.file is file and self._counted_by(name, expr, site) and self._counts_data(expr, site)
            for expr, site in unknown[:-1]
        )

    @staticmethod
    def _counted_by(name: Name, iterated: Expr, site: Site) -> bool:
        """Whether a loop counts by a name, or by one from which the name is computed: `start = number * size`."""
        events = site.file.scopes[site.scope].events
        computed = [
            part
            for event in events
            if event.kind == "assign" and event.target == name and isinstance(event.value, BinOp)
            for part in walk(event.value, site.file)
            if event.value.op in NUMERIC - {"%"}
        ]
        names = {name, *(part for part in computed if isinstance(part, Name))}
        if isinstance(iterated, Compare):
            return any(part in names for part in walk(iterated, site.file))
        return is_range(iterated, site.file) and any(
            event.kind == "for" and event.value == iterated and event.target in names for event in events
        )

    @staticmethod
    def _is_length(expr: Expr, site: Site) -> bool:
        """Whether an expression is `range(len(data))`, or `range(sum(lengths))`."""
        parts = list(walk(expr, site.file))
        names = [last_name(site.file.calls[part.index].func) for part in parts if isinstance(part, CallRef)]
        return ("len" in names or "sum" in names) and any(name in _RANGES for name in names)

    def _counts_data(self, expr: Expr, site: Site) -> bool:
        """Whether the passes of a loop are more than a number that someone chooses."""
        if not is_range(expr, site.file):
            return True
        assert isinstance(expr, CallRef)
        bounds = [argument.value for argument in site.file.calls[expr.index].args]
        return any(self._is_measured(part, site) for part in bounds)

    def _is_measured(self, bound: Expr, site: Site) -> bool:
        """Whether a bound is computed, or a local variable for the length or a dimension of data, or for what another
        loop finds out about each thing that it iterates."""
        if self._differs_by_pass(bound, site):
            return True
        if not isinstance(bound, Name):
            return not isinstance(bound, (Constant, Attribute))
        found = self.world.symbols.lookup(bound.id, site)
        return bool(found) and all(
            where.scope == site.scope
            and binding.expr is not None
            and any(
                (isinstance(part, Attribute) and part.attr == "shape")
                or (isinstance(part, CallRef) and last_name(where.file.calls[part.index].func) == "len")
                for part in walk(binding.expr, where.file)
            )
            for binding, where in found
        )

    def _differs_by_pass(self, bound: Expr, site: Site) -> bool:
        """Whether a bound is computed from the variable of another loop over data: `header.slices` after `header =
        read(path)`."""
        while isinstance(bound, Attribute):
            bound = bound.value
        if not isinstance(bound, Name):
            return False
        variables = {
            part
            for event in site.file.scopes[site.scope].events
            if event.kind == "for"
            and event.detail != "comp"
            and event.target is not None
            and event.value is not None
            and not is_range(event.value, site.file)
            for part in walk(event.target, site.file)
            if isinstance(part, Name)
        }
        found = self.world.symbols.lookup(bound.id, site) if variables else ()
        return bound in variables or any(
            where.scope == site.scope
            and binding.expr is not None
            and any(part in variables for part in walk(binding.expr, where.file))
            for binding, where in found
        )


def is_range(expr: Expr, file: SourceFile) -> bool:
    return isinstance(expr, CallRef) and last_name(file.calls[expr.index].func) in _RANGES


def is_counter(name: Name, site: Site) -> bool:
    """Whether a name is the variable of a loop over a range, the number that `enumerate` gives, or one that counts by
    constants: `i = 0`, `i += 1`."""
    events = site.file.scopes[site.scope].events
    if any(
        name.id in _counters(event.target, event.value, site.file)
        for event in events
        if event.kind == "for" and event.target is not None and event.value is not None
    ):
        return True
    own = [event for event in events if event.target == name]
    return bool(own) and all(one.kind == "assign" and _counts(name, one.value) for one in own)


def _counts(name: Name, value: Expr | None) -> bool:
    """Whether an assigned expression is a number, or the name with numbers added."""
    if isinstance(value, BinOp) and value.op in NUMERIC:
        return all(one == name or _counts(name, one) for one in (value.left, value.right))
    return isinstance(value, Constant) and isinstance(value.value, (int, float))


def _counters(target: Expr, iterable: Expr, file: SourceFile) -> Iterator[str]:
    """The variable of a loop over a range, or the one for the number that `enumerate` gives."""
    last = last_name(file.calls[iterable.index].func) if isinstance(iterable, CallRef) else None
    first = target.elements[0] if isinstance(target, (Tuple, List)) else target
    if isinstance(first, Name) and (last == "enumerate" if first is not target else last in _RANGES):
        yield first.id
