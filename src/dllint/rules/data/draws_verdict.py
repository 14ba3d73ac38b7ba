"""Verdicts on repeated random draws: DLL602 and DLL603."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dllint.evidence.wording import counted

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun
    from dllint.observation import Draw

GLOBAL_SOURCES = ("numpy.random", "random", "torch")
_OVER_EPOCHS = ("epochs", "items")
"""The messages about draws that repeat in every epoch."""


def judge(case: Case) -> Judgement:
    """Did workers, or epochs, draw the same numbers?"""
    seen, once, alone = 0, False, False
    for run in case.runs:
        by_source: dict[str, list[Draw]] = defaultdict(list)
        for draw in run.draws:
            by_source[draw.source].append(draw)
        for source, draws in by_source.items():
            if (source in GLOBAL_SOURCES) != (case.finding.code == "DLL603") and case.finding.origin == "runtime":
                continue
            # An iterator that is abandoned at once, as in `next(iter(loader))`, shows few draws; another epoch shows
            # more.
            for epoch in dict.fromkeys(draw.epoch for draw in draws):
                own = [draw for draw in draws if draw.epoch == epoch]
                count, distinct, shared = _repeats((draw.worker, draw.digest + draw.after) for draw in own)
                seen = max(seen, len({draw.worker for draw in own}))
                # A table of random numbers that each worker creates for itself is drawn once, and may legitimately be
                # equal.
                if shared > 1:
                    return case.confirmed(
                        f"{distinct} of {counted(count, 'draw')} from {source} are distinct in {run.count} workers"
                    )
                once = once or shared == 1
                alone = alone or _repeats((draw.worker, draw.digest) for draw in own)[2] > 0
            if _over_epochs(draws):
                return case.confirmed(f"{source} made the same {counted(distinct, 'draw')} in every epoch")
    if case.finding.origin == "static" and (across := _across_processes(case.runs)):
        return case.confirmed(across)
    if once:
        return case.inconclusive("workers drew the same numbers once, which is too few to tell")
    if alone:
        return case.inconclusive("workers started with the same state, and later drew different numbers")
    if case.finding.message in _OVER_EPOCHS and max(map(_epochs, case.runs), default=0) < 2:
        return case.inconclusive("the run recorded the draws of one epoch only")
    if seen > 1:
        return case.refuted(f"{seen} workers drew numbers, and none twice")
    if case.runs and all(run.count < 2 for run in case.runs):
        return case.inconclusive("its loader ran with one worker")
    return case.inconclusive("the run recorded no draws of more than one worker")


def _across_processes(runs: Sequence[LoaderRun]) -> str:
    """A description of the draws that workers of different processes, such as the ranks of one program, have in common;
    "" if there are none.

    DataLoader itself seeds the global generators by the worker's number. Ranks with the same seed, often on purpose,
    therefore have workers of the same number that draw the same numbers. If torch gave these workers different seeds,
    the program has replaced them.
    """
    seeds = {(run.loader.pid, one.worker): one.seed for run in runs for one in run.workers if one.seed is not None}
    made: dict[tuple[str, int], dict[str, set[tuple[int, int]]]] = defaultdict(lambda: defaultdict(set))
    for run in runs:
        for draw in run.draws:
            made[draw.source, draw.epoch][draw.digest + draw.after].add((run.loader.pid, draw.worker))
    for (source, _), by_digest in made.items():
        shared = [
            workers
            for workers in by_digest.values()
            if len({pid for pid, _ in workers}) > 1
            and (
                source not in GLOBAL_SOURCES
                or len({number for _, number in workers}) > 1
                or len({seeds[one] for one in workers if one in seeds}) > 1
            )
        ]
        if len(shared) > 1:
            processes = len({pid for workers in by_digest.values() for pid, _ in workers})
            return f"{counted(len(shared), 'draw')} from {source} are the same in workers of {processes} processes"
    return ""


def _epochs(run: LoaderRun) -> int:
    """The number of epochs in which the workers drew."""
    return len({draw.epoch for draw in run.draws})


def _repeats(draws: Iterable[tuple[int, str]]) -> tuple[int, int, int]:
    """The number of draws, of distinct draws, and of draws that more than one worker made. Each draw comes with its
    worker."""
    by_digest: dict[str, set[int]] = defaultdict(set)
    count = 0
    for worker, digest in draws:
        by_digest[digest].add(worker)
        count += 1
    return count, len(by_digest), sum(len(workers) > 1 for workers in by_digest.values())


def _over_epochs(draws: list[Draw]) -> bool:
    """Whether two epochs drew exactly the same numbers."""
    by_epoch: dict[int, set[str]] = defaultdict(set)
    for draw in draws:
        by_epoch[draw.epoch].add(draw.digest)
    sets = list(by_epoch.values())
    return any(one == other for index, one in enumerate(sets) for other in sets[:index])


def concerns(run: LoaderRun) -> bool:
    return bool(run.draws)
