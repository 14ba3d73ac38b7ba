"""The fixes of a report that can be applied: reports offer exactly what `--fix` does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from dllint.config import Settings
from dllint.finding import Edit, Fix, TextEdit
from dllint.linter import Report

MOST_SHOWN = 500
"""The most fixes that a report shows. Each takes up to 4 ms; `--fix` applies all of them."""


def edits_of(report: Report) -> dict[tuple[Edit, ...], tuple[TextEdit, ...]]:
    """Return the text edits of each fix that can be applied."""
    return _edits_of(report, _wanted(report))


def edits_of_first(report: Report) -> dict[tuple[Edit, ...], tuple[TextEdit, ...]]:
    """Return the text edits of the fixes that a report shows."""
    return _edits_of(report, dict(islice(_wanted(report).items(), MOST_SHOWN)))


def _wanted(report: Report) -> dict[tuple[Edit, ...], Fix]:
    return {fix.edits: fix for finding in report.findings for fix in finding.fixes if fix.edits}


def _edits_of(report: Report, wanted: Mapping[tuple[Edit, ...], Fix]) -> dict[tuple[Edit, ...], tuple[TextEdit, ...]]:
    if not wanted:
        return {}
    # The syntax tree modules take half a second to import, and most reports are read from the cache.
    from dllint.fixes.cells import in_cells
    from dllint.fixes.resolve import resolve
    from dllint.fixes.text import Unresolvable

    found: dict[tuple[Edit, ...], tuple[TextEdit, ...]] = {}
    for edits, fix in wanted.items():
        try:
            resolved = resolve(fix, report.sources)
            in_cells(resolved, report.sources, report.notebooks)
            found[edits] = tuple(resolved)
        except Unresolvable:
            continue
    return found


def offered(report: Report, settings: Settings, whole: bool = True) -> Report:
    """Return the report with the applicability of fixes as configured, without fixes that the sources do not allow or
    that would change a file that was not asked for.

    Args:
        whole: offer all fixes, not only as many as a report shows.
    """
    wanted = _wanted(report)
    if not report.edits and not whole:
        report = replace(report, edits=edits_of_first(report))
    elif whole and (not report.edits or len(wanted) > MOST_SHOWN):
        missing = {edits: fix for edits, fix in wanted.items() if edits not in report.edits}
        report = replace(report, edits={**report.edits, **_edits_of(report, missing)})
    if not whole and len(wanted) > MOST_SHOWN:
        shown = len(wanted.keys() & report.edits.keys())
        told = f"this report shows {shown} of {len(wanted):,} fixes; `--fix` and `--diff` take all of them"
        report = replace(report, notes=(*report.notes, told))
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
    return bool(report.edits.get(fix.edits))
