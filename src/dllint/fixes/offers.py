"""Which fixes of a report can be applied: reports offer exactly what `--fix` does."""

from __future__ import annotations

from dataclasses import replace

from dllint.config import Settings
from dllint.finding import Fix
from dllint.fixes.resolve import in_cells, resolve
from dllint.fixes.text import Unresolvable
from dllint.linter import Report


def offered(report: Report, settings: Settings) -> Report:
    """The report with the fixes as the settings count them, without those that the sources do not allow and those that
    would change a file that was not asked for."""
    findings = tuple(
        replace(one, fixes=tuple(_counted(fix, one.code, settings) for fix in one.fixes if _possible(fix, report)))
        if one.fixes
        else one
        for one in report.findings
    )
    return replace(report, findings=findings)


def _counted(fix: Fix, code: str, settings: Settings) -> Fix:
    kind = settings.fix_kind(code)
    return fix if kind is None or fix.applicability == "suggestion" else replace(fix, applicability=kind)


def _possible(fix: Fix, report: Report) -> bool:
    if not fix.edits:
        return True
    if not report.asked.issuperset(edit.path for edit in fix.edits):
        return False
    try:
        edits = resolve(fix, report.sources)
        in_cells(edits, report.sources, report.notebooks)
    except Unresolvable:
        return False
    return bool(edits)
