"""Checks the documents that are open in an editor, each with its project."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dllint import files, linter
from dllint.commands.settings import Choice
from dllint.config import KEYS, ConfigError, Settings
from dllint.finding import Finding
from dllint.fixes.offers import offered
from dllint.inference.interruption import Interrupted, Stop, stopped_by
from dllint.linter import Execution, Report
from dllint.project import Project
from dllint.reporters.cells import by_cell
from dllint.server.editing import OpenFile
from dllint.span import Span

Place = tuple[str, "int | None"]
"""A path, and the cell of a notebook."""


@dataclass(frozen=True)
class Lens:
    """What stands above a launcher or a loader."""

    span: Span
    text: str


@dataclass(frozen=True)
class Result:
    """What a check of one project found.

    Attributes:
        raw: places of notebooks are lines of all cells, as fixes need them.
        shown: the same findings in the same order, places by cell.
        lenses: by path and cell.
        names: of the open files, as messages write them.
    """

    raw: Report = field(default_factory=Report)
    shown: Report = field(default_factory=Report)
    lenses: Mapping[Place, tuple[Lens, ...]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def at(self, path: str, cell: int | None) -> Iterator[tuple[Finding, Finding]]:
        """The findings of a document: as it shows them, and raw."""
        for shown, raw in zip(self.shown.findings, self.raw.findings, strict=True):
            if (shown.path, shown.cell) == (path, cell):
                yield shown, raw


def choice(given: Mapping[str, Any]) -> Choice:
    """What the editor's settings say over the configuration of a project.

    Args:
        given: keys of `[tool.dllint]`, written as there or as `targetPython`; and `config`, a file.

    Raises:
        ConfigError: a key is none.
    """
    overrides = {}
    for key, value in given.items():
        name = "".join(f"-{char.lower()}" if char.isupper() else char for char in key).replace("_", "-")
        if value is None or name in ("enable", "config"):
            continue
        if name not in KEYS:
            raise ConfigError(f'the editor\'s settings: "{key}" is no setting of dllint')
        overrides[name] = value
    config = given.get("config")
    return Choice(config=config if isinstance(config, str) else None, overrides=overrides)


def projects(opened: Iterable[OpenFile], chosen: Choice) -> list[tuple[Settings, list[OpenFile]]]:
    """The open files by the settings of their project, without those that the settings exclude.

    Raises:
        ConfigError: a configuration file makes no sense.
    """
    found: dict[tuple[str, str | None], tuple[Settings, list[OpenFile]]] = {}
    for one in opened:
        settings = chosen.load([one.path])
        if os.path.exists(one.path) and not files.discover([one.path], settings, force_exclude=True).files:
            continue
        found.setdefault((settings.root, settings.origin), (settings, []))[1].append(one)
    return list(found.values())


def analyse(settings: Settings, opened: Iterable[OpenFile], stop: Stop, progress: Callable[[int, int], None]) -> Result:
    """Check the open files of one project.

    Raises:
        Interrupted: soon after the stop is wanted.
    """
    contents = {one.path: one.content for one in opened}
    lenses: dict[Place, list[Lens]] = {}
    names: dict[str, str] = {}

    def tell(done: int, total: int) -> None:
        if stop.wanted:
            raise Interrupted
        progress(done, total)

    def look(project: Project) -> None:
        if stop.wanted:
            raise Interrupted
        names.update((path, project.shown(path)) for path in contents)
        for path, cell, lens in _lenses(project, contents.keys()):
            lenses.setdefault((path, cell), []).append(lens)

    with stopped_by(stop):
        report = linter.check(list(contents), settings, Execution(jobs=1, progress=tell, unsaved=contents, visit=look))
    raw = offered(report, settings)
    # The project is full of cycles, and a check switches the collector off: what the last one left goes now.
    gc.collect()
    return Result(raw, by_cell(raw), {key: tuple(value) for key, value in lenses.items()}, names)


def _lenses(project: Project, paths: Iterable[str]) -> Iterator[tuple[str, int | None, Lens]]:
    wanted = set(paths)
    for loader in project.loaders:
        if loader.file.path in wanted:
            ways = []
            regimes = project.regimes(loader)
            for regime in [one for one in regimes if one.shown] or regimes:
                origin = regime.arrival.origin if regime.arrival is not None else None
                where = f", from {project.where(origin.file, origin.span)}" if origin is not None else ""
                ways.append(f"{regime.workers.described} by {regime.described}{where}")
            told = "starts " + " or ".join(dict.fromkeys(ways)) if ways else "starts no workers"
            path, cell, span = project.in_cell(loader.file.path, loader.span)
            yield path, cell, Lens(span, told)
    seen = set()
    for launch in project.launches.all():
        key = (launch.file.path, launch.call)
        if launch.file.path in wanted and key not in seen:
            seen.add(key)
            methods = ("the default start method" if one == "default" else one for one in launch.methods)
            span = launch.file.calls[launch.call].span
            path, cell, inside = project.in_cell(launch.file.path, span)
            yield path, cell, Lens(inside, f"starts processes by {' or '.join(methods)}")
