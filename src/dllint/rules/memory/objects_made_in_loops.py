"""Lists into which loops over data put a new tuple, list, dict or object per pass: one Python object per item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Comprehension,
    Constant,
    Dict,
    Element,
    IfExp,
    List,
    Name,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.all_entries import inside
from dllint.inference.entries import Change
from dllint.inference.values import Class, Const, Display, External, Instance, Mapping, Site, Value
from dllint.libraries.index import SAME_LENGTH
from dllint.linking.expressions import as_display, walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.counting import iterations, loops
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.datasets import Datasets

_RANGES = frozenset({"range", "trange", "arange"})
_PAIRING = frozenset({"zip", "product", "zip_longest"})
"""Last names of functions that make a tuple per element of what they are given."""
_OF_NUMBERS = frozenset({"len", "int", "float", "min", "max", "abs", "round", "sum", "bool"})
_RECORDS = frozenset({"typing.NamedTuple", "typing.Generic", "abc.ABC", "object"})
"""Bases of classes whose objects keep no more than what their constructors put into them."""
_NUMERIC = frozenset({"+", "-", "*", "//", "/", "%", "**"})


def stays_empty(datasets: Datasets, value: Value) -> bool:
    """Whether a value is an empty list, tuple or dict of the program that nothing fills."""
    if not isinstance(value, (Display, Mapping)):
        return False
    written = value.written.expr
    empty = isinstance(written, (List, Tuple, Dict)) and not written.children()
    return empty and next(datasets.filling(value), None) is None


class MadeInLoops:
    """Finds containers of new objects whose number depends on data that only a run knows."""

    def __init__(self, datasets: Datasets) -> None:
        self.datasets = datasets
        self.world = datasets.world

    def made(self, value: Value) -> tuple[SourceFile, Span] | None:
        """Where a list gets a new object, or a dict a new number as a key, per pass of loops over data; None if none
        does so provably."""
        if isinstance(value, Mapping):
            return self._numbered(value)
        if not isinstance(value, Display) or value.kind == "tuple":
            return None
        expr, site = value.written.expr, value.written.site
        if isinstance(expr, Comprehension):
            return None if expr.kind == "generator" else self._of_comprehension(expr, site, [])
        changes = [one for one in self.datasets.filling(value) if one.kind in ("add", "extend")]
        for change in limits.CHANGES.first(changes):
            where = self.world.mappings.changed_at(change, value)
            found = None if change.value is None else self._of_change(change, change.value, where)
            if found is not None:
                return found
        return None

    def _numbered(self, value: Mapping) -> tuple[SourceFile, Span] | None:
        """Where loops put a number, or a tuple of some, under a number that they count:
        `self.frames[count] = frame`."""
        changes = [one for one in self.datasets.filling(value) if one.kind == "set"]
        for change in limits.CHANGES.first(changes):
            where = self.world.mappings.changed_at(change, value)
            if change.value is None or change.key is None or isinstance(change.key, (str, Constant)):
                continue
            if not self._numbers_entries(change.key, where, 0):
                continue
            if not self.is_number(change.value, where) and not self._is_new(change.value, where):
                continue
            if self._many(list(self._around(where))):
                return change.place()
        return None

    def _numbers_entries(self, key: Expr, site: Site, depth: int) -> bool:
        """Whether the key of a dict is a number: one that is computed from a number, as no array can be a key."""
        if limits.COUNTING_DEPTH.exceeded(depth):
            return False
        if isinstance(key, BinOp) and key.op in _NUMERIC:
            return any(self._numbers_entries(side, site, depth + 1) for side in (key.left, key.right))
        if self.is_number(key, site):
            return True
        own = [one for one in site.file.scopes[site.scope].events if one.target == key and one.value is not None]
        return bool(own) and all(
            one.kind == "assign" and one.value is not None and self._numbers_entries(one.value, site, depth + 1)
            for one in own
        )

    def _of_change(self, change: Change, added: Expr, where: Site) -> tuple[SourceFile, Span] | None:
        around = list(self._around(where))
        if change.kind == "extend" and isinstance(added, Comprehension):
            return self._of_comprehension(added, where, around)
        if change.kind == "extend" and self._pairs_numbers(added, where, around):
            return change.place()
        for expr in (added,) if change.kind == "add" else added.elements if isinstance(added, (List, Tuple)) else ():
            if self._is_new(expr, where) and self._many(around):
                return change.place()
        return None

    def _of_comprehension(
        self, expr: Comprehension, site: Site, around: list[tuple[Expr, Site]]
    ) -> tuple[SourceFile, Span] | None:
        within = inside(expr, site)
        loops_of_it = [(clause.iterable, within) for clause in expr.clauses]
        if not self._is_new(expr.element, within) or not self._many(loops_of_it + around):
            return None
        return site.file, site.file.facts.regions[within.region].span

    def _pairs_numbers(self, added: Expr, where: Site, around: list[tuple[Expr, Site]]) -> bool:
        """Whether an expression makes tuples of numbers, `zip([i] * size, range(size))`, one per number below a bound
        that data tells."""
        while isinstance(added, CallRef) and last_name(where.file.calls[added.index].func) in SAME_LENGTH:
            args = where.file.calls[added.index].args
            if len(args) != 1:
                return False
            added = args[0].value
        if not isinstance(added, CallRef) or last_name(where.file.calls[added.index].func) not in _PAIRING:
            return False
        columns = [argument.value for argument in where.file.calls[added.index].args]
        counted = [(one, where) for one in columns if _is_range(one, where.file)]
        numbers = all(_is_range(one, where.file) or self._repeats_a_number(one, where) for one in columns)
        return numbers and bool(counted) and self._many([counted[0], *around])

    def _repeats_a_number(self, expr: Expr, site: Site) -> bool:
        if not isinstance(expr, BinOp) or expr.op != "*":
            return False
        lists = [one for one in (expr.left, expr.right) if isinstance(one, List)]
        return len(lists) == 1 and all(self.is_number(one, site, 0) for one in lists[0].elements)

    def _around(self, where: Site) -> Iterator[tuple[Expr, Site]]:
        """What the loops around a place iterate, innermost first."""
        for index in loops(where.file, where.region):
            region = where.file.facts.regions[index]
            if region.kind == "for" and region.expr is not None:
                yield region.expr, where._replace(region=region.parent, at=(region.span.line, region.span.column))

    def _many(self, iterated: list[tuple[Expr, Site]]) -> bool:
        """Whether two nested loops run as often as data tells, or one does for each number below a length."""
        unknown = [one for one in iterated if iterations(self.datasets, *one) is None]
        if len(unknown) > 1:
            return any(self._counts_data(expr, site) for expr, site in unknown)
        return any(self._is_length(expr, site) for expr, site in unknown)

    @staticmethod
    def _is_length(expr: Expr, site: Site) -> bool:
        """Whether an expression is `range(len(data))`, or `range(sum(lengths))`."""
        parts = list(walk(expr, site.file))
        names = [last_name(site.file.calls[part.index].func) for part in parts if isinstance(part, CallRef)]
        return ("len" in names or "sum" in names) and any(name in _RANGES for name in names)

    def _counts_data(self, expr: Expr, site: Site) -> bool:
        """Whether the passes of a loop are more than a number that someone chooses."""
        if not isinstance(expr, CallRef) or not _is_range(expr, site.file):
            return True
        bounds = [argument.value for argument in site.file.calls[expr.index].args]
        return any(self._is_measured(part, site) for part in bounds)

    def _is_measured(self, bound: Expr, site: Site) -> bool:
        """Whether a bound is computed, or a local variable for the length or a dimension of data."""
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

    # What is put in

    def _is_new(self, expr: Expr, site: Site) -> bool:
        """Whether an expression makes a new tuple, list or dict of numbers, strings and records."""
        expr = as_display(expr, site.file)
        if isinstance(expr, Name):
            made = self.world.values.evaluate(expr, site)
            return bool(made) and all(self._is_made_beside(one, site) for one in made)
        if isinstance(expr, CallRef):
            return self._is_new_object(expr, site)
        if not isinstance(expr, (Tuple, List, Dict)):
            return False
        parts = [part for _, part in expr.items] if isinstance(expr, Dict) else list(expr.elements)
        return bool(parts) and all(self._is_plain(part, site, 0) for part in parts)

    def _is_made_beside(self, value: Value, site: Site) -> bool:
        """Whether a loop in the same function makes a new value each time."""
        if isinstance(value, (Display, Mapping)):
            expr, made = value.written.expr, value.written.site
        elif isinstance(value, Instance) and value.file is not None and value.call >= 0:
            expr, made = CallRef(value.call), self.world.call_site(value.file, value.call, value.frame)
        else:
            return False
        same = made.file is site.file and made.scope == site.scope
        return same and bool(loops(site.file, made.region)) and self._is_new(expr, made)

    def _is_new_object(self, expr: CallRef, site: Site) -> bool:
        """Whether a call creates an object of a plain class of the project of numbers, strings and records:
        `Window(number, start)`."""
        made = self.world.values.evaluate(expr, site)
        args = site.file.calls[expr.index].args
        return (
            bool(made)
            and bool(args)
            and all(isinstance(one, Instance) and self.is_record(one.of) for one in made)
            and all(one.keyword not in ("*", "**") and self._is_plain(one.value, site, 0) for one in args)
        )

    def is_record(self, of: Class | External) -> bool:
        """Whether a class is one of the project's with no other base than those of records."""
        if isinstance(of, External) or self.world.hierarchy.method(of, "__new__") is not None:
            return False
        return _RECORDS.issuperset(self.world.hierarchy.externals(of))

    def _is_plain(self, expr: Expr, site: Site, depth: int) -> bool:
        """Whether an expression is known to be a number, a string that is no path, or a record of these."""
        if limits.COUNTING_DEPTH.exceeded(depth) or isinstance(expr, Starred):
            return False
        if isinstance(expr, (Tuple, List)):
            return all(self._is_plain(part, site, depth + 1) for part in expr.elements)
        if isinstance(expr, Dict):
            return all(self._is_plain(part, site, depth + 1) for _, part in expr.items)
        if self.is_number(expr, site, depth):
            return True
        values = self.world.values.evaluate(expr, site)
        return bool(values) and all(isinstance(one, (Const, Display, Mapping)) for one in values)

    def is_number(self, expr: Expr, site: Site, depth: int = 0) -> bool:
        """Whether an expression is known to be a number: a constant, a length, a counter of a loop."""
        if limits.COUNTING_DEPTH.exceeded(depth):
            return False
        match expr:
            case Constant():
                return not isinstance(expr.value, str)
            case BinOp():
                return expr.op in _NUMERIC and all(
                    self.is_number(side, site, depth + 1) for side in (expr.left, expr.right)
                )
            case IfExp():
                return all(self.is_number(side, site, depth + 1) for side in (expr.body, expr.orelse))
            case CallRef():
                return last_name(site.file.calls[expr.index].func) in _OF_NUMBERS
            case Name():
                return self._is_counter(expr, site) or self._is_known_number(expr, site)
            case Attribute() | Subscript() | Element():
                return self._is_known_number(expr, site)
        return False

    def _is_known_number(self, expr: Expr, site: Site) -> bool:
        values = self.world.values.evaluate(expr, site)
        return bool(values) and all(isinstance(one, Const) and isinstance(one.value, (int, float)) for one in values)

    def _is_counter(self, expr: Name, site: Site) -> bool:
        """Whether a name is the variable of a loop over a range, the number that `enumerate` gives, or one that counts
        by constants: `i = 0`, `i += 1`."""
        events = site.file.scopes[site.scope].events
        if any(
            expr.id in _counters(event.target, event.value, site.file)
            for event in events
            if event.kind == "for" and event.target is not None and event.value is not None
        ):
            return True
        own = [event for event in events if event.target == expr]
        return bool(own) and all(one.kind == "assign" and _counts(expr, one.value) for one in own)


def _counts(name: Name, value: Expr | None) -> bool:
    """Whether an assigned expression is a number, or the name with numbers added."""
    if isinstance(value, BinOp) and value.op in _NUMERIC:
        return all(one == name or _counts(name, one) for one in (value.left, value.right))
    return isinstance(value, Constant) and isinstance(value.value, (int, float))


def _is_range(expr: Expr, file: SourceFile) -> bool:
    return isinstance(expr, CallRef) and last_name(file.calls[expr.index].func) in _RANGES


def _counters(target: Expr, iterable: Expr, file: SourceFile) -> Iterator[str]:
    """The variable of a loop over a range, or the one for the number that `enumerate` gives."""
    last = last_name(file.calls[iterable.index].func) if isinstance(iterable, CallRef) else None
    first = target.elements[0] if isinstance(target, (Tuple, List)) else target
    if isinstance(first, Name) and (last == "enumerate" if first is not target else last in _RANGES):
        yield first.id
