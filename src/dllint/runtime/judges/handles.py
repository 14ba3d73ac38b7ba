"""DLL402: handles opened before a fork.

The race itself shows in 0.02 to 0.5 % of reads, so that right results prove nothing. What is exact is whether parent
and worker hold the same open file (kcmp) and whether its offset moved while the worker fetched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from dllint.runtime.judges.case import Case, Judge, Judgement, confirmed, counted, inconclusive, refuted
from dllint.runtime.judges.starting import ended_by, failed_iterations, gave_up


def shared_handle(case: Case) -> Judgement:
    forked = [run for run in case.runs if run.forked]
    if not forked:
        return refuted("its workers were not forked, so that each has handles of its own")
    errors = failed_iterations(case.runs, "DLL402")
    died = ended_by(case, "DLL402")
    if errors or died is not None:
        raised = errors[0] if errors else died[1].cause if died else ""
        return confirmed(f"a worker failed: {raised}")
    handles = [one for run in forked for one in run.handles]
    moved = [one for one in handles if one.shared and one.moved and one.used is not False]
    if moved:
        one = moved[0]
        name = f"{one.attribute} " if one.attribute else ""
        workers = counted(len({each.worker for each in moved}), "worker")
        return confirmed(f"{workers} moved the offset of {name}{os.path.basename(one.path)}, which the parent opened")
    if any(not run.batches and (case.seen.hung or gave_up(run)) for run in forked):
        return confirmed("the program hung: no batch came from the forked workers")
    # What a library holds for itself, as LMDB its map, is not read by an offset at all.
    shared = [one for one in handles if one.shared and one.attribute]
    if any(one.used for one in shared) and all(one.moved is False for one in shared):
        return refuted(
            f"workers share {os.path.basename(shared[0].path)} with the parent, and its offset stayed: read by position"
        )
    return inconclusive("no offset moved; a clean short run proves nothing of a race")


JUDGES: Mapping[str, Judge] = {"DLL402": shared_handle}
