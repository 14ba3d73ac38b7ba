"""A JSON array with one object per finding. Rows and columns count from 1, in code points; ends are exclusive."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding, Fix
from dllint.reporters import Style
from dllint.reporters.edits import text_edits
from dllint.reporters.source import judged, located

if TYPE_CHECKING:
    from dllint.linter import Report


def render(report: Report, style: Style) -> str:
    return json.dumps([finding_object(one, report) for one in report.findings], indent=2, ensure_ascii=False) + "\n"


def finding_object(finding: Finding, report: Report) -> dict[str, Any]:
    """Return one finding as JSON; `related` has the trace, from the launcher on, then the other related places."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "message": finding.text,
        "help": finding.help or None,
        **located(finding.path, finding.span),
        "cell": finding.cell,
        "start_methods": list(finding.start_methods),
        "related": [
            {"message": place.message, **located(place.path, place.span, place.cell)}
            for place in (*finding.trace, *finding.related)
        ],
        "fixes": [_fix(fix, report) for fix in finding.fixes],
        "url": finding.url or None,
        **judged(finding),
    }


def _fix(fix: Fix, report: Report) -> dict[str, Any]:
    return {
        "title": fix.title,
        "applicability": fix.applicability,
        "edits": [
            {**located(edit.path, edit.span, edit.cell), "content": edit.content} for edit in text_edits(fix, report)
        ],
    }
