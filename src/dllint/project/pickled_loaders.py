"""Which loaders pickle what they hold for their workers, and how bad it is where that fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.finding import Severity
from dllint.project.loaders import Loader
from dllint.project.regimes import Regime

if TYPE_CHECKING:
    from dllint.project.model import Project


def pickled_loaders(project: Project, code: str) -> Iterator[tuple[Loader, Regime]]:
    """The loaders whose workers start by spawn or forkserver, with the regime that the project shows best.

    Where workers are only ever forked nothing is pickled; those loaders are told to who asked for rules of this family.
    """
    for loader in project.loaders:
        worst = pickling_regime(project, loader, code)
        if worst is not None:
            yield loader, worst


def pickling_regime(project: Project, loader: Loader, code: str, beside: Iterable[str] = ()) -> Regime | None:
    """The regime by which a loader's workers are judged where the files `beside` take part."""
    selected = (*project.settings.select, *project.settings.extend_select)
    asked = any(code.startswith(prefix) and prefix != "DLL" for prefix in selected)
    regimes = project.regimes(loader, beside)
    forked = regimes[0] if regimes and asked else None
    return next((regime for regime in regimes if regime.method != "fork"), forked)


def rank(regime: Regime) -> tuple[bool, bool]:
    """Orders regimes by what they make of an object that cannot be pickled, the worst first."""
    return regime.method == "fork", not (regime.shown or regime.only)


def judged(regime: Regime) -> tuple[str, Severity]:
    """The message and severity for an object that cannot be pickled and that workers get under a start method."""
    if regime.method == "fork":
        return "fork_only", "info"
    return ("main" if regime.shown else "latent"), ("error" if regime.shown or regime.only else "warning")
