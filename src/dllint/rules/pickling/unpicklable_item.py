"""DLL205: a worker returns or raises an object that cannot be pickled, and the loader waits for it forever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.failures import out_of_descriptors
from dllint.evidence.wording import counted, said
from dllint.finding import Finding
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes
from dllint.rules.pickling.unpicklable_items import UnpicklableItem, unpicklable_items

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL205"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[tuple[UnpicklableItem, Loader]] = Causes()
    for loader in project.loaders:
        if loader.workers().possible and project.regimes(loader):
            for item in unpicklable_items(project, loader):
                causes.add((item, loader), (item.file.path, item.span))
    for found in causes:
        item, loader = found[0]
        yield Finding(
            CODE,
            item.file.path,
            item.span,
            "raised" if item.raised else "main",
            {
                "what": item.what,
                "entry": item.entry,
                "loader": project.where(loader.file, loader.span),
                "error": item.error,
            },
            related=tuple(dict.fromkeys(project.loader_place(other) for _, other in found)),
            statement=item.statement,
        )


def judge(case: Case) -> Judgement:
    """Did a worker's feeder thread fail to send an item?"""
    for run in case.runs:
        for feeder in run.feeders:
            if out_of_descriptors(f"{feeder.exception}: {feeder.text}"):
                continue
            hung = "; the program hung" if case.seen.hung else ""
            return case.confirmed(
                f"worker {feeder.pid} could not send an item: {said(feeder.exception, feeder.text)}{hung}"
            )
    batches = sum(run.batches for run in case.runs)
    if not batches:
        return case.inconclusive("no batch arrived")
    if "rais" in case.finding.text:
        return case.inconclusive(f"{counted(batches, 'batch')} arrived without an error")
    return case.refuted(f"the workers sent {counted(batches, 'batch')}")


def concerns(run: LoaderRun) -> bool:
    return any(not out_of_descriptors(f"{one.exception}: {one.text}") for one in run.feeders)
