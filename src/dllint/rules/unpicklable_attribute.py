"""DLL203: a dataset keeps a handle, lock or other object that cannot be pickled to workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding, Place
from dllint.project import Project, Regime
from dllint.project.loaders import Loader
from dllint.project.pickled_loaders import judged, pickled_loaders, pickling_regime, rank
from dllint.project.unpicklable_values import Refused, refused_by_pickle
from dllint.span import Span

CODE = "DLL203"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    uses: dict[tuple[str, Span], list[tuple[Refused, Loader, Regime]]] = {}
    for loader, regime in pickled_loaders(project, CODE):
        for one in refused_by_pickle(project, loader, regime):
            worst = pickling_regime(project, loader, CODE, one.files)
            if worst is not None:
                uses.setdefault((one.file.path, one.span), []).append((one, loader, worst))
    for found in uses.values():
        found.sort(key=lambda use: rank(use[2]))
        yield _finding(project, found)


def _finding(project: Project, uses: list[tuple[Refused, Loader, Regime]]) -> Finding:
    one, loader, regime = uses[0]
    message, severity = judged(regime)
    values = {
        "what": one.refusal.what,
        "kept": one.holder,
        "loader": project.where(loader.file, loader.span),
        "method": regime.method,
        "where": regime.where,
        "error": one.refusal.error(max(project.targets.pythons)),
        "remedy": one.refusal.remedy,
    }
    related = [project.loader_place(other) for _, other, _ in uses]
    kept = one.kept
    if kept is not None and (kept.file is not one.file or kept.span.line != one.span.line):
        related.insert(0, Place(kept.file.path, kept.span, f"kept here as `{kept.attr}`"))
    return Finding(
        CODE,
        one.file.path,
        one.span,
        message,
        values,
        severity=severity,
        start_methods=tuple(dict.fromkeys(use[2].method for use in uses if use[2].method != "fork")),
        trace=(
            *(project.chain(regime.arrival) if regime.arrival is not None else ()),
            *project.trace(one.hops),
        ),
        related=tuple(dict.fromkeys(related)),
        statement=one.statement,
    )
