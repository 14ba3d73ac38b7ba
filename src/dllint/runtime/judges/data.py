"""DLL6: what workers do to data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from dllint.observation import Draw
from dllint.runtime.judges.case import (
    Case,
    Judge,
    Judgement,
    confirmed,
    counted,
    inconclusive,
    not_reached,
    refuted,
    said,
)
from dllint.runtime.judges.starting import ended_by
from dllint.runtime.sites import LoaderRun

REBUILT = 3
"""Iterations of a batch or less from which on a loader is rebuilt in a loop."""
GLOBAL_SOURCES = ("numpy.random", "random", "torch")


def unsharded(case: Case) -> Judgement:
    """DLL601: did workers deliver the same items?"""
    alike = False
    for run in case.runs:
        by_epoch: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for item in run.items:
            by_epoch[item.epoch][item.worker].append(item.digest)
        for epoch, by_worker in by_epoch.items():
            # Where a worker's own items are much the same, as labels are, equal ones of two workers tell nothing.
            told = {worker: digests for worker, digests in by_worker.items() if len(set(digests)) * 2 > len(digests)}
            alike = alike or bool(len(told) < len(by_worker) and _common([set(one) for one in by_worker.values()]))
            common = _common([set(digests) for digests in told.values()])
            if common:
                items = sum(map(len, told.values()))
                distinct = len(set().union(*told.values()))
                return confirmed(
                    f"{common} of {counted(distinct, 'item')} came from more than one of "
                    f"{counted(run.count, 'worker')} in epoch {epoch}: {items} for {distinct}"
                )
    if all(run.count < 2 for run in case.runs):
        return not_reached("its loader ran with one worker, which has no one to share with")
    if alike:
        return inconclusive("the items of a worker are too much alike to tell those of another from them")
    delivering = max((len({item.worker for item in run.items}) for run in case.runs), default=0)
    if delivering > 1:
        return refuted(f"{delivering} workers delivered items, and not the same ones")
    return inconclusive("items of more than one worker were not seen")


def _common(workers: list[set[str]]) -> int:
    """How many items two workers delivered both, if they are most of what one of them did; a few may be equal by
    chance."""
    most = 0
    for index, one in enumerate(workers):
        for other in workers[:index]:
            both = len(one & other)
            if both * 2 > min(len(one), len(other)):
                most = max(most, both)
    return most


def _repeats(draws: Iterable[Draw]) -> tuple[int, int, int]:
    """Of draws: how many there are, how many are distinct, and how many workers drew what another drew, in an epoch."""
    by_digest: dict[str, set[int]] = defaultdict(set)
    count = 0
    for draw in draws:
        by_digest[draw.digest].add(draw.worker)
        count += 1
    return count, len(by_digest), sum(len(workers) > 1 for workers in by_digest.values())


def _over_epochs(run: LoaderRun, draws: list[Draw]) -> bool:
    """Whether two epochs drew exactly the same."""
    by_epoch: dict[int, set[str]] = defaultdict(set)
    for draw in draws:
        by_epoch[draw.epoch].add(draw.digest)
    sets = list(by_epoch.values())
    return any(one == other for index, one in enumerate(sets) for other in sets[:index])


def repeated_draws(case: Case) -> Judgement:
    """DLL602, DLL603: did workers, or epochs, draw the same numbers?"""
    seen, alone = 0, False
    for run in case.runs:
        by_source: dict[str, list[Draw]] = defaultdict(list)
        for draw in run.draws:
            by_source[draw.source].append(draw)
        for source, draws in by_source.items():
            if (source in GLOBAL_SOURCES) != (case.finding.code == "DLL603") and case.finding.origin == "runtime":
                continue
            first = [draw for draw in draws if draw.epoch == draws[0].epoch]
            count, distinct, shared = _repeats(first)
            seen = max(seen, len({draw.worker for draw in first}))
            alone = alone or shared == 1 < count
            # The state that workers were given is the same also where each seeds it anew before it draws.
            if shared > 1:
                return confirmed(
                    f"{distinct} of {counted(count, 'draw')} from {source} are distinct in {run.count} workers"
                )
            if _over_epochs(run, draws):
                return confirmed(f"{source} gave the same {counted(distinct, 'draw')} in every epoch")
    if alone:
        return inconclusive("workers began with the same state, and went on from different ones")
    if seen > 1:
        return refuted(f"{seen} workers drew, and no draw came twice")
    if case.runs and all(run.count < 2 for run in case.runs):
        return inconclusive("its loader ran with one worker")
    return inconclusive("no draws of more than one worker were seen")


def rebuilt(case: Case) -> Judgement:
    """DLL604: were iterators, or the loader itself, made again and again for a batch each?"""
    iterations = sum(len(run.iterations) for run in case.runs)
    # An epoch that the run itself cut says nothing of the program: later ones are cut to a batch.
    epochs = [epoch for run in case.runs for epoch in run.epochs if not epoch.cut and epoch.total != 1]
    short = sum(epoch.batches <= 1 for epoch in epochs)
    if short >= REBUILT:
        starts = [one.first or 0.0 for run in case.runs for one in run.epochs if one.batches]
        each = f", {sum(starts) / len(starts) * 1000:.0f} ms each" if starts and sum(starts) else ""
        return confirmed(f"{short} iterators gave one batch at most{each}")
    if len(case.runs) >= REBUILT:
        return confirmed(f"the loader was built {len(case.runs)} times")
    if iterations > 1:
        return refuted(f"{counted(iterations, 'iterator')} gave {sum(run.batches for run in case.runs)} batches")
    return inconclusive(f"{counted(iterations, 'iteration')} of this loader")


def without_workers(case: Case) -> Judgement:
    """DLL605: did the constructor, or iter(), refuse the option?"""
    for run in case.runs:
        if run.loader.error:
            return confirmed(f"the constructor raised {run.loader.error}")
        for one in run.iterations:
            if one.error and not run.count:
                return confirmed(f"iter() raised {said(one.error, one.text)}")
    for end in case.seen.died_at(case.finding):
        died = ended_by(case, "DLL605")
        if died is not None and died[0] is end:
            return confirmed(said(end.exception, end.text))
    if not case.runs:
        return not_reached("this loader was never built")
    if any(run.count for run in case.runs):
        return not_reached(f"its loader ran with {counted(case.count, 'worker')} here")
    return refuted("it was built with no workers, and nothing was refused")


def changed_later(case: Case) -> Judgement:
    """DLL606: do workers live on while the dataset changes?"""
    lasting = [run for run in case.runs if any(one.persistent for one in run.iterations)]
    if not lasting:
        return refuted("its workers start anew in each epoch, with the dataset as it is then")
    again = [run for run in lasting if any(not one.fresh for one in run.iterations)]
    if again:
        return inconclusive("its workers lived through several epochs; whether they missed a change was not seen")
    return inconclusive("one epoch was run")


def cut_short(case: Case) -> Judgement:
    """DLL607: did an epoch end before its data?"""
    ended = [(run, epoch) for run in case.runs for epoch in run.epochs if not epoch.cut]
    for _, epoch in ended:
        if epoch.natural and epoch.total is not None and epoch.batches < epoch.total:
            return confirmed(f"epoch {epoch.number} ended silently after {epoch.batches} of {epoch.total} batches")
    whole = [epoch for _, epoch in ended if epoch.natural and epoch.total is not None]
    if whole:
        return refuted(f"{counted(len(whole), 'epoch')} came to the end of the data")
    if not case.runs:
        return not_reached("this loader was never built")
    return inconclusive("no epoch was run to the end of its data")


def misuse(case: Case) -> Judgement:
    """DLL608: did the program die at this line?"""
    for end in case.seen.died_at(case.finding):
        return confirmed(said(end.exception, end.text))
    return inconclusive("the run did not fail there")


JUDGES: Mapping[str, Judge] = {
    "DLL601": unsharded,
    "DLL602": repeated_draws,
    "DLL603": repeated_draws,
    "DLL604": rebuilt,
    "DLL605": without_workers,
    "DLL606": changed_later,
    "DLL607": cut_short,
    "DLL608": misuse,
}
