"""All keys and all values of a dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dllint.facts.nodes import CallRef, Comprehension, Dict, Element
from dllint.facts.schema import Expr
from dllint.inference import generators, limits
from dllint.inference import iteration as iterating
from dllint.inference.answers import Table
from dllint.inference.changes import Changes
from dllint.inference.default_factories import DefaultFactories
from dllint.inference.entries import Change
from dllint.inference.generators import GENERATOR
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Display, Instance, Keywords, Mapping, Site, Unknown, Value, Values, const
from dllint.linking.expressions import summands


class AllEntries:
    """Memo tables of all keys and all values of dicts, for lookups with an unknown key."""

    def __init__(self, world: Engine, changes: Changes, defaults: DefaultFactories) -> None:
        self.world = world
        self.changes = changes
        self.defaults = defaults
        self._values: Table[Values] = {}
        self._keys: Table[Values] = {}
        self._flattened: Table[Values] = {}
        self._merging = 0

    def values(self, value: Mapping) -> Values:
        """Return the values under any key."""
        return self.world.memory.remember(self._values, value, lambda: self._all(value, keys=False), ())

    def keys(self, value: Mapping) -> Values:
        """Return the keys."""
        return self.world.memory.remember(self._keys, value, lambda: self._all(value, keys=True), ())

    def flattened(self, value: Value) -> Values:
        """Return the value itself, or the contents of a list, tuple, set, dict or generator, down to a few levels of
        nesting."""
        opened = isinstance(value, Instance) and (
            value.of == GENERATOR or self.defaults.is_one(value) or iterating.is_mapped(value)
        )
        if not isinstance(value, (Display, Mapping, Keywords)) and not opened:
            return () if isinstance(value, Unknown) else (value,)
        return self.world.memory.remember(self._flattened, value, lambda: self._flatten(value), ())

    def _flatten(self, value: Value) -> Values:
        found: dict[Value, None] = {}
        seen: set[Value] = {value}
        level: list[Value] = [value]
        for _ in range(limits.CONTAINER_DEPTH.most):
            inner: dict[Value, None] = {}
            for one in level:
                if isinstance(one, Display):
                    if one.kind == "generator":
                        found[one] = None
                    inner.update(dict.fromkeys(self.world.mappings.elements(one)))
                elif isinstance(one, Mapping):
                    inner.update(dict.fromkeys(self.values(one)))
                elif isinstance(one, Keywords):
                    inner.update(dict.fromkeys(one for group in self._passed(one) for one in group))
                elif not isinstance(one, Unknown):
                    found[one] = None
                    if isinstance(one, Instance) and self.defaults.is_one(one):
                        inner.update(dict.fromkeys(self.defaults.values(one)))
                    inner.update(dict.fromkeys(generators.elements(self.world, one) or ()))
                    inner.update(dict.fromkeys(iterating.mapped(self.world, one) if iterating.is_mapped(one) else ()))
            level = [one for one in inner if one not in seen]
            seen.update(level)
        found.update((one, None) for one in level if not isinstance(one, Unknown))
        return tuple(found)

    def _passed(self, value: Keywords) -> Iterator[Values]:
        """Yield the values of the keyword arguments that `**options` takes."""
        given = value.frame.actuals if value.frame is not None else None
        if given is None:
            return
        named = {param.name for param in value.function.file.scopes[value.function.scope].params}
        yield from (self.world.values.passed(one) for name, one in given.keywords.items() if name not in named)
        for one in given.mappings:
            if one.expr is not None and one.site is not None:
                yield self.merged(one.expr, one.site, keys=False)

    def _all(self, value: Mapping, keys: bool) -> Values:
        """Return all values, or all keys."""
        if value.made is not None:
            original = replace(value, made=None)
            groups = [self.keys(original) if keys else self.values(original)]
        else:
            groups = list(self._all_written(value, keys))
        for change in self.changes.of(value):
            groups += [put for where in self.changes.runs(change, value) for put in self._put(change, where, keys)]
        return union(groups, limits.ITEMS)

    def _put(self, change: Change, where: Site, keys: bool) -> Iterator[Values]:
        """Yield the values that a mutation adds under any key, or the keys that it adds."""
        if change.kind in ("set", "default"):
            yield self.changes.keys(change, where) if keys else self.world.values.evaluate(change.value, where)
        elif change.kind == "merge" and change.value is not None:
            yield self.merged(change.value, where, keys)

    def _all_written(self, value: Mapping, keys: bool) -> Iterator[Values]:
        expr, site = value.written.expr, value.written.site
        evaluate = self.world.values.evaluate
        if isinstance(expr, Dict):
            for key, entry in expr.items:
                one = key if keys else entry
                yield self.merged(entry, site, keys) if key is None else evaluate(one, site)
        elif isinstance(expr, CallRef):
            actuals = self.world.actuals(site.file, expr.index, site.frame)
            for name, actual in actuals.keywords.items():
                yield (const(name),) if keys else self.world.values.passed(actual)
            for actual in (*actuals.positional[:1], *actuals.mappings):
                if actual.expr is not None and actual.site is not None:
                    yield self.merged(actual.expr, actual.site, keys)
        elif isinstance(expr, Comprehension) and expr.key is not None:
            yield evaluate(expr.key if keys else expr.element, inside(expr, site))

    def merged(self, expr: Expr, site: Site, keys: bool) -> Values:
        """Return the values under any key, or the keys, that another dict or a sequence of pairs contributes in a
        merge."""
        groups: list[Values] = []
        parts = summands(expr)
        if len(parts) > 1:
            return union((self.merged(part, site, keys) for part in parts), limits.ITEMS)
        for value in self.world.values.evaluate(expr, site):
            if isinstance(value, Mapping):
                groups.append(self._of_another(value, keys))
            elif (pairs := self._pairs(value)) is not None:
                groups.extend(self.world.values.item_of(pair, const(0 if keys else 1)) for pair in pairs)
            else:
                groups.append(iterating.part(self.world, Element(expr), 0 if keys else 1, site) or (UNKNOWN,))
        return union(groups, limits.ITEMS)

    def _pairs(self, value: Value) -> Values | None:
        """Return the elements of a sequence or of a generator; None for anything else."""
        if isinstance(value, Display):
            return self.world.mappings.elements(value)
        return generators.elements(self.world, value) if isinstance(value, Instance) else None

    def _of_another(self, value: Mapping, keys: bool) -> Values:
        """Return the values under any key, or the keys, of a dict that is merged into another."""
        if limits.MERGES.exceeded(self._merging):
            self.world.memory.cut_short()
            return (UNKNOWN,)
        self._merging += 1
        try:
            return self.keys(value) if keys else self.values(value)
        finally:
            self._merging -= 1


def inside(comprehension: Comprehension, site: Site) -> Site:
    """Return the site inside a comprehension, the only place where its targets are bound."""
    return site._replace(region=site.file.inside(comprehension, site.at, site.region))
