"""The evidence of a run: the vocabulary in which each rule judges its own findings.

    loader run   all records of one DataLoader object: call site, iterations, workers, measurements
    case         a finding with the loader runs that it is about
    judgement    a verdict on a case, and the evidence for it, one line each

A rule that a run can judge has two functions besides its `check`:

    def judge(case: Case) -> Judgement          what the run showed about one of the rule's findings
    def concerns(run: LoaderRun) -> bool        whether a loader without a finding shows signs of the hazard

Both read only records. A rule without `judge` is inconclusive if its loader ran, and not reached if it did not; a rule
without `concerns` is never found by a run alone.

This package is separate from `observation` for two reasons: importing any part of that package creates the classes of
all records, which a static check never needs; and the probe, inside the user's processes, imports that package and must
not depend on findings. Modules here that a check imports do not import the records: rules receive them as arguments.
"""
