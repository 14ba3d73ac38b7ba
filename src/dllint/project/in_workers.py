"""Code that runs only in workers, by a test of what torch tells them: `if get_worker_info() is not None:`."""

from __future__ import annotations

from functools import cached_property

from dllint.facts.nodes import Attribute, CallRef, Name, Walrus
from dllint.facts.schema import Expr
from dllint.inference.values import External, Site
from dllint.libraries.index import NONE_IN_PARENT, canonical
from dllint.linking.derivations import names_one_of
from dllint.project.deciding_tests import DecidingTests

_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in NONE_IN_PARENT)


class InWorkers(DecidingTests):
    """Recognizes tests that are true, or false, only in worker processes."""

    def only(self, site: Site) -> bool:
        return self._any_asks and super().only(site)

    @cached_property
    def _any_asks(self) -> bool:
        """Whether a file of the project names one of the functions that return None in the parent."""
        return any(file.derived(names_one_of, *sorted(_LAST_NAMES)) for file in self.world.files.values())

    def _compares(self, left: Expr, op: str, right: object, holds: bool, site: Site) -> bool:
        return right is None and op in (("is not", "!=") if holds else ("is", "==")) and self._is_info(left, site)

    def _decides(self, test: Expr, holds: bool, site: Site) -> bool:
        return holds and self._is_info(test, site)

    def _is_info(self, expr: Expr, site: Site, depth: int = 0) -> bool:
        """Whether an expression is surely what such a function returns."""
        if isinstance(expr, Walrus):
            return self._is_info(expr.value, site, depth)
        if isinstance(expr, CallRef):
            callees = self.world.calls.callees(site.file, expr.index, site.frame)
            if any(isinstance(one, External) for one in callees):
                return all(isinstance(one, External) and canonical(one.name) in NONE_IN_PARENT for one in callees)
        return isinstance(expr, (Name, Attribute, CallRef)) and self._all_sources(
            expr, site, depth, lambda one, where: self._is_info(one, where, depth + 1)
        )
