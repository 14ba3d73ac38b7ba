"""DLL203: a dataset keeps a handle, lock or other object that cannot be pickled to workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding
from dllint.project import Project, Regime
from dllint.project.loaders import Loader
from dllint.rules.pickling.pickled_loaders import judged, lost_finding, pickled_loaders, pickling_regime, rank
from dllint.rules.pickling.pickling_verdict import judge, stopped
from dllint.rules.pickling.unpicklable_values import Refused, refused_by_pickle
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL203"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    uses: dict[tuple[str, Span], list[tuple[Refused, Loader, Regime]]] = {}
    for loader, regime in pickled_loaders(project, CODE):
        for one in refused_by_pickle(project, loader, regime):
            worst = pickling_regime(project, loader, CODE, one.files, one.holder)
            if worst is not None:
                uses.setdefault((one.file.path, one.span), []).append((one, loader, worst))
    for found in uses.values():
        found.sort(key=lambda use: rank(use[2]))
        yield _finding(project, found)


def _finding(project: Project, uses: list[tuple[Refused, Loader, Regime]]) -> Finding:
    one, loader, regime = uses[0]
    message = judged(regime)[0]
    values = {
        "what": one.refusal.what,
        "kept": one.holder,
        "loader": project.where(loader.file, loader.span),
        "method": regime.method,
        "where": regime.where,
        "error": one.refusal.error(max(project.targets.pythons)),
        "remedy": one.refusal.remedy,
    }
    return lost_finding(project, CODE, uses, message, values, one.hops)


def concerns(run: LoaderRun) -> bool:
    return stopped(run, CODE)
