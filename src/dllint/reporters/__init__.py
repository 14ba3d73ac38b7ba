"""Report formats: one module per format, each with `render(report, style) -> str`.

To add a format, add its module, and its name to one of the lists below.
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
"""Formats of `dllint check`: modules of this package."""
RunFormat = Literal["text", "json"]
"""Formats of `dllint run`: modules of `runs`."""
TraceFormat = Literal["text", "json"]
"""Formats of `dllint trace`: modules of `traces`."""


@dataclass(frozen=True)
class Style:
    """How a report is rendered.

    Attributes:
        color: use ANSI colours (text only).
        unsafe_fixes: count unsafe fixes as fixable.
        quiet: findings only, without the footer.
        directory: absolute path; paths inside it are shown relative to it.
        width: columns of the terminal at which text is wrapped; 0 for no wrapping.
        links: make codes links to their pages (OSC 8, if the terminal supports it).
        show_all: show all related places, not only the most informative ones.
        paths: the paths to check, as the user wrote them.
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
    """Whether `--fix` fixes the finding; `unsafe` includes unsafe fixes."""
    return any(
        fix.edits and (fix.applicability == "safe" or (unsafe and fix.applicability == "unsafe"))
        for fix in finding.fixes
    )


def render(
    name: str, report: Report | RunReport | Trace, style: Style, folder: Literal["", "runs.", "traces."] = ""
) -> str:
    """Render a report in the format `name`, a module of `folder`; it ends with a newline unless it is empty."""
    if not folder:
        report = by_cell(cast("Report", report))
    text: str = import_module(f"dllint.reporters.{folder}{name}").render(report, style)
    return text
