"""Local functions and lambdas: the functions that pickling a callable reaches, and those without an importable name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.inference import limits
from dllint.inference.values import Class, Function, Partial, Value
from dllint.libraries.contents import bound_by
from dllint.linking.bindings import declared_names

if TYPE_CHECKING:
    from dllint.inference.engine import World


def functions_in(world: World, value: Value, depth: int = 0) -> Iterator[Function]:
    """The functions that pickling a callable pickles, including those bound into a partial."""
    if isinstance(value, Function):
        yield value
    elif isinstance(value, Partial) and not limits.CONTAINER_DEPTH.reached(depth + 1):
        for inner in (value.function, *bound_by(world, value)):
            yield from functions_in(world, inner, depth + 1)


def is_lambda(function: Function) -> bool:
    return function.file.scopes[function.scope].kind == "lambda"


def pickle_error(one: Function | Class, python: tuple[int, int]) -> str:
    """The error of Python `python` when it pickles a function or class that no module defines by name
    (Lib/pickle.py; PicklingError for local ones from 3.14)."""
    file, scope, path = one.file, one.file.scopes[one.scope].parent, one.file.scopes[one.scope].name
    while scope > 0:
        local = ".<locals>" if file.scopes[scope].kind in ("function", "lambda") else ""
        path = f"{file.scopes[scope].name}{local}.{path}"
        scope = file.scopes[scope].parent
    if not is_local(one):
        return f"PicklingError: Can't pickle <function {path} at …>: attribute lookup {path} on … failed"
    if python >= (3, 14):
        return f"PicklingError: Can't pickle local object '{path}'"
    return f"AttributeError: Can't {'get' if python >= (3, 13) else 'pickle'} local object '{path}'"


def is_local(function: Function | Class) -> bool:
    """Whether a function or class is named after a function or method that it is defined in, so that pickle cannot
    find it by that name. A method is not, and neither is one whose name that function declares `global`."""
    file, one = function.file, function.file.scopes[function.scope]
    while one.parent > 0:
        around = file.scopes[one.parent]
        if around.kind in ("function", "lambda"):
            return not any(one.name in declared_names(event) for event in around.events_of("global"))
        one = around
    return False
