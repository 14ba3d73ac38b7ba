"""Slices: `rows[2:]`, `table[:, 0]`, and what they are of values from outside the project."""

from __future__ import annotations

from dllint.facts.nodes import Constant, Opaque, Slice, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference.interface import Engine
from dllint.inference.sequences import cut
from dllint.inference.values import (
    COLUMN_MARK,
    PICK_MARK,
    UNKNOWN,
    Const,
    Display,
    External,
    Instance,
    Site,
    Value,
    Written,
)


def is_slice(index: Expr) -> bool:
    """Whether an index is a slice, or has one among the indices of several axes."""
    return any(_is_range(part) for part in _axes(index))


def sliced(world: Engine, value: Value, expr: Subscript, site: Site) -> Value:
    """Return the result of slicing a value; for an external store, the data that the slice reads."""
    if isinstance(value, Instance) and world.knowledge.gives_subsets(value):
        return value
    if isinstance(value, Instance) and isinstance(value.of, External):
        return Instance(External(value.of.name + _mark(world, expr.index, site)), value.file, value.call, value.frame)
    if isinstance(value, Display):
        return value.made_by(value.kind, Written(expr, site))
    return cut(value, expr.index) if isinstance(value, Const) else UNKNOWN


def _mark(world: Engine, index: Expr, site: Site) -> str:
    rest = [part for part in _axes(index) if not _is_range(part) and part != Constant(None)]
    if any(map(_is_number, rest)):
        return COLUMN_MARK
    values = (world.values.evaluate(part, site) for part in rest)
    return "[:]" if all(found and all(map(_is_position, found)) for found in values) else PICK_MARK


def _axes(index: Expr) -> tuple[Expr, ...]:
    return index.elements if isinstance(index, Tuple) else (index,)


def _is_range(index: Expr) -> bool:
    # `...` is not modelled.
    return isinstance(index, (Slice, Opaque))


def _is_number(expr: Expr) -> bool:
    """Whether an index is one number: a literal, or one of several indices, as `chosen[0]` is."""
    if isinstance(expr, Subscript):
        return _is_number(expr.index)
    return isinstance(expr, Constant) and type(expr.value) is int


def _is_position(value: Value) -> bool:
    return isinstance(value, Const) and type(value.value) is int
