"""The small commands: what is in force at a place, a rule, a setting, this machine, the cache, the version."""

from __future__ import annotations

from typing import Annotated, Literal, Optional

import typer

from dllint import __version__
from dllint.cli.options import (
    CacheDir,
    Isolated,
    NoCache,
    OfColor,
    OfConfig,
    TargetPlatform,
    TargetPython,
    TextOrJson,
    listed,
)

CLEAN = 0


def trace(
    place: Annotated[str, typer.Argument(metavar="FILE[:LINE]", help="A file, or a line of it.")],
    output_format: TextOrJson = "text",
    config: OfConfig = None,
    isolated: Isolated = False,
    target_python: TargetPython = None,
    target_platform: TargetPlatform = None,
    no_cache: NoCache = False,
    cache_dir: CacheDir = None,
    color: OfColor = "auto",
) -> int:
    """Show which start methods are in force at a place, and what a loader's arguments come to."""
    from dllint.commands import trace as following

    overrides = {"cache-dir": cache_dir, "target-python": target_python, "target-platform": listed(target_platform)}
    return following.run(
        place,
        overrides={key: value for key, value in overrides.items() if value is not None},
        config=config,
        isolated=isolated,
        cache=not no_cache,
        as_json=output_format == "json",
        color=color,
    )


def rule(
    code: Annotated[Optional[str], typer.Argument(help="A code or name: DLL101.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All rules.")] = False,
    output_format: Annotated[Literal["text", "json"], typer.Option("--output-format", help="text or json.")] = "text",
) -> int:
    """Explain a rule: what it finds, why it is bad, what to do."""
    from dllint.commands import explain as explaining

    return explaining.rule(code, every=every, as_json=output_format == "json")


def doctor(
    python: Annotated[
        Optional[str], typer.Option("--python", metavar="FILE", help="The interpreter to ask; this one if none.")
    ] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option("--output-format", help="text or json.")] = "text",
) -> int:
    """Show this machine's limits, what they mean for loaders, and what is wrong with them."""
    from dllint.runtime import doctor

    return doctor.run(python, output_format == "json")


def config(
    key: Annotated[Optional[str], typer.Argument(help="A key of [tool.dllint].")] = None,
) -> int:
    """List the settings that a project can have, or explain one."""
    from dllint.commands import explain as explaining

    return explaining.setting(key)


def clean(
    paths: Annotated[
        Optional[list[str]], typer.Argument(help="Projects whose cache is to go; this one if none.")
    ] = None,
    cache_dir: Annotated[
        Optional[str], typer.Option("--cache-dir", metavar="DIR", help="Where facts are kept.")
    ] = None,
) -> int:
    """Remove the cache."""
    from dllint.commands.check import clean_cache

    return clean_cache(tuple(paths or (".",)), cache_dir)


def version() -> int:
    """Print the version."""
    print(f"dllint {__version__}")
    return CLEAN
