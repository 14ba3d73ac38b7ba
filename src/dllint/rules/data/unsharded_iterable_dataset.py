"""DLL601: an iterable dataset that gives all of its data to every worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.data.splitting import Splitting, Unsplit

CODE = "DLL601"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    splitting = Splitting(project)
    found: dict[tuple[str, int], tuple[Unsplit, list[Loader]]] = {}
    for loader in project.loaders:
        workers = loader.workers()
        if workers.possible and workers.count != 1:
            for unsplit in splitting.unsplit(loader):
                found.setdefault(unsplit.iter.key, (unsplit, []))[1].append(loader)
    for unsplit, loaders in found.values():
        yield _finding(project, unsplit, loaders)


def _finding(project: Project, unsplit: Unsplit, loaders: list[Loader]) -> Finding:
    counts = [count for loader in loaders if (count := loader.workers().count) is not None]
    values = {"name": unsplit.name, "source": unsplit.source, "loader": project.where(loaders[0].file, loaders[0].span)}
    message = "main"
    if counts:
        values["times"] = str(max(counts))
        message = "times"
    if unsplit.asked is not None:
        values["remedy"] = "asked"
    asked = (unsplit.asked,) if unsplit.asked is not None else ()
    return Finding(
        CODE,
        unsplit.iter.file.path,
        unsplit.iter.file.header(unsplit.iter.scope),
        message,
        values,
        severity="error" if counts else "warning",
        related=(*asked, *dict.fromkeys(project.loader_place(loader) for loader in loaders)),
    )
