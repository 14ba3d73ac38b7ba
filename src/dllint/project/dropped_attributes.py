"""The attributes that `__getstate__` and `__reduce__` omit from the pickle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Compare, Constant, IfExp, Name
from dllint.facts.schema import Expr
from dllint.inference.values import Const, Display, External, Function, Site
from dllint.libraries.index import PICKLE_BY_VALUE
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name

if TYPE_CHECKING:
    from dllint.inference.engine import World

_END = (1 << 31, 0)
"""A position after all statements of a function."""


def left_out(world: World, method: Function, attrs: frozenset[str]) -> frozenset[str]:
    """The subset of `attrs` that a pickling method (`__getstate__`, `__reduce__`) omits."""
    file, scope = method.file, method.scope
    mentioned: set[str] = set()
    read: set[str] = set()
    whole = False
    receiver = file.scopes[scope].params[0].name if file.scopes[scope].params else "self"
    written = _written_by_value(world, file, scope)
    for expr in _expressions(file, scope):
        if isinstance(expr, Constant) and isinstance(expr.value, str):
            mentioned.add(expr.value)
        elif isinstance(expr, Attribute) and expr.value == Name(receiver):
            if expr.attr == "__dict__":
                whole = True
            if not any(expr == one for one in written):
                read.add(expr.attr)
        elif (isinstance(expr, Attribute) and expr.attr in ("__getstate__", "__reduce__", "__reduce_ex__")) or (
            isinstance(expr, Name) and expr.id == "vars"
        ):
            whole = True
        elif isinstance(expr, CallRef):
            mentioned.update(argument.keyword for argument in file.calls[expr.index].args if argument.keyword)
    mentioned.update(
        store.key for store in file.stores(scope) if isinstance(store.key, str) and store.base == Name(receiver)
    )
    for named in _omitting(file, scope):
        mentioned |= _listed(world, named, method)
    return frozenset(attrs & mentioned) if whole else frozenset(attrs - read)


def _omitting(file: SourceFile, scope: int) -> Iterator[Expr]:
    """The lists of names that a method leaves out: `if key not in names`, `None if key in names else value`, and those
    over which it deletes items, `for name in names: state.pop(name)`."""
    for expr in _expressions(file, scope):
        match expr:
            case Compare(_, (("not in", names),)):
                yield names
            case IfExp(Compare(_, (("in", names),)), Constant(None)):
                yield names
    events, calls = file.scopes[scope].events, (file.calls[index] for index in file.calls_of(scope))
    deleting = [one.region for one in events if one.kind == "delete"]
    deleting += [call.region for call in calls if last_name(call.func) == "pop"]
    for region in {around for place in deleting for around in file.regions(place)}:
        entry = file.facts.regions[region]
        if entry.kind == "for" and entry.expr is not None:
            yield entry.expr


def _listed(world: World, expr: Expr, method: Function) -> set[str]:
    """The strings in a list, tuple or set that an expression is: `_OMITTED = {"file", "pool"}`."""
    site = Site(method.file, method.scope, 0, _END, None)
    lists = (one for one in world.values.evaluate(expr, site) if isinstance(one, Display))
    elements = (element for one in lists for element in world.mappings.elements(one))
    return {one.value for one in elements if isinstance(one, Const) and isinstance(one.value, str)}


def _written_by_value(world: World, file: SourceFile, scope: int) -> list[Expr]:
    """The expressions that a method serializes with a by-value pickler, which embeds functions and classes, so that
    pickle sees only bytes."""
    return [
        argument.value
        for index in file.calls_of(scope)
        if last_name(file.calls[index].func) == "dumps"
        for value in world.values.evaluate(file.calls[index].func, world.call_site(file, index, None))
        if isinstance(value, External) and value.name in PICKLE_BY_VALUE
        for argument in file.calls[index].args[:1]
    ]


def _expressions(file: SourceFile, scope: int) -> Iterator[Expr]:
    for event in file.scopes[scope].events:
        tests = (file.facts.regions[region].expr for region in file.regions(event.region))
        for expr in (event.value, event.target, *tests):
            if expr is not None:
                yield from walk(expr, file)
    for index in file.calls_of(scope):
        for argument in file.calls[index].args:
            yield from walk(argument.value, file)
