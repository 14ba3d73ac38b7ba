"""JUnit's XML, as Jenkins, GitLab and Azure Pipelines read it: a test case per finding, and one per clean file.

Findings of severity info pass and say what was found in their output, since `dllint check` does not fail by them.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from dllint.finding import Finding
from dllint.notebooks import SUFFIX
from dllint.reporters import Style
from dllint.reporters.cells import cell_words, file_span
from dllint.reporters.source import file_path

if TYPE_CHECKING:
    from dllint.linter import Report

_WRITTEN = f"{SUFFIX}{os.sep}"
"""Part of the path of a file that a notebook's cell writes."""
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not allow, not even escaped (www.w3.org/TR/xml, "Characters")."""


def render(report: Report, style: Style) -> str:
    named = {finding.path for finding in report.findings}
    cases = [_case(finding, report, style) for finding in report.findings]
    clean = (_quoted(file_path(path, style.directory)) for path in sorted(report.asked - named) if _WRITTEN not in path)
    cases += [f'    <testcase name="dllint" classname={path}/>\n' for path in clean]
    errors = sum(finding.code == "DLL001" for finding in report.findings)
    failures = sum(finding.code != "DLL001" and finding.severity != "info" for finding in report.findings)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    suite = f'  <testsuite name="dllint" {counts} skipped="0" time="0">\n{"".join(cases)}  </testsuite>\n'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="dllint" {counts}>\n{suite}</testsuites>\n'


def _case(finding: Finding, report: Report, style: Style) -> str:
    path, line = file_path(finding.path, style.directory), file_span(report, finding).line
    place = f"{path}:{line}:{finding.span.column}" if finding.cell is None else f"{path}:{line}"
    name = _quoted(f"{finding.code} {finding.name} at {place}")
    text = [f"{place}: {cell_words(finding)}{finding.text}"]
    text += [
        f"{file_path(one.path, style.directory)}:{file_span(report, one).line}: {cell_words(one)}{one.message}"
        for one in (*finding.trace, *finding.related)
    ]
    text += [finding.help] if finding.help else []
    body = escape(_clean("\n".join(text)))
    if finding.severity == "info":
        inside = f"<system-out>{body}</system-out>"
    else:
        tag = "error" if finding.code == "DLL001" else "failure"
        kind = finding.severity or "warning"
        inside = f"<{tag} type={_quoted(kind)} message={_quoted(finding.text)}>{body}</{tag}>"
    return (
        f'    <testcase name={name} classname={_quoted(path)} file={_quoted(path)} line="{line}">{inside}</testcase>\n'
    )


def _quoted(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
