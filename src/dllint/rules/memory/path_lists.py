"""Lists of files: rows whose fields the workers only open, or convert to numbers."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, Optional

from dllint.facts import nodes
from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Compare,
    Constant,
    Dict,
    FString,
    LambdaRef,
    List,
    Name,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Event, Expr
from dllint.inference import limits
from dllint.inference.values import Class, Instance
from dllint.libraries.builtin_functions import OF_STRING, PARTING, SPLITTING
from dllint.linking.source import SourceFile, last_name
from dllint.project.item_code import ItemCode
from dllint.project.item_expressions import adds_a_list
from dllint.project.path_use import shows, takes_path

if TYPE_CHECKING:
    from dllint.inference.engine import World

_NUMBERS = frozenset({"int", "float"})
_NEUTRAL = frozenset({"len", "isinstance"})
PATH, _NUMBER, _OTHER = "path", "number", "other"

_EACH = "each"
_Part = tuple[object, ...]
"""A part of a row: `()` is the row itself, `(0,)` its first field, `("each",)` any field that a loop reads."""
_Uses = dict[_Part, set[str]]


def lists_paths(world: World, code: ItemCode, value: Instance, attr: str, holder: Class | None = None) -> bool:
    """Whether each field of `self.attr[index]` that the workers use is a path or a number, and at least one is a
    path."""
    used = list(used_parts(world, code, value, attr, holder).values())
    return any(PATH in kinds for kinds in used) and all(kinds & {PATH, _NUMBER} for kinds in used)


def unpacks_paths(world: World, code: ItemCode, value: Instance, attr: str, holder: Class | None = None) -> bool:
    """Whether the workers take `self.attr[index]` apart by position, and use each part as a path."""
    used = used_parts(world, code, value, attr, holder)
    parts = {part: kinds for part, kinds in used.items() if part}
    return bool(parts) and all(type(part[0]) is int and PATH in kinds for part, kinds in parts.items())


def are_paths(world: World, code: ItemCode, value: Instance, attr: str, holder: Class | None = None) -> bool:
    """Whether the workers use `self.attr[index]` as a whole as a path."""
    uses = used_parts(world, code, value, attr, holder)
    return set(uses) == {()} and PATH in uses[()]


def holds_paths(
    world: World, code: ItemCode, value: Instance, attr: str, keys: Set[str], holder: Class | None = None
) -> bool:
    """Whether the workers use a field of `self.attr[index]` with one of these keys as a path."""
    used = used_parts(world, code, value, attr, holder)
    return any(PATH in kinds for part, kinds in used.items() if part[:1] and part[0] in keys)


def used_parts(world: World, code: ItemCode, value: Instance, attr: str, holder: Class | None) -> _Uses:
    """How the workers use each part of `self.attr[index]`."""
    uses: _Uses = {}
    for run, rows in code.items(value, attr, holder):
        _merge(uses, _Function(world, run.file, run.scope, {}, rows, 0).uses())
    return uses


def _merge(into: _Uses, more: _Uses) -> None:
    for part, kinds in more.items():
        into.setdefault(part, set()).update(kinds)


class _Function:
    """A function that receives rows or parts of them, by parameters or by the expressions `rows`."""

    def __init__(
        self,
        world: World,
        file: SourceFile,
        scope: int,
        given: dict[str, _Part],
        rows: list[Expr],
        depth: int,
    ) -> None:
        self.world = world
        self.file = file
        self.scope = scope
        self.rows = rows
        self.depth = depth
        self.bound: dict[str, list[tuple[tuple[int, int], Optional[_Part]]]] = {
            name: [((0, 0), part)] for name, part in given.items()
        }
        for event in file.scopes[scope].events:
            if event.kind == "assign" and event.target is not None and event.value is not None:
                self._bind(event, event.target, event.value)
            elif event.kind == "for" and event.target is not None and event.value is not None:
                # The elements of a field are used like the field itself.
                at = (event.span.line, event.span.column)
                part = self._part(event.value, at)
                if part is not None and isinstance(event.target, Name):
                    self.bound.setdefault(event.target.id, []).append((at, part or (_EACH,)))

    def _bind(self, event: Event, target: Expr, value: Expr) -> None:
        """Record the parts that the names of an assignment refer to after it."""
        at = (event.span.line, event.span.column)
        after = (event.span.end_line, event.span.end_column)
        if isinstance(target, Name):
            part = self._part(value, at)
            if part is not None or target.id in self.bound:
                self.bound.setdefault(target.id, []).append((after, part))
        elif isinstance(target, (Tuple, List)):
            values = value.elements if isinstance(value, (Tuple, List)) else ()
            same = len(values) == len(target.elements)
            for position, one in enumerate(target.elements):
                if not isinstance(one, Starred):
                    self._bind(event, one, values[position] if same else Subscript(value, Constant(position)))

    def _part(self, expr: Expr, at: tuple[int, int]) -> Optional[_Part]:
        """The part of a row that an expression refers to, at most stripped or split as a string; None if it is none."""
        if expr in self.rows:
            return ()
        if isinstance(expr, Name):
            found: Optional[_Part] = None
            for since, part in self.bound.get(expr.id, ()):
                if since <= at:
                    found = part
            return found
        if isinstance(expr, Subscript):
            base = self._part(expr.value, at)
            if base is not None and base in ((), (_EACH,)) and isinstance(expr.index, (Constant, Attribute)):
                # `row[self.key]`: the name of a field that the object keeps
                return (*base, expr.index.value if isinstance(expr.index, Constant) else expr.index)
            return base
        if isinstance(expr, CallRef):
            call = self.file.calls[expr.index]
            if isinstance(call.func, Attribute) and call.func.attr in OF_STRING | SPLITTING | PARTING:
                return self._part(call.func.value, at)
            if call.func == Name("str") and len(call.args) == 1:
                return self._part(call.args[0].value, at)
        return None

    def uses(self) -> _Uses:
        """How the function uses each part."""
        found: _Uses = {}
        for index in self.file.calls_of(self.scope):
            if shows(self.file, index):
                continue
            call = self.file.calls[index]
            at = (call.span.line, call.span.column)
            for argument in call.args:
                part = self._part(argument.value, at)
                if part is not None:
                    _merge(found, self._given_to(index, argument.keyword, argument.value, part))
                elif not isinstance(argument.value, CallRef):
                    self._inside(argument.value, at, found)
        for event in self.file.scopes[self.scope].events:
            if event.kind == "for" and event.value is not None:
                part = self._part(event.value, (event.span.line, event.span.column))
                if part:
                    found.setdefault(part, set()).add(_OTHER)
            if event.kind in ("return", "yield") and event.value is not None:
                at = (event.span.line, event.span.column)
                part = self._part(event.value, at)
                if part is not None:
                    found.setdefault(part, set()).add(_OTHER)
            if event.value is not None:
                self._inside(event.value, (event.span.line, event.span.column), found)
        return found

    def _inside(self, expr: Expr, at: tuple[int, int], found: _Uses) -> None:
        """Record the uses of parts inside an expression, except those in calls."""
        if isinstance(expr, (CallRef, Constant, LambdaRef, Compare, Name)):
            return
        joins = isinstance(expr, FString) and len(expr.values) > 1
        lists = isinstance(expr, BinOp) and adds_a_list(expr)
        joins = joins or (isinstance(expr, BinOp) and expr.op in ("/", "+", "%") and not lists)
        for one in _inner(expr):
            part = self._part(one, at)
            if part is None:
                self._inside(one, at, found)
            elif joins or lists or isinstance(expr, (List, Tuple, nodes.Set, Dict)):
                found.setdefault(part, set()).add(PATH if joins else _OTHER)

    def _given_to(self, index: int, keyword: Optional[str], value: Expr, part: _Part) -> _Uses:
        call = self.file.calls[index]
        last = last_name(call.func)
        if takes_path(self.world, self.file, index):
            return {part: {PATH}}
        if last in _NUMBERS:
            return {part: {_NUMBER}}
        if last in _NEUTRAL or (last == "str" and len(call.args) == 1):
            return {}
        targets = self.world.calls.targets(self.file, index) if not limits.PATH_USE_DEPTH.reached(self.depth) else ()
        found: _Uses = {}
        for target in targets:
            function = target.function
            params = function.file.scopes[function.scope].params
            skip = 1 if self.world.hierarchy.receiver_kind(function) else 0
            names = [
                param.name
                for param in params[skip:]
                if target.frame is not None
                and (actual := self.world.parameters.bound(function, param.name, target.frame).actual) is not None
                and actual.expr == value
            ]
            if not names:
                return {part: {_OTHER}}
            given = dict.fromkeys(names, part)
            inner = _Function(self.world, function.file, function.scope, given, [], self.depth + 1).uses()
            _merge(found, inner)
        return found if targets else {part: {_OTHER}}


def _inner(expr: Expr) -> Iterator[Expr]:
    """The direct subexpressions of an expression."""
    yield from expr.children()
