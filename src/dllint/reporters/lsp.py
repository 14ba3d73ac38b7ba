"""Diagnostics of the Language Server Protocol, an array of `{uri, diagnostics[]}`. Columns are UTF-16 units from 0."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding, Fix
from dllint.reporters import Style
from dllint.reporters.cells import source_of
from dllint.reporters.edits import text_edits
from dllint.reporters.source import judged, message, split_lines, utf16_range
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.linter import Report

    Locate = Callable[[str, Span, int | None], dict[str, Any]]
    """Returns the `uri` and the `range` of a place."""

SEVERITY = {"error": 1, "warning": 2, "info": 3}
UNNECESSARY = 1
TAGS = {"DLL002": [UNNECESSARY]}


def render(report: Report, style: Style) -> str:
    @cache
    def lines(path: str, cell: int | None) -> list[str]:
        return split_lines(source_of(report, path, cell) or "")

    def locate(path: str, span: Span, cell: int | None) -> dict[str, Any]:
        return {"uri": uri(path, cell), "range": utf16_range(lines(path, cell), span)}

    by_uri: dict[str, list[dict[str, Any]]] = {}
    for finding in report.findings:
        by_uri.setdefault(uri(finding.path, finding.cell), []).append(diagnostic(finding, report, locate))
    files = [{"uri": uri, "diagnostics": found} for uri, found in by_uri.items()]
    return json.dumps(files, indent=2, ensure_ascii=False) + "\n"


def uri(path: str, cell: int | None = None) -> str:
    """Return the `file:` URI of a path; a notebook's cell becomes its fragment."""
    return Path(path).absolute().as_uri() + ("" if cell is None else f"#cell-{cell}")


def diagnostic(finding: Finding, report: Report, locate: Locate) -> dict[str, Any]:
    """Return one diagnostic; `data.fixes` contains the data for code actions."""
    fixes = [_fix(fix, report, locate) for fix in finding.fixes]
    found: dict[str, Any] = {
        "range": locate(finding.path, finding.span, finding.cell)["range"],
        "severity": SEVERITY[finding.severity or "warning"],
        "code": finding.code,
        "source": "dllint",
        "message": message(finding),
        "relatedInformation": [
            {"location": locate(place.path, place.span, place.cell), "message": place.message}
            for place in (*finding.trace, *finding.related)
        ],
        "data": {"name": finding.name, "fixes": fixes, **judged(finding)},
    }
    if finding.url:
        found["codeDescription"] = {"href": finding.url}
    if finding.code in TAGS:
        found["tags"] = TAGS[finding.code]
    return found


def _fix(fix: Fix, report: Report, locate: Locate) -> dict[str, Any]:
    return {
        "title": fix.title,
        "applicability": fix.applicability,
        "edits": [
            {**locate(edit.path, edit.span, edit.cell), "newText": edit.content} for edit in text_edits(fix, report)
        ],
    }
