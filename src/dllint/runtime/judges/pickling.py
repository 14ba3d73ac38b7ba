"""DLL2: what cannot be pickled to workers.

The records know of pickling from three sides: what iter() raised in this run, what a trial under another start method
raised, and what the counting pickler met. Pickling stops at the first object that it cannot take, so that an error
speaks for the finding whose kind it names and says nothing of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dllint.runtime.failures import is_pickling, meaning, pickling_code, worker_died
from dllint.runtime.judges.case import (
    Case,
    Judge,
    Judgement,
    confirmed,
    counted,
    inconclusive,
    latent,
    listed,
    refuted,
    said,
)
from dllint.runtime.sites import LoaderRun, methods, owner

LOCAL_NAME = re.compile(r"['\s]([\w.<>]+)\.<locals>\.[\w<>]+")
"""A local function, class or lambda as exceptions name it: where it is defined, and its own name."""
KIND = {
    "DLL201": "lambda",
    "DLL202": "local object",
    "DLL203": "unpicklable object",
    "DLL204": "callable of the loader",
}


@dataclass(frozen=True)
class Error:
    """An error of pickling; `method` is the start method of the trial it came from, "" for the run itself."""

    method: str
    exception: str
    text: str
    code: str


def errors(run: LoaderRun) -> Iterator[Error]:
    """The errors of pickling that a loader met, in this run first."""
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


def unpicklable(case: Case) -> Judgement:
    """DLL201 to DLL204: did pickling stop at an object of the finding's kind?"""
    code = case.finding.code
    found = [error for run in case.runs for error in errors(run)]
    own = [error for error in found if (error.code == code or _same_object(error, case)) and _same_owner(error, case)]
    here = next((error for error in own if not error.method), None)
    if here is not None:
        return confirmed(f"iter() raised {said(here.exception, here.text)}")
    if own:
        evidence = {error.method: said(error.exception, error.text) for error in reversed(own)}
        first = next(iter(reversed(evidence.items())))
        return latent(f"fails under {case.where(first[0])}: {first[1]}", *_harmless(case))
    if found:
        stopped = found[0]
        return inconclusive(f"pickling stops at something else first: {said(stopped.exception, stopped.text)}")
    return _went_well(case)


def _same_object(error: Error, case: Case) -> bool:
    """Whether an error names a function of the line that the finding is about."""
    names = [str(value) for value in case.finding.values.values()]
    told = error.text
    return any(len(name) > 3 and f".{name}'" in told for name in names)


def _same_owner(error: Error, case: Case) -> bool:
    """Whether an error that says where its function is defined can mean one of the finding's places. Where the loader
    is made says nothing of that."""
    finding = case.finding
    told = LOCAL_NAME.search(error.text)
    if told is None or finding.origin == "runtime":
        return True
    named = told[1].partition(".<locals>.<lambda>")[0]
    made = {(run.loader.site.path, run.loader.site.line) for run in case.runs if run.loader.site is not None}
    others = [place for place in finding.related if (place.path, place.span.line) not in made]
    places = ((finding.path, finding.span), *((place.path, place.span) for place in others))
    return any(owner(path, span.line) == named for path, span in places)


def _harmless(case: Case) -> tuple[str, ...]:
    under = methods(case.runs)
    return (f"harmless under {listed(under)}, which this run used",) if under else ()


def _went_well(case: Case) -> Judgement:
    under = [run.method for run in case.runs if run.method and run.method != "fork" and run.workers]
    tried = [trial.method for run in case.runs for trial in run.trials if trial.outcome == "started"]
    worked = list(dict.fromkeys([*under, *tried]))
    if worked:
        return refuted(f"the workers started by {listed(str(one) for one in worked)} and sent batches")
    for trial in (trial for run in case.runs for trial in run.trials if trial.outcome == "failed"):
        return inconclusive(f"a trial under {trial.method} failed in another way: {said(trial.exception, trial.text)}")
    counted_all = [run for run in case.runs if run.storages is not None and run.storages.complete]
    if counted_all and not any(run.storages and run.storages.exception for run in counted_all):
        return refuted("what the workers are given was pickled without an error")
    return inconclusive(f"it ran by {listed(methods(case.runs))}, which pickles nothing, and nothing else was tried")


def unpicklable_item(case: Case) -> Judgement:
    """DLL205: did a worker's feeder thread fail to send an item?"""
    for run in case.runs:
        for feeder in run.feeders:
            hung = "; the program hung" if case.seen.hung else ""
            return confirmed(f"worker {feeder.pid} could not send an item: {said(feeder.exception, feeder.text)}{hung}")
    batches = sum(run.batches for run in case.runs)
    if not batches:
        return inconclusive("no batch came")
    if "rais" in case.finding.text:
        return inconclusive(f"{counted(batches, 'batch')} came, and nothing was raised")
    return refuted(f"the workers sent {counted(batches, 'batch')}")


def made_while_pickling(case: Case) -> Judgement:
    """DLL206: did a worker die of a tensor that pickling itself made?"""
    for run in case.runs:
        for error, text in run.failures:
            if run.method != "fork" and _died_of_it(f"{error}: {text}"):
                return confirmed(f"under {run.method}, {said(error, text)}")
        for trial in run.trials:
            if trial.outcome == "failed" and _died_of_it(f"{trial.exception}: {trial.text}\n{trial.stderr}"):
                why = said(trial.exception, trial.text)
                return latent(f"fails under {case.where(trial.method)}: {why}", *_harmless(case))
    for told in (told for run in case.runs for told in errors(run)):
        if told.method and _died_of_it(told.text):
            return latent(f"fails under {case.where(told.method)}: {said(told.exception, told.text)}", *_harmless(case))
    sent = [run for run in case.runs if any(method != "fork" for method in (run.method, *run.others))]
    temporary = max((run.storages.temporary for run in sent if run.storages), default=0)
    if temporary:
        noun = counted(temporary, "storage")
        return latent(f"pickling makes {noun} that are gone before a worker gets them", *_harmless(case))
    return _went_well(case)


def _died_of_it(text: str) -> bool:
    sign = meaning(text)
    return (sign is not None and "DLL206" in sign.codes) or worker_died(text)


def sent_to_pool(case: Case) -> Judgement:
    """DLL207: did a pool fail to pickle the function?"""
    for end in case.seen.died_at(case.finding):
        if is_pickling(f"{end.exception}: {end.text}"):
            return confirmed(said(end.exception, end.text))
    for launch in case.seen.launched_at(case.finding):
        if launch.error and is_pickling(launch.error):
            return confirmed(launch.error)
    return inconclusive("the run did not see this function being sent")


JUDGES: Mapping[str, Judge] = {
    **dict.fromkeys(KIND, unpicklable),
    "DLL205": unpicklable_item,
    "DLL206": made_while_pickling,
    "DLL207": sent_to_pool,
}
