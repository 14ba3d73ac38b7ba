"""DLL604: a loader that begins anew in each turn of a loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.facts.nodes import CallRef
from dllint.finding import Finding, Place
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.rules.data.loops import Loops

CODE = "DLL604"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    for restart in Loops(project).restarts():
        call = restart.file.calls[restart.call]
        loader = restart.loader
        lasting = bool(loader.flag("persistent_workers"))
        message = restart.kind
        if restart.kind == "epoch" and lasting:
            message = "persistent"
        elif restart.kind == "next" and not loader.workers().possible:
            message = "same"
        related = [Place(restart.file.path, restart.loop.span, "in each turn of this loop")]
        if restart.kind == "next":
            related.append(Place(loader.file.path, loader.span, "the loader"))
        yield Finding(
            CODE,
            restart.file.path,
            call.span,
            message,
            {"call": render(CallRef(restart.call), restart.file), "name": loader.name},
            severity="info" if message == "epoch" else None,
            related=tuple(related),
            statement=call.statement,
        )
