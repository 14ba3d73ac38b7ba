"""DLL110: processes that are not forked read a name that the program binds only under its main guard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import counted, said
from dllint.finding import Finding, Place, Severity
from dllint.project import Project
from dllint.project.arrivals import Arrival
from dllint.project.launches import Launch
from dllint.project.process_starts import Method, Starting
from dllint.rules.causes import Causes
from dllint.rules.pickling.sent_to_workers import judged, pickling_regime, rank
from dllint.rules.start_methods.changed_configurations import ChangedConfigurations
from dllint.rules.start_methods.changed_globals import ChangedGlobal, ChangedGlobals
from dllint.rules.start_methods.changed_objects import ChangedObjects
from dllint.rules.start_methods.child_runs import Children, ChildRuns
from dllint.rules.start_methods.guarded_names import GuardedNames, MissingName

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL110"


@dataclass(frozen=True)
class _Use:
    """A name missing in a process, with its severity and who starts the process."""

    missing: MissingName
    severity: Severity
    message: str
    method: str
    where: str
    process: str
    place: Place
    arrival: Arrival | None
    remedy: str


@dataclass(frozen=True)
class _ChangedUse:
    """A changed variable that child processes read, with its severity and who starts them.

    Attributes:
        read: what happens where they read it.
        rank: a sort key, the worst first.
    """

    changed: ChangedGlobal
    severity: Severity
    message: str
    method: str
    where: str
    process: str
    place: Place
    arrival: Arrival | None
    remedy: str
    read: str
    rank: tuple[bool, ...]


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[_Use] = Causes()
    for use in (*_of_loaders(project), *_of_launches(project)):
        causes.add(use, use.missing.file.path)
    for uses in causes:
        uses.sort(key=lambda use: ("error", "warning", "info").index(use.severity))
        yield _finding(project, uses)
    yield from _changed(project)


def _changed(project: Project) -> Iterator[Finding]:
    """Yield one finding per module variable whose changes child processes do not see."""
    causes: Causes[_ChangedUse] = Causes()
    for use in (*_changed_for_workers(project), *_changed_for_processes(project)):
        one = use.changed
        causes.add(use, (one.file.path, one.changed), (one.reader.path, one.read))
    for uses in causes:
        uses.sort(key=lambda use: use.rank)
        first = uses[0]
        one = first.changed
        reads = (Place(use.changed.reader.path, use.changed.read, use.read) for use in uses)
        also = (
            Place(file.path, span, "changed here too")
            for use in uses
            for file, span in ((use.changed.file, use.changed.changed), *use.changed.also)
            if (file, span) != (one.file, one.changed)
        )
        yield Finding(
            CODE,
            one.file.path,
            one.changed,
            {"main": "changed", "latent": "changed_latent"}[first.message],
            {
                "name": one.name,
                "process": first.process,
                "method": first.method,
                "where": first.where,
                "remedy": first.remedy,
            },
            severity="warning" if first.severity == "error" else first.severity,
            start_methods=tuple(dict.fromkeys(use.method for use in uses)),
            trace=project.chain(first.arrival, one.hops),
            related=(*dict.fromkeys(reads), *dict.fromkeys(also), *dict.fromkeys(use.place for use in uses)),
            statement=one.changed,
        )


def _changed_for_workers(project: Project) -> Iterator[_ChangedUse]:
    for loader in project.loaders:
        if pickling_regime(project, loader, CODE) is None:
            continue
        for one in _changed_for(project, project.ask(ChildRuns).of_loader(loader)):
            regime = pickling_regime(project, loader, CODE, (one.file.path,))
            if regime is None or regime.method == "fork":
                continue
            message, severity = judged(regime)
            process = f"workers of the DataLoader at {project.where(loader.file, loader.span)}"
            yield _ChangedUse(
                *(one, severity, message, regime.method, regime.where, process, project.loader_place(loader)),
                *(regime.arrival, "main", f"workers read `{one.name}` here", rank(regime)),
            )


def _changed_for_processes(project: Project) -> Iterator[_ChangedUse]:
    for launch, method, severity in _launches(project):
        process, place = _started(project, launch)
        message = "main" if method.shown else "latent"
        for one in _changed_for(project, project.ask(ChildRuns).of_launch(launch)):
            yield _ChangedUse(
                *(one, severity, message, method.name, method.where, process, place, method.arrival, "process"),
                *(f"the processes read `{one.name}` here", (False, not method.shown)),
            )


def _changed_for(project: Project, children: Children) -> Iterator[ChangedGlobal]:
    return chain(
        project.ask(ChangedGlobals).of(children),
        project.ask(ChangedConfigurations).of(children),
        project.ask(ChangedObjects).of(children),
    )


def _of_loaders(project: Project) -> Iterator[_Use]:
    for loader in project.loaders:
        if pickling_regime(project, loader, CODE) is None:
            continue
        for missing in project.ask(GuardedNames).missing_in_workers(loader):
            regime = pickling_regime(project, loader, CODE, (missing.file.path,))
            if regime is None or regime.method == "fork":
                continue
            message, severity = judged(regime)
            if severity == "error" and (regime.workers.kind != "some" or not missing.sure):
                severity = "warning"
            process = f"workers of the DataLoader at {project.where(loader.file, loader.span)}"
            place = project.loader_place(loader)
            yield _Use(
                *(missing, severity, message, regime.method, regime.where, process, place, regime.arrival, "main")
            )


def _of_launches(project: Project) -> Iterator[_Use]:
    for launch, method, severity in _launches(project):
        process, place = _started(project, launch)
        message = "main" if method.shown else "latent"
        for missing in project.ask(GuardedNames).missing_in_processes(launch):
            weight: Severity = severity if missing.sure else "warning"
            remedy = "sent" if missing.sent else "process"
            told = {"main": "sent", "latent": "sent_latent"}[message] if missing.sent else message
            yield _Use(*(missing, weight, told, method.name, method.where, process, place, method.arrival, remedy))


def _launches(project: Project) -> Iterator[tuple[Launch, Method, Severity]]:
    """The launches of processes that may not be forked, each with its start method and how bad a missing name is."""
    defaults = project.targets.default_start_methods()
    for launch in project.launches.all():
        methods = [one for one in project.ask(Starting).methods(launch) if one.name != "fork"]
        if methods:
            method = next((one for one in methods if one.shown), methods[0])
            yield launch, method, "error" if method.shown or len(defaults) == 1 else "warning"


def _started(project: Project, launch: Launch) -> tuple[str, Place]:
    """The processes of a launch in words, and the place where they start."""
    span = launch.file.calls[launch.call].span
    process = f"processes started at {project.where(launch.file, span)}"
    return process, Place(launch.file.path, span, "these processes start here")


def _finding(project: Project, uses: list[_Use]) -> Finding:
    """One finding per program: the first name, with all others that its processes miss."""
    first = uses[0]
    missing = first.missing
    file = missing.file
    reads = dict.fromkeys((use.missing.read, use.missing.name) for use in uses if use.missing.read != missing.read)
    bound = dict.fromkeys((use.missing.bound, use.missing.name) for use in uses)
    return Finding(
        CODE,
        file.path,
        missing.read,
        first.message,
        {
            "name": missing.name,
            "process": first.process,
            "method": first.method,
            "where": first.where,
            "bound": project.where(file, missing.bound),
            "remedy": first.remedy,
        },
        severity=first.severity,
        start_methods=tuple(dict.fromkeys(use.method for use in uses)),
        trace=project.chain(first.arrival, missing.hops),
        related=(
            *(Place(file.path, span, f"only the main program sets `{name}`") for span, name in bound),
            *(Place(file.path, span, f"this reads `{name}` in such a process") for span, name in reads),
            *dict.fromkeys(use.place for use in uses),
        ),
        statement=missing.read,
    )


def _is_missing(text: str) -> bool:
    return "NameError" in text or "Can't get attribute" in text


def judge(case: Case) -> Judgement:
    """Did a process end with a NameError, or with the AttributeError of unpickling?"""
    for end in case.seen.died_at(case.finding):
        if _is_missing(f"{end.exception}: {end.text}"):
            return case.confirmed(said(end.exception, end.text))
    for trial in case.failed_trials:
        if _is_missing(f"{trial.text}\n{trial.stderr}"):
            return case.latent(f"fails under {case.where(trial.method)}: the name is missing there")
    read_in = [
        case.seen.processes[pid]
        for pid in case.seen.executed_in(case.finding)
        if pid in case.seen.processes and case.seen.processes[pid].start_method in ("spawn", "forkserver")
    ]
    if read_in:
        return case.refuted(
            f"{counted(len(read_in), 'process')} started by {read_in[0].start_method} came here without a NameError"
        )
    return case.inconclusive("the run did not record this name being read in a process that was not forked")
