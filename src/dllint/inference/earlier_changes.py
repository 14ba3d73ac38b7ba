"""Mutations of a container before a given place, by the function itself or by functions that it calls."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, Name, Slice, Subscript
from dllint.facts.schema import Expr
from dllint.inference.changes import CONTAINERS, Changes
from dllint.inference.entries import Change
from dllint.inference.interface import Engine
from dllint.inference.same_containers import identity
from dllint.inference.values import Data, Mapping, Parsed, Site, Values, Written
from dllint.inference.written_changes import is_other
from dllint.linking.contradictions import contradict


class EarlierChanges:
    """Orders the mutations of a container within one function."""

    def __init__(self, world: Engine, of: Changes) -> None:
        self.world = world
        self.of = of

    def changes(self, expr: Expr, site: Site, key: object, values: Values) -> list[tuple[Change, Site, bool]]:
        """Return the mutations under a key of `values`, those of `expr`, that happen earlier in the same function,
        latest first.

        Each comes with the site where it is evaluated, and whether it certainly happens and certainly mutates this
        container. Mutations by functions that the function calls are included.
        """
        found: list[tuple[tuple[int, int], Change, Site, bool]] = []
        for change in self.of.in_scope(site.file, site.scope):
            if is_other(change.key, key) or (change.kind == "set" and isinstance(change.key, Slice)):
                continue
            before = self._before(change.at, change.region, site)
            alone = self._changes_it(change, expr, values, site) if before is not None else None
            if alone is not None:
                found.append((change.at, change, change.site(site.frame), alone and bool(before)))
        for value in values:
            for change in self.of.under(value, key) if isinstance(value, (Mapping, Parsed, Data)) else ():
                for where, call in self.of.called_in(change, value, (site.file.path, site.scope)):
                    at = call.statement.start
                    before = False if at == site.at else self._before(at, call.region, site)
                    if before is not None:
                        sure = before and not change.region
                        bases = self.world.values.evaluate(change.base, where) if sure else ()
                        found.append((at, change, where, self._is_one(values, bases, site)))
        if not found:
            return []
        found.sort(key=lambda one: one[0], reverse=True)
        return [(change, where, sure) for _, change, where, sure in found]

    def _before(self, at: tuple[int, int], region: int, site: Site) -> bool | None:
        """Whether a place in a function is executed before another is reached: True if certainly, False if possibly,
        None if not."""
        early = site.at == (0, 0) or at < site.at
        if not early and not self.world.symbols.shared_loop(site.file, region, site.region):
            return None
        here = self.world.symbols.atoms(site.file, site.scope, site.region)
        if here and contradict(here, self.world.symbols.atoms(site.file, site.scope, region)):
            return None
        return early and site.file.encloses(region, site.region)

    def _changes_it(self, change: Change, expr: Expr, values: Values, site: Site) -> bool | None:
        """Whether a mutation changes the value of `expr`: True if certainly and nothing else, False if possibly, None
        if not."""
        where = change.site(site.frame)
        if change.base == expr:
            found, before = self._bindings(expr, site), self._bindings(expr, where)
            return found == before if not found or found & before else None
        if not any(self.of.changes(change, value) for value in values if isinstance(value, CONTAINERS)):
            return None
        return self._is_one(values, self.world.values.evaluate(change.base, where), site)

    @staticmethod
    def _is_one(values: Values, bases: Values, reader: Site) -> bool:
        """Whether both are certainly the same container: created by the function itself, or by one call for it."""
        if len(values) != 1 or len(bases) != 1 or identity(values[0]) != identity(bases[0]):
            return False
        made = identity(values[0])
        if isinstance(made, Written):
            return made.site.frame is not None or (made.site.file, made.site.scope) == (reader.file, reader.scope)
        if not isinstance(made, Parsed):
            return True
        return made.frame is not None or made.file.calls[made.call].scope == reader.scope

    def _bindings(self, expr: Expr, site: Site) -> set[int]:
        """Return the bindings of the leftmost name of an expression."""
        while isinstance(expr, (Attribute, Subscript)):
            expr = expr.value
        if not isinstance(expr, Name):
            return set()
        return {id(binding) for binding, _ in self.world.symbols.lookup(expr.id, site)}
