"""How a check is executed (`Execution`), and its result (`Report`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dllint.finding import Finding
from dllint.kept_reports import Edits
from dllint.notebooks import CellText
from dllint.profiling import Profile
from dllint.readiness import Survival

if TYPE_CHECKING:
    from dllint.linter.memory import Memory
    from dllint.project.model import Project


@dataclass(frozen=True)
class Execution:
    """How a check is executed; nothing here changes the findings of the same files.

    Attributes:
        jobs: number of processes that parse; `None` for one per processor.
        cache: reuse stored facts and reports.
        respect_gitignore: leave out what git ignores.
        force_exclude: apply excludes to paths that are named too.
        progress: called with the number of files read so far and their total.
        visit: called with the linked project after its rules have run.
        unsaved: contents by absolute path, used instead of those on disk.
        edited: Python texts by path, used instead of the contents of their files; for a notebook, the text of its
            cells.
        last: the process ends after this check, so its memory need not be freed.
        edits_of: turns the fixes of a report into text edits, to store them with the report.
        memory: what earlier checks of this process left, which this one reads and replaces.
        profile: measure where the time goes; no stored report is used.
    """

    jobs: int | None = None
    cache: bool = True
    respect_gitignore: bool = True
    force_exclude: bool = False
    progress: Callable[[int, int], None] | None = None
    visit: Callable[[Project], None] | None = None
    unsaved: Mapping[str, str | bytes] = field(default_factory=dict)
    edited: Mapping[str, str] = field(default_factory=dict)
    last: bool = False
    edits_of: Callable[[Report], Edits] | None = None
    profile: bool = False
    memory: Memory | None = None


@dataclass(frozen=True)
class Report:
    """The result of a check.

    Attributes:
        findings: sorted by path and place.
        files_checked: number of requested files that were checked.
        files_skipped: number of requested files that could not be read, decoded or parsed.
        problems: errors that are not findings, one line each: something was not checked.
        warnings: remarks that are not failures, one line each.
        notes: how the project's root was found if no marker file identifies it, one line each.
        asked: the files to check.
        sources: texts of the files that findings, their traces and their fixes refer to.
        notebooks: texts assembled from notebook cells, by path. Places are lines of that text; its `place` maps them to
            a cell.
        survival: whether the project works under forkserver, if that is the only default of the targets.
        postponed: number of findings that are left out because they hold only under a Python that the project's
            requirements rule out.
        limits: how often each limit of the analysis was reached, by its name; values beyond a limit are treated as
            unknown.
        known: findings listed in a baseline and removed from `findings`; `None` without a baseline.
        edits: the text edits of each fix that can be applied; empty unless requested.
        profile: where the time went; `None` unless requested.
    """

    findings: tuple[Finding, ...] = ()
    files_checked: int = 0
    files_skipped: int = 0
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    asked: frozenset[str] = frozenset()
    sources: Mapping[str, str] = field(default_factory=dict)
    notebooks: Mapping[str, CellText] = field(default_factory=dict)
    survival: Survival | None = None
    postponed: int = 0
    limits: Mapping[str, int] = field(default_factory=dict)
    known: tuple[Finding, ...] | None = None
    edits: Edits = field(default_factory=dict)
    profile: Profile | None = None

    @property
    def incomplete(self) -> bool:
        """Whether something was not checked."""
        return bool(self.problems) or self.files_skipped > 0
