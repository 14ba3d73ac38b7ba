"""Check the documents that are open in an editor, each with its project."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dllint import files, linter
from dllint.commands.settings import Choice
from dllint.config import KEYS, Settings
from dllint.finding import Finding
from dllint.fixes.offers import offered
from dllint.inference.interruption import Interrupted, Stop, stopped_by
from dllint.linter import Execution, Report
from dllint.linter.memory import Memory
from dllint.project import Project
from dllint.reporters.cells import by_cell
from dllint.server.editing import OpenFile
from dllint.setting_values import ConfigError
from dllint.span import Span

Place = tuple[str, "int | None"]
"""A path, and the number of a notebook's cell."""


@dataclass(frozen=True)
class Lens:
    """The text shown above a launcher or a loader."""

    span: Span
    text: str


@dataclass(frozen=True)
class Result:
    """The result of a check of one project.

    Attributes:
        raw: places in notebooks are lines of all cells together, as fixes need them.
        shown: the same findings in the same order, with places by cell.
        lenses: by path and cell.
        names: for the open files, their paths as written in messages.
    """

    raw: Report = field(default_factory=Report)
    shown: Report = field(default_factory=Report)
    lenses: Mapping[Place, tuple[Lens, ...]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def at(self, path: str, cell: int | None) -> Iterator[tuple[Finding, Finding]]:
        """Yield the findings of a document: as shown, and raw."""
        for shown, raw in zip(self.shown.findings, self.raw.findings, strict=True):
            if (shown.path, shown.cell) == (path, cell):
                yield shown, raw


def choice(given: Mapping[str, Any]) -> Choice:
    """Convert the editor's settings to overrides of a project's configuration.

    Args:
        given: keys of `[tool.dllint]`, written as there or like `targetPython`; and `config`, a file.

    Raises:
        ConfigError: a key is unknown.
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
    """Group the open files by the settings of their project, without those that the settings exclude.

    Raises:
        ConfigError: a configuration file is invalid.
    """
    found: dict[tuple[str, str | None], tuple[Settings, list[OpenFile]]] = {}
    for one in opened:
        settings = chosen.load([one.path])
        if os.path.exists(one.path) and not files.discover([one.path], settings, force_exclude=True).files:
            continue
        found.setdefault((settings.root, settings.origin), (settings, []))[1].append(one)
    return list(found.values())


def analyse(
    settings: Settings,
    opened: Iterable[OpenFile],
    stop: Stop,
    progress: Callable[[int, int], None],
    memory: Memory | None = None,
) -> Result:
    """Check the open files of one project. `memory` has what earlier checks left, and is updated.

    Raises:
        Interrupted: soon after a stop was requested.
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
        report = linter.check(
            list(contents), settings, Execution(jobs=1, progress=tell, unsaved=contents, visit=look, memory=memory)
        )
    raw = offered(report, settings)
    # The project contains many reference cycles, and a check disables the collector, so collect the previous one here.
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
