"""Decides whether the memory of workers keeps growing, from its size after 1, 2, 4, 8, … batches.

An allocator takes memory for the first batches, keeps it, and gives some of it back: that is a step, then a plateau.
What the program keeps, or the pages that it copies by touching them, grows with every batch. Each worker returns the
memory that it has freed (malloc_trim(3)) before it is looked at, so that what is left is in use.
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
"""In all workers the same grows: none by less than this part of what another one does."""


class Trend(NamedTuple):
    """The growth of a loader's workers over a run.

    `growing` of `workers` did so in each look as long as they grew at all. `most` is what the largest of these took for
    itself after its second batch, in bytes; `largest` what one took since its first batch, and `own` what all did;
    `file` and `resident` are how much mapped files and RSS grew meanwhile. `batches` were made until the last look.
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
        """What the workers took: a page that is copied on write was resident before, so that RSS does not grow."""
        if self.resident < self.own / 2:
            return "copied"
        return "allocated" if self.file < NOTICEABLE else "either"


def trend(run: LoaderRun) -> Trend | None:
    """The trend of a loader's workers; `None` where none made enough batches to see one."""
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
    """What a worker took for itself between two looks: what both figures have gained, or lost, see `worker_memory`.

    USS also falls when another program starts to share a library with the worker, which says nothing about the worker.
    """
    anonymous = (last.pss_anon or 0) - (first.pss_anon or 0)
    if first.uss is None or last.uss is None:
        return anonymous
    unique = last.uss - first.uss
    return min(anonymous, unique, key=abs) if (anonymous < 0) is (unique < 0) else 0


def _rising(samples: list[Sample]) -> int:
    """Bytes that a worker gained after its second look, where it gained in every look until it stopped for good.

    0 where it gained only once, or lost some of it again: that is how an allocator behaves.
    """
    steps = [own(before, after) for before, after in itertools.pairwise(samples)]
    while steps and abs(steps[-1]) < STEP:
        steps.pop()
    if len(steps) < _FEWEST - 1 or any(step < STEP / 2 for step in steps):
        return 0
    return sum(steps[1:])


def grows(run: LoaderRun, kind: Literal["copied", "allocated"]) -> bool:
    """Whether the memory of all workers grows with every batch, in this way, by more than a healthy one's."""
    seen = trend(run)
    return seen is not None and seen.is_shared and seen.most >= NOTICEABLE and seen.kind == kind
