"""Verdicts on thread pools in workers: DLL501 to DLL503.

Threads are counted from /proc/PID/task, from a worker's start to after its first item. Two of the new threads belong to
every worker: the feeder thread of its queue, and the thread that shares its tensors.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dllint.evidence.wording import counted

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

OWN = 2
"""New threads that every worker of a loader starts."""
MANY = 2
"""Number of further threads from which a loader without a finding is examined."""
ENOUGH_CORES = 4
"""Number of cores below which a pool with one thread per core cannot be distinguished from the worker's own threads."""


def judge(case: Case) -> Judgement:
    """Do workers start a pool of threads?"""
    records = [one for run in case.runs for one in run.threads]
    if not records:
        return case.inconclusive("the run counted no worker's threads")
    most = max(records, key=lambda one: one.after - one.start)
    new = most.after - most.start - OWN
    cores = os.cpu_count() or 1
    told = f"worker {most.worker} went from {most.start} to {counted(most.after, 'thread')} with its first item"
    if new >= 1:
        everywhere = f"; {counted(case.count, 'worker')} on {counted(cores, 'core')}" if case.count else ""
        return case.confirmed(f"{told}{everywhere}")
    if cores < ENOUGH_CORES:
        return case.inconclusive(f"{told}; on {counted(cores, 'core')} a pool is too small to measure")
    if any(run.forked for run in case.runs) and case.finding.code == "DLL501":
        return case.inconclusive(f"{told}; forked workers of a parent that used the pool run serially, others do not")
    return case.refuted(told)


def starts_pool(run: LoaderRun, library: str) -> bool:
    """Whether a worker that loaded a library started more threads than its own."""
    return any(library in one.libraries and one.after - one.start - OWN >= MANY for one in run.threads)
