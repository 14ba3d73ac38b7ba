"""The commands that only answer a question: `trace`, `rule`, `config`, `doctor`, `clean`, `version`."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from dllint import __version__
from dllint.cli.options import (
    FORMAT,
    CacheDir,
    Color,
    Config,
    Isolated,
    NoCache,
    TargetPlatform,
    TargetPython,
    TextOrJson,
)
from dllint.reporters import TraceFormat


def trace(
    place: Annotated[str, typer.Argument(metavar="FILE[:LINE]", help="A file, or a line of it.")],
    output_format: Annotated[TraceFormat, FORMAT] = "text",
    config: Config = None,
    isolated: Isolated = False,
    target_python: TargetPython = None,
    target_platform: TargetPlatform = None,
    no_cache: NoCache = False,
    cache_dir: CacheDir = None,
    color: Color = "auto",
) -> int:
    """Show which start methods are in force at a place, and where a loader's arguments come from."""
    options = dict(locals())
    from dllint.commands import trace as tracing
    from dllint.commands.settings import split

    choice, others = split(options)
    return tracing.run(choice=choice, **others)


def rule(
    code: Annotated[
        Optional[str], typer.Argument(metavar="RULE", help="A code or a name, as DLL201 or lambda-in-dataset.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Explain all rules.")] = False,
    output_format: TextOrJson = "text",
) -> int:
    """Explain a rule: what it finds, why that is bad, and how to fix it."""
    from dllint.commands import explain

    return explain.rule(code, every=every, as_json=output_format == "json")


def server() -> int:
    """Run the language server on standard input and output; needs the extra `lsp`."""
    from dllint.commands.exits import CLEAN
    from dllint.setting_values import ConfigError

    try:
        from dllint.server.app import serve
    except ModuleNotFoundError as error:
        raise ConfigError(f'the server needs {error.name}: pip install "dllint[lsp]"') from None
    serve()
    return CLEAN


def doctor(
    python: Annotated[
        Optional[str],
        typer.Option("--python", metavar="FILE", help="Interpreter to examine; default: the one that runs dllint."),
    ] = None,
    output_format: TextOrJson = "text",
) -> int:
    """Show this machine's limits, what they mean for loaders, and what is wrong with them."""
    from dllint.commands import doctor

    return doctor.run(python, as_json=output_format == "json")


def config(
    key: Annotated[
        Optional[str], typer.Argument(metavar="KEY", help="A key of \\[tool.dllint] in pyproject.toml.")
    ] = None,
) -> int:
    """List the settings that a project can have, or explain one."""
    from dllint.commands import explain

    return explain.setting(key)


def clean(
    paths: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="PATHS", help="Where to read `cache-dir` from; default: this directory."),
    ] = None,
    cache_dir: CacheDir = None,
) -> int:
    """Remove the cache, which all projects share unless `cache-dir` is set."""
    from dllint.commands import clean

    return clean.run(paths or ["."], cache_dir)


def version() -> int:
    """Print the version."""
    print(f"dllint {__version__}")
    return 0
