"""`dllint check`"""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from dllint.cli.options import (
    FILES,
    FIXES,
    OUTPUT,
    RULES,
    RUN,
    CacheDir,
    Isolated,
    NoCache,
    OfColor,
    OfConfig,
    OutputFile,
    TargetPlatform,
    TargetPython,
    listed,
    option,
)
from dllint.config import ConfigError
from dllint.finding import Severity
from dllint.reporters import Format


def check(
    paths: Annotated[Optional[list[str]], typer.Argument(help="Files and directories; - is standard input.")] = None,
    select: Annotated[
        Optional[list[str]], option("--select", "Codes or prefixes to check for, comma-separated.", RULES)
    ] = None,
    ignore: Annotated[Optional[list[str]], option("--ignore", "Codes or prefixes to leave out.", RULES)] = None,
    extend_select: Annotated[
        Optional[list[str]], option("--extend-select", "Codes or prefixes to check for as well.", RULES)
    ] = None,
    per_file_ignores: Annotated[
        Optional[list[str]], option("--per-file-ignores", "PATTERN:CODE, comma-separated.", RULES)
    ] = None,
    preview: Annotated[
        Optional[bool], option("--preview/--no-preview", "Check for rules in preview.", RULES, show_default=False)
    ] = None,
    fix: Annotated[bool, option("--fix", "Mend what has a safe fix.", FIXES)] = False,
    unsafe_fixes: Annotated[
        bool, option("--unsafe-fixes", "Unsafe fixes count too: they may change what the program does.", FIXES)
    ] = False,
    diff: Annotated[bool, option("--diff", "Print what --fix would change, and change nothing.", FIXES)] = False,
    show_fixes: Annotated[bool, option("--show-fixes", "List what was mended.", FIXES)] = False,
    fail_on: Annotated[
        Severity, option("--fail-on", "Mildest severity that makes the exit code 1.", OUTPUT)
    ] = "warning",
    output_format: Annotated[Format, option("--output-format", "Format of the report.", OUTPUT)] = "text",
    output_file: OutputFile = None,
    statistics: Annotated[bool, option("--statistics", "Counts a rule instead of findings.", OUTPUT)] = False,
    quiet: Annotated[bool, option("--quiet", "Findings and errors only.", OUTPUT, "-q")] = False,
    exit_zero: Annotated[bool, option("--exit-zero", "Exit 0 also when there are findings.", OUTPUT)] = False,
    exit_non_zero_on_fix: Annotated[
        bool, option("--exit-non-zero-on-fix", "Exit 1 also when all findings were mended.", OUTPUT)
    ] = False,
    add_ignore: Annotated[bool, option("--add-ignore", "Write a suppression comment at every finding.", FIXES)] = False,
    baseline: Annotated[
        Optional[str],
        option(
            "--baseline",
            "Report only what this file does not list; written where it is missing.",
            OUTPUT,
            metavar="FILE",
        ),
    ] = None,
    with_run: Annotated[
        Optional[str],
        option(
            "--with-run", "Show what `dllint run --output-format json` said of each finding.", OUTPUT, metavar="FILE"
        ),
    ] = None,
    no_cache: NoCache = False,
    cache_dir: CacheDir = None,
    force_exclude: Annotated[
        bool, option("--force-exclude", "Excluded files stay out even when they are named.", FILES)
    ] = False,
    no_respect_gitignore: Annotated[
        bool, option("--no-respect-gitignore", "Check what git ignores too.", FILES)
    ] = False,
    exclude: Annotated[Optional[list[str]], option("--exclude", "Patterns to leave out.", FILES)] = None,
    extend_exclude: Annotated[
        Optional[list[str]], option("--extend-exclude", "Patterns to leave out as well.", FILES)
    ] = None,
    stdin_filename: Annotated[
        Optional[str], option("--stdin-filename", "Name of what standard input holds.", FILES, metavar="FILE")
    ] = None,
    show_files: Annotated[bool, option("--show-files", "List the files that would be checked.", FILES)] = False,
    show_settings: Annotated[bool, option("--show-settings", "Show the settings in force.", RUN)] = False,
    config: OfConfig = None,
    isolated: Isolated = False,
    target_python: TargetPython = None,
    target_platform: TargetPlatform = None,
    jobs: Annotated[Optional[int], option("--jobs", "Processes that parse.", RUN, "-j", min=1)] = None,
    watch: Annotated[bool, option("--watch", "Check again whenever a file changes.", RUN, "-w")] = False,
    color: OfColor = "auto",
) -> int:
    """Check files and directories for data loading hazards."""
    from dllint.commands import check as checking

    overrides: dict[str, Any] = {
        "select": listed(select),
        "ignore": listed(ignore),
        "extend-select": listed(extend_select),
        "per-file-ignores": _by_pattern(per_file_ignores),
        "exclude": listed(exclude),
        "extend-exclude": listed(extend_exclude),
        "preview": preview,
        "cache-dir": cache_dir,
        "target-python": target_python,
        "target-platform": listed(target_platform),
    }
    request = checking.Request(
        paths=tuple(paths or ()),
        overrides={key: value for key, value in overrides.items() if value is not None},
        config=config,
        isolated=isolated,
        fix=fix,
        unsafe_fixes=unsafe_fixes,
        diff=diff,
        show_fixes=show_fixes,
        add_ignore=add_ignore,
        baseline=baseline,
        with_run=with_run,
        fail_on=fail_on,
        output_format=output_format,
        output_file=output_file,
        statistics=statistics,
        quiet=quiet,
        exit_zero=exit_zero,
        exit_non_zero_on_fix=exit_non_zero_on_fix,
        cache=not no_cache,
        force_exclude=force_exclude,
        respect_gitignore=not no_respect_gitignore,
        stdin_filename=stdin_filename,
        show_files=show_files,
        show_settings=show_settings,
        jobs=jobs,
        color=color,
    )
    if fix or diff or add_ignore:
        from dllint.commands.fix import mend

        return checking.run(request, mend)
    return checking.watch(request) if watch else checking.run(request)


def _by_pattern(values: list[str] | None) -> dict[str, list[str]] | None:
    if values is None:
        return None
    table: dict[str, list[str]] = {}
    for pair in listed(values) or ():
        pattern, colon, code = pair.rpartition(":")
        if not colon or not pattern:
            raise ConfigError(f'--per-file-ignores: "{pair}" is not PATTERN:CODE')
        table.setdefault(pattern, []).append(code)
    return table
