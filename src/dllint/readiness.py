"""Whether a project works with forkserver as the default: the summary of `dllint check --target-python 3.14`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint import registry
from dllint.finding import Finding

if TYPE_CHECKING:
    from dllint.project.model import Project

METHOD = "forkserver"
"""The default on Linux from Python 3.14 (docs.python.org, multiprocessing, "Contexts and start methods")."""


@dataclass(frozen=True)
class Survival:
    """How a project fares under forkserver.

    Attributes:
        loaders: number of DataLoaders that can have workers.
        following: number of those whose workers use the target's default start method.
        failing: codes of the findings about what then fails, each with their number.
        costing: the same for what then costs memory or time.
    """

    loaders: int
    following: int
    failing: tuple[tuple[str, int], ...]
    costing: tuple[tuple[str, int], ...]


def judge(project: Project, findings: Iterable[Finding]) -> Survival | None:
    """Return the summary if forkserver is the only default start method of the targets; otherwise `None`."""
    if list(project.targets.default_start_methods()) != [METHOD]:
        return None
    loaders = [regimes for loader in project.loaders if (regimes := project.regimes(loader))]
    concerned = [one for one in findings if METHOD in one.start_methods and one.severity != "info"]
    failing = [one for one in concerned if one.severity == "error" or one.code in _failing_codes()]
    return Survival(
        len(loaders),
        sum(any(regime.source == "default" for regime in regimes) for regimes in loaders),
        _counted(failing),
        _counted(one for one in concerned if one not in failing),
    )


def _failing_codes() -> frozenset[str]:
    """Return the rules whose warnings are about failures too."""
    return frozenset(rule.code for rule in registry.rules() if rule.page.fails)


def _counted(findings: Iterable[Finding]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(one.code for one in findings).items()))
