"""DLL303: a dataset keeps many separate tensors, each of which takes a descriptor and a map in every worker that is not
forked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dllint.finding import Finding, Severity
from dllint.inference.values import Class
from dllint.libraries.torch.tensors import DESCRIPTORS_IN_A_MESSAGE, MEMORY_MAPS, OPEN_FILES
from dllint.project import Project, Regime
from dllint.project.loaders import Loader
from dllint.project.tensors import ManyTensors
from dllint.span import Span

CODE = "DLL303"
_RANKS = ("many", "counted", "descriptors", "maps", "forkserver")
"""Messages from the mildest to the worst."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    found: dict[tuple[str, Span], tuple[tuple[int, bool], Finding]] = {}
    for loader in project.loaders:
        for value in project.dataset_objects(loader) if project.regimes(loader) else ():
            assert isinstance(value.of, Class)
            beside = project.programs.behind(value)
            regimes = [regime for regime in project.regimes(loader, beside, value.of.name) if regime.method != "fork"]
            for many in project.tensors.many(value):
                judged = [(message, regime) for regime in regimes if (message := _message(options, many, regime))]
                if not judged:
                    continue
                message, regime = max(judged, key=lambda pair: (_RANKS.index(pair[0]), pair[1].shown))
                rank = (_RANKS.index(message), regime.shown)
                key = (many.kept.file.path, many.kept.store.event.span)
                place = project.loader_place(loader)
                finding = _finding(project, value.of.name, many, message, regime, loader)
                methods = [other.method for _, other in judged]
                if key in found:
                    related = (*found[key][1].related, *finding.related, place)
                    methods += found[key][1].start_methods
                    rank, finding = max((found[key], (rank, finding)), key=lambda pair: pair[0])
                    finding = replace(finding, related=tuple(dict.fromkeys(related)))
                methods = [*finding.start_methods, *methods]
                finding = replace(finding, start_methods=tuple(dict.fromkeys(methods)))
                found[key] = rank, finding
    yield from (finding for _, finding in found.values())


def _message(options: Mapping[str, Any], many: ManyTensors, regime: Regime) -> str | None:
    """What becomes of the tensors under one start method; None where they are few."""
    if many.count is None:
        return "many"
    if many.count <= options["few"]:
        return None
    if regime.method == "forkserver" and many.count > DESCRIPTORS_IN_A_MESSAGE:
        return "forkserver"
    if many.count > MEMORY_MAPS:
        return "maps"
    reserved = 7 + 4 * (regime.workers.count or 1)
    return "descriptors" if many.count > OPEN_FILES - reserved else "counted"


def _finding(project: Project, name: str, many: ManyTensors, message: str, regime: Regime, loader: Loader) -> Finding:
    severity: Severity = "error" if message == "forkserver" else "warning"
    kept = many.kept
    values: dict[str, str | int] = {
        "kept": f"{name}.{kept.attr}",
        "method": regime.method if regime.shown else f"{regime.method} (the default on {regime.where})",
    }
    if many.count is not None:
        values["count"] = many.count
    return Finding(
        CODE,
        kept.file.path,
        kept.span,
        message,
        values,
        severity=severity,
        start_methods=(regime.method,),
        trace=(*(project.chain(regime.arrival) if regime.arrival is not None else ()), *project.trace(kept.hops)),
        related=(project.loader_place(loader),),
        statement=kept.store.event.span,
    )
