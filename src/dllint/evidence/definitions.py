"""What the source files of a run define where: functions, classes and calls of loaders, by their lines."""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Iterator, Mapping

from dllint.reading import SOURCE_BYTES, CannotRead, read
from dllint.span import Span


@functools.lru_cache(maxsize=4096)
def same_file(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


@functools.lru_cache(maxsize=512)
def loader_calls(path: str) -> frozenset[Span]:
    calls = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name.endswith("Loader") and node.end_lineno is not None and node.end_col_offset is not None:
                calls.add(Span(node.lineno, node.col_offset + 1, node.end_lineno, node.end_col_offset + 1))
    return frozenset(calls)


def owner(path: str, line: int) -> str:
    """Return the qualified name of the function or class around a line, as "main.<locals>.build"; "" at the top."""
    around = sorted(
        [(first, name, ".") for name, first, last in _classes(path) if first < line <= last]
        + [(first, name, ".<locals>.") for name, first, last in _functions(path) if first < line <= last]
    )
    return "".join(f"{name}{joint}" for _, name, joint in around).removesuffix(".<locals>.").removesuffix(".")


def function_at(path: str, line: int) -> tuple[int, int] | None:
    """Return the lines of the innermost function around a line; `None` at the top level."""
    around = [(first, last) for _, first, last in _functions(path) if first <= line <= last]
    return max(around, default=None)


def classes_around(path: str, span: Span) -> Iterator[str]:
    """Yield the classes whose definition contains a place."""
    for name, first, last in _classes(path):
        if first <= span.line and span.end_line <= last:
            yield name


@functools.lru_cache(maxsize=512)
def class_names(path: str) -> Mapping[str, frozenset[str]]:
    """Return the classes of a file, each with all names that its definition mentions, including its bases."""
    return {
        node.name: frozenset(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ClassDef)
    }


@functools.lru_cache(maxsize=512)
def _classes(path: str) -> tuple[tuple[str, int, int], ...]:
    return _defined(path, (ast.ClassDef,))


@functools.lru_cache(maxsize=512)
def _functions(path: str) -> tuple[tuple[str, int, int], ...]:
    return _defined(path, (ast.FunctionDef, ast.AsyncFunctionDef))


def _tree(path: str) -> ast.AST:
    try:
        return ast.parse(read(path, SOURCE_BYTES))
    except (CannotRead, SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _defined(path: str, kinds: tuple[type[ast.AST], ...]) -> tuple[tuple[str, int, int], ...]:
    """Return the definitions in a file: name, first and last line; empty for an unreadable file."""
    return tuple(
        (node.name, node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(_tree(path))
        if isinstance(node, kinds) and isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    )
