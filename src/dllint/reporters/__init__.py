"""Reports: one module a format, each with `render(report, style) -> str`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from dllint.finding import Finding
    from dllint.linter import Report

Format = Literal["text", "json", "lsp", "github"]


@dataclass(frozen=True)
class Style:
    """How a report is written.

    Attributes:
        color: with ANSI colours (text only).
        unsafe_fixes: unsafe fixes count as fixable.
        statistics: counts a rule in the place of the findings.
        quiet: findings only, without the footer.
        directory: paths are shown relative to this one where they lie inside it; absolute.
    """

    color: bool = False
    unsafe_fixes: bool = False
    statistics: bool = False
    quiet: bool = False
    directory: str = ""


def fixable(finding: Finding, unsafe: bool) -> bool:
    """Whether `--fix` would mend the finding, with unsafe fixes or without."""
    return any(
        fix.edits and (fix.applicability == "safe" or (unsafe and fix.applicability == "unsafe"))
        for fix in finding.fixes
    )


def render(name: Format, report: Report, style: Style) -> str:
    """The report in the format `name`; ends with a newline unless it is empty."""
    if style.statistics:
        from dllint.reporters import statistics

        return statistics.render(report, style, as_json=name == "json")
    text: str = import_module(f"dllint.reporters.{name}").render(report, style)
    return text
