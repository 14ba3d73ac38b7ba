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
    """Do workers live on while the dataset changes?"""
    lasting = [run for run in case.runs if any(one.persistent for one in run.iterations)]
    if not lasting:
        return case.refuted("its workers start again in each epoch, with a new copy of the dataset")
    again = [run for run in lasting if any(not one.fresh for one in run.iterations)]
    if again:
        return case.inconclusive(
            "its workers lived through several epochs; the run did not record whether they missed a change"
        )
    return case.inconclusive("the run had one epoch only")
