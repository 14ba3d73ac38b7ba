"""Lists of files: rows whose fields the workers only open, or convert to numbers."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from dllint.inference.values import Class, Instance
from dllint.project.item_code import ItemCode
from dllint.rules.memory.row_parts import NUMBER, PATH, used_parts

if TYPE_CHECKING:
    from dllint.inference.engine import World


def lists_paths(world: World, code: ItemCode, value: Instance, attr: str, holder: Class | None = None) -> bool:
    """Whether each field of `self.attr[index]` that the workers use is a path or a number, and at least one is a
    path."""
    used = list(used_parts(world, code, value, attr, holder).values())
    return any(PATH in kinds for kinds in used) and all(kinds & {PATH, NUMBER} for kinds in used)


def unpacks_paths(world: World, code: ItemCode, value: Instance, attr: str, holder: Class | None = None) -> bool:
    """Whether the workers take `self.attr[index]` apart by position, and use each part as a path."""
    used = used_parts(world, code, value, attr, holder)
    parts = {part: kinds for part, kinds in used.items() if part}
    return bool(parts) and all(type(part[0]) is int and PATH in kinds for part, kinds in parts.items())


def are_paths(world: World, code: ItemCode, value: Instance, attr: str, holder: Class | None = None) -> bool:
    """Whether the workers use `self.attr[index]` as a whole as a path."""
    uses = used_parts(world, code, value, attr, holder)
    return set(uses) == {()} and PATH in uses[()]


def holds_paths(
    world: World, code: ItemCode, value: Instance, attr: str, keys: Set[str], holder: Class | None = None
) -> bool:
    """Whether the workers use a field of `self.attr[index]` with one of these keys as a path."""
    used = used_parts(world, code, value, attr, holder)
    return any(PATH in kinds for part, kinds in used.items() if part[:1] and part[0] in keys)
