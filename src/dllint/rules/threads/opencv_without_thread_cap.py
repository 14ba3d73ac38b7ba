"""DLL501: OpenCV's thread pool runs in workers, and nothing caps it there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding, Place
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.rules.causes import Causes
from dllint.rules.threads.one_cap import by_cap
from dllint.rules.threads.opencv import OpenCV, Uncapped
from dllint.rules.threads.thread_pool_verdict import judge, starts_pool

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL501"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Uncapped] = Causes()
    lost = {(one.run.file.path, one.index) for one in project.ask(OpenCV).uncapped if one.cap is not None}
    for one in project.ask(OpenCV).uncapped:
        if (one.run.file.path, one.index) not in lost:
            where = (one.loader.file.path, one.loader.call) if one.elsewhere else (one.run.file.path, one.index)
            causes.add(one, (*where, one.elsewhere))
    for found in causes:
        if found[0].elsewhere:
            yield _other_program(project, found[0])
    for found, others in by_cap(project, [found for found in causes if not found[0].elsewhere]):
        yield _everywhere(project, found, [one for other in others for one in other])


def _everywhere(project: Project, found: list[Uncapped], others: list[Uncapped]) -> Finding:
    """The finding at the call, if no workers that run it are capped. `others` are calls that the same cap reaches."""
    first = found[0]
    loaders = list(dict.fromkeys(project.loader_place(one.loader) for one in (*found, *others)))
    entries = [
        Place(one.run.hops[0].file.path, one.run.hops[0].span, f"`{one.run.entry}` runs this too")
        for one in found[1:]
        if one.run.hops and one.run.hops != first.run.hops
    ]
    begun = map(project.ask(OpenCV).beginning, (*found, *others))
    own = first.run.file.path, first.call.span
    beginnings = [project.place(hop) for hop in begun if hop is not None and (hop.file.path, hop.span) != own]
    return Finding(
        CODE,
        first.run.file.path,
        first.call.span,
        "transform" if first.through else "main",
        {
            "call": render(first.call.func, first.run.file),
            "transform": first.through,
            "loader": project.where(first.loader.file, first.loader.span),
        },
        trace=project.trace(first.run.hops),
        related=(
            *loaders,
            *dict.fromkeys(entries),
            *dict.fromkeys(beginnings),
            *dict.fromkeys(_alike(one) for one in others),
            *(replace(project.place(hop), alike=True) for hop in project.ask(OpenCV).branches([*found, *others])),
        ),
        fixes=project.ask(OpenCV).fixes(first.run, first.loader),
        statement=first.call.statement,
    )


def _alike(one: Uncapped) -> Place:
    text = f"`{one.through or render(one.call.func, one.run.file)}` starts them too"
    return Place(one.run.file.path, one.call.span, text, alike=True)


def _other_program(project: Project, one: Uncapped) -> Finding:
    """The finding at the loader, if other workers run the same call with a cap: the cap is missing for this loader."""
    loader, call, file = one.loader, one.call, one.run.file
    return Finding(
        CODE,
        loader.file.path,
        loader.span,
        "elsewhere",
        {"call": render(call.func, file), "place": project.where(file, call.span)},
        related=(*project.trace(one.run.hops), Place(file.path, call.span, "these workers run this without a cap")),
        fixes=project.ask(OpenCV).fixes(one.run, one.loader),
        statement=loader.file.calls[loader.call].statement,
    )


def concerns(run: LoaderRun) -> bool:
    return starts_pool(run, "cv2")
