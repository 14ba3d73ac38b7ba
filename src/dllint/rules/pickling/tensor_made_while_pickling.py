"""DLL206: a dataset whose pickling makes tensors, which are gone before the worker has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.failures import meaning, worker_died
from dllint.evidence.wording import counted, said
from dllint.finding import Finding
from dllint.project import Project, Regime
from dllint.project.loaders import Loader
from dllint.rules.pickling.pickled_loaders import judged, lost_finding, pickled_loaders, pickling_regime, rank
from dllint.rules.pickling.pickled_tensors import MadeTensor, made_while_pickling, shares_by_descriptor
from dllint.rules.pickling.pickling_verdict import errors, harmless, went_well
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL206"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    uses: dict[tuple[str, Span], list[tuple[MadeTensor, Loader, Regime]]] = {}
    for loader, _ in pickled_loaders(project, CODE):
        if not shares_by_descriptor(project, loader):
            continue
        for one in made_while_pickling(project, loader):
            worst = pickling_regime(project, loader, CODE, {one.file.path})
            if worst is not None:
                uses.setdefault((one.file.path, one.span), []).append((one, loader, worst))
    for found in uses.values():
        found.sort(key=lambda use: rank(use[2]))
        yield _finding(project, found)


def _finding(project: Project, uses: list[tuple[MadeTensor, Loader, Regime]]) -> Finding:
    one, loader, regime = uses[0]
    message = judged(regime)[0]
    if message != "fork_only":
        message = "state" if one.method else "main"
    elif one.method:
        message = "fork_only_state"
    values = {
        "kept": one.holder,
        "method": one.method,
        "loader": project.where(loader.file, loader.span),
        "start": regime.method if regime.shown else f"{regime.method} (the default on {regime.where})",
        "remedy": "state" if one.method else "main",
    }
    hops = one.kept.hops if one.kept is not None else ()
    return lost_finding(project, CODE, uses, message, values, hops)


def judge(case: Case) -> Judgement:
    """Did a worker die of a tensor that pickling itself made?"""
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
        return case.latent(f"pickling makes {noun} that are gone before a worker gets them", *harmless(case))
    return went_well(case)


def _died_of_it(text: str) -> bool:
    sign = meaning(text)
    return (sign is not None and CODE in sign.codes) or worker_died(text)


def concerns(run: LoaderRun) -> bool:
    return run.storages is not None and run.storages.temporary > 0
