"""The evidence of a run: the vocabulary in which each rule judges its own findings.

loader run   everything that the records say of one DataLoader object: call site, iterations, workers, measurements
case         a finding with the loader runs that it is about
judgement    a verdict on a case, and the evidence for it, one line each

A rule that a run can speak of has two functions beside its `check`:

    def judge(case: Case) -> Judgement          what the run showed of one of the rule's findings
    def concerns(run: LoaderRun) -> bool        whether a loader without a finding shows signs of the hazard

Both read records and nothing else. A rule without `judge` is inconclusive where its loader ran, and not reached where
it did not; a rule without `concerns` is never found by a run alone.

This is a room of its own beside `observation` for two reasons: importing any part of that package builds the classes of
all records, which a static check never needs; and the probe, inside the user's processes, imports that package and must
not come across findings there. Nothing here imports the records where a check would load it: rules take them as given.
"""
