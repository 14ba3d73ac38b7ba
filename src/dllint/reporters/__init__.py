"""Report formats: one module per format, each with `render(report, style) -> str`.

A format is that module and its name in one of the lists below.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal, cast

from dllint.reporters.cells import by_cell as by_cell

if TYPE_CHECKING:
    from dllint.finding import Finding
    from dllint.linter import Report
    from dllint.run_report import RunReport
    from dllint.tracing import Trace

Format = Literal["text", "concise", "json", "jsonl", "lsp", "github", "gitlab", "junit", "rdjson", "sarif"]
"""Of `dllint check`: modules of this package."""
RunFormat = Literal["text", "json"]
"""Of `dllint run`: modules of `runs`."""
TraceFormat = Literal["text", "json"]
"""Of `dllint trace`: modules of `traces`."""


@dataclass(frozen=True)
class Style:
    """How a report is written.

    Attributes:
        color: with ANSI colours (text only).
        unsafe_fixes: unsafe fixes count as fixable.
        quiet: findings only, without the footer.
        directory: paths are shown relative to this one where they lie inside it; absolute.
        width: columns of the terminal, at which text is wrapped; 0 for no wrapping.
        links: codes are links to their pages (OSC 8, which terminals must know).
        show_all: all related places, and not only the most telling ones.
        paths: what was asked to be checked, as written.
    """

    color: bool = False
    unsafe_fixes: bool = False
    quiet: bool = False
    directory: str = ""
    width: int = 0
    links: bool = False
    show_all: bool = False
    paths: tuple[str, ...] = ()


def fixable(finding: Finding, unsafe: bool) -> bool:
    """Whether `--fix` would fix the finding, with unsafe fixes or without."""
    return any(
        fix.edits and (fix.applicability == "safe" or (unsafe and fix.applicability == "unsafe"))
        for fix in finding.fixes
    )


def render(
    name: str, report: Report | RunReport | Trace, style: Style, folder: Literal["", "runs.", "traces."] = ""
) -> str:
    """The report in the format `name`, whose module is in `folder`; ends with a newline unless it is empty."""
    if not folder:
        report = by_cell(cast("Report", report))
    text: str = import_module(f"dllint.reporters.{folder}{name}").render(report, style)
    return text
