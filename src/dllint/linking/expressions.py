"""Expressions taken apart."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.schema import Expr
from dllint.linking.source import SourceFile


def walk(expr: Expr, file: SourceFile) -> Iterator[Expr]:
    """An expression and all that it is made of, calls entered."""
    yield expr
    if expr[0] == "call":
        call = file.calls[expr[1]]
        yield from walk(call.func, file)
        for argument in call.args:
            yield from walk(argument.value, file)
        return
    for part in expr[1:]:
        if isinstance(part, (list, tuple)) and part:
            if isinstance(part[0], str):
                yield from walk(list(part), file)
            else:
                yield from _walk_all(part, file)


def _walk_all(parts: object, file: SourceFile) -> Iterator[Expr]:
    if isinstance(parts, (list, tuple)):
        if parts and isinstance(parts[0], str):
            yield from walk(list(parts), file)
            return
        for part in parts:
            yield from _walk_all(part, file)


def without_calls(expr: Expr) -> Iterator[Expr]:
    """An expression and all that it is made of, but for what stands inside calls."""
    yield expr
    if expr[0] in ("call", "const", "lambda"):
        return
    for part in expr[1:]:
        if isinstance(part, list) and part:
            yield from without_calls(part) if isinstance(part[0], str) else _each_without_calls(part)


def _each_without_calls(parts: list[Expr]) -> Iterator[Expr]:
    for part in parts:
        if isinstance(part, list) and part:
            yield from without_calls(part) if isinstance(part[0], str) else _each_without_calls(part)


def summands(expr: Expr) -> list[Expr]:
    """The lists that an expression puts together with `+`, or the expression itself."""
    if expr[0] == "binop" and expr[1] == "+":
        return [*summands(expr[2]), *summands(expr[3])]
    return [expr]
