"""What the options of several commands have in common."""

from __future__ import annotations

from typing import Any, Literal

import typer

Color = Literal["auto", "always", "never"]
RULES, FIXES, OUTPUT, FILES, TARGETS, RUN = "Rules", "Fixes", "Output", "Files", "Targets", "Run"
LIMITS = "Limits of the run"


def option(name: str, help: str, panel: str, *more: str, **others: Any) -> Any:
    """An option of a command, under the panel of its help that it belongs to."""
    return typer.Option(name, *more, help=help, rich_help_panel=panel, **others)


def listed(values: list[str] | None) -> list[str] | None:
    """The values of an option that is given several times or with commas."""
    if values is None:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]
