"""DLL304: a dataset fills a cache while workers read items, so each worker fills its own copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.memory_trend import grows
from dllint.finding import Finding
from dllint.inference.values import Class
from dllint.project import Project
from dllint.rules.causes import Causes, Use, worst
from dllint.rules.memory.growing_caches import Caches
from dllint.rules.memory.growth_verdict import judge
from dllint.rules.memory.items_that_load import ItemsThatLoad
from dllint.rules.stores.mapped_stores import Stores

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL304"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Use] = Causes()
    for loader in project.loaders:
        if not project.regimes(loader):
            continue
        ends = loader.flag("persistent_workers") is False and project.ask(Stores).persistent(loader) is None
        for value in project.dataset_objects(loader):
            assert isinstance(value.of, Class)
            for cache in (*project.ask(Caches).growing(value), *project.ask(ItemsThatLoad).caches(value)):
                finding = Finding(
                    CODE,
                    cache.run.file.path,
                    cache.span,
                    "record" if cache.anew else "thrown_away" if ends else "main",
                    {"cache": cache.name},
                    trace=project.trace(cache.run.run.hops),
                    statement=cache.statement,
                )
                # A cache that keeps growing is worse than one that every epoch discards.
                causes.add(Use(finding, project.loader_place(loader), rank=not ends), (cache.run.file.path, cache.span))
    yield from map(worst, causes)


def concerns(run: LoaderRun) -> bool:
    return grows(run, "allocated")
