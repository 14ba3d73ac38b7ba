"""Annotations for GitHub's workflow log (docs.github.com, "Workflow commands for GitHub Actions").

A trace becomes further lines of the message. GitHub shows columns only for a place within one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.finding import Finding
from dllint.reporters import Style
from dllint.reporters.cells import cell_words, file_span
from dllint.reporters.source import shown_path, told_by_run

if TYPE_CHECKING:
    from dllint.linter import Report

COMMAND = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report, style: Style) -> str:
    return "".join(f"{_annotation(finding, report, style)}\n" for finding in report.findings)


def _annotation(finding: Finding, report: Report, style: Style) -> str:
    span = file_span(report, finding)
    properties = {
        "title": f"dllint {finding.code} {finding.name}",
        "file": shown_path(finding.path, style.directory).replace("\\", "/"),
        "line": str(span.line),
        "endLine": str(span.end_line),
    }
    if finding.cell is None and span.line == span.end_line:
        properties |= {"col": str(span.column), "endColumn": str(span.end_column)}
    message = [cell_words(finding) + finding.text]
    message += [
        f"{label} {shown_path(place.path, style.directory)}:{file_span(report, place).line} "
        f"{cell_words(place)}{place.message}"
        for label, places in (("via", finding.trace), ("note", finding.related))
        for place in places
    ]
    message += told_by_run(finding)
    if finding.help:
        message.append(f"help: {finding.help}")
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{COMMAND[finding.severity or 'warning']} {given}::{_data(chr(10).join(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
