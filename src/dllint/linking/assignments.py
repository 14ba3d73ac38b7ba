"""Assignments: to names, attributes and items, and to attributes whose names are computed at run time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Constant,
    Element,
    Entered,
    Expr,
    List,
    Name,
    Opaque,
    Slice,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Call, Event, FileFacts, Operator

BINDING = frozenset({"assign", "for", "with"})


_RESTORING = frozenset({"__setstate__", "__copy__", "__deepcopy__"})
"""Methods that restore attributes that the object, or another, had before."""


class Store(NamedTuple):
    """`base.attr = value` (or `base[key] = value`) in `scope`."""

    scope: int
    event: Event
    base: Expr
    key: str | Expr
    value: Expr | None


class Spread(NamedTuple):
    """An assignment to attributes of `base` whose names are computed at run time.

    Attributes:
        key: evaluates to the name of the attribute; None if one attribute is set per entry of the mapping `value`.
    """

    scope: int
    event: Event
    base: Expr
    key: Expr | None
    value: Expr


def targets(target: Expr, value: Expr | None) -> Iterator[tuple[Expr, Expr | None]]:
    """Yield the names, attributes and items assigned to, each with the expression of its value."""
    if isinstance(target, (Tuple, List)):
        starred = False
        values = value.elements if isinstance(value, (Tuple, List)) else ()
        same = len(values) == len(target.elements)
        for index, element in enumerate(target.elements):
            part: Expr | None
            behind = index + 1 - len(target.elements)
            if value is None:
                part = Opaque()
                element = element.value if isinstance(element, Starred) else element
            elif isinstance(element, Starred):
                starred, element = True, element.value
                part = Subscript(value, Slice(Constant(index), Constant(behind) if behind else None, None))
            elif starred:
                part = Subscript(value, Constant(behind - 1))
            elif same and not isinstance(values[index], Starred):
                part = values[index]
            else:
                part = Subscript(value, Constant(index))
            yield from targets(element, part)
    else:
        yield target, value


def incoming(event: Event) -> Expr | None:
    """Return the expression that stands for the value that an event assigns to its target."""
    value = event.value
    if value is None:
        return None
    if event.kind == "for":
        return Element(value)
    if event.kind == "with":
        return Entered(value)
    if isinstance(event.detail, Operator) and event.target is not None:
        return BinOp(event.detail.op, event.target, value)
    return value


def stored(scope: int, event: Event) -> Iterator[Store]:
    """Yield the attributes and items that a statement assigns to."""
    if event.kind not in BINDING or event.target is None:
        return
    for target, value in targets(event.target, incoming(event)):
        if isinstance(target, Attribute):
            yield Store(scope, event, target.value, target.attr, value)
        elif isinstance(target, Subscript):
            yield Store(scope, event, target.value, target.index, value)


def set_by_name(call: Call, facts: FileFacts) -> Store | None:
    """Return the store of `setattr(base, "attr", value)`, also as `object.__setattr__`, `super().__setattr__` and
    `base.__setattr__`."""
    found = _set(call, facts)
    key = found[1] if found is not None else None
    if found is None or not isinstance(key, Constant) or not isinstance(key.value, str):
        return None
    base, _, value = found
    span = call.args[-1].value_span
    event = Event("assign", call.statement, call.region, Attribute(base, key.value), value, None, span)
    return Store(call.scope, event, base, key.value, value)


def _set(call: Call, facts: FileFacts) -> tuple[Expr, Expr, Expr] | None:
    """Return the object, the name and the value of a `setattr`."""
    values = [one.value for one in call.args]
    if any(one.keyword for one in call.args):
        return None
    if isinstance(call.func, Attribute) and isinstance(call.func.value, CallRef) and len(values) == 2:
        receiver = facts.calls[call.func.value.index].func == Name("super") and facts.scopes[call.scope].params
        values = [Name(receiver[0].name), *values] if receiver else values
    elif isinstance(call.func, Attribute) and call.func.attr == "__setattr__" and len(values) == 2:
        values = [call.func.value, *values]
    elif call.func not in (Name("setattr"), Attribute(Name("object"), "__setattr__")):
        return None
    return (values[0], values[1], values[2]) if len(values) == 3 else None


def spreads(facts: FileFacts) -> Iterator[Spread]:
    """Yield assignments under names computed at run time, except those that restore a previous state."""
    return (one for one in _spreads(facts) if facts.scopes[one.scope].name not in _RESTORING)


def _spreads(facts: FileFacts) -> Iterator[Spread]:
    """Yield the spreads of a file.

    These are `setattr(base, key, value)` with a non-constant key, which in a loop over the entries of a mapping sets
    all of them; `vars(base).update(mapping)`, `base.__dict__.update(mapping)`, `base.__dict__ = mapping` and
    `base.__dict__[key] = value`.
    """
    for index in (*facts.called.get("setattr", ()), *facts.called.get("__setattr__", ())):
        call = facts.calls[index]
        found = _set(call, facts)
        if found is not None and not isinstance(found[1], Constant):
            base, key, value = found
            loop = entries_loop(facts, call.scope, call.region, key, value)
            if loop is not None:
                yield Spread(call.scope, loop[0], base, None, loop[1])
            else:
                event = Event("assign", call.statement, call.region, None, value, None, call.args[-1].value_span)
                yield Spread(call.scope, event, base, key, value)
    for index in facts.called.get("update", ()):
        call = facts.calls[index]
        changed = whose_dict(call.func.value, facts) if isinstance(call.func, Attribute) else None
        if changed is None:
            continue
        for argument in call.args:
            event = Event("assign", call.statement, call.region, None, argument.value, None, argument.value_span)
            named = Constant(argument.keyword) if argument.keyword not in (None, "**") else None
            yield Spread(call.scope, event, changed, named, argument.value)
    for number, scope in enumerate(facts.scopes):
        for event in scope.storing():
            if event.kind == "assign" and event.value is not None:
                if isinstance(event.target, Attribute) and event.target.attr == "__dict__":
                    # `self.__dict__ = self` turns the entries of a dict into its attributes, and sets none.
                    if event.target.value != event.value:
                        yield Spread(number, event, event.target.value, None, event.value)
                elif isinstance(event.target, Subscript):
                    changed = whose_dict(event.target.value, facts)
                    if changed is not None:
                        yield Spread(number, event, changed, event.target.index, event.value)


def whose_dict(expr: Expr, facts: FileFacts) -> Expr | None:
    """Return `base` for `base.__dict__` and `vars(base)`; None for any other expression."""
    if isinstance(expr, Attribute) and expr.attr == "__dict__":
        return expr.value
    call = facts.calls[expr.index] if isinstance(expr, CallRef) else None
    return call.args[0].value if call is not None and call.func == Name("vars") and len(call.args) == 1 else None


def entries_loop(facts: FileFacts, scope: int, region: int, key: Expr, value: Expr | None) -> tuple[Event, Expr] | None:
    """Return the loop `for key, value in mapping.items()` that directly contains a statement in the region, and the
    mapping."""
    around = facts.regions[region]
    if value is None or around.kind != "for":
        return None
    for event in facts.scopes[scope].events_of("for"):
        if event.target == Tuple((key, value)) and event.value == around.expr:
            entries = facts.calls[event.value.index].func if isinstance(event.value, CallRef) else None
            if isinstance(entries, Attribute) and entries.attr == "items":
                return event, entries.value
    return None
