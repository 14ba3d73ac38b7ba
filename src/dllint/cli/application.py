"""The commands, declared for typer. Each imports its implementation when it runs, so that `dllint` starts quickly."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from dllint.cli.check import check
from dllint.cli.questions import clean, config, doctor, rule, server, trace, version
from dllint.cli.run import run

HELP = """Find what breaks or slows down the data loading of PyTorch programs.

Without a command, `dllint` checks the project around the current directory, as `dllint check` does.
"""


class _PlainHelp:
    """A command whose `--help` shows metavars instead of Python types."""

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)  # type: ignore[misc]
        for one in params:
            if getattr(one, "is_flag", False):
                one.metavar = ""
            elif isinstance(one, TyperArgument):
                # typer prints the type of an argument beside its name, whatever its metavar.
                vars(one)["display_type_rich"] = lambda ctx: None
        return params


class Command(_PlainHelp, TyperCommand):
    """One command."""


class Group(_PlainHelp, TyperGroup):
    """The program with its commands."""


app = typer.Typer(
    name="dllint",
    cls=Group,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


app.command(cls=Command)(check)
app.command(cls=Command, context_settings={"allow_interspersed_args": False})(run)
for _command in (trace, rule, server, doctor, config, clean, version):
    app.command(cls=Command)(_command)
