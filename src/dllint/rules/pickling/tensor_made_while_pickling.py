"""DLL206: a dataset whose pickling makes tensors, which are gone before the worker has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding
from dllint.project import Project, Regime
from dllint.project.loaders import Loader
from dllint.rules.pickling.pickled_loaders import judged, lost_finding, pickled_loaders, pickling_regime, rank
from dllint.rules.pickling.pickled_tensors import MadeTensor, made_while_pickling, shares_by_descriptor
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
    message = judged(regime)[0]
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
    hops = one.kept.hops if one.kept is not None else ()
    return lost_finding(project, CODE, uses, message, values, hops)
