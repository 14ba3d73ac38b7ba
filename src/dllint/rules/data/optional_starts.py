"""Loaders that get their `worker_init_fn` on some paths only, while nothing else of them differs there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Constant, IfExp, Name
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.origins import Origins
from dllint.inference.values import NONE, Actual, Site
from dllint.linking.expressions import walk
from dllint.project.loaders import Loader, written
from dllint.project.worker_code import WorkerRun
from dllint.rules.data.worker_options import leaves

if TYPE_CHECKING:
    from dllint.project.model import Project

START = "worker_init_fn"
_ORDER = frozenset({"batch_size", "shuffle", "sampler", "batch_sampler", "drop_last", "pin_memory", "timeout"})
"""Arguments that decide neither what workers run nor whether there are any."""


class OptionalStarts:
    """Finds such loaders of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.origins = Origins(project.world)
        self._optional: dict[tuple[str, int], bool] = {}

    def runs(self, loader: Loader) -> list[WorkerRun]:
        """The functions that the workers of a loader run on every path."""
        runs = self.project.worker_runs(loader)
        if any(one.entry == START for one in runs) and self.optional(loader):
            return [one for one in runs if one.entry != START]
        return runs

    def optional(self, loader: Loader) -> bool:
        """Whether a test decides whether the loader gets a `worker_init_fn`, and nothing else about its workers: what
        it reads is read neither by the loader's other arguments nor by those of its datasets."""
        key = (loader.file.path, loader.call)
        if key not in self._optional:
            self._optional[key] = self._is_optional(loader)
        return self._optional[key]

    def _is_optional(self, loader: Loader) -> bool:
        found = loader.argument(START)
        if not found.values or not (found.absent or NONE in found.values):
            return False
        words = set().union(*(self._words(test, site, 0) for test, site in self._tests(loader)))
        return bool(words) and not words & self._read(loader)

    def _words(self, expr: Expr, site: Site, depth: int) -> set[str]:
        """The names that an expression reads, and those that its variables are computed from."""
        found = leaves(expr, site.file)
        if limits.SAMENESS_DEPTH.exceeded(depth):
            return found
        inner = (one for one in walk(expr, site.file) if isinstance(one, Name) and one.id in found)
        steps = (step for one in inner for step in self.origins.expressions(one, site))
        return found.union(*(self._words(step.expr, step.site, depth + 1) for step in steps))

    def _tests(self, loader: Loader) -> Iterator[tuple[Expr, Site]]:
        """The tests that decide about the argument."""
        given, call = written(loader, START), loader.file.calls[loader.call]
        if isinstance(given, IfExp):
            yield from _chosen(given, loader.site)
            return
        if given is not None:
            steps = self.origins.expressions(given, loader.site)
        else:
            unpacked = (Actual(one.value, loader.site, one.span) for one in call.args if one.keyword == "**")
            steps = (one for mapping in unpacked for one in self.origins.entry(mapping, START))
        for step in steps:
            if isinstance(step.expr, IfExp):
                yield from _chosen(step.expr, step.site)
            elif step.expr != Constant(None):
                yield from _around(step.site)

    def _read(self, loader: Loader) -> set[str]:
        """The names in the loader's other arguments, and in those of the constructors of its datasets."""
        file, call = loader.file, loader.file.calls[loader.call]
        given = (leaves(one.value, file) for one in call.args if one.keyword not in (START, *_ORDER))
        made = ((one.file, one.call) for one in self.project.dataset_objects(loader) if one.call >= 0)
        return set().union(*given, *(leaves(CallRef(index), where) for where, index in made if where is not None))


def _chosen(expr: IfExp, site: Site) -> Iterator[tuple[Expr, Site]]:
    if Constant(None) in (expr.body, expr.orelse):
        yield expr.test, site


def _around(site: Site) -> Iterator[tuple[Expr, Site]]:
    """The test of the innermost branch around a statement, if the branch has no other statement."""
    file = site.file
    region = file.facts.regions[site.region]
    inside = {one.span.line for one in file.scopes[site.scope].events if file.encloses(site.region, one.region)}
    calls = (file.calls[one] for one in file.calls_of(site.scope))
    inside |= {one.statement.line for one in calls if file.encloses(site.region, one.region)}
    if site.region and region.kind == "if" and region.expr is not None and len(inside) == 1:
        yield region.expr, site._replace(region=region.parent, at=(region.span.line, region.span.column))
