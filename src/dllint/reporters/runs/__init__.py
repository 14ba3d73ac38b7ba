"""Reports of `dllint run`: one module a format, each with `render(report, style) -> str`."""

from __future__ import annotations

from importlib import import_module
from typing import Literal

from dllint.reporters import Style
from dllint.run_report import RunReport

RunFormat = Literal["text", "json"]


def render(name: RunFormat, report: RunReport, style: Style) -> str:
    """The report of a run in the format `name`; ends with a newline."""
    text: str = import_module(f"dllint.reporters.runs.{name}").render(report, style)
    return text
