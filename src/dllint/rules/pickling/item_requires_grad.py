"""DLL208: an item that carries gradients, which workers can neither stack nor send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import counted, said
from dllint.facts.schema import Event
from dllint.finding import Finding
from dllint.inference.values import NONE
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes
from dllint.rules.pickling.gradients import Gradients

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL208"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    gradients = project.ask(Gradients)
    causes: Causes[tuple[SourceFile, Event, str, Loader]] = Causes()
    for loader in project.loaders:
        if not loader.workers().possible or not _stacks(project, loader):
            continue
        for value in project.dataset_objects(loader):
            for file, event, what in gradients.items(value):
                if not gradients.turned_off(file):
                    causes.add((file, event, what, loader), (file.path, event.span))
    for found in causes:
        file, event, what, _ = found[0]
        sure = any(loader.has_workers for _, _, _, loader in found)
        yield Finding(
            CODE,
            file.path,
            event.value_span or event.span,
            "main",
            {"what": what, "loader": project.where(found[0][3].file, found[0][3].span)},
            severity="error" if sure else "warning",
            related=tuple(dict.fromkeys(project.loader_place(loader) for _, _, _, loader in found)),
            statement=event.span,
        )


def _stacks(project: Project, loader: Loader) -> bool:
    """Whether torch's default collate function stacks the items into a tensor in shared memory."""
    if loader.cls is not None or loader.argument("batch_size").values == (NONE,):
        return False
    functions = project.callables(loader, "collate_fn")
    return not functions or functions == (NONE,)


def judge(case: Case) -> Judgement:
    """Did a worker fail to stack the items?"""
    if case.died is not None and case.died[0] in case.seen.died_at(case.finding):
        return case.confirmed(said(case.died[0].exception, case.died[0].text))
    batches = sum(run.batches for run in case.runs if run.count)
    if batches:
        return case.refuted(f"the workers sent {counted(batches, 'batch')}")
    return case.inconclusive("no worker sent a batch")
