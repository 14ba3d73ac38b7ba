"""The pipeline: paths → files → facts → project → rules → findings.

All callers use `check` (files on disk) or `check_sources` (texts in memory).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dllint import config, files, roots
from dllint.config import Settings
from dllint.linter.earlier import kept_or_found
from dllint.linter.frames import room_for_questions, with_more_frames, with_room
from dllint.linter.inputs import Run, cache_directory, facts_of, read
from dllint.linter.report import Execution, Report
from dllint.linter.reporting import UNREADABLE, not_silenced, per_file_ignores, report_of
from dllint.linter.rule_runs import found_by_rules, step
from dllint.profiling import profiled
from dllint.readiness import judge
from dllint.reading import Lookups, lookups

if TYPE_CHECKING:
    from dllint.facts.schema import FileFacts
    from dllint.project.model import Project

__all__ = [
    "UNREADABLE",
    "Execution",
    "Linked",
    "Report",
    "cache_directory",
    "check",
    "check_sources",
    "limits_met",
    "link",
    "per_file_ignores",
    "select",
    "with_room",
]

TOP_FILES = ("setup.py", "setup.cfg", "requirements.txt", "environment.yml", "LICENSE", "README.md", "README.rst")
"""Files that usually lie at the top of a project."""


def check(paths: Sequence[str], settings: Settings, execution: Execution = Execution()) -> Report:
    """Check files and directories.

    The rest of their project is read too, because hazards cross files. A finding is reported if its place, a hop of its
    trace or a related place lies in a file that was asked for.
    """
    selection = select(paths, settings, execution)
    if selection.files and not config.has_project_mark(settings.root):
        named = [path for path in map(os.path.abspath, paths) if os.path.isdir(path)]
        settings = replace(settings, root=roots.by_imports(selection.files, execution.unsaved, named))
        if settings.root not in map(os.path.abspath, paths):
            selection.notes.append(
                f"no pyproject.toml or .git marks the project; {settings.root} is taken as its root, "
                "the topmost directory that imports resolve from"
            )
    run = Run(settings, set(selection.files), selection.problems, selection.warnings, selection.notes)
    around = _around(selection.files, settings, execution)
    run.problems += [one for one in around.problems if one not in run.problems]
    read(run, {*selection.files, *around.files}, execution.unsaved, execution.edited)
    return kept_or_found(run, execution, lambda noted: _check(run, execution, noted))


def check_sources(sources: Mapping[str, str | bytes], settings: Settings = Settings(root="")) -> Report:
    """Check texts by path; the paths need not exist on disk."""
    run = Run(settings, set(sources))
    read(run, sources, sources)
    return _check(run, Execution(jobs=1, cache=False))


@dataclass(frozen=True)
class Linked:
    """The project around a file. `unreadable` has the line and the reason for each file that could not be parsed."""

    project: Project
    unreadable: Mapping[str, tuple[int, str]]


def link(path: str, settings: Settings, execution: Execution = Execution()) -> Linked:
    """Return the project around a file, regardless of the file's content.

    All files below the project's top directory are parsed, because launchers are upstream. If no marker file identifies
    that directory, it is the nearest one with a file that usually lies there.
    """
    path = os.path.abspath(path)
    if not config.has_project_mark(settings.root):
        settings = replace(settings, root=_likely_top(os.path.dirname(path)))
    inside = files.discover([settings.root], settings, respect_gitignore=execution.respect_gitignore).files
    run = Run(settings, {path})
    read(run, {path, *inside}, execution.unsaved)
    project = with_room(lambda: linked(run, facts_of(run, execution, everything=True)))
    reasons = {
        one: (why.span.line, str(why.values.get("reason") or why.values.get("encoding", "")))
        for one, why in run.unreadable.items()
    }
    return Linked(project, reasons)


def select(paths: Sequence[str], settings: Settings, execution: Execution = Execution()) -> files.Discovery:
    """Return the files that a check of `paths` covers."""
    unsaved = [path for path in map(os.path.abspath, paths) if path in execution.unsaved]
    found = files.discover(
        [path for path in paths if os.path.abspath(path) not in execution.unsaved],
        settings,
        respect_gitignore=execution.respect_gitignore,
        force_exclude=execution.force_exclude,
    )
    found.files = sorted({*found.files, *unsaved})
    return found


def _likely_top(directory: str) -> str:
    home = os.path.expanduser("~")
    here = directory
    while here not in (home, os.path.dirname(here)):
        if any(os.path.exists(os.path.join(here, name)) for name in TOP_FILES):
            return here
        here = os.path.dirname(here)
    return directory


def _around(asked: Sequence[str], settings: Settings, execution: Execution) -> files.Discovery:
    """Return the other files of the project, so that a file gets the same findings alone and with its project."""
    if not asked:
        return files.Discovery()
    if roots.is_crowded(settings.root):
        return files.Discovery(roots.imported(asked, settings.root, execution.unsaved))
    return files.discover([settings.root], settings, respect_gitignore=execution.respect_gitignore)


def _check(run: Run, execution: Execution, noted: Lookups | None = None) -> Report:
    """Check the files; `noted` collects the questions about the disk on the way."""
    with room_for_questions(execution.last), profiled(execution.profile) as profile:
        with step("reading"):
            facts = facts_of(run, execution)
        with lookups() as asked:
            report = replace(_found(run, facts, execution, noted is not None), profile=profile)
    if noted is not None:
        noted.update(asked)
    return report


def _found(run: Run, facts: Mapping[str, FileFacts], execution: Execution, kept: bool) -> Report:
    with step("linking"):
        # Only then can the next check compare with it.
        recording = kept or execution.memory is not None
        project = with_more_frames(lambda: linked(run, facts, recording))
    report = report_of(run, not_silenced(run, found_by_rules(run, project)))
    if execution.visit is not None:
        execution.visit(project)
    report = replace(
        report, survival=judge(project, report.findings), limits=limits_met(project), postponed=run.postponed
    )
    if recording:
        from dllint.linter.rereading import ReadByAnalysis

        run.reads = ReadByAnalysis.of(project)
        if execution.memory is not None:
            execution.memory.input = execution.memory.input._replace(reads=run.reads)
    return report


def linked(run: Run, facts: Mapping[str, FileFacts], recording: bool = False) -> Project:
    """Link the files into a project."""
    from dllint.inference import limits
    from dllint.project.model import Project

    project = Project.load(facts, run.settings, run.contents, run.notebooks, recording)
    limits.CONNECTING_BYTES.met(run.selection.left_out)
    return project


def limits_met(project: Project) -> Mapping[str, int]:
    """Return how often each limit of the analysis was reached so far, by its name."""
    return project.world.limits
