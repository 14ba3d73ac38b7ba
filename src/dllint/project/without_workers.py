"""Code that runs only where loaders have no workers, by a test of the worker count: `if args.num_workers == 0:`."""

from __future__ import annotations

from functools import cached_property

from dllint.facts.nodes import Attribute, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference.values import Site, const
from dllint.linking.derivations import name_of, worker_counts_in
from dllint.project.deciding_tests import DecidingTests

ZERO = frozenset({("==", 0), ("<=", 0), ("<", 1)})
"""Comparisons that are true for no number of workers but 0."""
OTHER = frozenset({("!=", 0), (">", 0), (">=", 1)})
"""Comparisons that are false for 0 alone."""


class WithoutWorkers(DecidingTests):
    """Recognizes tests that are true, or false, only where a worker count, which can be another number, is 0."""

    @cached_property
    def _counts(self) -> frozenset[str]:
        """The last names of the expressions that are passed as the number of workers."""
        files = self.world.files.values()
        return frozenset(name for file in files for _, names in file.each(worker_counts_in) for name in names)

    def _compares(self, left: Expr, op: str, right: object, holds: bool, site: Site) -> bool:
        return (op, right) in (ZERO if holds else OTHER) and self._is_count(left, site)

    def _decides(self, test: Expr, holds: bool, site: Site) -> bool:
        return not holds and self._is_count(test, site)

    def _is_count(self, expr: Expr, site: Site, depth: int = 0) -> bool:
        """Whether an expression is a worker count that may be another number than 0."""
        if not isinstance(expr, (Name, Attribute, Subscript)):
            return False
        if name_of(expr) in self._counts:
            return any(one != const(0) for one in self.world.values.evaluate(expr, site))
        return self._all_sources(expr, site, depth, lambda one, where: self._is_count(one, where, depth + 1))
