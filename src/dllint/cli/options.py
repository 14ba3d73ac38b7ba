"""What the options of several commands have in common."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

import typer

Color = Literal["auto", "always", "never"]
RULES, FIXES, OUTPUT, FILES, TARGETS, RUN = "Rules", "Fixes", "Output", "Files", "Targets", "Run"
LIMITS = "Limits of the run"


def option(name: str, help: str, panel: str, *more: str, **others: Any) -> Any:
    """An option of a command, under the panel of its help that it belongs to."""
    return typer.Option(name, *more, help=help, rich_help_panel=panel, **others)


OfColor = Annotated[Color, option("--color", "When to use colours.", OUTPUT)]
OfConfig = Annotated[
    Optional[str], option("--config", "A TOML file in the place of pyproject.toml.", RUN, metavar="FILE")
]
Isolated = Annotated[bool, option("--isolated", "Read no configuration file.", RUN)]
TargetPython = Annotated[
    Optional[str], option("--target-python", 'A version ("3.12") or specifier (">=3.10,<3.15").', TARGETS)
]
TargetPlatform = Annotated[
    Optional[list[str]], option("--target-platform", "linux, macos or windows; several by commas.", TARGETS)
]
NoCache = Annotated[bool, option("--no-cache", "Keep no facts between runs.", RUN, "-n")]
CacheDir = Annotated[Optional[str], option("--cache-dir", "Where facts are kept.", RUN, metavar="DIR")]
OutputFile = Annotated[
    Optional[str], option("--output-file", "Write the report to a file.", OUTPUT, "-o", metavar="FILE")
]
TextOrJson = Annotated[Literal["text", "json"], option("--output-format", "text or json.", OUTPUT)]


def listed(values: list[str] | None) -> list[str] | None:
    """The values of an option that is given several times or with commas."""
    if values is None:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]
