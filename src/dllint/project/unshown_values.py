"""Branches that a program takes for a value that nothing in the project gives it: `if config.dataset == "photos":`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BoolOp, Compare, Constant, Name, Subscript
from dllint.facts.schema import Expr
from dllint.finding import Finding, Place
from dllint.inference.values import UNKNOWN, Const, Site
from dllint.project.unchosen_paths import place_around
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


class UnshownValues:
    """Finds such branches on the way to a defect."""

    def __init__(self, project: Project) -> None:
        self.world = project.world
        self._loaders = {(loader.file.path, loader.span) for loader in project.loaders}

    def condition(self, finding: Finding) -> Place | None:
        """The test that has to hold for a defect, of a value that is unknown and that nothing shows to be the one asked
        for; None if there is none around the defect, a call of its trace, or all of its loaders."""
        places = [(finding.path, finding.span), *((one.path, one.span) for one in finding.trace)]
        loaders = [(one.path, one.span) for one in finding.related if (one.path, one.span) in self._loaders]
        around = [self._around(*place) for place in loaders]
        on_the_way = filter(None, (self._around(*place) for place in places))
        return next(on_the_way, None) or (around[0] if around and None not in around else None)

    def _around(self, path: str, span: Span) -> Place | None:
        file = self.world.files.get(path)
        place = place_around(file, span) if file is not None else None
        if file is None or place is None:
            return None
        scope, region = place
        for index in file.regions(region):
            entry = file.facts.regions[index]
            if entry.kind == "if" and entry.holds and entry.expr is not None:
                site = Site(file, scope, entry.parent, entry.span.start, None)
                if any(self._is_unshown(*asked, site) for asked in _required(entry.expr)):
                    return Place(file.path, entry.span, "nothing in the project shows this value")
        return None

    def _is_unshown(self, tested: Expr, wanted: str | int, inside: bool, site: Site) -> bool:
        values = self.world.values.evaluate(tested, site)
        known = [one.value for one in values if isinstance(one, Const)]
        if inside:
            return UNKNOWN in values and not any(isinstance(one, str) and str(wanted) in one for one in known)
        return UNKNOWN in values and wanted not in known


def _required(test: Expr) -> Iterator[tuple[Expr, str | int, bool]]:
    """Yield what has to be true for a test to hold: that an expression equals a text or a number, or contains it."""
    if isinstance(test, BoolOp) and test.op == "and":
        for part in test.values:
            yield from _required(part)
    elif isinstance(test, Compare) and len(test.comparisons) == 1:
        (op, right) = test.comparisons[0]
        tested, wanted = (right, test.left) if op == "in" else (test.left, right)
        if op not in ("==", "in") or not isinstance(tested, (Name, Attribute, Subscript)):
            return
        if isinstance(wanted, Constant) and isinstance(wanted.value, (str, int)) and not isinstance(wanted.value, bool):
            yield tested, wanted.value, op == "in"
