"""The classes that tests tell of an unknown value: `assert isinstance(rows, Rows)`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dllint.facts.nodes import BoolOp, CallRef, Name, Not
from dllint.facts.schema import Event, Expr
from dllint.inference.interface import Engine
from dllint.inference.narrowing import listed_classes
from dllint.inference.values import Class, External, Instance, Site, Value, Values
from dllint.linking.conditions import may_change
from dllint.linking.source import SourceFile
from dllint.span import Span


def tells_nothing(value: Value) -> bool:
    """Whether a value is the result of another package's function, which may be of any class."""
    if not isinstance(value, Instance) or not isinstance(value.of, External) or value.call < 0:
        return False
    return value.of.name.rpartition(".")[2][:1].islower()


def told_by_tests(world: Engine, name: str, site: Site) -> Values:
    """Return an object of each class that an unknown value has passed an `isinstance` test of; empty without such a
    test, or if one names a class outside the project."""
    key = (site.scope, site.region, site.at, name)
    calls = site.file.standing_classes.get(key)
    if calls is None:
        calls = site.file.standing_classes[key] = [
            call
            for call, start in _tests(name, site)
            if not may_change(name, site.file, site.scope, partial(_between, start, site))
        ]
    for call in calls:
        listed = listed_classes(world, site.file.calls[call].args[1].value, site)
        classes = [one for one in listed if isinstance(one, Class)]
        if classes and len(classes) == len(listed):
            return tuple(map(Instance, classes))
    return ()


def _between(start: Span, site: Site, event: Event) -> bool:
    """Whether a statement stands between the begin of a test and a place."""
    at = event.span.start
    return start.start < at < site.at


def _tests(name: str, site: Site) -> Iterator[tuple[int, Span]]:
    """Yield the calls of `isinstance` that hold for a variable at a place, each with where the test begins."""
    file = site.file
    for index in file.regions(site.region):
        entry = file.facts.regions[index]
        if entry.kind == "if" and entry.expr is not None:
            yield from ((call, entry.span) for call in _holding(entry.expr, entry.holds, name, file))
    for event in file.derived(_asserted, site.scope) if site.at > (0, 0) else ():
        before = event.span.start < site.at
        if before and event.value is not None and file.encloses(event.region, site.region):
            yield from ((call, event.span) for call in _holding(event.value, True, name, file))


def _asserted(file: SourceFile, scope: int) -> list[Event]:
    return file.scopes[scope].events_of("assert")


def _holding(test: Expr, holds: bool, name: str, file: SourceFile) -> Iterator[int]:
    """Yield the calls `isinstance(name, …)` that are true where a test has an outcome."""
    if isinstance(test, Not):
        yield from _holding(test.operand, not holds, name, file)
    elif isinstance(test, BoolOp):
        for part in test.values if holds == (test.op == "and") else ():
            yield from _holding(part, holds, name, file)
    elif holds and isinstance(test, CallRef):
        call = file.calls[test.index]
        if call.func == Name("isinstance") and len(call.args) == 2 and call.args[0].value == Name(name):
            yield test.index
