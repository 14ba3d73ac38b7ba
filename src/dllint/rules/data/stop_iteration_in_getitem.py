"""DLL607: a bare `next` in a map-style `__getitem__`, whose StopIteration ends the epoch without a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.facts.nodes import CallRef
from dllint.finding import Finding, Place
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.data.exhaustion import BareNext, Exhaustion

CODE = "DLL607"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    exhaustion = Exhaustion(project)
    found: dict[tuple[str, int], tuple[BareNext, list[Loader]]] = {}
    for loader in project.loaders:
        for bare in exhaustion.bare(loader):
            found.setdefault((bare.run.file.path, bare.call), (bare, []))[1].append(loader)
    for bare, loaders in found.values():
        call = bare.run.file.calls[bare.call]
        file, span = bare.made
        yield Finding(
            CODE,
            bare.run.file.path,
            call.span,
            "main",
            {"call": render(CallRef(bare.call), bare.run.file), "where": project.where(file, span)},
            trace=project.trace(bare.run.hops),
            related=(
                Place(file.path, span, "this iterator comes to an end"),
                *dict.fromkeys(Place(one.file.path, one.span, "reads the dataset") for one in loaders),
            ),
            statement=call.statement,
        )
