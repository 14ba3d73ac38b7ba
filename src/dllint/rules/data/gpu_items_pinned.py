"""DLL613: a loader pins batches that are on the GPU already, which PyTorch refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import counted
from dllint.finding import Finding, Fix, Place, RemoveArgument
from dllint.inference.values import Const
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.data.gpu_items import GpuItem, GpuItems
from dllint.rules.start_methods.cuda_forks import CudaForks

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL613"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    for loader in project.loaders:
        if loader.iterates_itself:
            # The base class pins the batches that it gives.
            continue
        # Forked workers fail earlier, when they touch the GPU: DLL103.
        if not loader.flag("pin_memory") or (loader.workers().possible and project.ask(CudaForks).forks(loader)):
            continue
        found = next(project.ask(GpuItems).of_loader(loader), None)
        if found is not None:
            yield _finding(project, loader, found)


def _finding(project: Project, loader: Loader, item: GpuItem) -> Finding:
    given = any(one.keyword == "pin_memory" for one in loader.file.calls[loader.call].args)
    certain = item.certain and all(isinstance(one, Const) and one.value for one in loader.argument("pin_memory").values)
    edit = RemoveArgument(loader.file.path, loader.span, "pin_memory")
    return Finding(
        CODE,
        loader.file.path,
        loader.span,
        "main" if item.moved else "tensors",
        {"name": loader.name, "what": item.text, "where": project.where(item.file, item.span)},
        severity="error" if certain else "warning",
        related=(Place(item.file.path, item.span, "this is on the GPU"),),
        fixes=(Fix("Remove `pin_memory`", "safe" if certain else "unsafe", (edit,)),) if given else (),
        statement=loader.file.calls[loader.call].statement,
    )


def judge(case: Case) -> Judgement:
    """Did pinning the first batch fail?"""
    if case.died_here is not None:
        return case.confirmed(case.died_here)
    batches = sum(run.batches for run in case.runs)
    if batches:
        return case.refuted(f"{counted(batches, 'batch')} arrived")
    return case.inconclusive("no batch arrived")
