"""DLL501: OpenCV's thread pool runs in workers, and nothing on their path caps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding, Fix, InsertStatement, Place
from dllint.project import Project
from dllint.project.conditions import render
from dllint.project.loaders import Loader
from dllint.project.source import SourceFile
from dllint.project.worker_code import WorkerRun

CODE = "DLL501"
MOST_PLACES = 4
"""Loaders and other ways in that one finding names."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    uses: dict[tuple[str, int], list[tuple[WorkerRun, Loader]]] = {}
    for loader in project.loaders:
        regimes = project.regimes(loader) if loader.workers().possible else []
        if not regimes:
            continue
        runs = list(project.worker_runs(loader))
        decisive = [regime for regime in regimes if regime.shown] or regimes
        for run, index in project.opencv.first_uses(runs):
            if not any(project.opencv.capped(loader, regime, runs) for regime in decisive):
                uses.setdefault((run.file.path, index), []).append((run, loader))
    for (_, index), found in uses.items():
        yield _finding(project, index, found)


def _finding(project: Project, index: int, found: list[tuple[WorkerRun, Loader]]) -> Finding:
    run, loader = found[0]
    call = run.file.calls[index]
    loaders = list(dict.fromkeys(project.loader_place(other) for _, other in found))
    entries = [
        Place(other.hops[0].file.path, other.hops[0].span, f"`{other.entry}` leads here too")
        for other, _ in found[1:]
        if other.hops and other.hops != run.hops
    ]
    return Finding(
        CODE,
        run.file.path,
        call.span,
        "main",
        {"call": render(call.func, run.file), "loader": project.where(loader.file, loader.span)},
        trace=project.trace(run.hops),
        related=(*loaders[:MOST_PLACES], *tuple(dict.fromkeys(entries))[:MOST_PLACES]),
        fixes=_fixes(project, run),
        statement=call.statement,
    )


def _fixes(project: Project, run: WorkerRun) -> tuple[Fix, ...]:
    """The cap after the module-level `import cv2` of the module that defines what the workers enter."""
    for file in (run.hops[0].file if run.hops else run.file, run.file):
        anchor = _import_of_cv2(file)
        if anchor is not None:
            edit = InsertStatement(file.path, anchor, "cv2.setNumThreads(0)", "after")
            return (Fix("Cap OpenCV's threads where the module is imported", "safe", (edit,)),)
    return ()


def _import_of_cv2(file: SourceFile) -> Any:
    for event in file.scopes[0].events:
        if event.kind == "import" and event.region == 0 and event.detail[0] == "cv2" and event.detail[1] is None:
            return event.span if event.detail[2] is None else None
    return None
