"""Verdicts on CUDA in forked processes: DLL103 and DLL106."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.evidence.wording import listed

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement


def judge(case: Case) -> Judgement:
    """Was CUDA used in a forked process whose parent had used it?"""
    if case.failure is not None:
        return case.confirmed(case.failure)
    records = [one for run in case.runs for one in run.cuda]
    for one in records:
        if one.used and one.poisoned:
            return case.confirmed(
                f"worker {one.worker} called {one.call or 'CUDA'}, which its parent had used before the fork"
            )
    if not case.runs:
        return case.inconclusive("no process of this run ended with that error")
    if not any(one.available for one in case.seen.cuda):
        return case.inconclusive("this machine has no CUDA device, so the run cannot show it")
    if any(run.forked for run in case.runs) and not any(one.used for one in records):
        return case.refuted("no worker used CUDA")
    return case.inconclusive(f"the workers started by {listed(case.methods)}")
