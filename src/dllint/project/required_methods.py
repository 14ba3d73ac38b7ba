"""Start methods that code requires before it continues: `if mp.get_start_method() != "spawn": raise …`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Compare, Constant, Name, Not, Set, Tuple
from dllint.facts.nodes import List as ListOf
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.values import Class, External, Function, Instance, Site
from dllint.libraries.contexts import METHODS, package_of
from dllint.libraries.index import canonical
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World

_ALL = frozenset(METHODS)


class RequiredMethods:
    """Finds the start methods under which a place is reachable."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._asked = bool(world.called("get_start_method"))

    def at(self, site: Site, levels: int = limits.SETTING_CALLERS.most) -> frozenset[str]:
        """The start methods under which a place is reachable.

        They follow from the tests around it, from checks before it in the same function, and from the same in all
        callers up to `levels` calls away.
        """
        if not self._asked:
            return _ALL
        allowed = self._around(site.file, site.scope, site.region) & self._before(site)
        if allowed == _ALL and site.scope > 0 and levels and site.file.scopes[site.scope].kind == "function":
            callers = self.world.calls.callers(Function(site.file, site.scope))
            ways = [
                self.at(self.world.call_site(one.file, one.call, None), levels - 1) if one.call >= 0 else _ALL
                for one in callers
            ]
            return frozenset().union(*ways) if ways else _ALL
        return allowed

    def _around(self, file: SourceFile, scope: int, region: int) -> frozenset[str]:
        allowed = _ALL
        for index in file.regions(region):
            entry = file.facts.regions[index]
            if entry.kind == "if" and entry.expr is not None:
                at = entry.span.start
                allowed &= self._tested(entry.expr, entry.holds, Site(file, scope, entry.parent, at, None))
        return allowed

    def _before(self, site: Site) -> frozenset[str]:
        """The start methods that pass the assertions, calls and `with` statements that provably run before a place."""
        allowed = _ALL
        file = site.file
        for event in file.scopes[site.scope].events_of("assert", "with"):
            at = event.span.start
            if event.value is None or at >= site.at or not file.encloses(event.region, site.region):
                continue
            where = Site(file, site.scope, event.region, at, None)
            if event.kind == "assert":
                allowed &= self._tested(event.value, True, where)
            else:
                for entered in self._entered(event.value, where):
                    allowed &= self._after(entered)
        for index in file.calls_of(site.scope):
            call = file.calls[index]
            earlier = call.statement.start < site.at
            if earlier and file.encloses(call.region, site.region):
                targets = self.world.calls.targets(file, index)
                if len(targets) == 1 and not targets[0].guessed:
                    allowed &= self._after(targets[0].function)
        return allowed

    def _entered(self, manager: Expr, site: Site) -> Iterator[Function]:
        for value in self.world.values.evaluate(manager, site):
            if isinstance(value, Instance) and isinstance(value.of, Class):
                method = self.world.hierarchy.method(value.of, "__enter__")
                if method is not None:
                    yield method

    def _after(self, function: Function) -> frozenset[str]:
        """The start methods under which a function returns normally."""
        file, entry = function.file, function.file.scopes[function.scope]
        ends = [event.region for event in entry.events_of("return")]
        if entry.end >= 0:
            ends.append(entry.end)
        ways = [self._around(file, function.scope, region) for region in ends]
        return frozenset().union(*ways) if ways else _ALL

    def _tested(self, test: Expr, holds: bool, site: Site) -> frozenset[str]:
        """The start methods for which a test evaluates to `holds`; all of them if it tests something else."""
        if isinstance(test, Not):
            return self._tested(test.operand, not holds, site)
        if not isinstance(test, Compare) or len(test.comparisons) != 1 or not self._asks(test.left, site):
            return _ALL
        op, right = test.comparisons[0]
        parts = right.elements if isinstance(right, (Tuple, ListOf, Set)) else [right]
        if op not in ("==", "!=", "in", "not in") or not all(isinstance(part, Constant) for part in parts):
            return _ALL
        named = frozenset(part.value for part in parts if isinstance(part, Constant) and isinstance(part.value, str))
        return _ALL & named if (op in ("==", "in")) is holds else _ALL - named

    def _asks(self, expr: Expr, site: Site) -> bool:
        """Whether an expression is the result of `get_start_method`."""
        values = self.world.values.evaluate(expr, site) if isinstance(expr, (Name, CallRef)) else ()
        return any(
            isinstance(value, Instance)
            and isinstance(value.of, External)
            and canonical(value.of.name) == "multiprocessing.get_start_method"
            and not package_of(value.of.name)
            for value in values
        )
