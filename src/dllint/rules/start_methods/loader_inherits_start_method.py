"""DLL101: a DataLoader inherits the spawn or forkserver start method of the process in which it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dllint.evidence.wording import counted, listed, said
from dllint.facts.nodes import IfExp
from dllint.finding import Applicability, Finding, Fix, Place, SetArgument
from dllint.inference.values import External
from dllint.libraries.lightning import TRAINER
from dllint.linking.conditions import render, repeatable
from dllint.linking.source import last_name
from dllint.project import Project, Regime
from dllint.project.loaders import Loader, written
from dllint.rules.causes import Causes
from dllint.rules.start_methods.cuda import Cuda
from dllint.rules.start_methods.dataset_consequences import consequences, sends_little
from dllint.rules.start_methods.process_groups import may_use_nccl
from dllint.rules.stores.shared_handles import shared_handles

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL101"
_REMEDIES = ("cuda", "nccl", "handles", "threads", "chosen", "platform", "main")
"""The reasons against fork, by precedence; "main" if there is none."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[_Inheriting] = Causes()
    for loader in project.loaders:
        regimes = [
            regime for regime in project.regimes(loader) if regime.arrival is not None and regime.method != "fork"
        ]
        if regimes and regimes[0].arrival is not None:
            origin = regimes[0].arrival.origin
            launcher = (origin.file.path, origin.span)
            # One setting for the whole program is one cause; a launcher is one cause per function below it.
            scope = (loader.file.path, loader.file.calls[loader.call].scope)
            cause = launcher if regimes[0].source == "program" else (*launcher, *scope)
            handed = loader.handed
            causes.add(_Inheriting(loader, regimes), cause, *([(*launcher, *handed)] if handed else []))
    for group in causes:
        yield _finding(project, group)


class _Inheriting(NamedTuple):
    loader: Loader
    regimes: list[Regime]


def _finding(project: Project, group: list[_Inheriting]) -> Finding:
    loader, regimes = group[0]
    regime = regimes[0]
    assert regime.arrival is not None
    origin = regime.arrival.origin
    index = origin.file.call_at(origin.span)
    assert index is not None
    launcher = origin.file.calls[index]
    remedies = [_remedy(project, one.loader, one.regimes[0]) for one in group]
    remedy = min(remedies, key=_REMEDIES.index)
    values = {
        "workers": regime.workers.described,
        "method": regime.method,
        "launcher": render(launcher.func, origin.file),
        "where": project.where(origin.file, origin.span),
        "remedy": remedy,
    }
    message = "main" if regime.source == "inherited" else "program"
    worst = [found for one in group if (found := next(consequences(project, one.loader, one.regimes[0]), None))]
    copied = next((one for one in worst if not one.breaks), None) if len(worst) == len(group) else None
    if copied is not None and not any(one.breaks for one in worst):
        message = "copies"
        values["cause"] = f"{copied.code} at {project.line_shown(copied.place.path, copied.place.span)}"
    small = not worst and all(sends_little(project, one.loader) for one in group)
    meant = message == "program" or small
    if small and remedy not in ("cuda", "handles"):
        lasting = all(one.loader.flag("persistent_workers") is True for one in group)
        values["remedy"] = "fine" if lasting else "small"
    launchers = {(one.arrival.origin.file.path, one.arrival.origin.span) for one in regimes if one.arrival is not None}
    trace = project.chain(regime.arrival)
    if len(launchers) > 1:
        trace = (*trace[:-1], _more(trace[-1], len(launchers) - 1))
    others = (project.loader_place(one.loader) for one in group[1:])
    handed = (
        Place(file.path, span, "its class hands the arguments on to DataLoader here")
        for file, span in dict.fromkeys(one.loader.handed for one in group if one.loader.handed is not None)
    )
    return Finding(
        CODE,
        loader.file.path,
        loader.span,
        message,
        values,
        severity="info" if meant else "warning",
        start_methods=tuple(dict.fromkeys(one.method for member in group for one in member.regimes)),
        trace=trace,
        related=tuple(dict.fromkeys((*(one.place for one in worst), *handed, *others))),
        fixes=_of_all([_fixes(one.loader, one.regimes[0].method, remedy) for one in group]),
        statement=loader.file.calls[loader.call].statement,
    )


def _of_all(fixes: list[tuple[Fix, ...]]) -> tuple[Fix, ...]:
    """The fixes for one loader, with the edits for all loaders of the same cause; none if one of them has none."""
    if len({len(one) for one in fixes}) > 1:
        return ()
    return tuple(
        replace(same[0], edits=tuple(edit for one in same for edit in one.edits)) for same in zip(*fixes, strict=True)
    )


def _more(place: Any, others: int) -> Any:
    ways = "one other launcher does" if others == 1 else f"{others} other launchers do"
    return place.__class__(place.path, place.span, f"{place.message} ({ways} so too)")


def _remedy(project: Project, loader: Loader, regime: Regime) -> str:
    if project.ask(Cuda).used_by_workers(loader):
        return "cuda"
    launch = regime.arrival.origin.launch if regime.arrival is not None else None
    if launch is not None and launch.api == TRAINER:
        # strategies/ddp.py: the backend is NCCL wherever there are GPUs.
        return "nccl"
    if may_use_nccl(project, loader):
        return "nccl"
    if next(shared_handles(project, loader), None) is not None:
        return "handles"
    if _starts_threads_before(project, loader):
        return "threads"
    if regime.source != "inherited":
        return "chosen"
    return "main" if project.targets.platforms == ("linux",) else "platform"


def _fixes(loader: Loader, method: str, remedy: str) -> tuple[Fix, ...]:
    """The fixes that write an explicit context.

    The context depends on the worker count if that can be 0, because torch rejects a context without workers. There is
    no fix if the expression of the count cannot be repeated, or if the class accepts no context.
    """
    if not loader.accepts("multiprocessing_context"):
        return ()
    count, expr = None, written(loader, "num_workers")
    if loader.takes_mapping:
        # The options may already contain a context, or a count that users can set to 0.
        return ()
    if not loader.has_workers:
        if expr is None or not repeatable(expr, loader.file):
            return ()
        count = render(expr, loader.file, 200)
        if "…" in count:
            return ()
        count = f"({count})" if isinstance(expr, IfExp) else count

    def context(name: str, title: str, kind: Applicability) -> Fix:
        value = f'"{name}"' if count is None else f'"{name}" if {count} > 0 else None'
        edit = SetArgument(loader.file.path, loader.span, "multiprocessing_context", value)
        return Fix(title.format(f"`multiprocessing_context={value}`"), kind, (edit,))

    # A fix that changes nothing documents a decision: it is made one loader at a time.
    silencing = "Make the inherited start method explicit: {} (silences this, changes nothing)"
    explicit = context(method, silencing, "suggestion")
    if remedy != "main":
        return (explicit,)
    return (context("fork", "Fork the workers, which then share the dataset without copies: {}", "unsafe"), explicit)


def judge(case: Case) -> Judgement:
    """Did the workers start as the finding says?"""
    hazardous = case.finding.start_methods or ("spawn", "forkserver")
    bad = [run for run in case.runs if run.method in hazardous]
    if bad:
        run = max(bad, key=lambda one: (bool(one.workers), one.start_seconds))
        if not run.workers:
            how = f": {said(*run.failures[0])}" if run.failures else ""
            return case.confirmed(f"{counted(run.count, 'worker')} should start by {run.method}, and none did{how}")
        if run.failures and not run.batches:
            began = len({one.worker for one in run.workers})
            return case.confirmed(
                f"{began} of {counted(run.count, 'worker')} started by {run.method}, and no batch came: "
                f"{said(*run.failures[0])}"
            )
        took = f", ready {run.start_seconds:.1f} s later" if run.start_seconds else ""
        fresh = sum(one.fresh for one in run.iterations)
        again = f", {fresh} times in this run" if fresh > 1 else ""
        return case.confirmed(f"{counted(run.count, 'worker')} started by {run.method}{took}{again}")
    launched = [run for run in case.runs if run.process is not None and run.process.role in ("child", "worker")]
    under = listed(case.methods)
    if case.finding.trace and not launched:
        return case.not_reached(f"the loader ran in the main process, by {under}, and not through the launcher")
    return case.refuted(f"its workers started by {under or 'no start method'}")


def concerns(run: LoaderRun) -> bool:
    process = run.process
    nonfork = run.method in ("spawn", "forkserver")
    return nonfork and run.loader.method is None and process is not None and process.start_method == run.method


def _starts_threads_before(project: Project, loader: Loader) -> bool:
    """Whether the function that makes the loader starts a thread before it."""
    call = loader.file.calls[loader.call]
    for index in loader.file.calls_of(call.scope):
        other = loader.file.calls[index]
        if other.span < call.span and last_name(other.func) in ("Thread", "ThreadPoolExecutor"):
            site = project.world.call_site(loader.file, index, None)
            values = project.world.values.evaluate(other.func, site)
            if any(
                isinstance(v, External) and v.name.startswith(("threading.", "concurrent.futures.")) for v in values
            ):
                return True
    return False
