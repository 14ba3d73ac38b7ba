"""DLL401: persistent workers over a memory-mapped store, whose RSS grows with every page that they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.thresholds import MIB, NOTICEABLE
from dllint.evidence.wording import counted, mebibytes
from dllint.evidence.worker_memory import growth
from dllint.facts.nodes import Constant
from dllint.finding import Finding, Fix, Place, SetArgument
from dllint.project import Project
from dllint.project.loaders import written
from dllint.rules.stores.mapped_stores import KeptStore, Stores, by_store

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL401"
MANY_MAPPED = 64 * MIB
"""Growth of the sum of RSS, in bytes, from which a loader without a finding is examined."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    return by_store(_found(project))


def _found(project: Project) -> Iterator[tuple[Finding, Place, list[KeptStore]]]:
    for loader in project.loaders:
        if not loader.workers().possible:
            continue
        why = project.ask(Stores).persistent(loader)
        if why is None:
            continue
        stores = [store for value in project.dataset_objects(loader) for store in project.ask(Stores).kept(value)]
        if not stores:
            continue
        slurm = project.ask(Stores).slurm()
        values = {"why": why, "store": stores[0].label}
        if slurm is not None:
            values["evidence"] = slurm
        fixes: tuple[Fix, ...] = ()
        if written(loader, "persistent_workers") == Constant(True):
            edit = SetArgument(loader.file.path, loader.span, "persistent_workers", "False")
            fixes = (
                Fix("Restart workers every epoch, which resets RSS: `persistent_workers=False`", "unsafe", (edit,)),
            )
        finding = Finding(
            CODE,
            loader.file.path,
            loader.span,
            "main" if slurm is None else "slurm",
            values,
            severity="info" if slurm is None else "warning",
            related=tuple(
                dict.fromkeys(Place(store.file.path, store.span, f"{store.label} opened here") for store in stores)
            ),
            fixes=fixes,
            statement=loader.file.calls[loader.call].statement,
        )
        yield finding, project.loader_place(loader), stores


def judge(case: Case) -> Judgement:
    """Do mapped pages count in every worker, while no memory is used up?"""
    lasting = [run for run in case.runs if not run.restarted]
    if not lasting:
        return case.inconclusive("its workers were restarted in this run, which resets RSS")
    grown = max(filter(None, map(growth, lasting)), key=lambda one: one.rss_last - one.rss_first, default=None)
    if grown is None:
        return case.inconclusive("no worker lived long enough for two measurements")
    rss = grown.rss_last - grown.rss_first
    series = f"RSS of {counted(grown.workers, 'worker')} {mebibytes(grown.rss_first)} → {mebibytes(grown.rss_last)}"
    own = f"their own memory +{mebibytes(max(grown.own, 0))}"
    if rss >= NOTICEABLE * grown.workers and 0 < (most := _most_mapped(case)) < MANY_MAPPED * 2:
        return case.inconclusive(f"{series}; the mapped files can add {mebibytes(most)} in all, which is little")
    if rss >= NOTICEABLE * grown.workers and grown.own < max(NOTICEABLE, rss / 4):
        pss = f"PSS {mebibytes(grown.pss_first)} → {mebibytes(grown.pss_last)}"
        return case.confirmed(f"{series}, {pss}, {own}: accounting, not a leak")
    if rss >= NOTICEABLE * grown.workers:
        return case.inconclusive(f"{series}, but {own}: mapped pages do not explain that")
    return case.inconclusive(f"{series} in {case.lasted}: too little to judge by a short run")


def _most_mapped(case: Case) -> int:
    """The bytes that all workers of a loader can map of data files, as measured; 0 if unknown."""
    by_loader = [
        run.count * max((one.mapped_files or 0 for one in run.samples if one.worker is not None), default=0)
        for run in case.runs
    ]
    return max(by_loader, default=0)


def concerns(run: LoaderRun) -> bool:
    grown = None if run.restarted else growth(run)
    return grown is not None and grown.workers > 1 and grown.rss_last - grown.rss_first >= MANY_MAPPED
