"""DLL612: workers that start again in every epoch by spawn or forkserver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import counted
from dllint.finding import Finding, Fix, Place, SetArgument
from dllint.project import Project
from dllint.project.loaders import Loader, written
from dllint.project.model import Regime
from dllint.rules.data.dataset_changes import DatasetChanges
from dllint.rules.data.framework_epochs import FrameworkEpochs
from dllint.rules.data.training_loops import TrainingLoops
from dllint.rules.data.validation_loops import ValidationLoops
from dllint.rules.stores.mapped_stores import Stores

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL612"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    for loader in project.loaders:
        if not loader.api.dataset and not loader.api.trainers:
            continue
        if loader.flag("persistent_workers") is not False or not loader.workers().possible:
            continue
        regime = next((one for one in project.regimes(loader) if _is_slow(one)), None)
        if regime is None or project.ask(Stores).keeps_iterator(loader) or _is_better_so(project, loader):
            continue
        message, epochs = _epochs(project, loader)
        if not epochs:
            continue
        yield Finding(
            CODE,
            loader.file.path,
            loader.span,
            message,
            {
                "workers": regime.workers.described,
                "method": regime.described,
                "option": loader.api.names.get("persistent_workers", "persistent_workers"),
            },
            start_methods=(regime.method,),
            trace=project.chain(regime.arrival),
            related=epochs,
            fixes=_kept(loader),
            statement=loader.file.calls[loader.call].statement,
        )


def _epochs(project: Project, loader: Loader) -> tuple[str, tuple[Place, ...]]:
    """The message, and the places that show that a loader is iterated once per epoch; empty if none does."""
    for message, loops in (("main", project.ask(TrainingLoops)), ("beside", project.ask(ValidationLoops))):
        for loop in loops.of(loader):
            return message, (
                Place(loop.file.path, loop.loop.span, "the loop over epochs"),
                Place(loop.batches.file.path, loop.batches.event.span, "the workers start here"),
            )
    for run in project.ask(FrameworkEpochs).of(loader):
        return "main", (Place(run.file.path, run.span, "the workers start here in every epoch"),)
    return "main", ()


def _is_slow(regime: Regime) -> bool:
    """Whether the workers provably start as new interpreters.

    The forkserver that Python 3.14 uses by default does not count: it loads the program's modules before it forks, and
    is as fast as fork.
    """
    return (
        regime.method != "fork"
        and regime.workers.possible
        and (regime.shown or (regime.method == "spawn" and regime.only))
    )


def _is_better_so(project: Project, loader: Loader) -> bool:
    """Whether persistent workers would miss changes of their dataset, or accumulate pages of its memory-mapped
    store."""
    if any(True for _ in DatasetChanges(project).of_loader(loader)):
        return True
    return any(True for value in project.dataset_objects(loader) for _ in project.ask(Stores).kept(value))


def _kept(loader: Loader) -> tuple[Fix, ...]:
    if not loader.has_workers or not loader.accepts("persistent_workers"):
        return ()
    if written(loader, "num_workers") is None:
        # The count comes with other options, and torch rejects persistent workers if those omit it.
        return ()
    if written(loader, "persistent_workers") is None and loader.takes_mapping:
        # The options may already contain it, and an argument must not be passed twice.
        return ()
    edit = SetArgument(loader.file.path, loader.span, "persistent_workers", "True")
    return (Fix("Start the workers only once: `persistent_workers=True`", "unsafe", (edit,)),)


def judge(case: Case) -> Judgement:
    """Did the workers start again in later epochs?"""
    again = [one for run in case.runs for one in run.iterations[1:] if one.fresh]
    if again:
        return case.confirmed(f"the workers were started again {counted(len(again), 'time')}")
    if any(len(run.iterations) > 1 for run in case.runs):
        return case.refuted("the workers lived through several epochs")
    if not case.runs:
        return case.not_reached("this loader was never built")
    return case.inconclusive("the run had one epoch only")
