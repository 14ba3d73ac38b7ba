"""What a judge is given and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from dllint.finding import Finding, Verdict
from dllint.observation import Trial
from dllint.runtime.sites import LoaderRun, Seen

MIB = 1 << 20
NOTICEABLE = 10 * MIB
"""A healthy forked worker gains up to 1.5 MiB, and once about 7 MiB when the garbage collector first runs: growth below
this confirms nothing."""
LONGEST = 200
"""Characters of an exception's text that are told."""
NEAR, FAR = 0.8, 0.5
"""Parts of a limit: a count confirms from the first on, and refutes below the second."""


@dataclass(frozen=True)
class Judgement:
    verdict: Verdict
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A finding with what the run saw of it.

    Attributes:
        runs: its loaders that ran with workers; for the rules of `WITHOUT_WORKERS`, all of its loaders.
        allowed: the start methods that are a default somewhere in the targets, with the words for where.
    """

    finding: Finding
    runs: tuple[LoaderRun, ...]
    seen: Seen
    allowed: Mapping[str, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return max((run.count for run in self.runs), default=0)

    def where(self, method: str) -> str:
        """The start method with the words for where it is the default."""
        return f"{method}, the default on {self.allowed[method]}" if method in self.allowed else method


Judge = Callable[[Case], Judgement]


def confirmed(*evidence: str) -> Judgement:
    return Judgement("confirmed", evidence)


def latent(*evidence: str) -> Judgement:
    return Judgement("latent", evidence)


def refuted(*evidence: str) -> Judgement:
    return Judgement("refuted", evidence)


def inconclusive(*evidence: str) -> Judgement:
    return Judgement("inconclusive", evidence)


def not_reached(*evidence: str) -> Judgement:
    return Judgement("not reached", evidence)


def mib(size: float) -> str:
    """`12 MiB`; one digit below 10."""
    return f"{size / MIB:,.0f} MiB" if size >= 10 * MIB else f"{size / MIB:.1f} MiB"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}{'es' if noun == 'batch' else 's'}"


def said(exception: str | None, text: str) -> str:
    """`AttributeError: Can't pickle …`: the class without its module, and the first paragraph of what it says.

    What carries the traceback of another process is told by that one's last line.
    """
    name = (exception or "an error").rpartition(".")[2]
    lines = text.strip().splitlines()
    words: list[str] = []
    for line in lines:
        if line.startswith(("Traceback ", "Original Traceback ")):
            last = next(one.strip() for one in reversed(lines) if one.strip("- "))
            return last[:LONGEST] if last.startswith(name) or not words else f"{name}: {last}"[:LONGEST]
        if not line.strip():
            break
        if not line.strip("- "):
            continue
        words += line.split()
    first = " ".join(words)
    first = first if len(first) <= LONGEST else f"{first[: LONGEST - 3]}..."
    return f"{name}: {first}" if first else name


def failed_trials(runs: Iterable[LoaderRun]) -> list[Trial]:
    return [trial for run in runs for trial in run.trials if trial.outcome == "failed"]


def listed(words: Iterable[str]) -> str:
    """`fork, spawn and forkserver`."""
    each = list(dict.fromkeys(words))
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 2 else each)
