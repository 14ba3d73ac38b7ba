"""What a run says of workers whose own memory grows: DLL302 and DLL304."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.evidence.thresholds import NOTICEABLE
from dllint.evidence.wording import counted, mebibytes
from dllint.evidence.worker_memory import growth

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement


def judge(case: Case) -> Judgement:
    """Do forked workers copy pages (DLL302), or do workers allocate more and more (DLL304)?"""
    grown = max(filter(None, map(growth, case.runs)), key=lambda one: one.most_own, default=None)
    if grown is None:
        return case.inconclusive("no worker lived long enough for two measurements")
    of = f"a worker's own memory grew by {mebibytes(max(grown.most_own, 0))} in {case.lasted}"
    if grown.most_own >= NOTICEABLE and grown.kind == ("allocated" if case.finding.code == "DLL302" else "copied"):
        what = "newly allocated, not copied on write" if grown.kind == "allocated" else "copied on write, not allocated"
        return case.inconclusive(f"{of}, {what}")
    if grown.most_own >= NOTICEABLE:
        total = f", {mebibytes(grown.own)} in {counted(grown.workers, 'worker')}" if grown.workers > 1 else ""
        return case.confirmed(f"{of}{total} (mapped files: {mebibytes(max(grown.file, 0))})")
    small = max(
        (run.storages.pickled for run in case.runs if run.storages and not run.storages.exception), default=None
    )
    if case.finding.code == "DLL302" and small is not None and small < NOTICEABLE:
        return case.refuted(f"{of}; the whole dataset holds only {mebibytes(small)}")
    return case.inconclusive(f"{of}; less than 10 MiB proves nothing in a short run")
