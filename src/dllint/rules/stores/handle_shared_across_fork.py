"""DLL402: a handle that the parent opened is used by forked workers."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from dllint.evidence.wording import counted
from dllint.finding import Finding, Place, Severity
from dllint.project import Project
from dllint.project.regimes import decisive, own_process
from dllint.rules.causes import Causes
from dllint.rules.stores.handles_of_processes import InProcesses, handles_of_processes
from dllint.rules.stores.lazy_opening import lazy_opening
from dllint.rules.stores.shared_handles import Shared, shared_handles

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL402"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Shared] = Causes()
    for loader in project.loaders:
        regimes = project.regimes(loader)
        forked = [regime for regime in decisive(regimes) if regime.method == "fork"]
        sent = any(regime.shown and regime.method != "fork" for regime in regimes) and all(
            regime.beside is not None for regime in forked
        )
        for shared in shared_handles(project, loader) if forked else ():
            # DLL203 tells that the processes launched for the same code cannot be given it.
            if not (sent and _is_pickled(project, shared)):
                causes.add(shared, *_caused_by(shared))
    for found in causes:
        yield _finding(project, found)
    between: Causes[InProcesses] = Causes()
    for one in handles_of_processes(project):
        between.add(one, (one.file.path, one.call))
    for group in between:
        yield _between_processes(project, group)


def _is_pickled(project: Project, shared: Shared) -> bool:
    """Whether a handle is an attribute of an object that is pickled to workers which are not forked."""
    steps = shared.handle.steps if shared.handle is not None else ()
    return bool(steps) and not any(one.attr in project.datasets.dropped(one.holder) for one in steps)


def _caused_by(shared: Shared) -> Iterator[Hashable]:
    """What a handle has in common with others of one cause. Files that are harmless for most are one cause where one
    function opens them all: `self.images = h5py.File(a)["x"]`, `self.labels = h5py.File(b)["y"]`."""
    yield shared.file.path, shared.call
    if shared.opener.harm == "info":
        yield shared.file.path, shared.file.calls[shared.call].scope, shared.opener.what


def _finding(project: Project, found: list[Shared]) -> Finding:
    shared = min(found, key=lambda one: one.touch is not None)
    call = shared.file.calls[shared.call]
    values = {
        "kept": shared.label,
        "what": shared.opener.what,
        "effect": shared.opener.effect,
        "loader": project.where(shared.loader.file, shared.loader.span),
    }
    touch: tuple[Place, ...] = ()
    if shared.touch is not None:
        values["touch"] = project.where(shared.touch.file, shared.touch.span)
        touch = (project.place(shared.touch),)
    loaders = dict.fromkeys(project.loader_place(one.loader) for one in found)
    others = {(one.file.path, one.call): one for one in found if one.call != shared.call}
    forks = (project.place(hop) for one in found for hop in own_process(project.regimes(one.loader)))
    too = (Place(one.file.path, one.file.calls[one.call].span, f"{one.label} too") for one in others.values())
    return Finding(
        CODE,
        shared.file.path,
        call.span,
        "main" if shared.touch is None else "touched",
        values,
        severity=_severity(project, found),
        start_methods=("fork",),
        trace=project.trace(shared.hops) if shared.touch is None else (),
        related=(*touch, *too, *loaders, *dict.fromkeys(forks)),
        fixes=lazy_opening(project, shared) if shared.touch is None and not others else (),
        statement=call.statement,
    )


def _severity(project: Project, found: list[Shared]) -> Severity:
    """The handle's own severity, less where no loader certainly has workers, or where a run may launch processes by
    another start method."""
    harm = cast(Severity, found[0].opener.harm)
    regimes = (one for shared in found for one in project.regimes(shared.loader) if one.method == "fork")
    weighed = (one.weighed("warning" if one.beside and harm == "error" else harm) for one in regimes)
    return min(weighed, key=("error", "warning", "info").index, default=harm)


def _between_processes(project: Project, found: list[InProcesses]) -> Finding:
    shared = found[0]
    call = shared.file.calls[shared.call]
    launch = shared.launch.file.calls[shared.launch.call]
    starts = (
        Place(one.launch.file.path, one.launch.file.calls[one.launch.call].span, "the processes start here")
        for one in found
    )
    used = (Place(one.launch.file.path, one.use, "the parent uses it here") for one in found if one.use is not None)
    return Finding(
        CODE,
        shared.file.path,
        call.span,
        "process",
        {
            "kept": f"`{shared.label}`",
            "what": shared.opener.what,
            "effect": shared.opener.effect,
            "place": project.where(shared.launch.file, launch.span),
            "partner": shared.partner,
        },
        severity=cast(Severity, shared.opener.harm),
        start_methods=("fork",),
        related=tuple(dict.fromkeys((*starts, *used))),
        statement=call.statement,
    )


def judge(case: Case) -> Judgement:
    """Did workers move the position of a file that their parent opened?

    The race itself shows in 0.02 to 0.5 % of reads, so correct results prove nothing. Two facts are exact: whether
    parent and worker hold the same open file (kcmp), and whether its offset moved while the worker fetched.
    """
    if case.finding.message == "process":
        return _of_processes(case)
    forked = [run for run in case.runs if run.forked]
    if not forked:
        return case.refuted("its workers were not forked, so each has its own handles")
    if case.raised or case.died is not None:
        return case.confirmed(
            f"a worker failed: {case.raised[0] if case.raised else case.died[1].cause if case.died else ''}"
        )
    handles = [one for run in forked for one in run.handles]
    moved = [one for one in handles if one.shared and one.moved and one.used is not False]
    if moved:
        one = moved[0]
        name = f"{one.attribute} " if one.attribute else ""
        workers = counted(len({each.worker for each in moved}), "worker")
        return case.confirmed(
            f"{workers} moved the position of {name}{os.path.basename(one.path)}, which the parent opened"
        )
    if any(not run.batches and (case.seen.hung or run.gave_up) for run in forked):
        return case.confirmed("the program hung: no batch came from the forked workers")
    # A library's internal files, such as LMDB's map, are not read by offset at all.
    shared = [one for one in handles if one.shared and one.attribute]
    if any(one.used for one in shared) and all(one.moved is False for one in shared):
        return case.refuted(
            f"workers share {os.path.basename(shared[0].path)} with the parent, and "
            "its position did not move: it reads by position"
        )
    return case.inconclusive("no file position moved; a clean short run does not disprove a race")


def _of_processes(case: Case) -> Judgement:
    """Did processes move the position of a file that was opened before they were forked?"""
    launches = [one for place in case.finding.related for one in case.seen.launched_by(place)]
    if not launches:
        return case.inconclusive("the run recorded no process that starts there")
    forked = {one.child for one in launches if one.method == "fork"}
    if not forked:
        return case.refuted(f"its processes were started by {launches[0].method}, so each has its own handles")
    moved = [one for one in case.seen.process_handles if one.pid in forked and one.shared]
    if not moved:
        return case.inconclusive("no file position moved; a clean short run does not disprove a race")
    count = counted(len({one.pid for one in moved}), "process")
    return case.confirmed(
        f"{count} moved the position of {os.path.basename(moved[0].path)}, which the parent opened before the fork"
    )


def concerns(run: LoaderRun) -> bool:
    return any(one.shared and one.moved and one.used for one in run.handles)
