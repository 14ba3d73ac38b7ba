"""One line per finding, for grep and for editors that read `path:line:column: message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.finding import Finding
from dllint.reporters import Style, fixable
from dllint.reporters.frame import Paint
from dllint.reporters.source import plain, shown_path

if TYPE_CHECKING:
    from dllint.linter import Report


def render(report: Report, style: Style) -> str:
    return "".join(f"{_line(finding, style)}\n" for finding in report.findings)


def _line(finding: Finding, style: Style) -> str:
    paint = Paint(style.color, finding.severity)
    path = plain(shown_path(finding.path, style.directory))
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    mark = "[*] " if fixable(finding, style.unsafe_fixes) else ""
    code = paint.link(finding.url, paint.mark(finding.code)) if style.links else paint.mark(finding.code)
    place = f"{paint.bold(path)}:{cell}{finding.span.line}:{finding.span.column}"
    return f"{place}: {code} {finding.name} {mark}{finding.severity}: {plain(finding.text)}"
