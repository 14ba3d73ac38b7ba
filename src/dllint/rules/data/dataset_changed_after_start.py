"""DLL606: a dataset is changed between epochs, and persistent workers keep the copy that they started with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes
from dllint.rules.data.dataset_changes import Change, DatasetChanges

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL606"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    changes = DatasetChanges(project)
    causes: Causes[tuple[Change, Loader]] = Causes()
    for loader in project.loaders:
        if loader.workers().possible and changes.persists(loader):
            for change in changes.of_loader(loader):
                causes.add((change, loader), (change.file.path, change.span))
    for found in causes:
        change, loader = found[0]
        yield Finding(
            CODE,
            change.file.path,
            change.span,
            "main",
            {
                "what": change.what,
                "attr": change.attr,
                "loader": project.where(loader.file, loader.span),
            },
            related=(change.read, *dict.fromkeys(project.loader_place(other) for _, other in found)),
            statement=change.statement,
        )


def judge(case: Case) -> Judgement:
    """Do workers persist while the dataset changes?"""
    lasting = [run for run in case.runs if any(one.persistent for one in run.iterations)]
    if not lasting:
        return case.refuted("its workers start again in each epoch, with a new copy of the dataset")
    if not any(not one.fresh for run in lasting for one in run.iterations):
        return case.inconclusive("the run had one epoch only")
    attr = str(case.finding.values.get("attr", ""))
    reached = ""
    for run in lasting:
        for path in dict.fromkeys(path for one in run.attributes for path in one.values):
            if path.rpartition(".")[2] != attr:
                continue
            given = _by_epoch(run, path, None)
            for worker in dict.fromkeys(one.worker for one in run.attributes if one.worker is not None):
                held = _by_epoch(run, path, worker)
                both = [epoch for epoch in given if epoch in held]
                if len({given[epoch] for epoch in both}) < 2:
                    continue
                words = ", ".join(given[epoch] for epoch in both)
                if any(given[epoch] != held[epoch] for epoch in both):
                    kept = ", ".join(held[epoch] for epoch in both)
                    return case.confirmed(
                        f"`{attr}` was {words} in the process that iterates, and {kept} in worker {worker}"
                    )
                reached = f"`{attr}` was {words} in the workers as well"
    if reached:
        return case.refuted(reached)
    return case.inconclusive(
        f"its workers lived through several epochs; the run did not see `{attr}` change, or cannot compare its values"
    )


def _by_epoch(run: LoaderRun, path: str, worker: int | None) -> dict[int, str]:
    """The values of an attribute at the start of each epoch: in a worker, or in the iterating process if `worker` is
    None."""
    return {one.epoch: one.values[path] for one in run.attributes if one.worker == worker and path in one.values}
