"""Code that runs only in the process whose number the program has recorded: `if os.getpid() != self._pid: return`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import BoolOp, Compare, Name, Not
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.values import External, Frame, Instance, Site
from dllint.linking.conditions import tested_at
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World

_SAME = {"==": True, "is": True, "!=": False, "is not": False}
_NUMBER = "os.getpid"


def only_where_recorded(world: World, file: SourceFile, index: int, frame: Frame | None) -> bool:
    """Whether a call runs only in the process that recorded its number before, when a module or an object was made, by
    the conditions around it. A process that is forked later is another one."""
    call = file.calls[index]
    for region in file.regions(call.region):
        entry = file.facts.regions[region]
        if entry.kind == "if" and entry.expr is not None:
            at = tested_at(entry, call.statement.start)
            site = Site(file, call.scope, entry.parent, at, frame)
            if _is_recorded(world, entry.expr, entry.holds, site, set()):
                return True
    return False


def _is_recorded(world: World, test: Expr, holds: bool, site: Site, seen: set[tuple[int, bool]]) -> bool:
    """Whether a test says so if it has the result `holds`. `seen`: the values of names that were asked before."""
    if isinstance(test, Not):
        return _is_recorded(world, test.operand, not holds, site, seen)
    if isinstance(test, BoolOp):
        # `a and b` says something of each part only if it is true.
        whole = (test.op == "and") is holds
        return whole and any(_is_recorded(world, part, holds, site, seen) for part in test.values)
    if isinstance(test, Name):
        found = world.symbols.lookup(test.id, site)
        binding, where = found[0] if len(found) == 1 else (None, site)
        if binding is None or binding.kind != "value" or binding.expr is None:
            return False
        asked = (id(binding), holds)
        if asked in seen or limits.TESTED_STEPS.reached(len(seen)):
            return False
        seen.add(asked)
        return _is_recorded(world, binding.expr, holds, where, seen)
    if isinstance(test, Compare) and len(test.comparisons) == 1:
        operator, right = test.comparisons[0]
        sides = [_asked_at(world, side, site) for side in (test.left, right)]
        return (
            _SAME.get(operator) is holds
            and all(sides)
            and sides[0].isdisjoint(sides[1])
            and any(all(map(_is_at_start, side)) for side in sides)
        )
    return False


def _asked_at(world: World, expr: Expr, site: Site) -> set[tuple[SourceFile, int]]:
    """The calls that give the number of a process; empty if the expression may be something else."""
    values = world.values.evaluate(expr, site)
    asked = {
        (value.file, value.call)
        for value in values
        if isinstance(value, Instance) and value.of == External(_NUMBER) and value.file is not None
    }
    return asked if len(asked) == len(values) else set()


def _is_at_start(asked: tuple[SourceFile, int]) -> bool:
    file, index = asked
    scope = file.calls[index].scope
    return scope == 0 or file.scopes[scope].name == "__init__"
