"""Unions of value sets, bounded in size."""

from __future__ import annotations

from collections.abc import Iterable

from dllint.inference import limits
from dllint.inference.values import CHOSEN, UNKNOWN, Class, Function, Instance, Value, Values


def union(groups: Iterable[Values], most: limits.Limit = limits.VALUES) -> Values:
    """Return the union of several value sets, in order and without duplicates, limited to about `most` values."""
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
    if len(found) <= most.most:
        return tuple(found)
    most.met()
    # A choice stays marked as open, however many others there are.
    chosen = (CHOSEN,) if CHOSEN in found else ()
    found.pop(CHOSEN, None)
    return (*_varied(found, most.most), UNKNOWN, *chosen)


def _varied(values: Iterable[Value], most: int) -> list[Value]:
    """Select the most diverse values: first each class, one object of each class and one bound method of each class,
    then further ones of the project's classes, then others in order.

    Classes, and objects of different ones, come from a registry or a family of subclasses, objects of one class from
    different places; none may displace another.
    """
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
    """Return the class of an object, or the method and class of a bound method, and the place that creates the object;
    for a class that class; None for other values, and for an unknown or external place."""
    if isinstance(value, Class):
        return (value, Class), None
    if isinstance(value, Instance):
        inside = isinstance(value.of, Class) and value.file is not None
        return value.of, (value.file, value.call) if inside else None
    if isinstance(value, Function) and value.receiver is not None:
        receiver = value.receiver
        of = receiver.of if isinstance(receiver, Instance) else receiver
        made = (receiver.file, receiver.call) if isinstance(receiver, Instance) and receiver.file is not None else None
        return (value.key, of), made
    return None, None
