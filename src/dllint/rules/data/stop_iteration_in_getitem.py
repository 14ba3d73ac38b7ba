"""DLL607: a bare `next` in a map-style `__getitem__`, whose StopIteration ends the epoch without an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import counted
from dllint.facts.nodes import CallRef
from dllint.facts.schema import Event
from dllint.finding import Finding, Place
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerRun
from dllint.rules.causes import Causes
from dllint.rules.data.exhausted_iterators import BareNext, Exhaustion

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL607"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    exhaustion = Exhaustion(project)
    causes: Causes[tuple[BareNext, Loader]] = Causes()
    for loader in project.loaders:
        for bare in exhaustion.bare(loader):
            if bare.copied and (not project.regimes(loader) or loader.workers().count == 1):
                continue
            made = bare.made[0].path, bare.made[1]
            causes.add((bare, loader), (bare.run.file.path, bare.call), made)
    for found in causes:
        bare = found[0][0]
        # One process that reads all items once may come to the end of both together.
        sure = not bare.copied and any(project.regimes(loader) for _, loader in found)
        call = bare.run.file.calls[bare.call]
        file, span = bare.made
        yield Finding(
            CODE,
            bare.run.file.path,
            call.span,
            "copied" if bare.copied else "main",
            {"call": render(CallRef(bare.call), bare.run.file), "where": project.where(file, span)},
            severity="error" if sure else "warning",
            trace=project.trace(bare.run.hops),
            related=(
                Place(file.path, span, "each worker has a copy" if bare.copied else "this iterator runs out"),
                *_others(bare, [one for one, _ in found]),
                *dict.fromkeys(Place(one.file.path, one.span, "this reads the dataset") for _, one in found),
            ),
            statement=call.statement,
        )
    yield from _raised(project, exhaustion)


def _others(first: BareNext, found: list[BareNext]) -> Iterator[Place]:
    """Where the code of an item takes more from the same iterator."""
    calls = dict.fromkeys((one.run.file, one.call) for one in found)
    for file, call in calls:
        if (file, call) != (first.run.file, first.call):
            yield Place(file.path, file.calls[call].span, "this takes from it, too", alike=True)


def _raised(project: Project, exhaustion: Exhaustion) -> Iterator[Finding]:
    """Yield a finding per `raise StopIteration` that reading an item can reach."""
    causes: Causes[tuple[WorkerRun, Event, Loader]] = Causes()
    for loader in project.loaders:
        for run, event in exhaustion.raised(loader):
            causes.add((run, event, loader), (run.file.path, event.span))
    for found in causes:
        run, event, _ = found[0]
        yield Finding(
            CODE,
            run.file.path,
            event.span,
            "raised",
            {"function": run.file.scopes[run.scope].name},
            severity="warning",
            trace=project.trace(run.hops),
            related=tuple(
                dict.fromkeys(Place(one[2].file.path, one[2].span, "this reads the dataset") for one in found)
            ),
            statement=event.span,
        )


def judge(case: Case) -> Judgement:
    """Did an epoch end before its data?"""
    if case.finding.message == "copied":
        return case.inconclusive("which items workers read was not recorded")
    ended = [(run, epoch) for run in case.runs for epoch in run.epochs if not epoch.cut]
    for _, epoch in ended:
        if epoch.natural and epoch.total is not None and epoch.batches < epoch.total:
            return case.confirmed(
                f"epoch {epoch.number} ended without an error after {epoch.batches} of {epoch.total} batches"
            )
    whole = [epoch for _, epoch in ended if epoch.natural and epoch.total is not None]
    if whole:
        return case.refuted(f"{counted(len(whole), 'epoch')} read all of the data")
    if not case.runs:
        return case.not_reached("this loader was never built")
    return case.inconclusive("no epoch read all of its data")


def concerns(run: LoaderRun) -> bool:
    return not run.loader.iterable
