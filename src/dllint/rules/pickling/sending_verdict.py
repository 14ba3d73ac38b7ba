"""Verdicts on objects that could not be pickled to a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.evidence.failures import is_pickling
from dllint.evidence.wording import counted, said

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement


def judge(case: Case) -> Judgement:
    """Did a pool or process fail to pickle its arguments?"""
    for end in case.seen.died_at(case.finding):
        if is_pickling(f"{end.exception}: {end.text}"):
            return case.confirmed(said(end.exception, end.text))
    for launch in case.seen.launched_at(case.finding):
        if launch.error and is_pickling(launch.error):
            return case.confirmed(launch.error)
    sent = [one for one in case.seen.launched_at(case.finding) if one.api == "Process" and not one.error]
    pickled = [one for one in sent if one.method in ("spawn", "forkserver")]
    if pickled:
        return case.refuted(
            f"{counted(len(pickled), 'process')} started by {pickled[0].method} from here, so it was pickled"
        )
    if sent:
        return case.inconclusive(f"{counted(len(sent), 'process')} started by {sent[0].method}, which pickles nothing")
    return case.inconclusive("the run did not record this being sent")
