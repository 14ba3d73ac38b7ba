"""DLL5: threads that libraries start in workers.

Counted from /proc/PID/task, from a worker's start to after its first item. Two of the new threads are the worker's own:
the feeder of its queue, and the sharer of its tensors.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from dllint.runtime.judges.case import Case, Judge, Judgement, confirmed, counted, inconclusive, refuted

OWN = 2
"""New threads of a worker that every loader starts."""
ENOUGH_CORES = 4
"""Below this a pool of a thread a core is too small to be told from the worker's own threads."""


def thread_pool(case: Case) -> Judgement:
    """DLL501 to DLL503: do workers start a pool of threads?"""
    records = [one for run in case.runs for one in run.threads]
    if not records:
        return inconclusive("no worker's threads were counted")
    most = max(records, key=lambda one: one.after - one.start)
    new = most.after - most.start - OWN
    cores = os.cpu_count() or 1
    told = f"worker {most.worker} went from {most.start} to {counted(most.after, 'thread')} with its first item"
    if new >= 1:
        everywhere = f"; {counted(case.count, 'worker')} on {counted(cores, 'core')}" if case.count else ""
        return confirmed(f"{told}{everywhere}")
    if cores < ENOUGH_CORES:
        return inconclusive(f"{told}; on {counted(cores, 'core')} a pool is too small to be seen")
    if any(run.forked for run in case.runs) and case.finding.code == "DLL501":
        return inconclusive(f"{told}; forked workers of a parent that used the pool run serially, others do not")
    return refuted(told)


JUDGES: Mapping[str, Judge] = dict.fromkeys(("DLL501", "DLL502", "DLL503"), thread_pool)
