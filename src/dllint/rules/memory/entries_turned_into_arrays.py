"""Entries of lists and dicts that the program replaces by arrays of them: these are no Python objects in the end."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Constant, Subscript
from dllint.inference import limits
from dllint.inference.entries import Change
from dllint.inference.values import Instance
from dllint.project.counting import loops
from dllint.project.released_attributes import is_array_of

if TYPE_CHECKING:
    from dllint.inference.engine import World


def entries_become_arrays(world: World, value: Instance) -> bool:
    """Whether a loop replaces the entries of what was read by arrays of them: `rows[key] = np.array(rows[key])`."""
    changes = islice(world.mappings.changes_of(value), limits.CHANGES.most)
    return any(
        change.kind == "set"
        and change.key is not None
        and not isinstance(change.key, str)
        and isinstance(change.value, CallRef)
        and bool(loops(change.file, change.region))
        and is_array_of(world, change.file, change.value.index, Subscript(change.base, change.key))
        for change, _ in changes
    )


def becomes_array(world: World, change: Change) -> bool:
    """Whether the same function replaces the entry that a mutation sets or extends by an array of it: `rows[key] =
    np.asarray(rows[key])`."""
    key = Constant(change.key) if isinstance(change.key, str) else change.key
    entry = change.base if key is None else Subscript(change.base, key)
    return any(
        event.kind == "assign"
        and event.target == entry
        and isinstance(event.value, CallRef)
        and is_array_of(world, change.file, event.value.index, entry)
        for event in change.file.scopes[change.scope].events
    )
