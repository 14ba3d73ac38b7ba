"""Reviewdog's diagnostics (github.com/reviewdog/reviewdog, "proto/rdf"). Columns count UTF-8 bytes from 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding, Fix, Place
from dllint.reporters import Style
from dllint.reporters.cells import cell_words, file_span
from dllint.reporters.edits import text_edits
from dllint.reporters.source import file_path, message, split_lines
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.linter import Report

SEVERITY = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def render(report: Report, style: Style) -> str:
    document = {
        "source": {"name": "dllint"},
        "diagnostics": [_diagnostic(finding, report, style) for finding in report.findings],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _diagnostic(finding: Finding, report: Report, style: Style) -> dict[str, Any]:
    found: dict[str, Any] = {
        "message": cell_words(finding) + message(finding),
        "location": _location(finding, report, style),
        "severity": SEVERITY[finding.severity or "warning"],
        # A link in a review must lead somewhere from other machines too, as the page of an installed rule does not.
        "code": {"value": finding.code, **({"url": finding.url} if finding.url.startswith("http") else {})},
    }
    related = [
        {"message": cell_words(one) + one.message, "location": _location(one, report, style)}
        for one in (*finding.trace, *finding.related)
    ]
    suggestions = [one for fix in finding.fixes if (one := _suggestion(fix, finding, report)) is not None]
    found |= {"suggestions": suggestions} if suggestions else {}
    found |= {"related_locations": related} if related else {}
    return found


def _location(one: Finding | Place, report: Report, style: Style) -> dict[str, Any]:
    path = file_path(one.path, style.directory)
    span = file_span(report, one)
    if one.cell is None:
        return {"path": path, "range": _range(split_lines(report.sources.get(one.path, "")), span)}
    return {"path": path, "range": {"start": {"line": span.line}, "end": {"line": span.end_line}}}


def _suggestion(fix: Fix, finding: Finding, report: Report) -> dict[str, Any] | None:
    """Return a fix as one replacement, from first to last edit; `None` if it changes another file or a notebook."""
    edits = text_edits(fix, report)
    if not edits or finding.cell is not None or any(edit.path != finding.path for edit in edits):
        return None
    from dllint.fixes.text import Lines

    source = report.sources[finding.path]
    lines = Lines(source)
    changes = sorted(lines.change(edit) for edit in edits)
    text, done = "", changes[0].start
    for start, end, content in changes:
        text += source[done:start] + content
        done = end
    return {"range": _range(split_lines(source), lines.span(changes[0].start, done)), "text": text}


def _range(lines: list[str], span: Span) -> dict[str, Any]:
    def position(line: int, column: int) -> dict[str, int]:
        text = lines[line - 1] if line <= len(lines) else ""
        return {"line": line, "column": len(text[: column - 1].encode("utf-8", "surrogatepass")) + 1}

    return {"start": position(span.line, span.column), "end": position(span.end_line, span.end_column)}
