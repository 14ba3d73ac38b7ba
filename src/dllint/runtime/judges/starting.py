"""DLL1: start methods and launching."""

from __future__ import annotations

from collections.abc import Mapping

from dllint.observation import End
from dllint.runtime.failures import Signature, meaning, timed_out
from dllint.runtime.judges.case import (
    Case,
    Judge,
    Judgement,
    confirmed,
    counted,
    failed_trials,
    inconclusive,
    latent,
    listed,
    not_reached,
    refuted,
    said,
)
from dllint.runtime.sites import LoaderRun, describe, methods


def ended_by(case: Case, code: str) -> tuple[End, Signature] | None:
    """A process that died in the way in which the hazard ends."""
    for end in case.seen.ends:
        sign = meaning(f"{end.exception}: {end.text}\n{end.traceback}") if end.exception else None
        if sign is not None and code in sign.codes:
            return end, sign
    return None


def failed_iterations(runs: tuple[LoaderRun, ...], code: str) -> list[str]:
    """What iter() raised, or an epoch ended with, where it is how the hazard ends."""
    found = []
    for run in runs:
        for error, text in run.failures:
            sign = meaning(f"{error}: {text}")
            if sign is not None and code in sign.codes:
                found.append(said(error, text))
    return found


def inherited(case: Case) -> Judgement:
    """DLL101: did the workers start in the way that the finding says?"""
    under = methods(case.runs)
    hazardous = case.finding.start_methods or ("spawn", "forkserver")
    bad = [run for run in case.runs if run.method in hazardous]
    if bad:
        run = max(bad, key=start_seconds)
        seconds = start_seconds(run)
        took = f", ready {seconds:.1f} s later" if seconds else ""
        fresh = sum(one.fresh for one in run.iterations)
        again = f", {fresh} times in this run" if fresh > 1 else ""
        return confirmed(f"{counted(run.count, 'worker')} started by {run.method}{took}{again}")
    launched = [run for run in case.runs if run.process is not None and run.process.role in ("child", "worker")]
    if case.finding.trace and not launched:
        return not_reached(f"the loader ran in the main process, by {listed(under)}, and not by way of the launcher")
    return refuted(f"its workers started by {listed(under) or 'no one'}")


def start_seconds(run: LoaderRun) -> float:
    """The longest that a worker of the loader took to come to its loop."""
    return max((one.seconds for one in run.workers if one.seconds is not None), default=0.0)


def unguarded(case: Case) -> Judgement:
    """DLL102: did a child start processes while it imported the main module?"""
    died = ended_by(case, "DLL102")
    if died is not None:
        end, sign = died
        return confirmed(f"process {end.pid} died of {said(end.exception, end.text)}: {sign.cause}")
    errors = failed_iterations(case.runs, "DLL102")
    if errors:
        return confirmed(errors[0])
    for trial in failed_trials(case.runs):
        meant = meaning(f"{trial.text}\n{trial.stderr}")
        if meant is not None and "DLL102" in meant.codes:
            return latent(f"fails under {case.where(trial.method)}: {meant.cause}")
    launched = case.seen.launched_at(case.finding)
    under = list(dict.fromkeys([*methods(case.runs), *(one.method for one in launched if one.method)]))
    if not under:
        return not_reached("nothing was started from there")
    if set(under) == {"fork"}:
        late = [
            f"a trial under {one.method} gave no answer" for one in failed_trials(case.runs) if one.stage == "timeout"
        ]
        return inconclusive("it ran by fork here, which needs no main guard", *dict.fromkeys(late))
    return refuted(f"it started by {listed(under)} and no process died of it")


def cuda(case: Case) -> Judgement:
    """DLL103, DLL106: was CUDA used in a forked process whose parent had used it?"""
    errors = failed_iterations(case.runs, case.finding.code)
    died = ended_by(case, case.finding.code)
    if errors or died:
        return confirmed(errors[0] if errors else said(died[0].exception, died[0].text) if died else "")
    records = [one for run in case.runs for one in run.cuda]
    for one in records:
        if one.used and one.poisoned:
            return confirmed(
                f"worker {one.worker} called {one.call or 'CUDA'}, which its parent had used before the fork"
            )
    if not any(one.available for one in case.seen.cuda):
        return inconclusive("this machine has no CUDA device, so that nothing can be seen of it")
    if any(run.forked for run in case.runs) and not any(one.used for one in records):
        return refuted("no worker used CUDA")
    return inconclusive(f"the workers started by {listed(methods(case.runs))}")


def daemonic(case: Case) -> Judgement:
    """DLL104: was the loader refused its workers?"""
    errors = failed_iterations(case.runs, "DLL104")
    died = ended_by(case, "DLL104")
    if errors or died:
        return confirmed(errors[0] if errors else said(died[0].exception, died[0].text) if died else "")
    if any(run.workers for run in case.runs):
        inside = next((run.process for run in case.runs if run.workers), None)
        role = "the main process" if inside is None or inside.role == "main" else "a process that is not daemonic"
        return refuted(f"its workers started, in {role}")
    return inconclusive("no worker was started")


def method_set(case: Case) -> Judgement:
    """DLL105: did set_start_method fail, or change nothing?"""
    for end in case.seen.died_at(case.finding):
        if "context has already been set" in end.text:
            return confirmed(said(end.exception, end.text))
    return inconclusive("a call that changes nothing leaves no trace in a run")


def gave_up(run: LoaderRun) -> bool:
    """Whether a loader waited for as long as its `timeout` says."""
    return any(timed_out(text) for _, text in run.failures)


def live_threads(case: Case) -> Judgement:
    """DLL107: did forked workers wait for ever?"""
    forked = [run for run in case.runs if run.forked]
    stuck = [run for run in forked if not run.batches and (case.seen.hung or gave_up(run))]
    if stuck:
        where = describe(stuck[0].loader.site)
        return confirmed(f"the program hung: {counted(stuck[0].count, 'forked worker')} of {where} sent no batch")
    if not forked:
        return refuted(f"its workers started by {listed(methods(case.runs))}, which carries no threads or locks over")
    return inconclusive("no worker hung, which proves nothing: it depends on what a thread holds at the fork")


def sharing_strategy(case: Case) -> Judgement:
    """DLL108: would the workers have taken over the strategy?"""
    under = methods(case.runs)
    if under == ["fork"]:
        return refuted("its workers were forked and have the strategy of their parent")
    return inconclusive(f"its workers started by {listed(under)}; their strategy was not seen")


JUDGES: Mapping[str, Judge] = {
    "DLL101": inherited,
    "DLL102": unguarded,
    "DLL103": cuda,
    "DLL104": daemonic,
    "DLL105": method_set,
    "DLL106": cuda,
    "DLL107": live_threads,
    "DLL108": sharing_strategy,
}
