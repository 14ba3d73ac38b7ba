"""Lists into which loops over data put a new tuple, list, dict or object per pass: one Python object per item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Compare,
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
from dllint.linking.arithmetic import NUMERIC, ORDERING
from dllint.linking.expressions import as_display, walk
from dllint.linking.implicit_calls import expressions
from dllint.linking.source import SourceFile, last_name
from dllint.project.counting import loops
from dllint.rules.memory.data_loops import DataLoops, Loop, is_counter, is_range
from dllint.rules.memory.derived_lists import lists_behind
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.datasets import Datasets

_PAIRING = frozenset({"zip", "product", "zip_longest"})
"""Last names of functions that make a tuple per element of what they are given."""
_OF_NUMBERS = frozenset({"len", "int", "float", "min", "max", "abs", "round", "sum", "bool"})
_RECORDS = frozenset({"typing.NamedTuple", "typing.Generic", "abc.ABC", "object", "pydantic.BaseModel"})
"""Bases of classes whose objects keep no more than what their constructors put into them."""
_PAIR = 2
_ARRAYS = ("torch.", "numpy.", "PIL.", "cv2.")

_Place = tuple[SourceFile, Span]


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
        self.loops = DataLoops(datasets)
        self._compared: dict[tuple[SourceFile, int], list[Expr]] = {}

    def made(self, value: Value) -> _Place | None:
        """Where a list gets a new object, or a dict a new number as a key, per pass of loops over data; None if none
        does so provably."""
        lists = lists_behind(self.world, value)
        places = [self._numbered(one) if isinstance(one, Mapping) else self._of_list(one, [], 0) for one in lists]
        return places[0] if all(places) else None

    def _of_list(self, value: Value, around: list[Loop], depth: int) -> _Place | None:
        """Where a list gets a new object per pass; `around` are loops around the place that takes the list."""
        if not isinstance(value, Display) or value.kind == "tuple" or limits.COUNTING_DEPTH.exceeded(depth):
            return None
        expr, site = value.written.expr, value.written.site
        if isinstance(expr, Comprehension):
            return None if expr.kind == "generator" else self._of_comprehension(expr, site, around)
        changes = [one for one in self.datasets.filling(value) if one.kind in ("add", "extend")]
        for change in limits.CHANGES.first(changes):
            where = self.world.mappings.changed_at(change, value)
            found = self._of_change(change, where, site, around, depth)
            if found is not None:
                return found
        return None

    def _numbered(self, value: Mapping) -> _Place | None:
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
            if self.loops.many(list(self.loops.around(where, value.written.site))):
                return change.place()
        return None

    def _numbers_entries(self, key: Expr, site: Site, depth: int) -> bool:
        """Whether the key of a dict is a number: one that is computed from a number, as no array can be a key."""
        if limits.COUNTING_DEPTH.exceeded(depth):
            return False
        if isinstance(key, BinOp) and key.op in NUMERIC:
            return any(self._numbers_entries(side, site, depth + 1) for side in (key.left, key.right))
        if self.is_number(key, site):
            return True
        own = [one for one in site.file.scopes[site.scope].events if one.target == key and one.value is not None]
        return bool(own) and all(
            one.kind == "assign" and one.value is not None and self._numbers_entries(one.value, site, depth + 1)
            for one in own
        )

    def _of_change(self, change: Change, where: Site, made: Site, further: list[Loop], depth: int) -> _Place | None:
        added = change.value
        if added is None:
            return None
        own = list(self.loops.around(where, made))
        around = own + [one for one in further if one not in own]
        if change.kind == "add":
            return change.place() if self._is_one_per_pass(added, where, around) else None
        if isinstance(added, Comprehension):
            return self._of_comprehension(added, where, around)
        if self._pairs_numbers(added, where, around):
            return change.place()
        if isinstance(added, (List, Tuple)):
            several = any(self._is_one_per_pass(one, where, around) for one in added.elements)
            return change.place() if several else None
        # A list for each file, which a loop around this one fills, or a function that it calls.
        lists = self.world.values.evaluate(added, where) if isinstance(added, (Name, CallRef)) and around else ()
        found = (self._of_list(one, around, depth + 1) for one in lists)
        return next((one for one in found if one is not None), None)

    def _of_comprehension(self, expr: Comprehension, site: Site, around: list[Loop]) -> _Place | None:
        within = inside(expr, site)
        loops_of_it = [(clause.iterable, within) for clause in reversed(expr.clauses)]
        if not self._is_one_per_pass(expr.element, within, loops_of_it + around):
            return None
        return site.file, site.file.facts.regions[within.region].span

    def _is_one_per_pass(self, expr: Expr, site: Site, around: list[Loop]) -> bool:
        """Whether an expression makes a new object of numbers, strings and records, or of a path and the number of a
        part of the file, in each pass of loops over data; or is another row of an array in each pass of one."""
        if self._is_row(expr, site) and self.loops.over_data(around):
            return True
        return self.loops.many(around) and (self._is_new(expr, site) or self._is_part(expr, site, around))

    def _is_part(self, expr: Expr, site: Site, around: list[Loop]) -> bool:
        """Whether an expression makes a new object with the number of a part, what the part is of, and more:
        `(path, start, end)`.

        What is made for each part, its own path or its pixels, is no new object beside that. A pair of a path and a
        number is a labelled path.
        """
        parts = self._parts(expr, site)
        if parts is None or len(parts[0]) <= _PAIR:
            return False
        exprs, at = parts
        counted = [one for one in exprs if self._is_part_number(one, at, around)]
        others = [one for one in exprs if one not in counted]
        return bool(counted) and not any(self._names_part(one, at, around) or self._is_array(one, at) for one in others)

    def _is_part_number(self, expr: Expr, site: Site, around: list[Loop]) -> bool:
        """Whether an expression is the number of a part, or one computed from it: `start + self.size`."""
        if isinstance(expr, CallRef):
            call = site.file.calls[expr.index]
            given = [one.value for one in call.args] if last_name(call.func) in _OF_NUMBERS else []
            return any(self._is_part_number(one, site, around) for one in given)
        if isinstance(expr, BinOp):
            sides = (expr.left, expr.right) if expr.op in NUMERIC - {"%"} else ()
            return any(self._is_part_number(one, site, around) for one in sides)
        return isinstance(expr, Name) and self.loops.numbers_parts(expr, site.file, around)

    def _names_part(self, expr: Expr, site: Site, around: list[Loop]) -> bool:
        names = (one for one in walk(expr, site.file) if isinstance(one, Name))
        return any(self.loops.numbers_parts(one, site.file, around) for one in names)

    def _is_array(self, expr: Expr, site: Site) -> bool:
        return any(
            isinstance(one, Instance) and isinstance(one.of, External) and one.of.name.startswith(_ARRAYS)
            for one in self.world.values.evaluate(expr, site)
        )

    def _parts(self, expr: Expr, site: Site) -> tuple[list[Expr], Site] | None:
        """What an expression puts into a new tuple, list, dict or record, and where; None for any other."""
        expr = as_display(expr, site.file)
        if isinstance(expr, Name):
            made = self.world.values.evaluate(expr, site)
            places = [_made_at(self.world, one) for one in made]
            beside = [one for one in places if one is not None and one[1].file is site.file]
            if len(made) != 1 or not beside or beside[0][1].scope != site.scope:
                return None
            expr, site = as_display(beside[0][0], site.file), beside[0][1]
        if isinstance(expr, Dict):
            return [one for _, one in expr.items], site
        if isinstance(expr, (Tuple, List)):
            return list(expr.elements), site
        if not isinstance(expr, CallRef) or not self._makes_record(expr, site) or self._constructs(expr, site):
            return None
        return [one.value for one in site.file.calls[expr.index].args], site

    def _constructs(self, expr: CallRef, site: Site) -> bool:
        """Whether a class has a constructor of its own, which may make a path of what it is given."""
        classes = (one.of for one in self.world.values.evaluate(expr, site) if isinstance(one, Instance))
        return any(isinstance(one, Class) and self.world.hierarchy.method(one, "__init__") for one in classes)

    def _makes_record(self, expr: CallRef, site: Site) -> bool:
        made = self.world.values.evaluate(expr, site)
        args = site.file.calls[expr.index].args
        return (
            bool(made)
            and all(isinstance(one, Instance) and self.is_record(one.of) for one in made)
            and all(one.keyword not in ("*", "**") for one in args)
        )

    def _pairs_numbers(self, added: Expr, where: Site, around: list[Loop]) -> bool:
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
        counted = [(one, where) for one in columns if is_range(one, where.file)]
        numbers = all(is_range(one, where.file) or self._repeats_a_number(one, where) for one in columns)
        return numbers and bool(counted) and self.loops.many([counted[0], *around])

    def _repeats_a_number(self, expr: Expr, site: Site) -> bool:
        if not isinstance(expr, BinOp) or expr.op != "*":
            return False
        lists = [one for one in (expr.left, expr.right) if isinstance(one, List)]
        return len(lists) == 1 and all(self.is_number(one, site, 0) for one in lists[0].elements)

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

    def _is_row(self, expr: Expr, site: Site) -> bool:
        """Whether an expression is one row of a NumPy array: each time a new object. What the function compares with a
        number is a number itself: `[one for one in chosen if sizes[one] > least]`."""
        if not isinstance(expr, Subscript) or not isinstance(expr.index, (Name, BinOp)):
            return False
        values = self.world.values.evaluate(expr.value, site)
        arrays = bool(values) and all(
            isinstance(one, Instance) and isinstance(one.of, External) and one.of.name.startswith("numpy.")
            for one in values
        )
        place = (site.file, site.scope)
        if arrays and place not in self._compared:
            self._compared[place] = _compared(*place)
        return arrays and expr.value not in self._compared[place]

    def _is_made_beside(self, value: Value, site: Site) -> bool:
        """Whether a loop in the same function makes a new value each time."""
        place = _made_at(self.world, value)
        if place is None:
            return False
        expr, made = place
        same = made.file is site.file and made.scope == site.scope
        return same and bool(loops(site.file, made.region)) and self._is_new(expr, made)

    def _is_new_object(self, expr: CallRef, site: Site) -> bool:
        """Whether a call creates an object of a plain class of the project of numbers, strings and records:
        `Window(number, start)`."""
        args = site.file.calls[expr.index].args
        return bool(args) and self._makes_record(expr, site) and all(self._is_plain(one.value, site, 0) for one in args)

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
                return expr.op in NUMERIC and all(
                    self.is_number(side, site, depth + 1) for side in (expr.left, expr.right)
                )
            case IfExp():
                return all(self.is_number(side, site, depth + 1) for side in (expr.body, expr.orelse))
            case CallRef():
                return last_name(site.file.calls[expr.index].func) in _OF_NUMBERS
            case Name():
                return is_counter(expr, site) or self._is_known_number(expr, site)
            case Attribute() | Subscript() | Element():
                return self._is_known_number(expr, site)
        return False

    def _is_known_number(self, expr: Expr, site: Site) -> bool:
        values = self.world.values.evaluate(expr, site)
        return bool(values) and all(isinstance(one, Const) and isinstance(one.value, (int, float)) for one in values)


def _compared(file: SourceFile, scope: int) -> list[Expr]:
    """What a function takes an element of to order it: the arrays of numbers among them have no rows."""
    parts = (part for expr, *_ in expressions(file, scope) for part in walk(expr, file))
    compared = (part for part in parts if isinstance(part, Compare))
    sides = (
        side
        for part in compared
        if any(op in ORDERING for op, _ in part.comparisons)
        for side in (part.left, *(right for _, right in part.comparisons))
    )
    return [side.value for side in sides if isinstance(side, Subscript) and isinstance(side.index, Name)]


def _made_at(world: World, value: Value) -> tuple[Expr, Site] | None:
    """The expression that makes a container or an object, and where it stands; None for other values."""
    if isinstance(value, (Display, Mapping)):
        return value.written.expr, value.written.site
    if isinstance(value, Instance) and value.file is not None and value.call >= 0:
        return CallRef(value.call), world.call_site(value.file, value.call, value.frame)
    return None
