"""Bounds the depth of expressions."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from dllint.facts.nodes import Base, Clause, Opaque


def cut(top: Base, deepest: int) -> None:
    """Replace parts nested deeper than `deepest` by Opaque, in place; a sequence counts as one level. Does not need a
    deep stack."""
    waiting: list[tuple[Any, int]] = [(top, 1)]
    while waiting:
        node, depth = waiting.pop()
        for one in fields(node):
            part = getattr(node, one.name)
            if isinstance(part, Base):
                if depth >= deepest:
                    setattr(node, one.name, Opaque())
                else:
                    waiting.append((part, depth + 1))
            elif isinstance(part, tuple):
                setattr(node, one.name, _cut_sequence(part, depth + 1, deepest, waiting))


def _cut_sequence(parts: Any, depth: int, deepest: int, waiting: list[tuple[Any, int]]) -> Any:
    found: list[Any] = []
    for part in parts:
        if isinstance(part, Base):
            if depth >= deepest:
                part = Opaque()
            else:
                waiting.append((part, depth + 1))
        elif isinstance(part, tuple):
            part = _cut_sequence(part, depth + 1, deepest, waiting)
        found.append(part)
    return Clause(*found) if isinstance(parts, Clause) else tuple(found)
