"""DLL304: a dataset fills a cache while workers read items, which each worker does for itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dllint.evidence.worker_memory import grew
from dllint.finding import Finding
from dllint.inference.values import Class
from dllint.project import Project
from dllint.rules.memory.caches import Caches
from dllint.rules.memory.growth_verdict import judge
from dllint.rules.stores.mapped_stores import Stores
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL304"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    found: dict[tuple[str, Span], Finding] = {}
    for loader in project.loaders:
        if not project.regimes(loader):
            continue
        ends = loader.flag("persistent_workers") is False and project.ask(Stores).persistent(loader) is None
        for value in project.dataset_objects(loader):
            assert isinstance(value.of, Class)
            for cache in project.ask(Caches).growing(value):
                key = (cache.run.file.path, cache.span)
                message = "thrown_away" if ends else "main"
                finding = Finding(
                    CODE,
                    cache.run.file.path,
                    cache.span,
                    message,
                    {"cache": f"{value.of.name}.{cache.attr}"},
                    trace=project.trace(cache.run.run.hops),
                    related=(project.loader_place(loader),),
                    statement=cache.statement,
                )
                if key in found:
                    earlier = found[key]
                    # Growing is the worse of the two.
                    worse = finding if message == "main" and earlier.message != "main" else earlier
                    related = tuple(dict.fromkeys((*earlier.related, *finding.related)))
                    finding = replace(worse, related=related)
                found[key] = finding
    yield from found.values()


def concerns(run: LoaderRun) -> bool:
    return grew(run, "allocated")
