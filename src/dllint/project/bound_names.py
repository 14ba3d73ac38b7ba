"""The names that the statements of a function bind, each with the expression that it is bound to."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import CallRef, Constant, List, Name, Subscript, Tuple
from dllint.facts.schema import Event, Expr
from dllint.linking.source import SourceFile, last_name


def unpacked(event: Event) -> Iterator[tuple[str, Expr]]:
    """The names that an assignment of a call's result binds, each with its part of the result."""
    assert event.target is not None
    assert event.value is not None
    if isinstance(event.target, Name):
        yield event.target.id, event.value
    for position, part in enumerate(event.target.elements if isinstance(event.target, (Tuple, List)) else ()):
        if isinstance(part, Name):
            yield part.id, Subscript(event.value, Constant(position))


def named(target: Expr, value: Expr, fields: bool) -> Iterator[tuple[str, Expr]]:
    """The names that an assignment binds, each with its expression; with `fields`, the parts of an unpacked value
    too."""
    if isinstance(target, Name):
        yield target.id, value
    elif isinstance(target, (Tuple, List)):
        values = value.elements if isinstance(value, (Tuple, List)) else ()
        for position, part in enumerate(target.elements):
            if len(values) == len(target.elements):
                yield from named(part, values[position], fields)
            elif fields:
                yield from named(part, value, fields)


def first_number(iterable: Expr | None, file: SourceFile) -> Expr | None:
    """The number from which a loop counts, `start` of `range(start, end)`; None for any other loop."""
    if not isinstance(iterable, CallRef) or last_name(file.calls[iterable.index].func) not in ("range", "arange"):
        return None
    args = file.calls[iterable.index].args
    return args[0].value if len(args) > 1 else None
