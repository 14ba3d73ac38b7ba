"""Branches that a program takes for a value that nothing in the project gives it: `if config.dataset == "photos":`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BoolOp, Compare, Constant, Name, Subscript
from dllint.facts.schema import Expr
from dllint.finding import Finding, Place
from dllint.inference import limits
from dllint.inference.origins import Origins
from dllint.inference.values import UNKNOWN, Class, Const, External, Function, Instance, Site, Value
from dllint.libraries.index import READERS, canonical
from dllint.project.unchosen_paths import place_around
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


class UnshownValues:
    """Finds such branches on the way to a defect."""

    def __init__(self, project: Project) -> None:
        self.world = project.world
        self._origins = Origins(project.world)
        self._loaders = {(loader.file.path, loader.span) for loader in project.loaders}

    def condition(self, finding: Finding) -> Place | None:
        """The test that has to hold for a defect, of a value that is unknown and that nothing shows to be the one asked
        for; None if there is none around the defect, a call of its trace, all of its loaders, or all calls that
        construct the object whose code has the defect."""
        places = [(finding.path, finding.span), *((one.path, one.span) for one in finding.trace)]
        loaders = [(one.path, one.span) for one in finding.related if (one.path, one.span) in self._loaders]
        around = [self._around(*place) for place in loaders]
        on_the_way = filter(None, (self._around(*place) for place in places))
        found = next(on_the_way, None) or (around[0] if around and None not in around else None)
        return found or self._around_makers(finding.path, finding.span)

    def _around(self, path: str, span: Span, options: bool = True) -> Place | None:
        """The test around a place. Without `options`, none of an option of the command line, which names one of several
        objects that the program offers."""
        file = self.world.files.get(path)
        place = place_around(file, span) if file is not None else None
        if file is None or place is None:
            return None
        scope, region = place
        for index in file.regions(region):
            entry = file.facts.regions[index]
            if entry.kind == "if" and entry.holds and entry.expr is not None:
                site = Site(file, scope, entry.parent, entry.span.start, None)
                asked = [one for one in _required(entry.expr) if options or not self._is_option(one[0], site)]
                if any(self._is_unshown(*one, site) for one in asked):
                    return Place(file.path, entry.span, "nothing in the project shows this value")
        return None

    def _around_makers(self, path: str, span: Span) -> Place | None:
        """The test around each construction of the object whose code is at a place, or of the object in whose class
        that construction stands. None if one of them runs without such a test, or is not known."""
        found: Place | None = None
        seen: set[tuple[str, int, int]] = set()
        todo = [(path, span, 0)]
        for where, at, depth in todo:
            test = self._around(where, at, options=False) if depth else None
            if test is not None:
                found = found or test
                continue
            made = self._constructor(where, at)
            if made is None or limits.UNCHOSEN_CALLERS.exceeded(depth):
                return None
            for one in self.world.calls.callers(made):
                if one.call < 0:
                    return None
                call = one.file.place_of(one.call)
                # Of those that stand beside one another, one tells what is around all of them.
                key = (one.file.path, call.scope, call.region)
                if key not in seen:
                    seen.add(key)
                    todo.append((one.file.path, call.span, depth + 1))
        return found

    def _constructor(self, path: str, span: Span) -> Function | None:
        """The constructor of the class with the code at a place."""
        file = self.world.files.get(path)
        place = place_around(file, span) if file is not None else None
        cls = file.enclosing_class(place[0]) if file is not None and place is not None else None
        return (
            self.world.hierarchy.method(Class(file, cls), "__init__") if file is not None and cls is not None else None
        )

    def _is_option(self, tested: Expr, site: Site) -> bool:
        given = (one.given for one in self._origins.of(tested, site))
        return any(one is not None and one.kind == "option" for one in given)

    def _is_unshown(self, tested: Expr, wanted: str | int, inside: bool, site: Site) -> bool:
        values = self.world.values.evaluate(tested, site)
        known = [one.value for one in values if isinstance(one, Const)]
        # What a file contains whose name only a run tells is as unknown.
        if UNKNOWN not in values and not any(map(_is_entry_of_file, values)):
            return False
        if inside:
            return not any(isinstance(one, str) and str(wanted) in one for one in known)
        return wanted not in known


def _is_entry_of_file(value: Value) -> bool:
    """Whether a value is an entry of a file that a program reads: `json.load(file)["name"]`."""
    name = canonical(value.of.name) if isinstance(value, Instance) and isinstance(value.of, External) else ""
    return "[" in name and name.partition("[")[0].removesuffix("()") in READERS


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
