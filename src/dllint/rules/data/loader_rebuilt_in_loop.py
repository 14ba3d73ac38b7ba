"""DLL604: a loader that starts again in every iteration of a loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import counted
from dllint.facts.nodes import CallRef
from dllint.finding import Finding, Place
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.rules.data.loader_restarts import Restarts

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL604"
REBUILT = 3
"""Number of iterators with at most one batch, or of constructions, from which a loader counts as rebuilt in a loop."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    for restart in Restarts(project).restarts():
        call = restart.file.calls[restart.call]
        loader = restart.loader
        lasting = bool(loader.flag("persistent_workers"))
        message = restart.kind
        if restart.dataset is not None:
            message = "dataset"
        elif restart.kind == "epoch" and lasting:
            message = "persistent"
        elif restart.kind == "next" and not loader.workers().possible:
            message = "same"
        often = "every iteration" if restart.period == 1 else f"1 of {restart.period} iterations"
        related = [Place(restart.around.path, restart.loop.span, f"in {often} of this loop")]
        if (restart.file.path, restart.call) != (loader.file.path, loader.call):
            related.append(Place(loader.file.path, loader.span, "the loader"))
        values = {"call": render(CallRef(restart.call), restart.file), "name": loader.name, "often": often}
        if restart.dataset is not None:
            made = restart.file.calls[restart.dataset]
            values["dataset"] = render(made.func, restart.file)
            related.append(Place(restart.file.path, made.span, "the dataset is made here"))
        info = message == "epoch" or (message == "dataset" and not restart.whole)
        yield Finding(
            CODE,
            restart.file.path,
            call.span,
            message,
            values,
            severity="info" if info else None,
            related=tuple(related),
            statement=call.statement,
        )


def judge(case: Case) -> Judgement:
    """Did the run create many iterators, or many loaders, that were used for one batch each?"""
    iterations = sum(len(run.iterations) for run in case.runs)
    # An epoch cut by the run itself says nothing about the program: later ones are cut to one batch.
    epochs = [epoch for run in case.runs for epoch in run.epochs if not epoch.cut and epoch.total != 1]
    short = sum(epoch.batches <= 1 for epoch in epochs)
    if short >= REBUILT:
        starts = [one.first or 0.0 for run in case.runs for one in run.epochs if one.batches]
        each = f", {sum(starts) / len(starts) * 1000:.0f} ms each" if starts and sum(starts) else ""
        return case.confirmed(f"{short} iterators delivered at most one batch{each}")
    if len(case.runs) >= REBUILT:
        return case.confirmed(f"the loader was built {len(case.runs)} times")
    if iterations > 1:
        return case.refuted(
            f"{counted(iterations, 'iterator')} delivered {sum(run.batches for run in case.runs)} batches"
        )
    return case.inconclusive(f"{counted(iterations, 'iteration')} of this loader")


def concerns(run: LoaderRun) -> bool:
    return len(run.iterations) > 1
