"""DLL402: a handle that the parent opened is used by forked workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from dllint.finding import Finding, Place, Severity
from dllint.project import Project
from dllint.rules.stores.lazy_opening import lazy_opening
from dllint.rules.stores.shared_handles import Shared, shared_handles

CODE = "DLL402"
MOST_PLACES = 4
"""Loaders that one finding names."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    places: dict[tuple[str, int], list[Shared]] = {}
    for loader in project.loaders:
        regimes = project.regimes(loader)
        decisive = [regime for regime in regimes if regime.shown] or regimes
        if any(regime.method == "fork" for regime in decisive):
            for shared in shared_handles(project, loader):
                places.setdefault((shared.file.path, shared.call), []).append(shared)
    for found in places.values():
        yield _finding(project, found)


def _finding(project: Project, found: list[Shared]) -> Finding:
    shared = min(found, key=lambda one: one.touch is not None)
    call = shared.file.calls[shared.call]
    values = {
        "kept": shared.label,
        "what": shared.opener.what,
        "effect": shared.opener.effect,
        "loader": project.where(shared.loader.file, shared.loader.span),
    }
    touch: tuple[Place, ...] = ()
    if shared.touch is not None:
        values["touch"] = project.where(shared.touch.file, shared.touch.span)
        touch = (project.place(shared.touch),)
    loaders = dict.fromkeys(project.loader_place(one.loader) for one in found)
    return Finding(
        CODE,
        shared.file.path,
        call.span,
        "main" if shared.touch is None else "touched",
        values,
        severity=cast(Severity, shared.opener.harm),
        start_methods=("fork",),
        trace=project.trace(shared.hops) if shared.touch is None else (),
        related=(*touch, *tuple(loaders)[:MOST_PLACES]),
        fixes=lazy_opening(project, shared) if shared.touch is None else (),
        statement=call.statement,
    )
