"""The commands as typer needs them declared. What a command does is imported when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from dllint.cli.check import check
from dllint.cli.questions import clean, config, doctor, rule, trace, version
from dllint.cli.run import run

app = typer.Typer(
    name="dllint",
    help="Finds data loading hazards in PyTorch programs.",
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
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


app.command()(check)
app.command(context_settings={"allow_interspersed_args": False})(run)
for _command in (trace, rule, doctor, config, clean, version):
    app.command()(_command)
