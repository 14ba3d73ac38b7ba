"""What stands around a call that uses CUDA: tests, and a `try` that catches its failure."""

from __future__ import annotations

from dllint.facts.nodes import BoolOp, CallRef, Tuple
from dllint.facts.schema import Expr
from dllint.linking.source import SourceFile, last_name

_CATCHING = ("RuntimeError", "Exception", "BaseException")


def joined(test: Expr, holds: bool) -> tuple[Expr, ...]:
    """The tests that all have the result `holds` if a test has it: `a and b` is true if both are."""
    return test.values if isinstance(test, BoolOp) and (test.op == "and") is holds else (test,)


def forgiven(file: SourceFile, region: int, index: int) -> bool:
    """Whether the result of a call is unused, and a `try` directly around it catches its failure and continues."""
    entry = file.facts.regions[region]
    events = file.scopes[file.calls[index].scope].events
    if entry.kind != "try" or not any(event.kind == "expr" and event.value == CallRef(index) for event in events):
        return False
    for number in range(region + 1, len(file.facts.regions)):
        other = file.facts.regions[number]
        if other.parent != entry.parent:
            continue
        if other.kind != "handler":
            return False
        kinds = () if other.expr is None else other.expr.elements if isinstance(other.expr, Tuple) else (other.expr,)
        if not kinds or any(last_name(kind) in _CATCHING for kind in kinds):
            return not any(event.kind == "raise" and event.region == number for event in events)
    return False
