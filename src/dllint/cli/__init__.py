"""The commands. Each one reads its options and hands them on; what it does is imported when it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from dllint import __version__
from dllint.cli.check import check
from dllint.cli.questions import clean, config, doctor, rule, trace, version
from dllint.cli.run import run
from dllint.config import ConfigError

FAILED = 2

app = typer.Typer(
    name="dllint",
    help="Finds data loading hazards in PyTorch programs.",
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command and exits: 0 clean, 1 findings, 2 what could not be done. Errors are one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    raw = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = app(args=arguments, prog_name="dllint", standalone_mode=False, obj=raw)
    except KeyboardInterrupt:
        status = 130
    except ConfigError as error:
        status = _fail(str(error))
    except BrokenPipeError:
        _abandon_output()
        status = FAILED
    except Exception as error:
        if os.environ.get("DLLINT_DEBUG"):
            raise
        told = getattr(error, "format_message", None)
        status = _fail(
            told() if told else f"internal error: {type(error).__name__}: {error} (DLLINT_DEBUG=1 shows where)"
        )
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_output()
    sys.exit(status)


def _fail(message: str) -> int:
    if message.strip():
        print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return FAILED


def _abandon_output() -> None:
    """The reader of our output went away: what is still buffered goes nowhere, so that nothing complains at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"dllint {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


app.command()(check)
app.command(context_settings={"allow_interspersed_args": False})(run)
for _command in (trace, rule, doctor, config, clean, version):
    app.command()(_command)
