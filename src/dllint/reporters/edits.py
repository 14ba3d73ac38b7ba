"""The text edits of a fix, for reports. A fix that cannot be applied has no edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.finding import Fix

if TYPE_CHECKING:
    from dllint.finding import TextEdit
    from dllint.linter import Report


def text_edits(fix: Fix, report: Report) -> list[TextEdit]:
    """Return the text edits of a fix, sorted by file or cell, and place; empty if the fix cannot be applied."""
    edits = _in_texts(fix, report)
    if not any(edit.path in report.notebooks for edit in edits):
        return edits
    from dllint.fixes.cells import in_cells
    from dllint.fixes.text import Unresolvable

    try:
        return in_cells(edits, report.sources, report.notebooks)
    except Unresolvable:
        return []


def changed_lines(fix: Fix, report: Report) -> list[tuple[str, list[str]]]:
    """Return the path and the removed ("- ") and added ("+ ") lines of each file that a fix changes."""
    if not fix.edits:
        return []
    from dllint.fixes.diff import edits_diff
    from dllint.fixes.text import Unresolvable

    try:
        return [
            (report.notebooks[path].notebook if path in report.notebooks else path, lines)
            for path, lines in edits_diff(_in_texts(fix, report), report.sources)
        ]
    except Unresolvable:
        return []


def _in_texts(fix: Fix, report: Report) -> list[TextEdit]:
    """Return the edits of the texts that the report contains; for a notebook, of the text of all its cells."""
    if not fix.edits:
        return []
    if fix.edits in report.edits:
        return list(report.edits[fix.edits])
    from dllint.fixes.resolve import resolve
    from dllint.fixes.text import Unresolvable

    try:
        return resolve(fix, report.sources)
    except Unresolvable:
        return []
