"""Dicts with tuples as keys, into which a loop over a dataset's own items puts entries: new Python objects per item,
as in `count[(head, relation)] += 1`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Name, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.values import Display, External, Instance, Mapping, Site, Value
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile
from dllint.project.counting import loops
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project import Project


class KeyedByTuples:
    """Finds the loops that fill such dicts."""

    def __init__(self, project: Project) -> None:
        self.world: World = project.world

    def filled(self, value: Value, items: Iterable[Value]) -> tuple[SourceFile, Span] | None:
        """The statement by which a loop puts entries into a dict under tuples; None if none does, or if it iterates
        anything but `items`, the containers that a dataset takes its items from."""
        if not isinstance(value, Mapping) and not (isinstance(value, Instance) and isinstance(value.of, External)):
            return None
        known = {one for item in items if (one := _identity(item)) is not None}
        for change, where in islice(self.world.mappings.changes_of(value), limits.CHANGES.most) if known else ():
            if change.kind not in ("set", "default") or not isinstance(change.key, Tuple):
                continue
            span = change.statement()
            if span is not None and len(change.key.elements) > 1 and self._goes_through(where, known):
                return change.file, span
        return None

    def _goes_through(self, where: Site, known: set[Hashable]) -> bool:
        """Whether a loop around a place iterates one of the known containers, or the numbers below its length."""
        return any(
            _identity(one) in known
            for iterated, site in _iterated(where)
            for part in walk(iterated, site.file)
            if isinstance(part, (Name, Attribute, Subscript))
            for one in self.world.values.evaluate(part, site)
        )


def _iterated(where: Site) -> Iterator[tuple[Expr, Site]]:
    for index in loops(where.file, where.region):
        region = where.file.facts.regions[index]
        if region.kind == "for" and region.expr is not None:
            yield region.expr, where._replace(region=region.parent, at=region.span.start)


def _identity(value: Value) -> Hashable:
    """What two values share that are the same container: the place that makes it; None for a value of another kind."""
    if isinstance(value, Instance) and isinstance(value.of, External) and value.call >= 0:
        return value.file, value.call, value.of.name
    if isinstance(value, (Display, Mapping)):
        return value.written.site.file, value.written.expr, value.written.site.at
    return None
