"""DLL304: a dataset fills a cache while workers read items, so each worker fills its own copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.memory_trend import grows
from dllint.finding import Finding, Place
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
                path, place = cache.run.file.path, project.loader_place(loader)
                made = (Place(path, cache.span, f"`{cache.name}` grows here", alike=True),)
                # What one branch puts aside of an item: `self.images[index] = image`, `self.boxes[index] = boxes`.
                together = (path, cache.run.scope, cache.region, cache.anew) if cache.region is not None else cache.span
                # A cache that keeps growing is worse than one that every epoch discards.
                causes.add(Use(finding, place, rank=not ends, made=made), (path, cache.span), (path, together))
    yield from map(worst, causes)


def concerns(run: LoaderRun) -> bool:
    return grows(run, "allocated")
