"""Unions of value sets, bounded in size."""

from __future__ import annotations

from collections.abc import Iterable

from dllint.inference import limits
from dllint.inference.values import UNKNOWN, Class, Function, Instance, Value, Values


def union(groups: Iterable[Values], most: limits.Limit = limits.VALUES) -> Values:
    """All values of several possibilities, each once, in order, and about `most` of them."""
    first: Values = ()
    found: dict[Value, None] = {}
    for group in groups:
        if not found:
            if not first or group is first:
                first = group
                continue
            found.update(dict.fromkeys(first))
        found.update(dict.fromkeys(group))
    if not found:
        return first
    return (*_varied(found, most.most), UNKNOWN) if most.exceeded(len(found)) else tuple(found)


def _varied(values: Iterable[Value], most: int) -> list[Value]:
    """The values that differ most where there are many: one object of each class, and one method bound to such, then
    further ones of the project's classes, then others in order. Objects of different classes come from a registry or a
    family of subclasses, as objects made in different places do, and none may crowd out another."""
    first: dict[object, Value] = {}
    places: dict[object, Value] = {}
    others: list[Value] = []
    for value in values:
        kind, place = _kind(value)
        if kind is None:
            others.append(value)
        elif kind not in first and not limits.CLASSES.reached(len(first)):
            first[kind] = value
        elif place is not None:
            places.setdefault((kind, place), value)
        else:
            others.append(value)
    room = max(0, limits.CLASSES.most - len(first))
    kept = [*first.values(), *list(places.values())[:room]]
    return [*kept, *others[: max(0, most - len(kept))]]


def _kind(value: Value) -> tuple[object, object]:
    """What an object is, or which method of which class a bound method is, and where the object is made; None for other
    values, and where that is not known or outside the project."""
    if isinstance(value, Instance):
        inside = isinstance(value.of, Class) and value.file is not None
        return value.of, (value.file, value.call) if inside else None
    if isinstance(value, Function) and value.receiver is not None:
        receiver = value.receiver
        of = receiver.of if isinstance(receiver, Instance) else receiver
        made = (receiver.file, receiver.call) if isinstance(receiver, Instance) and receiver.file is not None else None
        return (value.key, of), made
    return None, None
