"""SARIF 2.1.0 (docs.oasis-open.org/sarif), as GitHub's code scanning and SARIF viewers read it.

A trace is a code flow, from the launcher to the place. Columns are Unicode code points. In a notebook the region is the
line of the JSON document, and a logical location names the cell. With a baseline, known findings are `unchanged`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dllint import __version__
from dllint.finding import Finding, Fix, Place
from dllint.fixes.text import Unresolvable, lines_of
from dllint.reporters import Style
from dllint.reporters.cells import cell_words, file_span
from dllint.reporters.edits import text_edits
from dllint.reporters.fingerprints import fingerprints
from dllint.reporters.source import file_path, message
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.linter import Report
    from dllint.registry import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVEL = {"error": "error", "warning": "warning", "info": "note"}
ROOT = "SRCROOT"
_PLACEHOLDER = re.compile(r"\{(\d+)\}")
SHORTEST = 255
"""Number of characters of a short description that GitHub shows."""
LONGEST_CODE = 2000
"""Number of characters of code that a result may quote; a file of one line would be repeated in each of them."""


def render(report: Report, style: Style) -> str:
    known = () if report.known is None else report.known
    findings = (*report.findings, *known)
    order = list(dict.fromkeys(finding.code for finding in findings))
    index = {code: number for number, code in enumerate(order)}
    marks = fingerprints(findings, report, style.directory)
    results = [_result(one, report, style, index, mark) for one, mark in zip(findings, marks, strict=True)]
    if report.known is not None:
        for number, result in enumerate(results):
            result["baselineState"] = "new" if number < len(report.findings) else "unchanged"
    run: dict[str, Any] = {
        "tool": {"driver": _driver(order)},
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "results": results,
    }
    if style.directory:
        run["originalUriBaseIds"] = {ROOT: {"uri": f"{Path(style.directory).as_uri().rstrip('/')}/"}}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _driver(codes: list[str]) -> dict[str, Any]:
    from dllint import registry

    rules = {rule.code: rule for rule in registry.rules()}
    found = [_rule(rules[code]) for code in codes if code in rules]
    return {"name": "dllint", "version": __version__, "semanticVersion": __version__, "rules": found}


def _rule(rule: Rule) -> dict[str, Any]:
    page = rule.page
    return {
        "id": page.code,
        "name": "".join(word.capitalize() for word in page.name.split("-")),
        "shortDescription": {"text": page.summary[:SHORTEST]},
        "fullDescription": {"text": page.summary},
        "help": {"text": page.body, "markdown": page.body},
        "helpUri": Path(page.path).absolute().as_uri(),
        "defaultConfiguration": {"level": LEVEL[page.severity]},
        "properties": {"tags": ["pytorch", "correctness"], "problem.severity": _problem(page.severity)},
    }


def _problem(severity: str) -> str:
    """Return GitHub's name of a severity."""
    return {"info": "recommendation"}.get(severity, severity)


def _invocation(report: Report) -> dict[str, Any]:
    notes = [{"level": "error", "message": {"text": problem}} for problem in report.problems]
    return {
        "executionSuccessful": not report.incomplete,
        **({"toolExecutionNotifications": notes} if notes else {}),
    }


def _result(finding: Finding, report: Report, style: Style, index: Mapping[str, int], mark: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": LEVEL[finding.severity or "warning"],
        "message": {"text": cell_words(finding) + _plain(message(finding))},
        "locations": [_with_code(_location(finding, report, style), finding, report)],
        "partialFingerprints": {"primaryLocationLineHash": f"{mark[:16]}:1", "dllint/v1": mark},
    }
    if finding.trace:
        steps = [*(_named(place, report, style) for place in finding.trace)]
        steps.append(_location(finding, report, style) | {"message": {"text": _plain(finding.text)}})
        found["codeFlows"] = [{"threadFlows": [{"locations": [{"location": step} for step in steps]}]}]
    if finding.related:
        found["relatedLocations"] = [
            {"id": number, **_named(place, report, style)} for number, place in enumerate(finding.related, 1)
        ]
    if fixes := [one for fix in finding.fixes if (one := _fix(fix, report, style)) is not None]:
        found["fixes"] = fixes
    if finding.start_methods:
        found["properties"] = {"startMethods": list(finding.start_methods)}
    return found


def _named(place: Place, report: Report, style: Style) -> dict[str, Any]:
    return _location(place, report, style) | {"message": {"text": _plain(cell_words(place) + place.message)}}


def _location(one: Finding | Place, report: Report, style: Style) -> dict[str, Any]:
    span = file_span(report, one)
    region = {"startLine": span.line, "endLine": span.end_line} if one.cell is not None else _region(span)
    found: dict[str, Any] = {"physicalLocation": {"artifactLocation": _artifact(one.path, style), "region": region}}
    if one.cell is not None:
        name = f"cell {one.cell}"
        found["logicalLocations"] = [
            {"name": name, "fullyQualifiedName": f"{file_path(one.path, style.directory)}:{name}"}
        ]
    return found


def _with_code(location: dict[str, Any], finding: Finding, report: Report) -> dict[str, Any]:
    """Add the code of a location, and the lines around it, for viewers without the file."""
    source = report.sources.get(finding.path)
    if source is None or finding.cell is not None:
        return location
    lines, (line, column, end_line, end_column) = lines_of(source), finding.span
    first, last = max(line - 1, 1), min(end_line + 1, len(lines.starts))
    try:
        start, end = lines.offset(line, column), lines.offset(end_line, end_column)
        around = lines.offset(first, 1), lines.end(lines.starts[last - 1])
    except Unresolvable:
        return location
    physical = location["physicalLocation"]
    if start < end <= start + LONGEST_CODE:
        physical["region"]["snippet"] = {"text": source[start:end]}
    if (around[0] < start or end < around[1]) and around[1] - around[0] <= LONGEST_CODE:
        text = source[slice(*around)]
        physical["contextRegion"] = {"startLine": first, "endLine": last, "snippet": {"text": text}}
    return location


def _region(span: Span) -> dict[str, int]:
    line, column, end_line, end_column = span
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _artifact(path: str, style: Style) -> dict[str, str]:
    shown = file_path(path, style.directory)
    if style.directory and not Path(shown).is_absolute():
        return {"uri": quote(shown, errors="surrogateescape"), "uriBaseId": ROOT}
    return {"uri": Path(path).absolute().as_uri()}


def _fix(fix: Fix, report: Report, style: Style) -> dict[str, Any] | None:
    """Return a fix with the regions that it replaces; `None` if it has no edits, or changes a notebook's cell."""
    edits = text_edits(fix, report)
    if not edits or any(edit.cell is not None for edit in edits):
        return None
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in edits:
        inserted = {"insertedContent": {"text": edit.content}} if edit.content else {}
        changes.setdefault(edit.path, []).append({"deletedRegion": _region(edit.span), **inserted})
    return {
        "description": {"text": _plain(fix.title)},
        "artifactChanges": [
            {"artifactLocation": _artifact(path, style), "replacements": one} for path, one in changes.items()
        ],
    }


def _plain(text: str) -> str:
    """Escape link syntax, `[…](…)`, and placeholders, `{0}`, in a message (SARIF, "Messages")."""
    return _PLACEHOLDER.sub(r"{{\1}}", text.replace("](", "\\]("))
