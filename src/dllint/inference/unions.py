"""Sets of values put together, with a bound on their size."""

from __future__ import annotations

from collections.abc import Iterable

from dllint.inference.values import UNKNOWN, Instance, Value, Values

LIMIT = 24
"""Values of one expression that are told apart; beyond, the rest is Unknown."""
MOST_CLASSES = 100
"""Classes of objects among the values of one expression."""
MOST_ITEMS = 40
"""Values that are told apart among the items of one container."""


def union(groups: Iterable[Values], most: int = LIMIT) -> Values:
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
    return (*_varied(found, most), UNKNOWN) if len(found) > most else tuple(found)


def _varied(values: Iterable[Value], most: int) -> list[Value]:
    """The values that are told apart where there are many: one object of each class, then others in order. Objects of
    different classes come from a registry or a family of subclasses, and none may crowd out another."""
    first: dict[object, Value] = {}
    others: list[Value] = []
    for value in values:
        if isinstance(value, Instance) and value.of not in first and len(first) < MOST_CLASSES:
            first[value.of] = value
        else:
            others.append(value)
    return [*first.values(), *others[: max(0, most - len(first))]]
