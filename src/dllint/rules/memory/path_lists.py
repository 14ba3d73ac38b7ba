"""Lists of files and labels: rows whose fields the workers only open, or convert to numbers."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef
from dllint.facts.schema import Expr
from dllint.inference.origins import Origins, Step
from dllint.inference.values import Class, External, Function, Instance, Site
from dllint.libraries.index import canonical
from dllint.libraries.io import PATH_MAKERS
from dllint.project.item_code import ItemCode
from dllint.rules.memory.row_parts import NUMBER, PATH, LineReader, used_parts

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


def are_numbers(world: World, code: ItemCode, value: Instance, attr: str, holder: Class | None = None) -> bool:
    """Whether the workers only convert each line `self.attr[index]` to a number, as a whole: a list of labels."""
    return used_parts(world, code, value, attr, holder, LineReader) == {(): {NUMBER}}


def holds_paths(
    world: World, code: ItemCode, value: Instance, attr: str, keys: Set[str], holder: Class | None = None
) -> bool:
    """Whether the workers use a field of `self.attr[index]` with one of these keys as a path."""
    used = used_parts(world, code, value, attr, holder)
    return any(PATH in kinds for part, kinds in used.items() if part[:1] and part[0] in keys)


def gives_paths(world: World, origins: Origins, func: Expr, site: Site) -> bool:
    """Whether a function of the project returns a path that it puts together: `lambda name: os.path.join(folder,
    name)`."""
    steps = [
        step
        for value in world.values.evaluate(func, site)
        for step in (origins.returned(value, None) if isinstance(value, Function) else (None,))
    ]
    return bool(steps) and all(isinstance(one, Step) and _is_path(world, one.expr, one.site) for one in steps)


def _is_path(world: World, expr: Expr, site: Site) -> bool:
    if not isinstance(expr, CallRef):
        return False
    made = world.values.evaluate(site.file.calls[expr.index].func, site)
    names = [canonical(one.name) if isinstance(one, External) else "" for one in made]
    return bool(names) and all(name in PATH_MAKERS for name in names)
