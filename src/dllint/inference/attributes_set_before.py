"""Attributes that a function, or its caller, has set before they are read."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, Expr, Name
from dllint.inference.answers import Table
from dllint.inference.interface import Engine
from dllint.inference.stores_in_callees import set_by_callee
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Function, Site, Values
from dllint.linking.assignments import Store
from dllint.linking.derivations import stores_by_name


class AttributesSetBefore:
    """Queries about such attributes."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._stored: dict[tuple[str, int], dict[str, list[Store]]] = {}
        self._handed: Table[Values | None] = {}

    def reassigned(self, expr: Attribute, site: Site) -> Values | None:
        """Return the values of `base.attr` if the same function has set it before on every path to the site; None
        otherwise."""
        if site.at == (0, 0):
            return None
        here = self._stored_here(expr, site)
        starts = (store.event.span.start for store in here)
        since = max((at for at in starts if at < site.at), default=(0, 0))
        if (
            expr.attr in self.world.stores.set_on_names
            and (found := set_by_callee(self.world, expr, site, since)) is not None
        ):
            return found
        for store in reversed(here):
            at = store.event.span.start
            if at < site.at and site.file.encloses(store.event.region, site.region):
                where = Site(site.file, site.scope, store.event.region, at, site.frame)
                values = self.world.values.evaluate(store.value, where)
                owner = site.file.enclosing_class(site.scope)
                if owner is not None and isinstance(expr.value, Name):
                    return self.world.values.owned(values, store.value, where, (owner, f"self.{expr.attr}"))
                return values
            if at < site.at:
                return None
        return None

    def _stored_here(self, expr: Attribute, site: Site) -> list[Store]:
        """Return the assignments in the same scope to an attribute of the same base expression."""
        stored = self._stored.get((site.file.path, site.scope))
        if stored is None:
            stored = self._stored[site.file.path, site.scope] = site.file.named(stores_by_name, site.scope)
        return [store for store in stored.get(expr.attr, ()) if store.base == expr.value]

    def handed_over(self, expr: Attribute, site: Site) -> Values | None:
        """Return the values of `parameter.attr` if a caller has set it before the call: `args.workers = 0`, then
        `build(args)`.

        None if no caller has, or if the function itself sets it on some paths.
        """
        base = expr.value
        if not isinstance(base, Name) or expr.attr not in self.world.stores.set_on_names:
            return None
        if self._stored_here(expr, site):
            return None
        called = set_by_callee(self.world, expr, site, (0, 0))
        if called is not None:
            return called
        found = self.world.symbols.lookup(base.id, site)
        if len(found) != 1 or found[0][0].kind != "param":
            return None
        where = found[0][1]
        key = (where.file.path, where.scope, where.frame, base.id, expr.attr)
        return self.world.memory.remember(self._handed, key, lambda: self._handed_over(base.id, expr.attr, where), None)

    def _handed_over(self, name: str, attr: str, where: Site) -> Values | None:
        given: list[tuple[Expr, Site, Values | None]] = []
        unclear = False
        for actual in self.world.parameters.actuals_of(Function(where.file, where.scope), name, where.frame):
            if actual is None or actual.expr is None or actual.site is None:
                unclear = True
            else:
                expr = Attribute(actual.expr, attr)
                plain = isinstance(actual.expr, (Name, Attribute))
                stored = self.reassigned(expr, actual.site) if plain else None
                if stored is None and plain:
                    stored = self.handed_over(expr, actual.site)
                given.append((expr, actual.site, stored))
        if all(stored is None for _, _, stored in given):
            return None
        found = [
            stored if stored is not None else self.world.values.evaluate(expr, site) for expr, site, stored in given
        ]
        return union([*found, (UNKNOWN,)] if unclear else found)
