"""Configurations that a function merges, the later ones over the earlier ones, at every level."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dllint.inference.changes import CONTAINERS
from dllint.inference.entries import OPAQUE, Found
from dllint.inference.unions import union
from dllint.inference.values import Actual, Values


def layered(mappings: Iterable[Actual], looked_up: Callable[[Actual], Found | None], missing: Values) -> Found:
    """Look up a key in merged configurations, given the earliest first. What is merged itself is found in each.

    Args:
        mappings: the configurations.
        looked_up: looks up the key in one of them; None if it is not known to be one.
        missing: the values that stand for none, such as "???".
    """
    groups: list[Values] = []
    absent, written = True, False
    for actual in reversed(list(mappings)):
        found = looked_up(actual) or OPAQUE
        values = tuple(one for one in found.values if one not in missing)
        groups.append(values)
        written = written or found.named
        absent = absent and (found.absent or len(values) < len(found.values))
        if not absent and not any(isinstance(one, CONTAINERS) for one in values):
            break
    return Found(union(groups), absent, written)
