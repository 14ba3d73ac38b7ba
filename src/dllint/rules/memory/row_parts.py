"""How workers use the parts of a row: the fields of a record that they look up, or the cells of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Optional

from dllint.facts import nodes
from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Compare,
    Constant,
    Dict,
    LambdaRef,
    List,
    Name,
    Slice,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Event, Expr
from dllint.inference import limits
from dllint.inference.values import Class, Instance
from dllint.libraries.builtin_functions import OF_STRING, PARTING, SPLITTING
from dllint.libraries.copies import copied
from dllint.linking.expressions import without_calls
from dllint.linking.source import SourceFile, last_name
from dllint.project.item_code import ItemCode
from dllint.project.item_expressions import adds_a_list, calculates, may_join_paths
from dllint.project.path_use import COUNTING, shows, takes_path

if TYPE_CHECKING:
    from dllint.inference.edges import Target
    from dllint.inference.engine import World

_NUMBERS = frozenset({"int", "float"})
_NEUTRAL = frozenset({"len", "isinstance"})
PATH, NUMBER, _OTHER = "path", "number", "other"

_EACH = "each"
_WITHOUT_END = Slice(None, Constant(-1), None)
Part = tuple[object, ...]
"""A part of a row: `()` is the row itself, `(0,)` its first field, `("each",)` any field that a loop reads."""
Uses = dict[Part, set[str]]


def used_parts(
    world: World,
    code: ItemCode,
    value: Instance,
    attr: str,
    holder: Class | None,
    reader: type[RowReader] | None = None,
) -> Uses:
    """How the workers use each part of `self.attr[index]`, as a kind of reader takes it apart."""
    uses: Uses = {}
    for run, rows in code.items(value, attr, holder):
        merge(uses, (reader or RowReader)(world, run.file, run.scope, {}, dict.fromkeys(rows, ()), 0).uses())
    return uses


def merge(into: Uses, more: Uses) -> None:
    for part, kinds in more.items():
        into.setdefault(part, set()).update(kinds)


class RowReader:
    """A function that receives rows or parts of them, by parameters or by expressions (`rows`)."""

    def __init__(
        self,
        world: World,
        file: SourceFile,
        scope: int,
        given: Mapping[str, Part],
        rows: Mapping[Expr, Part],
        depth: int,
    ) -> None:
        self.world = world
        self.file = file
        self.scope = scope
        self.rows = rows
        self.depth = depth
        self.bound: dict[str, list[tuple[tuple[int, int], Optional[Part]]]] = {
            name: [((0, 0), part)] for name, part in given.items()
        }
        for event in file.scopes[scope].events:
            if event.kind == "assign" and event.target is not None and event.value is not None:
                self._bind(event, event.target, event.value)
            elif event.kind == "for" and event.target is not None and event.value is not None:
                # The elements of a field are used like the field itself.
                at = event.span.start
                part = self.part_of(event.value, at)
                if part is not None and isinstance(event.target, Name):
                    self.bound.setdefault(event.target.id, []).append((at, part or (_EACH,)))

    def _bind(self, event: Event, target: Expr, value: Expr) -> None:
        """Record the parts that the names of an assignment refer to after it."""
        at = event.span.start
        after = (event.span.end_line, event.span.end_column)
        if isinstance(target, Name):
            part = self.part_of(value, at)
            if part is not None or target.id in self.bound:
                self.bound.setdefault(target.id, []).append((after, part))
        elif isinstance(target, (Tuple, List)):
            values = value.elements if isinstance(value, (Tuple, List)) else ()
            same = len(values) == len(target.elements)
            for position, one in enumerate(target.elements):
                if not isinstance(one, Starred):
                    self._bind(event, one, values[position] if same else Subscript(value, Constant(position)))

    def part_of(self, expr: Expr, at: tuple[int, int]) -> Optional[Part]:
        """The part of a row that an expression refers to, at most stripped or split as a string; None if it is none."""
        if expr in self.rows:
            return self.rows[expr]
        if isinstance(expr, Name):
            found: Optional[Part] = None
            for since, part in self.bound.get(expr.id, ()):
                if since <= at:
                    found = part
            return found
        if isinstance(expr, Subscript):
            base = self.part_of(expr.value, at)
            if base is not None and base in ((), (_EACH,)) and isinstance(expr.index, (Constant, Attribute)):
                # `row[self.key]`: the name of a field that the object keeps
                return (*base, expr.index.value if isinstance(expr.index, Constant) else expr.index)
            return base
        if isinstance(expr, CallRef):
            call = self.file.calls[expr.index]
            if isinstance(call.func, Attribute) and call.func.attr in OF_STRING | SPLITTING | PARTING:
                return self.part_of(call.func.value, at)
            if call.func == Name("str") and len(call.args) == 1:
                return self.part_of(call.args[0].value, at)
            whole = copied(self.file, expr)
            return None if whole is None else self.part_of(whole, at)
        return None

    def uses(self) -> Uses:
        """How the function uses each part."""
        found: Uses = {}
        for index in self.file.calls_of(self.scope):
            if shows(self.file, index):
                continue
            call = self.file.calls[index]
            at = call.span.start
            for argument in call.args:
                part = self.part_of(argument.value, at)
                if part is not None:
                    merge(found, self._given_to(index, argument.keyword, argument.value, part))
                elif last_name(call.func) in COUNTING:
                    self._numbers(argument.value, at, found)
                elif not isinstance(argument.value, CallRef):
                    self._inside(argument.value, at, found)
        for event in self.file.scopes[self.scope].events:
            if event.kind == "for" and event.value is not None:
                part = self.part_of(event.value, event.span.start)
                if part:
                    found.setdefault(part, set()).add(_OTHER)
            if event.kind in ("return", "yield") and event.value is not None:
                at = event.span.start
                part = self.part_of(event.value, at)
                if part is not None:
                    found.setdefault(part, set()).add(_OTHER)
            if event.value is not None:
                self._inside(event.value, event.span.start, found)
        return found

    def _inside(self, expr: Expr, at: tuple[int, int], found: Uses) -> None:
        """Record the uses of parts inside an expression, except those in calls."""
        if isinstance(expr, (CallRef, Constant, LambdaRef, Compare, Name)):
            return
        if isinstance(expr, Slice):
            self._numbers(expr, at, found)
            return
        lists = isinstance(expr, BinOp) and adds_a_list(expr)
        number = isinstance(expr, BinOp) and calculates(expr)
        joins = may_join_paths(expr) and not any(map(_has_axes, expr.children()))
        for one in expr.children():
            part = self.part_of(one, at)
            if part is None:
                self._inside(one, at, found)
            elif joins or lists or number or isinstance(expr, (List, Tuple, nodes.Set, Dict)):
                found.setdefault(part, set()).add(PATH if joins else NUMBER if number else _OTHER)

    def _numbers(self, expr: Expr, at: tuple[int, int], found: Uses) -> None:
        """Record the parts in the bounds of a slice or a range, `start + size`, which are numbers."""
        for one in without_calls(expr):
            part = self.part_of(one, at)
            if part is not None:
                found.setdefault(part, set()).add(NUMBER)

    def _given_to(self, index: int, keyword: Optional[str], value: Expr, part: Part) -> Uses:
        call = self.file.calls[index]
        last = last_name(call.func)
        if takes_path(self.world, self.file, index):
            return {part: {PATH}}
        if last in _NUMBERS:
            return {part: {NUMBER}}
        if last in _NEUTRAL or (last == "str" and len(call.args) == 1) or copied(self.file, CallRef(index)) == value:
            return {}
        targets = self.targets(index)
        found: Uses = {}
        for target in targets:
            names = self.named(target, value)
            if not names:
                return {part: {_OTHER}}
            merge(found, self.inside(target, dict.fromkeys(names, part)).uses())
        return found if targets else {part: {_OTHER}}

    def targets(self, index: int) -> Sequence[Target]:
        """The functions of the project that a call runs, down to a certain depth."""
        return () if limits.PATH_USE_DEPTH.reached(self.depth) else self.world.calls.targets(self.file, index)

    def named(self, target: Target, value: Expr) -> list[str]:
        """The parameters of a function that hold an argument."""
        function, frame = target.function, target.frame
        params = function.file.scopes[function.scope].params
        skip = 1 if self.world.hierarchy.receiver_kind(function) else 0
        return [
            param.name
            for param in params[skip:]
            if frame is not None
            and (actual := self.world.parameters.bound(function, param.name, frame).actual) is not None
            and actual.expr == value
        ]

    def inside(self, target: Target, given: Mapping[str, Part]) -> RowReader:
        """The function that a call runs, with the parts that its parameters hold."""
        function = target.function
        return type(self)(self.world, function.file, function.scope, given, {}, self.depth + 1)


class LineReader(RowReader):
    """A function that receives lines of text: each piece of one is a part, except in `line[:-1]`."""

    def part_of(self, expr: Expr, at: tuple[int, int]) -> Optional[Part]:
        if isinstance(expr, Subscript) and expr not in self.rows and expr.index != _WITHOUT_END:
            line = self.part_of(expr.value, at)
            return None if line is None else (*line, _EACH)
        return super().part_of(expr, at)


def _has_axes(expr: Expr) -> bool:
    """Whether an expression is a part of an array with several axes: `boxes[:, 0]`."""
    return isinstance(expr, Subscript) and isinstance(expr.index, Tuple)
