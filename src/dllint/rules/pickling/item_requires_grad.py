"""DLL208: an item that carries gradients, which workers can neither stack nor send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import counted
from dllint.finding import Finding
from dllint.inference.values import NONE
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes
from dllint.rules.pickling.gradients import Gradients
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL208"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    gradients = project.ask(Gradients)
    causes: Causes[tuple[SourceFile, Span, Span, str, Loader]] = Causes()
    for loader in project.loaders:
        if not loader.workers().possible or not _stacks(project, loader):
            continue
        for value in project.dataset_objects(loader):
            for file, event, what in gradients.items(value):
                if not gradients.turned_off(file):
                    span = event.value_span or event.span
                    causes.add((file, span, event.span, what, loader), (file.path, event.span))
        for file, span, statement, what in gradients.given(loader):
            if not gradients.turned_off(file):
                causes.add((file, span, statement, what, loader), (file.path, span))
    for found in causes:
        file, span, statement, what, first = found[0]
        loaders = [loader for *_, loader in found]
        yield Finding(
            CODE,
            file.path,
            span,
            "main",
            {"what": what, "loader": project.where(first.file, first.span)},
            severity="error" if any(loader.has_workers for loader in loaders) else "warning",
            related=tuple(dict.fromkeys(map(project.loader_place, loaders))),
            statement=statement,
        )


def _stacks(project: Project, loader: Loader) -> bool:
    """Whether torch's default collate function stacks the items into a tensor in shared memory."""
    if loader.cls is not None or loader.argument("batch_size").values == (NONE,):
        return False
    functions = project.callables(loader, "collate_fn")
    return not functions or functions == (NONE,)


def judge(case: Case) -> Judgement:
    """Did a worker fail to stack the items?"""
    if case.died_here is not None:
        return case.confirmed(case.died_here)
    batches = sum(run.batches for run in case.runs if run.count)
    if batches:
        return case.refuted(f"the workers sent {counted(batches, 'batch')}")
    return case.inconclusive("no worker sent a batch")
