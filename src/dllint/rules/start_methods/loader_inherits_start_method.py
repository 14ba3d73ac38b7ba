"""DLL101: a DataLoader takes over the spawn or forkserver start method of the process it runs in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import counted, listed
from dllint.facts.nodes import IfExp
from dllint.finding import Finding, Fix, SetArgument
from dllint.linking.conditions import render, repeatable
from dllint.project import Project, Regime
from dllint.project.loaders import Loader, written
from dllint.rules.start_methods.cuda import Cuda
from dllint.rules.start_methods.dataset_consequences import consequences

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL101"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    for loader in project.loaders:
        regimes = [
            regime for regime in project.regimes(loader) if regime.arrival is not None and regime.method != "fork"
        ]
        if regimes:
            yield _finding(project, loader, regimes)


def _finding(project: Project, loader: Loader, regimes: list[Regime]) -> Finding:
    regime = regimes[0]
    assert regime.arrival is not None
    origin = regime.arrival.origin
    launcher = origin.file.calls[_call_at(origin.file.calls, origin.span)]
    remedy = _remedy(project, loader)
    values = {
        "workers": regime.workers.described,
        "method": regime.method,
        "launcher": render(launcher.func, origin.file),
        "where": project.where(origin.file, origin.span),
        "remedy": remedy,
    }
    message = "main" if regime.source == "inherited" else "program"
    worst = next(consequences(project, loader, regime), None)
    if worst is not None:
        message = "fails" if worst.breaks else "copies"
        values["cause"] = f"{worst.code} at {project.shown(worst.place.path)}:{worst.place.span.line}"
    others = len({(r.arrival.origin.file.path, r.arrival.origin.span) for r in regimes if r.arrival is not None}) - 1
    trace = project.chain(regime.arrival)
    if others:
        trace = (*trace[:-1], _more(trace[-1], others))
    call = loader.file.calls[loader.call]
    return Finding(
        CODE,
        loader.file.path,
        loader.span,
        message,
        values,
        severity="error" if worst is not None else None,
        start_methods=tuple(dict.fromkeys(one.method for one in regimes)),
        trace=trace,
        related=(worst.place,) if worst is not None else (),
        fixes=_fixes(loader, regime.method, remedy),
        statement=call.statement,
    )


def _more(place: Any, others: int) -> Any:
    ways = "one other launcher leads" if others == 1 else f"{others} other launchers lead"
    return place.__class__(place.path, place.span, f"{place.message} ({ways} here too)")


def _call_at(calls: list[Any], span: Any) -> int:
    return next(index for index, call in enumerate(calls) if call.span == span)


def _remedy(project: Project, loader: Loader) -> str:
    if project.ask(Cuda).used_by_workers(loader):
        return "cuda"
    if project.uses_nccl(loader):
        return "nccl"
    if project.starts_threads_before(loader):
        return "threads"
    return "main" if project.targets.platforms == ("linux",) else "platform"


def _fixes(loader: Loader, method: str, remedy: str) -> tuple[Fix, ...]:
    """An explicit context: whatever the worker count where that can be 0, since torch refuses a context beside it. None
    where the count cannot be written a second time, or where the class takes no context."""
    if not loader.accepts("multiprocessing_context"):
        return ()
    count = None
    if not loader.has_workers:
        expr = written(loader, "num_workers")
        if expr is None or not repeatable(expr, loader.file):
            return ()
        count = render(expr, loader.file, 200)
        if "…" in count:
            return ()
        count = f"({count})" if isinstance(expr, IfExp) else count

    def context(name: str, why: str) -> Fix:
        value = f'"{name}"' if count is None else f'"{name}" if {count} > 0 else None'
        edit = SetArgument(loader.file.path, loader.span, "multiprocessing_context", value)
        return Fix(f"Add `multiprocessing_context={value}`: {why}", "unsafe", (edit,))

    meant = context(method, "says that it is meant")
    if remedy in ("cuda", "nccl", "threads", "platform"):
        return (meant,)
    return (context("fork", "workers share the dataset as it is"), meant)


def judge(case: Case) -> Judgement:
    """Did the workers start in the way that the finding says?"""
    hazardous = case.finding.start_methods or ("spawn", "forkserver")
    bad = [run for run in case.runs if run.method in hazardous]
    if bad:
        run = max(bad, key=lambda one: one.start_seconds)
        took = f", ready {run.start_seconds:.1f} s later" if run.start_seconds else ""
        fresh = sum(one.fresh for one in run.iterations)
        again = f", {fresh} times in this run" if fresh > 1 else ""
        return case.confirmed(f"{counted(run.count, 'worker')} started by {run.method}{took}{again}")
    launched = [run for run in case.runs if run.process is not None and run.process.role in ("child", "worker")]
    under = listed(case.methods)
    if case.finding.trace and not launched:
        return case.not_reached(f"the loader ran in the main process, by {under}, and not by way of the launcher")
    return case.refuted(f"its workers started by {under or 'no one'}")


def concerns(run: LoaderRun) -> bool:
    process = run.process
    nonfork = run.method in ("spawn", "forkserver")
    return nonfork and run.loader.method is None and process is not None and process.start_method == run.method
