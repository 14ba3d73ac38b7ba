"""DLL107: forked workers wait for threads, pools or locks of their parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import counted, describe, listed
from dllint.finding import Finding, Place
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes, Use, worst
from dllint.rules.start_methods.cuda_forks import CudaForks
from dllint.rules.start_methods.live_threads import carried, raised_threads
from dllint.rules.start_methods.split_operations import Hanging, hanging

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL107"
_ROLES = {"executor": "this starts its threads in the parent", "lock": "the lock is held here while the workers start"}


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Use] = Causes()
    for loader in project.loaders:
        if not project.ask(CudaForks).forks(loader):
            continue
        for one in _of_loader(project, loader):
            causes.add(Use(one, project.loader_place(loader)), (one.path, one.span))
    for launch in project.launches.all():
        found = hanging(project, launch)
        if found is not None:
            place = Place(launch.file.path, launch.file.calls[launch.call].span, "this launches the forked process")
            one = _of_process(project, found, place)
            causes.add(Use(one, place), (one.path, one.span), (launch.file.path, launch.call))
    yield from map(worst, causes)


def _of_process(project: Project, found: Hanging, place: Place) -> Finding:
    call = found.reached.file.calls[found.call]
    before, index = found.parent
    parent = Place(before.path, before.calls[index].span, "this starts torch's threads in the parent")
    return Finding(
        CODE,
        found.reached.file.path,
        call.span,
        "process",
        {
            "call": render(call.func, found.reached.file, 40),
            "process": project.where(found.launch.file, place.span),
            "parent": project.where(before, parent.span),
        },
        severity="warning",
        start_methods=("fork",),
        trace=project.trace(found.reached.hops()),
        related=(parent,),
        statement=call.statement,
    )


def _of_loader(project: Project, loader: Loader) -> Iterator[Finding]:
    where = project.where(loader.file, loader.span)
    for one in carried(project, loader):
        by = (Place(one.by[0].path, one.by[1], _ROLES[one.kind]),) if one.by is not None else ()
        yield Finding(
            CODE,
            one.kept.file.path,
            one.kept.span,
            one.kind,
            {"attr": one.kept.attr, "loader": where},
            start_methods=("fork",),
            trace=project.trace(one.kept.hops),
            related=by,
            statement=one.kept.store.event.span,
        )
    for run, index in raised_threads(project, loader):
        call = run.file.calls[index]
        yield Finding(
            CODE,
            run.file.path,
            call.span,
            "main",
            {"loader": where},
            start_methods=("fork",),
            trace=project.trace(run.hops),
            statement=call.statement,
        )


def judge(case: Case) -> Judgement:
    """Did forked workers wait forever?"""
    if case.finding.message == "process":
        return case.inconclusive("the run does not record what a process waits for")
    forked = [run for run in case.runs if run.forked]
    stuck = [run for run in forked if not run.batches and (case.seen.hung or run.gave_up)]
    if stuck:
        where = describe(stuck[0].loader.site)
        return case.confirmed(f"the program hung: {counted(stuck[0].count, 'forked worker')} of {where} sent no batch")
    if not forked:
        return case.refuted(f"its workers started by {listed(case.methods)}, which copies no threads or locks")
    return case.inconclusive(
        "no worker hung, which proves nothing: it depends on what each thread does at the moment of the fork"
    )
