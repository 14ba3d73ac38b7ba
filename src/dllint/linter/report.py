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
    from dllint.project.model import Project


@dataclass(frozen=True)
class Execution:
    """How a check is run; nothing here changes what is found.

    Attributes:
        jobs: processes that parse; `None` takes as many as there are processors.
        cache: keep facts from one run to the next.
        respect_gitignore: leave out what git ignores.
        force_exclude: excluded paths stay out even when they are named.
        progress: called with the number of files read so far and of all.
        visit: called with the linked project when its rules have run.
        unsaved: contents by absolute path, in the place of what the disk has.
        edited: Python texts by path, in the place of what their files hold; for a notebook, the text of its cells.
        last: the process ends after this check, so that none of its memory needs to be freed.
        edits_of: turns the fixes of a report into text edits, to keep them with the report.
        profile: count where the time goes; nothing is answered from an earlier report.
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


@dataclass(frozen=True)
class Report:
    """What a check found.

    Attributes:
        findings: by path and place.
        files_checked: number of requested files that were checked.
        files_skipped: number of requested files that could not be read, decoded or parsed.
        problems: errors that are not findings, one line each: something was not checked.
        warnings: remarks that are not failures, one line each.
        notes: how the project's root was found, where no file marks it, one line each.
        asked: the files that the check is about.
        sources: texts of the files that findings, their traces and their fixes name.
        notebooks: texts that are made of cells, by path. Places are lines of that text, and its `place` gives the cell.
        survival: whether the project works under forkserver, where that is the only default of the targets.
        limits: how often each limit of the analysis was met, by its name; values beyond a limit count as unknown.
        known: findings that a baseline lists, which `findings` are without; None where no baseline was asked.
        edits: what the edits of a fix change in the texts, for those that can be carried out; empty unless asked for.
        profile: where the time went; None unless asked for.
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
    limits: Mapping[str, int] = field(default_factory=dict)
    known: tuple[Finding, ...] | None = None
    edits: Edits = field(default_factory=dict)
    profile: Profile | None = None

    @property
    def incomplete(self) -> bool:
        """Whether something was not checked."""
        return bool(self.problems) or self.files_skipped > 0
