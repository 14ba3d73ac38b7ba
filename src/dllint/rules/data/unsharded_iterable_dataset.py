"""DLL601: an iterable dataset that yields all of its data in every worker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import counted
from dllint.finding import Finding
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes
from dllint.rules.data.sharding import Sharding, Unsharded

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL601"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    sharding = Sharding(project)
    causes: Causes[tuple[Unsharded, Loader]] = Causes()
    for loader in project.loaders:
        workers = loader.workers()
        if workers.possible and workers.count != 1:
            for unsharded in sharding.unsharded(loader):
                causes.add((unsharded, loader), unsharded.iter.key)
    for found in causes:
        yield _finding(project, found[0][0], [loader for _, loader in found])


def _finding(project: Project, unsharded: Unsharded, loaders: list[Loader]) -> Finding:
    counts = [count for loader in loaders if (count := loader.workers().count) is not None]
    values = {
        "name": unsharded.name,
        "source": unsharded.source,
        "loader": project.where(loaders[0].file, loaders[0].span),
    }
    message = "main"
    if counts:
        values["times"] = str(max(counts))
        message = "times"
    if unsharded.asked is not None:
        values["remedy"] = "asked"
    asked = (unsharded.asked,) if unsharded.asked is not None else ()
    return Finding(
        CODE,
        unsharded.iter.file.path,
        unsharded.iter.file.header(unsharded.iter.scope),
        message,
        values,
        severity="error" if counts else "warning",
        related=(*asked, *dict.fromkeys(project.loader_place(loader) for loader in loaders)),
    )


def judge(case: Case) -> Judgement:
    """Did workers deliver the same items?"""
    alike = False
    for run in case.runs:
        by_epoch: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for item in run.items:
            by_epoch[item.epoch][item.worker].append(item.digest)
        for epoch, by_worker in by_epoch.items():
            # If most items of a worker are equal, as labels are, equal items of two workers prove nothing.
            told = {worker: digests for worker, digests in by_worker.items() if len(set(digests)) * 2 > len(digests)}
            alike = alike or bool(len(told) < len(by_worker) and _common([set(one) for one in by_worker.values()]))
            common = _common([set(digests) for digests in told.values()])
            if common:
                items = sum(map(len, told.values()))
                distinct = len(set().union(*told.values()))
                return case.confirmed(
                    f"{common} of {counted(distinct, 'item')} came from more than one of "
                    f"{counted(run.count, 'worker')} in epoch {epoch}: {items} for {distinct}"
                )
    if across := _across_ranks(case):
        return case.confirmed(across)
    if all(run.count < 2 for run in case.runs):
        return case.not_reached("its loader ran with one worker")
    if alike:
        return case.inconclusive("the items are too similar to see which of them repeat")
    delivering = max((len({item.worker for item in run.items}) for run in case.runs), default=0)
    if delivering > 1:
        return case.refuted(f"{delivering} workers delivered items, and none twice")
    return case.inconclusive("the run recorded no items of more than one worker")


def _across_ranks(case: Case) -> str:
    """A description of the items that several ranks trained one model with; "" if there are none.

    Only ranks that average their gradients count, and only loaders that are iterated with gradients: an evaluation
    often gives all ranks the same data.
    """
    by_epoch: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for run in case.runs:
        if run.loader.pid in case.seen.replicas and run.first_batch is not None and run.first_batch.grad:
            for item in run.items:
                by_epoch[item.epoch][run.loader.pid].append(item.digest)
    for epoch, by_rank in by_epoch.items():
        told = [set(digests) for digests in by_rank.values() if len(set(digests)) * 2 > len(digests)]
        common = _common(told)
        if common:
            return (
                f"{counted(common, 'item')} came to more than one of {len(told)} ranks in epoch {epoch}, "
                "which train one model (DistributedDataParallel)"
            )
    return ""


def _common(workers: list[set[str]]) -> int:
    """The largest number of items that two workers both delivered, counted only if it is most of the items of one of
    them; a few may be equal by chance."""
    most = 0
    for index, one in enumerate(workers):
        for other in workers[:index]:
            both = len(one & other)
            if both * 2 > min(len(one), len(other)):
                most = max(most, both)
    return most


def concerns(run: LoaderRun) -> bool:
    return run.loader.iterable
