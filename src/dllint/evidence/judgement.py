"""The input and the result of a rule's `judge` function, which turns a run into a verdict on a finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dllint.evidence.failures import Signature, meaning
from dllint.evidence.wording import counted, said
from dllint.finding import Finding, Verdict

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun, Seen
    from dllint.observation import End, Trial


@dataclass(frozen=True)
class Judgement:
    verdict: Verdict
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A finding, and the records of the run that concern it.

    Judges create their result with its methods, `case.confirmed("…")`, so that a rule's module imports none of this.

    Attributes:
        runs: the finding's loaders that ran with workers; all its loaders if, by the rule's page, the hazard needs no
            workers.
        allowed: the start methods that are a default on some target, with a description of the targets.
    """

    finding: Finding
    runs: tuple[LoaderRun, ...]
    seen: Seen
    allowed: Mapping[str, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return max((run.count for run in self.runs), default=0)

    @property
    def methods(self) -> list[str]:
        """The distinct start methods that the loaders ran under."""
        return list(dict.fromkeys(run.method for run in self.runs if run.method))

    @property
    def lasted(self) -> str:
        """How long the loaders ran, as text: "2 epochs"."""
        epochs = max((len(run.epochs) for run in self.runs), default=0)
        return counted(epochs, "epoch") if epochs else "this run"

    def where(self, method: str) -> str:
        """Return the start method with the targets on which it is the default."""
        return f"{method}, the default on {self.allowed[method]}" if method in self.allowed else method

    @property
    def died(self) -> tuple[End, Signature] | None:
        """A process that died with an error text of the rule, and its signature; `None` if there is none."""
        for end in self.seen.ends:
            sign = meaning(f"{end.exception}: {end.text}\n{end.traceback}") if end.exception else None
            if sign is not None and self.finding.code in sign.codes:
                return end, sign
        return None

    @property
    def died_here(self) -> str | None:
        """The error of a process that died with an error text of the rule where the finding is; else `None`."""
        if self.died is None or self.died[0] not in self.seen.died_at(self.finding):
            return None
        return said(self.died[0].exception, self.died[0].text)

    @property
    def raised(self) -> list[str]:
        """The exceptions of iter() and of epochs that match an error text of the rule."""
        found = []
        for run in self.runs:
            for error, text in run.failures:
                sign = meaning(f"{error}: {text}")
                if sign is not None and self.finding.code in sign.codes:
                    found.append(said(error, text))
        return found

    @property
    def failure(self) -> str | None:
        """The failure of a loader of the finding, else of any process, with an error text of the rule; else `None`."""
        if self.raised:
            return self.raised[0]
        return said(self.died[0].exception, self.died[0].text) if self.died is not None else None

    @property
    def failed_trials(self) -> list[Trial]:
        return [trial for run in self.runs for trial in run.trials if trial.outcome == "failed"]

    @staticmethod
    def confirmed(*evidence: str) -> Judgement:
        return Judgement("confirmed", evidence)

    @staticmethod
    def latent(*evidence: str) -> Judgement:
        return Judgement("latent", evidence)

    @staticmethod
    def refuted(*evidence: str) -> Judgement:
        return Judgement("refuted", evidence)

    @staticmethod
    def inconclusive(*evidence: str) -> Judgement:
        return Judgement("inconclusive", evidence)

    @staticmethod
    def not_reached(*evidence: str) -> Judgement:
        return Judgement("not reached", evidence)
