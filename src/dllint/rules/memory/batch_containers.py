"""Containers of batches, and the tests under which a loop fills them."""

from __future__ import annotations

from typing import NamedTuple

from dllint.facts.nodes import BinOp, BoolOp, Compare, Constant, Subscript
from dllint.facts.schema import Event, Expr
from dllint.inference.values import Display, External, Instance, Mapping, Value
from dllint.linking.source import SourceFile
from dllint.span import Span

_EVERY = 20
"""Batches for which there may be one step; what is made for more of them is no step of a training."""


class Kept(NamedTuple):
    """A statement that puts a part of a batch into a container.

    Attributes:
        how: "append", "insert", "extend", "+=" or "=".
        expr: the part that is put there; `value_span` is its span.
    """

    container: Expr
    how: str
    expr: Expr
    value_span: Span
    span: Span
    statement: Span
    region: int


def grows(value: Value) -> bool:
    """Whether a value is a list or a dict, or a deque without a maximum length."""
    if isinstance(value, Instance) and value.of == External("collections.deque") and value.file is not None:
        return not any(one.keyword == "maxlen" for one in value.file.calls[value.call].args) and value.call >= 0
    return isinstance(value, Mapping) or (isinstance(value, Display) and value.kind == "list")


def makes_missing(event: Event, file: SourceFile) -> bool:
    """Whether a statement makes an entry that a dict does not have yet: `if name not in rows: rows[name] = []`."""
    if not isinstance(event.target, Subscript):
        return False
    missing = Compare(event.target.index, (("not in", event.target.value),))
    known = Compare(event.target.index, (("in", event.target.value),))
    regions = (file.facts.regions[index] for index in file.regions(event.region))
    return any(one.kind == "if" and one.expr == (missing if one.holds else known) for one in regions)


def leaves_out_one(test: Expr, holds: bool) -> bool:
    """Whether a branch runs for all values but one: `x is not None`, or the `else` of `x.shape[0] == 1`."""
    parts = test.values if isinstance(test, BoolOp) else (test,)
    compared = [op for part in parts if isinstance(part, Compare) for op, _ in part.comparisons]
    wanted = ("!=", "is not") if holds else ("==", "is")
    return len(compared) == len(parts) and all(op in wanted for op in compared)


def selects_steps(test: Compare) -> bool:
    """Whether a comparison tells in which passes of a loop there is a step, of a few or all: `number % 4 == 0`, `phase
    == "train"`."""
    operands = [test.left, *(right for _, right in test.comparisons)]
    if len(operands) != 2 or test.comparisons[0][0] not in ("==", "!="):
        return False
    if any(isinstance(one, Constant) and isinstance(one.value, str) for one in operands):
        return True
    rests = [one.right for one in operands if isinstance(one, BinOp) and one.op == "%"]
    few = [not isinstance(one, Constant) or (isinstance(one.value, int) and one.value <= _EVERY) for one in rests]
    return bool(few) and all(few)
