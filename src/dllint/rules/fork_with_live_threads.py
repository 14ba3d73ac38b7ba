"""DLL107: forked workers wait for threads that only their parent has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding, Place
from dllint.project import Project
from dllint.project.live_threads import carried, raised_threads

CODE = "DLL107"
_ROLES = {"executor": "this starts its threads in the parent", "lock": "the lock is held here while workers start"}


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    seen: set[tuple[str, Any]] = set()
    for loader in project.loaders:
        if not project.cuda_forks.forks(loader):
            continue
        where = project.where(loader.file, loader.span)
        place = project.loader_place(loader)
        for one in carried(project, loader):
            if (one.kept.file.path, one.kept.span) not in seen:
                seen.add((one.kept.file.path, one.kept.span))
                by = (Place(one.by[0].path, one.by[1], _ROLES[one.kind]),) if one.by is not None else ()
                yield Finding(
                    CODE,
                    one.kept.file.path,
                    one.kept.span,
                    one.kind,
                    {"attr": one.kept.attr, "loader": where},
                    start_methods=("fork",),
                    trace=project.trace(one.kept.hops),
                    related=(*by, place),
                    statement=one.kept.store.event.span,
                )
        for run, index in raised_threads(project, loader):
            call = run.file.calls[index]
            if (run.file.path, call.span) not in seen:
                seen.add((run.file.path, call.span))
                yield Finding(
                    CODE,
                    run.file.path,
                    call.span,
                    "main",
                    {"loader": where},
                    start_methods=("fork",),
                    trace=project.trace(run.hops),
                    related=(place,),
                    statement=call.statement,
                )
