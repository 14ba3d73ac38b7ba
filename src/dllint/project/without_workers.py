"""Code that runs only where loaders have no workers, by a test of the worker count: `if args.num_workers == 0:`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BoolOp, CallRef, Compare, Constant, Name, Not, Subscript
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.origins import Origins
from dllint.inference.values import Frame, Site, const
from dllint.linking.conditions import tested_at
from dllint.linking.derivations import name_of, worker_counts_in
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World

ZERO = frozenset({("==", 0), ("<=", 0), ("<", 1)})
"""Comparisons that are true for no number of workers but 0."""
OTHER = frozenset({("!=", 0), (">", 0), (">=", 1)})
"""Comparisons that are false for 0 alone."""
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


class WithoutWorkers:
    """Recognizes tests that are true, or false, only where a worker count is 0."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.origins = Origins(world)
        self._only: dict[tuple[SourceFile, int, int, tuple[int, int], Frame | None], bool] = {}

    def only(self, site: Site) -> bool:
        """Whether a place is reached only where the number of workers, which can be another, is 0."""
        for index in site.file.regions(site.region):
            entry = site.file.facts.regions[index]
            if entry.kind == "if" and entry.expr is not None:
                at = tested_at(entry, site.at)
                key = (site.file, site.scope, index, at, site.frame)
                found = self._only.get(key)
                if found is None:
                    where = site._replace(region=entry.parent, at=at)
                    found = self._only[key] = self._asks(entry.expr, entry.holds, where)
                if found:
                    return True
        return False

    @cached_property
    def _counts(self) -> frozenset[str]:
        """The last names of the expressions that are passed as the number of workers."""
        files = self.world.files.values()
        return frozenset(name for file in files for _, names in file.each(worker_counts_in) for name in names)

    def _asks(self, test: Expr, holds: bool, site: Site, depth: int = 0) -> bool:
        if isinstance(test, Not):
            return self._asks(test.operand, not holds, site, depth)
        if isinstance(test, BoolOp):
            parts = [self._asks(part, holds, site, depth) for part in test.values]
            return any(parts) if (test.op == "and") is holds else all(parts)
        if isinstance(test, Compare):
            if len(test.comparisons) != 1:
                return False
            (op, right), left = test.comparisons[0], test.left
            if isinstance(left, Constant):
                (op, right), left = (_MIRRORED.get(op, op), left), right
            asked = (op, right.value) if isinstance(right, Constant) else None
            return asked in (ZERO if holds else OTHER) and self._is_count(left, site)
        if not isinstance(test, (Name, Attribute, Subscript, CallRef)):
            return False
        if not holds and self._is_count(test, site):
            return True
        if limits.COUNT_DEPTH.exceeded(depth):
            return False
        sources = [*self.origins.expressions(test, site)]
        return bool(sources) and all(
            one.key is None and self._asks(one.expr, holds, one.site, depth + 1) for one in sources
        )

    def _is_count(self, expr: Expr, site: Site, depth: int = 0) -> bool:
        """Whether an expression is a worker count that may be another number than 0."""
        if not isinstance(expr, (Name, Attribute, Subscript)):
            return False
        if name_of(expr) not in self._counts:
            if limits.COUNT_DEPTH.exceeded(depth):
                return False
            sources = [*self.origins.expressions(expr, site)]
            return bool(sources) and all(
                one.key is None and self._is_count(one.expr, one.site, depth + 1) for one in sources
            )
        return any(one != const(0) for one in self.world.values.evaluate(expr, site))
