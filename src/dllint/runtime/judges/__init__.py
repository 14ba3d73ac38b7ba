"""One small judge a rule: what the records of a run say of a finding.

A judge is a function `(Case) -> Judgement`, found by the rule's code in `JUDGES`. A rule that has none is inconclusive
where its loader ran, and not reached where it did not. Judges read records and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from dllint.runtime.judges import data, handles, memory, pickling, starting, threads
from dllint.runtime.judges.case import Judge

JUDGES: Mapping[str, Judge] = {
    **starting.JUDGES,
    **pickling.JUDGES,
    **memory.JUDGES,
    **handles.JUDGES,
    **threads.JUDGES,
    **data.JUDGES,
}
WITHOUT_WORKERS = frozenset({"DLL102", "DLL105", "DLL207", "DLL305", "DLL605", "DLL607", "DLL608"})
"""Rules whose hazard needs no loader with workers, so that their judges are asked in any case."""
