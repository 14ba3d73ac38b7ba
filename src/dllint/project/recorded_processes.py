"""Code that runs only in the process whose number the program has recorded: `if os.getpid() != self._pid: return`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
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


class Recorded:
    """Finds the code of the processes that recorded their number before a process was forked.

    Args:
        run: gives the functions that the forked process runs.
    """

    def __init__(self, world: World, run: Callable[[], Iterable[tuple[str, int]]]) -> None:
        self.world = world
        self._run = run

    def only(self, file: SourceFile, index: int, frame: Frame | None) -> bool:
        """Whether a call runs only in the process that recorded its number before, when a module or an object was
        made, by the conditions around it. A process that is forked later is another one."""
        call = file.calls[index]
        for region in file.regions(call.region):
            entry = file.facts.regions[region]
            if entry.kind == "if" and entry.expr is not None:
                at = tested_at(entry, call.statement.start)
                site = Site(file, call.scope, entry.parent, at, frame)
                if self._is_recorded(entry.expr, entry.holds, site, set()):
                    return True
        return False

    def _is_recorded(self, test: Expr, holds: bool, site: Site, seen: set[tuple[int, bool]]) -> bool:
        """Whether a test says so if it has the result `holds`. `seen`: the values of names that were asked before."""
        if isinstance(test, Not):
            return self._is_recorded(test.operand, not holds, site, seen)
        if isinstance(test, BoolOp):
            # `a and b` says something of each part only if it is true.
            whole = (test.op == "and") is holds
            return whole and any(self._is_recorded(part, holds, site, seen) for part in test.values)
        if isinstance(test, Name):
            found = self.world.symbols.lookup(test.id, site)
            binding, where = found[0] if len(found) == 1 else (None, site)
            if binding is None or binding.kind != "value" or binding.expr is None:
                return False
            asked = (id(binding), holds)
            if asked in seen or limits.TESTED_STEPS.reached(len(seen)):
                return False
            seen.add(asked)
            return self._is_recorded(binding.expr, holds, where, seen)
        if isinstance(test, Compare) and len(test.comparisons) == 1:
            operator, right = test.comparisons[0]
            sides = [self._asked_at(side, site) for side in (test.left, right)]
            return (
                _SAME.get(operator) is holds
                and all(sides)
                and sides[0].isdisjoint(sides[1])
                and any(all(map(self._is_before, side)) for side in sides)
            )
        return False

    def _asked_at(self, expr: Expr, site: Site) -> set[tuple[SourceFile, int]]:
        """The calls that give the number of a process; empty if the expression may be something else."""
        values = self.world.values.evaluate(expr, site)
        asked = {
            (value.file, value.call)
            for value in values
            if isinstance(value, Instance) and value.of == External(_NUMBER) and value.file is not None
        }
        return asked if len(asked) == len(values) else set()

    def _is_before(self, asked: tuple[SourceFile, int]) -> bool:
        """Whether a number is recorded before the fork, and not in an object that the forked process makes itself."""
        file, index = asked
        scope = file.calls[index].scope
        return scope == 0 or (file.scopes[scope].name == "__init__" and (file.path, scope) not in self._made_there)

    @cached_property
    def _made_there(self) -> frozenset[tuple[str, int]]:
        return frozenset(self._run())
