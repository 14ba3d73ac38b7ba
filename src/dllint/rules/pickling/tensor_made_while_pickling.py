"""DLL206: pickling a dataset creates tensors that are freed before the worker receives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.failures import meaning, worker_died
from dllint.evidence.wording import counted, said
from dllint.finding import Finding
from dllint.project import Project, Regime
from dllint.project.loaders import Loader
from dllint.project.sharing import shares_by_descriptor
from dllint.rules.pickling.pickled_tensors import MadeTensor, made_while_pickling
from dllint.rules.pickling.pickling_verdict import errors, harmless, went_well
from dllint.rules.pickling.sent_to_workers import Told, unpicklable

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL206"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    def sent(loader: Loader, _: Regime) -> Iterable[MadeTensor]:
        return made_while_pickling(project, loader) if shares_by_descriptor(project, loader) else ()

    return unpicklable(project, CODE, sent, _told)


def _told(one: MadeTensor, message: str) -> Told:
    remedy = "state" if one.method else "main"
    if message == "fork_only":
        return Told("fork_only_state" if one.method else message, {"method": one.method, "remedy": remedy})
    return Told(remedy, {"method": one.method, "remedy": remedy})


def judge(case: Case) -> Judgement:
    """Did a worker fail because of a tensor that pickling itself created?"""
    for run in case.runs:
        for error, text in run.failures:
            if run.method != "fork" and _died_of_it(f"{error}: {text}"):
                return case.confirmed(f"under {run.method}, {said(error, text)}")
        for trial in run.trials:
            if trial.outcome == "failed" and _died_of_it(f"{trial.exception}: {trial.text}\n{trial.stderr}"):
                why = said(trial.exception, trial.text)
                return case.latent(f"fails under {case.where(trial.method)}: {why}", *harmless(case))
    for told in (told for run in case.runs for told in errors(run)):
        if told.method and _died_of_it(told.text):
            return case.latent(
                f"fails under {case.where(told.method)}: {said(told.exception, told.text)}", *harmless(case)
            )
    sent = [run for run in case.runs if any(method != "fork" for method in (run.method, *run.others))]
    temporary = max((run.storages.temporary for run in sent if run.storages), default=0)
    if temporary:
        noun = counted(temporary, "storage")
        return case.latent(f"pickling makes {noun} that are gone before a worker receives them", *harmless(case))
    return went_well(case)


def _died_of_it(text: str) -> bool:
    sign = meaning(text)
    return (sign is not None and CODE in sign.codes) or worker_died(text)


def concerns(run: LoaderRun) -> bool:
    return run.storages is not None and run.storages.temporary > 0
