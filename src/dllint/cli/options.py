"""The options that several commands share, each declared once."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

import typer

RULES, FIXES, OUTPUT, FILES, TARGETS, RUN = "Rules", "Fixes", "Output", "Files", "Targets", "Run"
LIMITS = "Limits of the run"


def option(name: str, help: str, panel: str, *more: str, **others: Any) -> Any:
    """An option of a command, under the panel of its help that it belongs to."""
    return typer.Option(name, *more, help=help, rich_help_panel=panel, **others)


# Settings; `commands.settings.split` collects them.
Config = Annotated[
    Optional[str], option("--config", "Read this TOML file instead of pyproject.toml.", RUN, metavar="FILE")
]
Isolated = Annotated[bool, option("--isolated", "Read no configuration file.", RUN)]
TargetPython = Annotated[
    Optional[str],
    option(
        "--target-python",
        'Python that the program runs on: a version ("3.12") or a range (">=3.10,<3.15").',
        TARGETS,
        metavar="VERSION",
    ),
]
TargetPlatform = Annotated[
    Optional[list[str]],
    option(
        "--target-platform",
        "Platforms that the program runs on: linux, macos, windows, comma-separated.",
        TARGETS,
        metavar="NAMES",
    ),
]
CacheDir = Annotated[
    Optional[str], option("--cache-dir", "Directory of the cache of parsed files.", RUN, metavar="DIR")
]

NoCache = Annotated[bool, option("--no-cache", "Neither read nor write the cache of parsed files.", RUN, "-n")]
Color = Annotated[Literal["auto", "always", "never"], option("--color", "When to use colours.", OUTPUT)]
FORMAT = option("--output-format", "Format of the report.", OUTPUT)
TextOrJson = Annotated[Literal["text", "json"], FORMAT]
OutputFile = Annotated[
    Optional[str],
    option("--output-file", "Write the report to this file instead of stdout.", OUTPUT, "-o", metavar="FILE"),
]
