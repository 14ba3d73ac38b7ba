"""DLL404: an array over mapped or shared memory is pickled to processes that are not forked, which copies it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.thresholds import MIB
from dllint.evidence.wording import counted, mebibytes
from dllint.facts.nodes import Attribute, Subscript
from dllint.finding import Finding, Fix, Place
from dllint.inference.values import Function
from dllint.libraries.numpy import SHARED_ARRAY, SHARED_CTYPES
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project import Project, Regime
from dllint.project.handles import Copied, Handles
from dllint.project.launches import Launch
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL404"
PAGE = 4096
"""Bytes below which an array does not count as data."""
_REMEDIES = {SHARED_ARRAY: "shared_memory", SHARED_CTYPES: "shared_ctypes"}
_FIXES = (Fix("Keep the path, and map the file on first use in each process", "suggestion"),)


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[tuple[Loader, Regime, Copied]] = Causes()
    for loader in project.loaders:
        for copied in project.ask(Handles).copied(loader) if project.regimes(loader) else ():
            beside = {copied.kept.file.path} if copied.kept is not None else ()
            regimes = project.regimes(loader, beside, copied.label)
            decisive = [regime for regime in regimes if regime.shown] or regimes
            for regime in decisive:
                if regime.method != "fork":
                    causes.add((loader, regime, copied), _cause(copied))
    for found in causes:
        yield _kept(project, found)
    sent: Causes[tuple[Launch, str, Copied]] = Causes()
    for launch, method, copied in project.ask(Handles).sent():
        assert copied.value.file is not None
        sent.add((launch, method, copied), (copied.value.file.path, copied.value.call))
    for uses in sent:
        yield _sent(project, uses)


def _cause(copied: Copied) -> tuple[str, int]:
    """The class that keeps the maps, or the call that opens one: one edit fixes all of it."""
    assert copied.value.file is not None
    if copied.kept is not None and copied.kept.owner is not None:
        return copied.kept.owner.key
    return copied.value.file.path, -1 - copied.value.call


def _kept(project: Project, found: list[tuple[Loader, Regime, Copied]]) -> Finding:
    loader, regime, copied = min(found, key=lambda one: (not one[1].shown, one[1].unchosen, one[2].call.span))
    file, call = copied.value.file, copied.call
    assert file is not None
    others = [
        Place(other.value.file.path, other.call.span, f"`{other.label}` is {other.opener.what} too", alike=True)
        for _, _, other in found
        if other.value.file is not None and other.value != copied.value and other.call.span != call.span
    ]
    loaders = [project.loader_place(one) for one, _, _ in found]
    kept = copied.kept
    path, span, statement = file.path, call.span, call.statement
    store = [] if kept is None or kept.span.line == call.span.line else [Place(kept.file.path, kept.span, "kept here")]
    if kept is not None and store and _by_property(project, file, call.scope):
        # A property maps the file again each time, and what is to change is that an object keeps the map.
        path, span, statement = kept.file.path, kept.span, kept.store.event.span
        store = [Place(file.path, call.span, "opened here")]
    touch = [] if copied.touch is None else [project.place(copied.touch)]
    return Finding(
        CODE,
        path,
        span,
        "lost" if any(_filled(project, one, other) for one, _, other in found) else "main",
        {
            "kept": f"`{copied.label}`",
            "what": copied.opener.what,
            "opener": render(call.func, file),
            "loader": project.where(loader.file, loader.span),
            "method": regime.described,
            "remedy": _REMEDIES.get(copied.opener.what, "main"),
        },
        severity=regime.weighed("warning"),
        start_methods=tuple(dict.fromkeys((regime.method, *(other.method for _, other, _ in found)))),
        trace=project.chain(regime.arrival, kept.hops if kept is not None else ()),
        related=(
            *store,
            *touch,
            *dict.fromkeys(loaders),
            *dict.fromkeys(others),
        ),
        fixes=_FIXES if copied.opener.what not in _REMEDIES else (),
        statement=statement,
    )


def _by_property(project: Project, file: SourceFile, scope: int) -> bool:
    return file.method_of(scope) is not None and project.world.hierarchy.is_property(Function(file, scope))


def _filled(project: Project, loader: Loader, copied: Copied) -> bool:
    """Whether the code of the workers sets elements of an array over shared memory."""
    if copied.opener.what not in _REMEDIES or copied.kept is None:
        return False
    for run in project.worker_runs(loader):
        for event in run.file.scopes[run.scope].events_of("assign"):
            target = event.target
            while isinstance(target, Subscript):
                target = target.value
                if isinstance(target, Attribute) and target.attr == copied.kept.attr:
                    return True
    return False


def _sent(project: Project, uses: list[tuple[Launch, str, Copied]]) -> Finding:
    launch, method, copied = uses[0]
    file, call = copied.value.file, copied.call
    assert file is not None
    launching = launch.file.calls[launch.call]
    return Finding(
        CODE,
        file.path,
        call.span,
        "argument",
        {
            "what": copied.opener.what,
            "opener": render(call.func, file),
            "launch": project.where(launch.file, launching.span),
            "method": method,
        },
        start_methods=tuple(dict.fromkeys(use[1] for use in uses)),
        related=(Place(launch.file.path, launching.span, "this pickles it"),),
        fixes=(Fix("Pass the path, and map the file in the process", "suggestion"),),
        statement=call.statement,
    )


def judge(case: Case) -> Judgement:
    """Is a mapped array copied into the pickle in full?"""
    if case.finding.message == "argument":
        return _of_argument(case)
    with_arrays = [run for run in case.runs if run.storages is not None]
    if not with_arrays:
        return case.inconclusive("the run did not measure what workers receive")
    run = max(with_arrays, key=lambda one: one.array_bytes * (2 - one.forked))
    size = run.array_bytes
    if case.finding.message == "lost" and size:
        return _of_lost_writes(case, run, size)
    if size < PAGE:
        return case.refuted("pickling for a worker copies no array")
    if size < MIB:
        return case.inconclusive(
            f"pickling for a worker copies {mebibytes(size)}: little here, but as much as the file holds"
        )
    if not run.forked:
        return case.confirmed(
            f"{mebibytes(size)} were copied into the pickle for each of {counted(run.count, 'worker')}"
        )
    others = [method for method in run.others if method != "fork"]
    if others:
        return case.latent(
            f"under {case.where(others[0])}, {mebibytes(size)} are copied into the pickle for each worker",
            "the forked workers of this run share the mapping",
        )
    return case.refuted("every target forks its workers, which share the mapping")


def _of_lost_writes(case: Case, run: LoaderRun, size: int) -> Judgement:
    """Does each worker write to a copy of its own?"""
    others = [method for method in run.others if method != "fork"]
    if not run.forked:
        return case.confirmed(
            f"{size:,} bytes of arrays were copied into the pickle for each of {counted(run.count, 'worker')}: "
            "what one writes, no other process sees"
        )
    if others:
        return case.latent(
            f"under {case.where(others[0])}, {size:,} bytes of arrays are copied into the pickle for each worker",
            "the forked workers of this run share the array",
        )
    return case.refuted("every target forks its workers, which share the array")


def _of_argument(case: Case) -> Judgement:
    """Was the process started by a method that pickles its arguments?"""
    launches = case.seen.launched_at(case.finding)
    launches += [one for place in (*case.finding.related, *case.finding.trace) for one in case.seen.launched_by(place)]
    methods = list(dict.fromkeys(one.method for one in launches if one.method))
    if not methods:
        return case.inconclusive("the run recorded no process that starts there")
    if methods == ["fork"]:
        return case.refuted("its process was forked, which pickles nothing")
    return case.inconclusive(f"its process was started by {methods[-1]}; the run did not measure what it was sent")
