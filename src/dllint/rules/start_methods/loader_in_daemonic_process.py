"""DLL104: a DataLoader with workers in a process that cannot have children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding, Place
from dllint.inference.values import Frame
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.project.launches import Launch
from dllint.project.loaders import Loader, Workers
from dllint.project.process_starts import Starting
from dllint.project.same_process import Reached, reach

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL104"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    found: set[tuple[str, int]] = set()
    if not project.loaders:
        return
    for launch in project.launches.all():
        if not project.ask(Starting).daemonic(launch):
            continue
        starts = [Reached(one.function.file, one.function.scope, one.frame) for one in launch.targets]
        run = [reached for start in starts for reached in reach(project.world, [start])]
        # The calls that lead to where a loader is made say more than those to where it is read.
        for started in (_made, _iterated):
            for reached in run:
                for loader, workers in started(project, reached):
                    if (loader.file.path, loader.call) not in found:
                        found.add((loader.file.path, loader.call))
                        yield _finding(project, launch, reached, loader, workers)


def _made(project: Project, reached: Reached) -> Iterator[tuple[Loader, Workers]]:
    """The loaders with workers that a function constructs."""
    for loader in project.loaders:
        if _stands_in(loader, reached):
            yield from _with_workers(loader, reached.frame)


def _iterated(project: Project, reached: Reached) -> Iterator[tuple[Loader, Workers]]:
    """The loaders with workers that a function iterates."""
    for one in project.ask(Starting).iterations(reached.file, reached.scope, reached.frame):
        yield from _with_workers(one.loader, reached.frame if _stands_in(one.loader, reached) else None)


def _with_workers(loader: Loader, frame: Frame | None) -> Iterator[tuple[Loader, Workers]]:
    workers = loader.workers(frame)
    if workers.possible and loader.api.dataset:
        yield loader, workers


def _stands_in(loader: Loader, reached: Reached) -> bool:
    return loader.file is reached.file and loader.file.calls[loader.call].scope == reached.scope


def _finding(project: Project, launch: Launch, reached: Reached, loader: Loader, workers: Workers) -> Finding:
    call = launch.file.calls[launch.call]
    origin = Place(launch.file.path, call.span, f"`{render(call.func, launch.file)}` runs this in a daemonic process")
    return Finding(
        CODE,
        loader.file.path,
        loader.span,
        "pool" if launch.daemonic else "main",
        {"workers": workers.described, "launcher": project.where(launch.file, call.span)},
        # What nobody names may be 0, as it is by default.
        severity={"some": None, "opaque": "info"}.get(workers.kind, "warning"),
        trace=(origin, *project.trace(reached.hops())),
        statement=loader.file.calls[loader.call].statement,
    )


def judge(case: Case) -> Judgement:
    """Was the loader not allowed to start workers?"""
    if case.failure is not None:
        return case.confirmed(case.failure)
    inside = next((run for run in case.runs if run.workers), None)
    if inside is None:
        return case.inconclusive("no worker was started")
    main = inside.process is None or inside.process.role == "main"
    return case.refuted(f"its workers started, in {'the main process' if main else 'a process that is not daemonic'}")


def concerns(run: LoaderRun) -> bool:
    return bool(run.failures)
