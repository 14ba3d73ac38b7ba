"""Decide whether the memory of workers keeps growing, from its size after 1, 2, 4, 8, … batches.

An allocator takes memory for the first batches, keeps it, and returns some of it: that is a step, then a plateau. Data
that the program keeps, or pages that are copied on access, grow with every batch. Each worker returns its freed memory
(malloc_trim(3)) before it is measured, so that what remains is in use.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal, NamedTuple

from dllint.evidence.thresholds import NOTICEABLE, STEP

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun
    from dllint.observation import Sample

_FEWEST = 3
_ALIKE = 4
"""All workers must show the same growth: none less than the largest divided by this."""


class Trend(NamedTuple):
    """The growth of a loader's workers over a run.

    Attributes:
        workers: number of workers with enough samples.
        growing: number of those that grew at each sample, until they stopped for good.
        most: the largest gain of one of these after its second sample, in bytes.
        largest: the largest gain of one since its first batch.
        own: the gain of all together since their first batches.
        file: growth of their mapped files.
        resident: growth of their RSS.
        batches: number of batches until the last sample.
    """

    workers: int
    growing: int
    most: int
    largest: int
    own: int
    file: int
    resident: int
    batches: int

    @property
    def is_shared(self) -> bool:
        """Whether all workers grow."""
        return self.growing == self.workers

    @property
    def kind(self) -> Literal["copied", "allocated", "either"]:
        """The kind of growth: a page copied on write was resident before, so RSS does not grow."""
        if self.resident < self.own / 2:
            return "copied"
        return "allocated" if self.file < NOTICEABLE else "either"


def trend(run: LoaderRun) -> Trend | None:
    """Return the trend of a loader's workers; `None` if none produced enough batches."""
    series: dict[int, list[Sample]] = {}
    for sample in run.samples:
        if sample.moment == "trend" and sample.pss_anon is not None:
            series.setdefault(sample.pid, []).append(sample)
    long = [sorted(one, key=lambda sample: sample.batches or 0) for one in series.values() if len(one) >= _FEWEST]
    if not long:
        return None
    gains = [_rising(samples) for samples in long]
    most = max(gains)
    alike = [gain >= max(most / _ALIKE, STEP) for gain in gains]
    grown = [samples for samples, same in zip(long, alike, strict=True) if same]
    taken = [own(samples[0], max(samples, key=_anonymous)) for samples in grown]
    return Trend(
        len(long),
        sum(alike),
        most,
        max(taken, default=0),
        sum(taken),
        sum((samples[-1].pss_file or 0) - (samples[0].pss_file or 0) for samples in grown),
        sum((samples[-1].rss or 0) - (samples[0].rss or 0) for samples in grown),
        max(samples[-1].batches or 0 for samples in long),
    )


def _anonymous(sample: Sample) -> int:
    return sample.pss_anon or 0


def own(first: Sample, last: Sample) -> int:
    """Return a worker's own gain or loss between two samples: the smaller change of both figures, see `worker_memory`.

    USS also falls when another program starts to share a library with the worker, which says nothing about the worker.
    """
    anonymous = (last.pss_anon or 0) - (first.pss_anon or 0)
    if first.uss is None or last.uss is None:
        return anonymous
    unique = last.uss - first.uss
    return min(anonymous, unique, key=abs) if (anonymous < 0) is (unique < 0) else 0


def _rising(samples: list[Sample]) -> int:
    """Return the bytes gained after the second sample by a worker that grew at every sample until it stopped for good.

    0 if it grew only once, or shrank again: that is how an allocator behaves.
    """
    steps = [own(before, after) for before, after in itertools.pairwise(samples)]
    while steps and abs(steps[-1]) < STEP:
        steps.pop()
    if len(steps) < _FEWEST - 1 or any(step < STEP / 2 for step in steps):
        return 0
    return sum(steps[1:])


def grows(run: LoaderRun, kind: Literal["copied", "allocated"]) -> bool:
    """Whether the memory of all workers grows with every batch, in this way, by more than that of a healthy worker."""
    seen = trend(run)
    return seen is not None and seen.is_shared and seen.most >= NOTICEABLE and seen.kind == kind
