"""Verdicts on workers whose private memory grows: DLL302 and DLL304."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.evidence.memory_trend import trend
from dllint.evidence.thresholds import NOTICEABLE
from dllint.evidence.wording import counted, mebibytes

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement


def judge(case: Case) -> Judgement:
    """Do forked workers copy pages (DLL302), or do workers keep allocating memory (DLL304)?"""
    seen = max(filter(None, map(trend, case.runs)), key=lambda one: one.most, default=None)
    if seen is None:
        few = "each worker made too few batches to see a trend"
        cut = any(epoch.cut for run in case.runs for epoch in run.epochs)
        return case.inconclusive(f"{few}: --max-batches gives it more" if cut else few)
    after = f"within {counted(seen.batches, 'batch')}"
    if not seen.is_shared and seen.growing:
        return case.inconclusive(f"the memory of {seen.growing} of {counted(seen.workers, 'worker')} grew {after}")
    of = f"a worker's own memory grew by {mebibytes(seen.largest)} {after}"
    if seen.most >= NOTICEABLE and seen.kind == ("allocated" if case.finding.code == "DLL302" else "copied"):
        what = "newly allocated, not copied on write" if seen.kind == "allocated" else "copied on write, not allocated"
        return case.inconclusive(f"{of}, {what}")
    if seen.most >= NOTICEABLE:
        total = f", {mebibytes(seen.own)} in {counted(seen.workers, 'worker')}" if seen.workers > 1 else ""
        return case.confirmed(f"{of}{total}, and grew with every look (mapped files: {mebibytes(max(seen.file, 0))})")
    small = max(
        (run.storages.pickled for run in case.runs if run.storages and not run.storages.exception), default=None
    )
    if case.finding.code == "DLL302" and small is not None and small < NOTICEABLE:
        return case.refuted(f"{of}; the whole dataset holds only {mebibytes(small)}")
    if not seen.most:
        return case.inconclusive(f"the workers' memory stops growing {after}")
    return case.inconclusive(f"{of}; less than 10 MiB proves nothing in a short run")
