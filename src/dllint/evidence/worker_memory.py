"""Measure how much memory the workers of a loader gained during a run.

A worker's own memory is judged by two figures together. USS alone includes mapped files that no other process maps;
`Pss_Anon` alone rises for a worker when another process that shares its pages ends. The gain of both is the worker's
own: copied pages, and its allocations. RSS counts a shared page in each process, as a scheduler that sums RSS does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dllint.evidence.memory_trend import own

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun
    from dllint.observation import Sample


class Growth(NamedTuple):
    """The growth of a loader's workers, from the first sample of each after it had work to its last, summed, in bytes.

    `own` is the memory of their own that they gained.
    """

    workers: int
    own: int
    file: int
    rss_first: int
    rss_last: int
    pss_first: int
    pss_last: int


def growth(run: LoaderRun) -> Growth | None:
    """Return the growth of the workers; `None` if none was measured twice."""
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
    return Growth(
        len(pairs),
        sum(own(first, last) for first, last in pairs),
        sum((last.pss_file or 0) - (first.pss_file or 0) for first, last in pairs),
        sum(first.rss or 0 for first, _ in pairs),
        sum(last.rss or 0 for _, last in pairs),
        sum(first.pss or 0 for first, _ in pairs),
        sum(last.pss or 0 for _, last in pairs),
    )
