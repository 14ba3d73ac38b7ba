"""DLL602: a random number generator made with the dataset, which all workers inherit in the same state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding, Place
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerRun
from dllint.rules.causes import Causes
from dllint.rules.data.draws_verdict import concerns, judge
from dllint.rules.data.shared_generators import Generators, SharedGenerator

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL602"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    generators = Generators(project)
    kept: Causes[tuple[SharedGenerator, Loader]] = Causes()
    drawn: Causes[tuple[WorkerRun, int, Loader]] = Causes()
    old = generators.old_torch()
    for loader in project.loaders:
        regimes = project.regimes(loader)
        workers = loader.workers()
        if not regimes or (workers.count == 1 and loader.flag("persistent_workers")):
            continue
        decisive = [regime for regime in regimes if regime.shown] or regimes
        forks = any(regime.method == "fork" for regime in decisive)
        for shared in generators.shared(loader):
            # A torch.Generator that is pickled to workers is DLL206's: it does not arrive at all.
            if forks or shared.api.family != "torch":
                kept.add((shared, loader), (shared.kept.file.path, shared.kept.span))
        if old is not None and workers.count != 1:
            for run, index in generators.global_draws(loader)[:1]:
                drawn.add((run, index, loader), (run.file.path, index))
    for held in kept:
        yield _of_object(project, held[0][0], [loader for _, loader in held])
    for draws in drawn:
        run, index, _ = draws[0]
        yield _of_numpy(project, run, index, [loader for *_, loader in draws], old or "")


def _of_object(project: Project, shared: SharedGenerator, loaders: list[Loader]) -> Finding:
    draws = [Place(file.path, span, "workers draw from it here") for file, span in shared.draws]
    several = any(loader.workers().count != 1 for loader in loaders)
    lasting = all(loader.flag("persistent_workers") for loader in loaders)
    return Finding(
        CODE,
        shared.kept.file.path,
        shared.kept.span,
        ("lasting" if lasting else "main") if several else "epochs",
        {
            "held": shared.held,
            "api": shared.api.label,
            "loader": project.where(loaders[0].file, loaders[0].span),
            "remedy": "main" if shared.api.family == "numpy" else shared.api.family,
        },
        related=(*draws, *dict.fromkeys(project.loader_place(loader) for loader in loaders)),
        statement=shared.kept.store.event.span,
    )


def _of_numpy(project: Project, run: WorkerRun, index: int, loaders: list[Loader], old: str) -> Finding:
    call = run.file.calls[index]
    return Finding(
        CODE,
        run.file.path,
        call.span,
        "global",
        {
            "call": render(call.func, run.file),
            "loader": project.where(loaders[0].file, loaders[0].span),
            "old": old,
        },
        trace=project.trace(run.hops),
        related=tuple(dict.fromkeys(project.loader_place(loader) for loader in loaders)),
        statement=call.statement,
    )
