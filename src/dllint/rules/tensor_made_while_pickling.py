"""DLL206: a dataset whose pickling makes tensors, which are gone before the worker has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding, Place
from dllint.project import Project, Regime
from dllint.project.loaders import Loader
from dllint.project.pickled_loaders import judged, pickled_loaders, pickling_regime, rank
from dllint.project.pickled_tensors import MadeTensor, made_while_pickling, shares_by_descriptor
from dllint.span import Span

CODE = "DLL206"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    uses: dict[tuple[str, Span], list[tuple[MadeTensor, Loader, Regime]]] = {}
    for loader, _ in pickled_loaders(project, CODE):
        if not shares_by_descriptor(project, loader):
            continue
        for one in made_while_pickling(project, loader):
            worst = pickling_regime(project, loader, CODE, {one.file.path})
            if worst is not None:
                uses.setdefault((one.file.path, one.span), []).append((one, loader, worst))
    for found in uses.values():
        found.sort(key=lambda use: rank(use[2]))
        yield _finding(project, found)


def _finding(project: Project, uses: list[tuple[MadeTensor, Loader, Regime]]) -> Finding:
    one, loader, regime = uses[0]
    message, severity = judged(regime)
    if message != "fork_only":
        message = "state" if one.method else "main"
    elif one.method:
        message = "fork_only_state"
    values = {
        "kept": one.holder,
        "method": one.method,
        "loader": project.where(loader.file, loader.span),
        "start": regime.method if regime.shown else f"{regime.method} (the default on {regime.where})",
        "remedy": "state" if one.method else "main",
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
            *project.trace(kept.hops if kept is not None else ()),
        ),
        related=tuple(dict.fromkeys(related)),
        statement=one.statement,
    )
