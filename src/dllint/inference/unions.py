"""Unions of value sets, bounded in size."""

from __future__ import annotations

from collections.abc import Iterable

from dllint.inference import limits
from dllint.inference.values import UNKNOWN, Class, Instance, Value, Values


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
    """The values that differ most where there are many: one object of each class, then further objects of the project's
    classes, then others in order. Objects of different classes come from a registry or a family of subclasses, as
    objects made in different places do, and none may crowd out another."""
    first: dict[object, Value] = {}
    places: dict[object, Value] = {}
    others: list[Value] = []
    for value in values:
        if isinstance(value, Instance) and value.of not in first and not limits.CLASSES.reached(len(first)):
            first[value.of] = value
        elif isinstance(value, Instance) and isinstance(value.of, Class) and value.file is not None:
            places.setdefault((value.of, value.file, value.call), value)
        else:
            others.append(value)
    room = max(0, limits.CLASSES.most - len(first))
    kept = [*first.values(), *list(places.values())[:room]]
    return [*kept, *others[: max(0, most - len(kept))]]
