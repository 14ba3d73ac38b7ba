"""DLL3 and DLL401, DLL404: memory, descriptors and maps.

What a worker takes for itself is told by two figures together. USS alone counts mapped files that no other process has
mapped; `Pss_Anon` alone rises for a worker when another process that shares its pages ends. What both have gained is
its own: copied pages, and what it allocated. RSS counts a shared page in each process, which is what a scheduler sees
that sums RSS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from dllint.observation import Kept, Sample
from dllint.runtime.judges.case import (
    FAR,
    MIB,
    NEAR,
    NOTICEABLE,
    Case,
    Judge,
    Judgement,
    confirmed,
    counted,
    inconclusive,
    latent,
    listed,
    mib,
    refuted,
)
from dllint.runtime.judges.starting import failed_iterations
from dllint.runtime.predict import STRATEGIES, storages_sent, walls
from dllint.runtime.sites import LoaderRun, methods

COPIES = 256 * MIB
"""Copies in all workers together that are worth a word."""
PAGE = 4096
"""Bytes below which an array is no data."""
BOUNDING = ("nofile", "fds", "max_map_count", "maps")
"""What bounds storages, by its name in the records."""
A_BATCH = 0.5
"""Descriptors gained a batch from which on batches are being kept."""


@dataclass(frozen=True)
class Growth:
    """How a loader's workers grew, from the first sample of each after it had work to its last: bytes, summed.

    `own` is what they took for themselves, `most_own` the most that one of them did.
    """

    workers: int
    own: int
    file: int
    rss_first: int
    rss_last: int
    pss_first: int
    pss_last: int
    most_own: int

    @property
    def kind(self) -> Literal["copied", "allocated", "either"]:
        """What the workers took: a page that is copied on write was resident before, so that RSS does not grow."""
        resident = self.rss_last - self.rss_first
        if resident < self.own / 2:
            return "copied"
        return "allocated" if self.file < NOTICEABLE else "either"


def growth(run: LoaderRun) -> Growth | None:
    """How the workers grew; `None` where none was looked at twice."""
    series: dict[int, list[Sample]] = {}
    for sample in run.samples:
        if sample.worker is not None and sample.moment in ("first item", "first batch", "epoch end"):
            series.setdefault(sample.pid, []).append(sample)
    pairs = [
        (samples[0], samples[-1])
        for samples in series.values()
        if len(samples) > 1 and samples[0].pss_anon is not None and samples[-1].pss_anon is not None
    ]
    if not pairs:
        return None
    gained = [_own(first, last) for first, last in pairs]
    return Growth(
        len(pairs),
        sum(gained),
        sum((last.pss_file or 0) - (first.pss_file or 0) for first, last in pairs),
        sum(first.rss or 0 for first, _ in pairs),
        sum(last.rss or 0 for _, last in pairs),
        sum(first.pss or 0 for first, _ in pairs),
        sum(last.pss or 0 for _, last in pairs),
        max(gained),
    )


def _own(first: Sample, last: Sample) -> int:
    anonymous = (last.pss_anon or 0) - (first.pss_anon or 0)
    return anonymous if first.uss is None or last.uss is None else min(anonymous, last.uss - first.uss)


def _largest(case: Case) -> Growth | None:
    return max(filter(None, map(growth, case.runs)), key=lambda one: one.most_own, default=None)


def private_growth(case: Case) -> Judgement:
    """DLL302: do forked workers copy pages? DLL304: do workers allocate more and more?"""
    grown = _largest(case)
    if grown is None:
        return inconclusive("no worker lived long enough to be measured twice")
    of = f"a worker's own memory grew by {mib(max(grown.most_own, 0))} in {_span(case)}"
    if grown.most_own >= NOTICEABLE and grown.kind == ("allocated" if case.finding.code == "DLL302" else "copied"):
        what = "newly allocated, not copied on write" if grown.kind == "allocated" else "copied on write, not allocated"
        return inconclusive(f"{of}, {what}")
    if grown.most_own >= NOTICEABLE:
        total = f", {mib(grown.own)} in {counted(grown.workers, 'worker')}" if grown.workers > 1 else ""
        return confirmed(f"{of}{total} (mapped files: {mib(max(grown.file, 0))})")
    small = max(
        (run.storages.pickled for run in case.runs if run.storages and not run.storages.exception), default=None
    )
    if case.finding.code == "DLL302" and small is not None and small < NOTICEABLE:
        return refuted(f"{of}; all that the dataset holds is {mib(small)}")
    return inconclusive(f"{of}; below 10 MiB a short run proves nothing")


def _span(case: Case) -> str:
    epochs = max(len(run.epochs) for run in case.runs)
    return counted(epochs, "epoch") if epochs else "this run"


def array_copies(case: Case) -> Judgement:
    """DLL301: is the array copied into each worker?"""
    with_arrays = [run for run in case.runs if run.storages is not None]
    if not with_arrays:
        return inconclusive("what the workers are given was not counted")
    run = max(with_arrays, key=lambda one: _copied(one) * one.count)
    size, total = _copied(run), _copied(run) * run.count
    if size < NOTICEABLE:
        shared = run.storages.storage_bytes if run.storages else 0
        if shared >= NOTICEABLE and not run.forked:
            return confirmed(f"the workers share one copy of {mib(shared)} in /dev/shm")
        return refuted(f"pickling for a worker copies {mib(size)} of arrays")
    if not run.forked:
        each = f"each of {counted(run.count, 'worker')} started by {run.method}"
        return confirmed(f"{each} got a copy of {mib(size)}, {mib(total)} in all")
    others = [method for method in run.others if method != "fork"]
    if others and total >= NEAR * COPIES:
        where = case.where(others[0])
        return latent(
            f"under {where}, each of {counted(run.count, 'worker')} gets a copy of {mib(size)}, {mib(total)} in all",
            "shared by the forked workers of this run",
        )
    if not others or total < FAR * COPIES:
        return refuted(f"the forked workers share it; copies for all would be {mib(total)}")
    return inconclusive(f"the forked workers share it; copies for all would be {mib(total)} of {mib(COPIES)}")


def _copied(run: LoaderRun) -> int:
    return run.storages.array_bytes if run.storages is not None else 0


def mapped_copied(case: Case) -> Judgement:
    """DLL404: is a mapped array read whole into the pickle?"""
    with_arrays = [run for run in case.runs if run.storages is not None]
    if not with_arrays:
        return inconclusive("what the workers are given was not counted")
    run = max(with_arrays, key=lambda one: _copied(one) * (2 - one.forked))
    size = _copied(run)
    if size < PAGE:
        return refuted("pickling for a worker copies no array")
    if size < MIB:
        return inconclusive(f"pickling for a worker copies {mib(size)}: little here, and as much as the file holds")
    if not run.forked:
        return confirmed(f"{mib(size)} were read into the pickle for each of {counted(run.count, 'worker')}")
    others = [method for method in run.others if method != "fork"]
    if others:
        return latent(
            f"under {case.where(others[0])}, {mib(size)} are read into the pickle for each worker",
            "the forked workers of this run share the mapping",
        )
    return refuted("the workers are forked, under every target, and share the mapping")


def many_tensors(case: Case) -> Judgement:
    """DLL303: how near is the count of storages to the tightest limit of the targets?"""
    failed = failed_iterations(case.runs, "DLL303")
    counted_runs = [run for run in case.runs if run.storages is not None and not run.storages.exception]
    bounds = [(*bound, run) for run in counted_runs for bound in bounds_of(case, run)]
    if failed and not bounds:
        return confirmed(failed[0])
    if not bounds:
        if not counted_runs:
            return inconclusive("the storages were not counted")
        return refuted("forked workers are sent no storages, and no target starts workers in another way")
    have, most, why, run = max(bounds, key=lambda one: one[0] / max(one[1], 1))
    both = f"{counted(have, 'storage')} of at most {most:,} ({why})"
    if failed:
        return confirmed(f"{both}: {failed[0]}")
    if have >= NEAR * most:
        trial = next((one for one in run.trials if one.outcome == "failed"), None)
        tried = (f"a trial under {trial.method} failed",) if trial is not None else ()
        return confirmed(both, *tried)
    return refuted(both) if have < FAR * most else inconclusive(both)


def bounds_of(case: Case, run: LoaderRun) -> list[tuple[int, int, str]]:
    """What a loader sends, how much it can, and under what: for the method of this run and those of the targets."""
    storages = run.storages
    if storages is None:
        return []
    values = run.limits.values if run.limits is not None else {}
    known = {name: value if isinstance(value := values.get(name), int) else None for name in BOUNDING}
    strategy = storages.strategy or STRATEGIES[0]
    return [
        (storages_sent(storages, strategy, wall.limit), wall.most, f"{case.where(method)}: {wall.limit}")
        for method in [*([run.method] if run.method else []), *run.others]
        for wall in walls(storages, method, strategy, workers=run.count, **known)
    ]


def kept_batches(case: Case) -> Judgement:
    """DLL306: does the loop gain tensors in shared memory with every batch, and their descriptors?"""
    kept = [(run, one) for run in case.runs for one in run.kept if one.batches > 2]
    if not kept:
        return inconclusive("too few batches came to see a slope")
    kept = [(run, one) for run, one in kept if _more_than_prefetched(run, one)] or kept
    run, most = max(kept, key=lambda pair: pair[1].maps_a_batch)
    if most.maps_a_batch < A_BATCH:
        return refuted(f"{most.maps_a_batch:.1f} tensors in shared memory more a batch, over {most.batches} batches")
    if not _more_than_prefetched(run, most):
        return inconclusive(f"over {most.batches} batches, those made ahead may be all that the loop gained")
    if most.fds_a_batch >= A_BATCH:
        nofile = run.limits.values.get("nofile") if run.limits is not None else None
        end = (
            f": {nofile:,} are allowed, so that it fails after about {int(nofile / most.fds_a_batch):,} batches"
            if isinstance(nofile, int)
            else ""
        )
        return confirmed(f"{most.fds_a_batch:.1f} descriptors more with every batch, over {most.batches} batches{end}")
    return confirmed(f"{most.maps_a_batch:.1f} memory maps more with every batch, over {most.batches} batches")


def _more_than_prefetched(run: LoaderRun, kept: Kept) -> bool:
    """Whether more was gained than the batches can hold that were made ahead, and came before their turn."""
    storages = max(1, run.first_batch.storages if run.first_batch is not None else 1)
    return kept.maps_a_batch * (kept.batches - 2) > run.prefetch_factor * run.count * storages


def accounting(case: Case) -> Judgement:
    """DLL401: do mapped pages count in every worker, while nothing is used up?"""
    grown = max(filter(None, map(growth, case.runs)), key=lambda one: one.rss_last - one.rss_first, default=None)
    if grown is None:
        return inconclusive("no worker lived long enough to be measured twice")
    rss = grown.rss_last - grown.rss_first
    series = f"RSS of {counted(grown.workers, 'worker')} {mib(grown.rss_first)} → {mib(grown.rss_last)}"
    own = f"their own memory +{mib(max(grown.own, 0))}"
    if rss >= NOTICEABLE and grown.own < max(NOTICEABLE, rss / 4):
        pss = f"PSS {mib(grown.pss_first)} → {mib(grown.pss_last)}"
        return confirmed(f"{series}, {pss}, {own}: accounting, not a leak")
    if rss >= NOTICEABLE:
        return inconclusive(f"{series}, but {own}: that is no matter of mapped pages")
    return inconclusive(f"{series} in {_span(case)}: too little to be seen in a short run")


def whole_storage(case: Case) -> Judgement:
    """DLL307: does a batch take the whole dataset along?"""
    pairs = [(run.first_batch, run.storages) for run in case.runs if run.first_batch is not None and run.storages]
    known = [
        (batch.bytes, storages.storage_bytes) for batch, storages in pairs if batch and storages.storage_bytes >= MIB
    ]
    if not known:
        return inconclusive("the dataset's tensors, or its batches, were not measured")
    shipped, whole = max(known, key=lambda one: one[0] / one[1])
    both = f"the first batch took {mib(shipped)} of shared memory; the tensors of the dataset are {mib(whole)}"
    if shipped >= NEAR * whole:
        return confirmed(both)
    return refuted(both) if shipped < FAR * whole else inconclusive(both)


def process_argument(case: Case) -> Judgement:
    """DLL305: how was the process started, and how long did that take?"""
    launched = case.seen.launched_at(case.finding)
    if not launched:
        return inconclusive("no process was started from there")
    if all(one.method == "fork" for one in launched):
        return refuted("the process was forked, and is sent nothing")
    slowest = max(launched, key=lambda one: one.seconds or 0.0)
    took = f"; sending it all took {slowest.seconds:.2f} s" if slowest.seconds else ""
    return inconclusive(f"the process started by {slowest.method}{took}; what it was sent was not measured")


def unseen(case: Case) -> Judgement:
    """DLL403: what a run does not measure."""
    return inconclusive(f"it ran by {listed(methods(case.runs)) or 'no start method'}; its cost was not measured")


JUDGES: Mapping[str, Judge] = {
    "DLL301": array_copies,
    "DLL302": private_growth,
    "DLL303": many_tensors,
    "DLL304": private_growth,
    "DLL305": process_argument,
    "DLL306": kept_batches,
    "DLL307": whole_storage,
    "DLL401": accounting,
    "DLL403": unseen,
    "DLL404": mapped_copied,
}
