"""Which loaders pickle what they hold for their workers, and how bad it is where that fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from dllint.finding import Finding, Place, Severity
from dllint.linking.source import SourceFile
from dllint.project.datasets import Kept
from dllint.project.loaders import Loader
from dllint.project.regimes import Regime
from dllint.project.start_methods import Hop
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


class Lost(Protocol):
    """Something that is kept and does not come through pickling."""

    @property
    def file(self) -> SourceFile: ...
    @property
    def span(self) -> Span: ...
    @property
    def statement(self) -> Span | None: ...
    @property
    def kept(self) -> Kept | None: ...


def pickled_loaders(project: Project, code: str) -> Iterator[tuple[Loader, Regime]]:
    """The loaders whose workers start by spawn or forkserver, with the regime that the project shows best.

    Where workers are only ever forked nothing is pickled; those loaders are told to who asked for rules of this family.
    """
    for loader in project.loaders:
        worst = pickling_regime(project, loader, code)
        if worst is not None:
            yield loader, worst


def pickling_regime(
    project: Project, loader: Loader, code: str, beside: Iterable[str] = (), holder: str = ""
) -> Regime | None:
    """The regime by which a loader's workers are judged where the files `beside` and the dataset `holder` take part."""
    selected = (*project.settings.select, *project.settings.extend_select)
    asked = any(code.startswith(prefix) and prefix != "DLL" for prefix in selected)
    regimes = project.regimes(loader, beside, holder)
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


def lost_finding(
    project: Project,
    code: str,
    uses: Sequence[tuple[Lost, Loader, Regime]],
    message: str,
    values: Mapping[str, str],
    hops: Iterable[Hop],
) -> Finding:
    """The finding about one such thing: what its loaders do with it, the worst first. `hops` leads from `__init__` to
    where it is made."""
    one, _, regime = uses[0]
    related = [project.loader_place(other) for _, other, _ in uses]
    kept = one.kept
    if kept is not None and (kept.file is not one.file or kept.span.line != one.span.line):
        related.insert(0, Place(kept.file.path, kept.span, f"kept here as `{kept.attr}`"))
    return Finding(
        code,
        one.file.path,
        one.span,
        message,
        values,
        severity=judged(regime)[1],
        start_methods=tuple(dict.fromkeys(use[2].method for use in uses if use[2].method != "fork")),
        trace=(*(project.chain(regime.arrival) if regime.arrival is not None else ()), *project.trace(hops)),
        related=tuple(dict.fromkeys(related)),
        statement=one.statement,
    )
