"""DLL205: a worker gives back, or raises, what cannot be pickled, and the loader waits for it for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.pickling.unpicklable_items import UnpicklableItem, unpicklable_items
from dllint.span import Span

CODE = "DLL205"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    uses: dict[tuple[str, Span], list[tuple[UnpicklableItem, Loader]]] = {}
    for loader in project.loaders:
        if loader.workers().possible and project.regimes(loader):
            for item in unpicklable_items(project, loader):
                uses.setdefault((item.file.path, item.span), []).append((item, loader))
    for found in uses.values():
        item, loader = found[0]
        yield Finding(
            CODE,
            item.file.path,
            item.span,
            "raised" if item.raised else "main",
            {
                "what": item.what,
                "entry": item.entry,
                "loader": project.where(loader.file, loader.span),
                "error": item.error,
            },
            related=tuple(dict.fromkeys(project.loader_place(other) for _, other in found)),
            statement=item.statement,
        )
