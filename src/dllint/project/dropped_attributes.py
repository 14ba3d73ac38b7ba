"""What `__getstate__` and `__reduce__` leave out of the pickle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Name
from dllint.facts.schema import Expr
from dllint.inference.values import External, Function
from dllint.libraries.index import PICKLE_BY_VALUE
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World


def left_out(world: World, method: Function, attrs: frozenset[str]) -> frozenset[str]:
    """Those of the attributes that a method for pickling leaves out."""
    file, scope = method.file, method.scope
    mentioned: set[str] = set()
    read: set[str] = set()
    whole = False
    receiver = file.scopes[scope].params[0].name if file.scopes[scope].params else "self"
    written = _written_by_value(world, file, scope)
    for expr in _expressions(file, scope):
        if expr[0] == "const" and isinstance(expr[1], str):
            mentioned.add(expr[1])
        elif expr[0] == "attr" and expr[1] == Name(receiver):
            if expr[2] == "__dict__":
                whole = True
            if not any(expr == one for one in written):
                read.add(expr[2])
        elif (expr[0] == "attr" and expr[2] in ("__getstate__", "__reduce__", "__reduce_ex__")) or (
            expr[0] == "name" and expr[1] == "vars"
        ):
            whole = True
        elif expr[0] == "call":
            mentioned.update(argument.keyword for argument in file.calls[expr[1]].args if argument.keyword)
    mentioned.update(
        store.key for store in file.stores(scope) if isinstance(store.key, str) and store.base == Name(receiver)
    )
    return frozenset(attrs & mentioned) if whole else frozenset(attrs - read)


def _written_by_value(world: World, file: SourceFile, scope: int) -> list[Expr]:
    """What a method writes by a pickler that takes functions and classes with it, so that pickle sees bytes."""
    return [
        argument.value
        for index in file.calls_of(scope)
        if file.calls[index].func[-1] == "dumps"
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
