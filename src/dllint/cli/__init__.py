"""The command line: options and help texts, declared for typer."""

from __future__ import annotations

import os
import sys

from dllint.cli import interrupts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: 0 clean, 1 findings, 2 errors. An error is one line on stderr."""
    interrupts.end_at_once()
    status = 1
    from dllint.commands.exits import status_of

    # They are None if the shell closed them (`>&-`).
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    raw = list(sys.argv[1:] if arguments is None else arguments)
    if not raw and not os.environ.get("_DLLINT_COMPLETE"):
        raw = ["check"]
    try:
        status = status_of(lambda: _run(raw))
    finally:
        status = interrupts.give_back(status)
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    """Run a command. Commands without options bypass typer, whose import takes longer than printing a page."""
    match arguments:
        case ["--version" | "version"]:
            from dllint import __version__

            print(f"dllint {__version__}")
            return 0
        case ["rule", code] if not code.startswith("-"):
            from dllint.commands import explain

            interrupts.give_back()
            return explain.rule(code, every=False, as_json=False)
    from dllint.cli.application import app

    if arguments[:1] != ["run"]:
        interrupts.give_back()
    status: int = app(args=arguments, prog_name="dllint", standalone_mode=False, obj=arguments)
    return status
