"""What a run says of random draws that repeat: DLL602 and DLL603."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dllint.evidence.wording import counted

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun
    from dllint.observation import Draw

GLOBAL_SOURCES = ("numpy.random", "random", "torch")


def judge(case: Case) -> Judgement:
    """Did workers, or epochs, draw the same numbers?"""
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
            # The state that workers were given is the same also where each seeds it again before it draws.
            if shared > 1:
                return case.confirmed(
                    f"{distinct} of {counted(count, 'draw')} from {source} are distinct in {run.count} workers"
                )
            if _over_epochs(draws):
                return case.confirmed(f"{source} made the same {counted(distinct, 'draw')} in every epoch")
    if alone:
        return case.inconclusive("workers started with the same state, and later drew different numbers")
    if seen > 1:
        return case.refuted(f"{seen} workers drew numbers, and none twice")
    if case.runs and all(run.count < 2 for run in case.runs):
        return case.inconclusive("its loader ran with one worker")
    return case.inconclusive("the run recorded no draws of more than one worker")


def _repeats(draws: Iterable[Draw]) -> tuple[int, int, int]:
    """Of draws: how many there are, how many are distinct, and how many workers drew what another drew, in an epoch."""
    by_digest: dict[str, set[int]] = defaultdict(set)
    count = 0
    for draw in draws:
        by_digest[draw.digest].add(draw.worker)
        count += 1
    return count, len(by_digest), sum(len(workers) > 1 for workers in by_digest.values())


def _over_epochs(draws: list[Draw]) -> bool:
    """Whether two epochs drew exactly the same."""
    by_epoch: dict[int, set[str]] = defaultdict(set)
    for draw in draws:
        by_epoch[draw.epoch].add(draw.digest)
    sets = list(by_epoch.values())
    return any(one == other for index, one in enumerate(sets) for other in sets[:index])


def concerns(run: LoaderRun) -> bool:
    return bool(run.draws)
