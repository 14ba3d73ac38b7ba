"""Verdicts on objects that cannot be pickled: DLL201 to DLL204, and the parts that DLL206 shares.

The records show pickling in three ways: what iter() raised in this run, what a trial under another start method raised,
and what the counting pickler met. Pickling stops at the first object that it rejects. Its error is therefore evidence
for the finding of that kind, and proves nothing about others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.evidence.definitions import loader_calls, owner
from dllint.evidence.failures import is_pickling
from dllint.evidence.wording import listed, said

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun
    from dllint.observation import Loader

LOCAL_NAME = r"['\s]([\w.<>]+)\.<locals>\.[\w<>]+"
"""A local function, class or lambda as exceptions name it: the enclosing function, and its own name."""
KINDS = ("DLL201", "DLL202", "DLL203", "DLL204")
"""Rules about objects that are sent to workers and cannot be pickled."""


class Error(NamedTuple):
    """A pickling error. `method` is the start method of the trial that raised it, "" for the run itself."""

    method: str
    exception: str
    text: str
    code: str


def pickling_code(text: str, loader: Loader | None = None) -> str:
    """The code of the rule for a pickling error: about a callable of the loader, a lambda, a local object, or
    another object."""
    if loader is not None:
        for argument in ("collate_fn", "worker_init_fn"):
            name = str(loader.arguments.get(argument) or "")
            if "<" in name and name.rpartition(":")[2].removeprefix("__main__.") in text:
                return "DLL204"
    if "<lambda>" in text:
        return "DLL201"
    if "<locals>" in text or "attribute lookup" in text or "not the same object" in text:
        return "DLL202"
    return "DLL203"


def errors(run: LoaderRun) -> Iterator[Error]:
    """The pickling errors of a loader, those of this run first."""
    for error, text in run.failures:
        if is_pickling(f"{error}: {text}"):
            yield Error("", error, text, pickling_code(text, run.loader))
    for trial in run.trials:
        whole = f"{trial.exception}: {trial.text}"
        if trial.outcome == "failed" and trial.exception and is_pickling(whole):
            yield Error(trial.method, trial.exception, trial.text, pickling_code(trial.text, run.loader))
    storages = run.storages
    others = [method for method in run.others if method != "fork"]
    if others and storages and storages.exception and is_pickling(f"{storages.exception}: {storages.text}"):
        yield Error(others[0], storages.exception, storages.text, pickling_code(storages.text, run.loader))


def judge(case: Case) -> Judgement:
    """Did pickling stop at an object of the finding's kind?"""
    code = case.finding.code
    found = [error for run in case.runs for error in errors(run)]
    own = [error for error in found if (error.code == code or _same_object(error, case)) and _same_owner(error, case)]
    here = next((error for error in own if not error.method), None)
    if here is not None:
        return case.confirmed(f"iter() raised {said(here.exception, here.text)}")
    if own:
        evidence = {error.method: said(error.exception, error.text) for error in reversed(own)}
        first = next(iter(reversed(evidence.items())))
        return case.latent(f"fails under {case.where(first[0])}: {first[1]}", *harmless(case))
    if found:
        stopped = found[0]
        return case.inconclusive(f"pickling fails earlier, at something else: {said(stopped.exception, stopped.text)}")
    return went_well(case)


def _same_object(error: Error, case: Case) -> bool:
    """Whether an error names a function that the finding names."""
    names = [str(value) for value in case.finding.values.values()]
    told = error.text
    return any(len(name) > 3 and f".{name}'" in told for name in names)


def _same_owner(error: Error, case: Case) -> bool:
    """Whether the function that an error names, with its enclosing function, can be at one of the finding's places.

    The place of a loader is no evidence, whether or not it was executed.
    """
    finding = case.finding
    told = re.search(LOCAL_NAME, error.text)
    if told is None or finding.origin == "runtime":
        return True
    named = told[1].partition(".<locals>.<lambda>")[0]
    others = [place for place in finding.related if place.span not in loader_calls(place.path)]
    places = ((finding.path, finding.span), *((place.path, place.span) for place in others))
    return any(owner(path, span.line) == named for path, span in places)


def harmless(case: Case) -> tuple[str, ...]:
    """The note that a hazard under another start method is harmless in this run."""
    return (f"harmless under {listed(case.methods)}, which this run used",) if case.methods else ()


def went_well(case: Case) -> Judgement:
    """The judgement if pickling raised no error, according to whether that proves anything."""
    under = [run.method for run in case.runs if run.method and run.method != "fork" and run.workers]
    tried = [trial.method for run in case.runs for trial in run.trials if trial.outcome == "started"]
    worked = list(dict.fromkeys([*under, *tried]))
    if worked:
        return case.refuted(f"the workers started by {listed(str(one) for one in worked)} and sent batches")
    for trial in case.failed_trials:
        return case.inconclusive(
            f"a trial under {trial.method} failed for another reason: {said(trial.exception, trial.text)}"
        )
    counted_all = [run for run in case.runs if run.storages is not None and run.storages.complete]
    if counted_all and not any(run.storages and run.storages.exception for run in counted_all):
        return case.refuted("the dataset was pickled without an error")
    return case.inconclusive(
        f"it ran by {listed(case.methods)}, which pickles nothing, and no other start method was tried"
    )


def stopped(run: LoaderRun, code: str) -> bool:
    """Whether pickling for a loader stopped at an object of a rule's kind."""
    return any(one.code == code for one in errors(run))
