"""DLL503: OpenCV's threads are capped in the parent, and workers that are not forked do not inherit the cap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dllint.finding import Finding, Fix, Place
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.rules.causes import Causes
from dllint.rules.threads.opencv import OpenCV, Uncapped
from dllint.rules.threads.opencv_caps import Cap
from dllint.rules.threads.thread_pool_verdict import judge

__all__ = ["CODE", "check", "judge"]
CODE = "DLL503"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[tuple[Uncapped, Cap]] = Causes()
    for one in project.ask(OpenCV).uncapped:
        if one.cap is not None:
            causes.add((one, one.cap), (one.run.file.path, one.index))
    made: list[tuple[set[tuple[str, int]], tuple[Fix, ...]]] = []
    for found in sorted(causes, key=lambda found: -len(_loaders(found))):
        loaders = _loaders(found)
        # One cap is enough for everything that the workers of a loader run: it is written into one of their modules.
        same = next((fixes for others, fixes in made if fixes and loaders <= others), None)
        finding = _finding(project, found, same)
        made.append((loaders, finding.fixes))
        yield finding


def _loaders(found: list[tuple[Uncapped, Cap]]) -> set[tuple[str, int]]:
    return {(one.loader.file.path, one.loader.call) for one, _ in found}


def _finding(project: Project, found: list[tuple[Uncapped, Cap]], fixes: tuple[Fix, ...] | None) -> Finding:
    one, cap = min(found, key=lambda pair: (not pair[0].regime.shown, pair[0].regime.unchosen))
    regime, loader, call = one.regime, one.loader, one.call
    loaders = dict.fromkeys(project.loader_place(other.loader) for other, _ in found)
    beginnings = [project.place(hop) for other, _ in found if (hop := project.ask(OpenCV).beginning(other)) is not None]
    capping = cap.file.calls[cap.call]
    return Finding(
        CODE,
        one.run.file.path,
        call.span,
        "main",
        {
            "call": render(call.func, one.run.file),
            "cap": project.where(cap.file, capping.span),
            "loader": project.where(loader.file, loader.span),
            "method": regime.described,
        },
        severity=regime.weighed("warning"),
        start_methods=tuple(dict.fromkeys((regime.method, *(name for other, _ in found for name in other.methods)))),
        trace=project.chain(regime.arrival, one.run.hops),
        related=(
            Place(cap.file.path, capping.span, "this cap reaches only its own process"),
            *loaders,
            *dict.fromkeys(beginnings),
            *(
                replace(project.place(hop), alike=True)
                for hop in project.ask(OpenCV).branches([one for one, _ in found])
            ),
        ),
        fixes=project.ask(OpenCV).fixes(one.run) if fixes is None else fixes,
        statement=call.statement,
    )
