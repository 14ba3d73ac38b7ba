"""`dllint run`"""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from dllint.cli.options import (
    LIMITS,
    OUTPUT,
    TARGETS,
    Isolated,
    OfColor,
    OfConfig,
    OutputFile,
    TargetPlatform,
    TargetPython,
    TextOrJson,
    listed,
    option,
)
from dllint.config import ConfigError


def run(
    context: typer.Context,
    words: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="SCRIPT | -m MODULE | -- COMMAND... [ARGS]...", help="The program, and arguments of its own."
        ),
    ] = None,
    module: Annotated[bool, typer.Option("-m", help="The first word is a module.")] = False,
    max_batches: Annotated[int, option("--max-batches", "Batches of a loader's epoch; 0 for all.", LIMITS, min=0)] = 16,
    max_epochs: Annotated[int, option("--max-epochs", "Epochs of a loader; 0 for all.", LIMITS, min=0)] = 3,
    time_limit: Annotated[
        float, option("--time-limit", "Seconds that the program may take; 0 for any.", LIMITS, min=0)
    ] = 120,
    allow_saves: Annotated[
        bool, option("--allow-saves", "Let the shortened run write checkpoints where it wants to.", LIMITS)
    ] = False,
    scratch: Annotated[
        Optional[str], option("--scratch", "Keep records and redirected checkpoints here.", LIMITS, metavar="DIR")
    ] = None,
    epochs: Annotated[
        Optional[int], option("--epochs", "Epochs of the real run, to predict for.", TARGETS, min=1)
    ] = None,
    workers: Annotated[
        Optional[int], option("--workers", "Workers a loader of the real run, to predict for.", TARGETS, min=0)
    ] = None,
    trials: Annotated[
        Optional[list[str]],
        option("--try", "Start methods to try loaders under: fork, spawn, forkserver, or none.", TARGETS),
    ] = None,
    target_python: TargetPython = None,
    target_platform: TargetPlatform = None,
    report: Annotated[
        Optional[str], option("--report", "Write one page that opens offline.", OUTPUT, metavar="FILE")
    ] = None,
    output_format: TextOrJson = "text",
    output_file: OutputFile = None,
    progress: Annotated[
        Optional[bool],
        option("--progress/--no-progress", "Show a bar; by default on a terminal.", OUTPUT, show_default=False),
    ] = None,
    color: OfColor = "auto",
    config: OfConfig = None,
    isolated: Isolated = False,
) -> int:
    """Run a program, shortened and watched: which findings are true, and what will run out."""
    from dllint.commands import run as running
    from dllint.runtime.run import Options

    overrides = {"target-python": target_python, "target-platform": listed(target_platform)}
    tried = listed(trials)
    for method in tried or ():
        if method not in ("fork", "spawn", "forkserver", "none"):
            raise ConfigError(f'--try: "{method}" is no start method: fork, spawn, forkserver, or none')
    options = Options(
        command=running.command(words or (), context.obj, module),
        max_batches=max_batches or None,
        max_epochs=max_epochs or None,
        time_limit=time_limit or None,
        allow_saves=allow_saves,
        trials=None if tried is None else tuple(one for one in tried if one != "none"),
        epochs=epochs,
        workers=workers,
        scratch=scratch,
        progress=progress,
        program_to_stderr=output_format != "text" and output_file is None,
    )
    return running.execute(
        running.Request(
            options=options,
            overrides={key: value for key, value in overrides.items() if value is not None},
            config=config,
            isolated=isolated,
            report=report,
            output_format=output_format,
            output_file=output_file,
            color=color,
        )
    )
