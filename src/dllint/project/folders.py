"""Expressions for the folder of a file, which many files share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.values import Function
from dllint.linking.source import SourceFile, last_name

if TYPE_CHECKING:
    from dllint.inference.engine import World

_SAME_PATH = frozenset({"abspath", "realpath", "normpath", "str", "Path", "resolve"})
"""Functions and methods that return the path that they are given, written another way."""


def is_folder(world: World, expr: Expr, file: SourceFile, scope: int, depth: int = 0) -> bool:
    """Whether an expression in a function is the folder of a path, or its name: `os.path.dirname(path)`, `path.parent`,
    `os.path.join(path, "..")`, `path.parent.name`, or what a function of the project returns as such."""
    if limits.COUNTING_DEPTH.exceeded(depth):
        return False
    if isinstance(expr, Name):
        bindings = file.bindings(scope).get(expr.id, ())
        bound = bindings[0].expr if len(bindings) == 1 and bindings[0].kind == "value" else None
        return bound is not None and is_folder(world, bound, file, scope, depth + 1)
    if isinstance(expr, Attribute):
        named = expr.attr in ("name", "stem")
        return expr.attr == "parent" or (named and is_folder(world, expr.value, file, scope, depth + 1))
    if isinstance(expr, Subscript):
        # `path.split("/")[-2]`
        return isinstance(expr.index, Constant) and isinstance(expr.index.value, int) and expr.index.value < -1
    if not isinstance(expr, CallRef):
        return False
    call = file.calls[expr.index]
    name = last_name(call.func)
    if name == "dirname":
        return True
    if name == "basename":
        return any(is_folder(world, one.value, file, scope, depth + 1) for one in call.args)
    if name in ("join", "joinpath"):
        return any(
            isinstance(one.value, Constant) and str(one.value.value).strip("/").startswith("..") for one in call.args
        )
    if name in _SAME_PATH:
        given = call.func.value if isinstance(call.func, Attribute) and not call.args else None
        inner = call.args[0].value if call.args else given
        return inner is not None and is_folder(world, inner, file, scope, depth + 1)
    called = world.values.evaluate(call.func, world.call_site(file, expr.index, None))
    return bool(called) and all(_returns_folder(world, one, depth) for one in called)


def _returns_folder(world: World, called: object, depth: int) -> bool:
    if not isinstance(called, Function):
        return False
    returned = [one.value for one in called.file.scopes[called.scope].events_of("return")]
    return bool(returned) and all(
        one is not None and is_folder(world, one, called.file, called.scope, depth + 1) for one in returned
    )
