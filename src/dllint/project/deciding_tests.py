"""Places that a program reaches only where a test of some kind has one outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BoolOp, CallRef, Compare, Constant, Name, Not, Subscript, Walrus
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.origins import Origins
from dllint.inference.values import Frame, Instance, Site, Value
from dllint.linking.conditions import tested_at
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


class DecidingTests:
    """Recognizes tests that have an outcome only in the processes, or the runs, that a subclass is about."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.origins = Origins(world)
        self._only: dict[tuple[SourceFile, int, int, tuple[int, int], Frame | None], bool] = {}

    def only(self, site: Site) -> bool:
        """Whether a place is reached only under such a test."""
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

    def makes(self, value: Value) -> bool:
        """Whether an object is created only under such a test: `open(path) if … else None`."""
        if not isinstance(value, Instance) or value.file is None or value.call < 0:
            return False
        return self.only(self.world.call_site(value.file, value.call, value.frame))

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
            return isinstance(right, Constant) and self._compares(left, op, right.value, holds, site)
        if not isinstance(test, (Name, Attribute, Subscript, CallRef, Walrus)):
            return False
        return self._decides(test, holds, site) or self._all_sources(
            test, site, depth, lambda expr, where: self._asks(expr, holds, where, depth + 1)
        )

    def _all_sources(self, expr: Expr, site: Site, depth: int, is_one: Callable[[Expr, Site], bool]) -> bool:
        """Whether an expression comes from others, and something is true of each of them."""
        if limits.TEST_DEPTH.exceeded(depth):
            return False
        sources = [*self.origins.expressions(expr, site)]
        return bool(sources) and all(one.key is None and is_one(one.expr, one.site) for one in sources)

    def _compares(self, left: Expr, op: str, right: object, holds: bool, site: Site) -> bool:
        """Whether the comparison of an expression with a constant has this outcome only there."""
        raise NotImplementedError

    def _decides(self, test: Expr, holds: bool, site: Site) -> bool:
        """Whether an expression is true, or false, only there."""
        raise NotImplementedError
