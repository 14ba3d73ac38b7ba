"""The commands. Each one reads its options and hands them on; what it does is imported when it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Optional

import typer

from dllint import __version__
from dllint.config import ConfigError
from dllint.finding import Severity
from dllint.reporters import Format

CLEAN, FOUND, FAILED = 0, 1, 2

Color = Literal["auto", "always", "never"]

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


def _option(name: str, help: str, panel: str, *more: str, **others: Any) -> Any:
    return typer.Option(name, *more, help=help, rich_help_panel=panel, **others)


RULES, FIXES, OUTPUT, FILES, TARGETS, RUN = "Rules", "Fixes", "Output", "Files", "Targets", "Run"
LIMITS = "Limits of the run"


@app.command()
def check(
    paths: Annotated[Optional[list[str]], typer.Argument(help="Files and directories; - is standard input.")] = None,
    select: Annotated[
        Optional[list[str]], _option("--select", "Codes or prefixes to check for, comma-separated.", RULES)
    ] = None,
    ignore: Annotated[Optional[list[str]], _option("--ignore", "Codes or prefixes to leave out.", RULES)] = None,
    extend_select: Annotated[
        Optional[list[str]], _option("--extend-select", "Codes or prefixes to check for as well.", RULES)
    ] = None,
    per_file_ignores: Annotated[
        Optional[list[str]], _option("--per-file-ignores", "PATTERN:CODE, comma-separated.", RULES)
    ] = None,
    preview: Annotated[
        Optional[bool], _option("--preview/--no-preview", "Check for rules in preview.", RULES, show_default=False)
    ] = None,
    fix: Annotated[bool, _option("--fix", "Mend what has a safe fix.", FIXES)] = False,
    unsafe_fixes: Annotated[
        bool, _option("--unsafe-fixes", "Unsafe fixes count too: they may change what the program does.", FIXES)
    ] = False,
    diff: Annotated[bool, _option("--diff", "Print what --fix would change, and change nothing.", FIXES)] = False,
    show_fixes: Annotated[bool, _option("--show-fixes", "List what was mended.", FIXES)] = False,
    fail_on: Annotated[
        Severity, _option("--fail-on", "Mildest severity that makes the exit code 1.", OUTPUT)
    ] = "warning",
    output_format: Annotated[Format, _option("--output-format", "Format of the report.", OUTPUT)] = "text",
    output_file: Annotated[
        Optional[str], _option("--output-file", "Write the report to a file.", OUTPUT, "-o", metavar="FILE")
    ] = None,
    statistics: Annotated[bool, _option("--statistics", "Counts a rule instead of findings.", OUTPUT)] = False,
    quiet: Annotated[bool, _option("--quiet", "Findings and errors only.", OUTPUT, "-q")] = False,
    exit_zero: Annotated[bool, _option("--exit-zero", "Exit 0 also when there are findings.", OUTPUT)] = False,
    exit_non_zero_on_fix: Annotated[
        bool, _option("--exit-non-zero-on-fix", "Exit 1 also when all findings were mended.", OUTPUT)
    ] = False,
    add_ignore: Annotated[
        bool, _option("--add-ignore", "Write a suppression comment at every finding.", FIXES)
    ] = False,
    baseline: Annotated[
        Optional[str],
        _option(
            "--baseline",
            "Report only what this file does not list; written where it is missing.",
            OUTPUT,
            metavar="FILE",
        ),
    ] = None,
    with_run: Annotated[
        Optional[str],
        _option(
            "--with-run", "Show what `dllint run --output-format json` said of each finding.", OUTPUT, metavar="FILE"
        ),
    ] = None,
    no_cache: Annotated[bool, _option("--no-cache", "Keep no facts between runs.", RUN, "-n")] = False,
    cache_dir: Annotated[Optional[str], _option("--cache-dir", "Where facts are kept.", RUN, metavar="DIR")] = None,
    force_exclude: Annotated[
        bool, _option("--force-exclude", "Excluded files stay out even when they are named.", FILES)
    ] = False,
    no_respect_gitignore: Annotated[
        bool, _option("--no-respect-gitignore", "Check what git ignores too.", FILES)
    ] = False,
    exclude: Annotated[Optional[list[str]], _option("--exclude", "Patterns to leave out.", FILES)] = None,
    extend_exclude: Annotated[
        Optional[list[str]], _option("--extend-exclude", "Patterns to leave out as well.", FILES)
    ] = None,
    stdin_filename: Annotated[
        Optional[str], _option("--stdin-filename", "Name of what standard input holds.", FILES, metavar="FILE")
    ] = None,
    show_files: Annotated[bool, _option("--show-files", "List the files that would be checked.", FILES)] = False,
    show_settings: Annotated[bool, _option("--show-settings", "Show the settings in force.", RUN)] = False,
    config: Annotated[
        Optional[str], _option("--config", "A TOML file in the place of pyproject.toml.", RUN, metavar="FILE")
    ] = None,
    isolated: Annotated[bool, _option("--isolated", "Read no configuration file.", RUN)] = False,
    target_python: Annotated[
        Optional[str], _option("--target-python", 'A version ("3.12") or specifier (">=3.10,<3.15").', TARGETS)
    ] = None,
    target_platform: Annotated[
        Optional[list[str]], _option("--target-platform", "linux, macos or windows; several by commas.", TARGETS)
    ] = None,
    jobs: Annotated[Optional[int], _option("--jobs", "Processes that parse.", RUN, "-j", min=1)] = None,
    watch: Annotated[bool, _option("--watch", "Check again whenever a file changes.", RUN, "-w")] = False,
    color: Annotated[Color, _option("--color", "When to use colours.", OUTPUT)] = "auto",
) -> int:
    """Check files and directories for data loading hazards."""
    from dllint import checking

    overrides: dict[str, Any] = {
        "select": _listed(select),
        "ignore": _listed(ignore),
        "extend-select": _listed(extend_select),
        "per-file-ignores": _by_pattern(per_file_ignores),
        "exclude": _listed(exclude),
        "extend-exclude": _listed(extend_exclude),
        "preview": preview,
        "cache-dir": cache_dir,
        "target-python": target_python,
        "target-platform": _listed(target_platform),
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
        from dllint.mending import mend

        return checking.run(request, mend)
    return checking.watch(request) if watch else checking.run(request)


def _listed(values: list[str] | None) -> list[str] | None:
    if values is None:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _by_pattern(values: list[str] | None) -> dict[str, list[str]] | None:
    if values is None:
        return None
    table: dict[str, list[str]] = {}
    for pair in _listed(values) or ():
        pattern, colon, code = pair.rpartition(":")
        if not colon or not pattern:
            raise ConfigError(f'--per-file-ignores: "{pair}" is not PATTERN:CODE')
        table.setdefault(pattern, []).append(code)
    return table


@app.command(context_settings={"allow_interspersed_args": False})
def run(
    context: typer.Context,
    words: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="SCRIPT | -m MODULE | -- COMMAND... [ARGS]...", help="The program, and arguments of its own."
        ),
    ] = None,
    module: Annotated[bool, typer.Option("-m", help="The first word is a module.")] = False,
    max_batches: Annotated[
        int, _option("--max-batches", "Batches of a loader's epoch; 0 for all.", LIMITS, min=0)
    ] = 16,
    max_epochs: Annotated[int, _option("--max-epochs", "Epochs of a loader; 0 for all.", LIMITS, min=0)] = 3,
    time_limit: Annotated[
        float, _option("--time-limit", "Seconds that the program may take; 0 for any.", LIMITS, min=0)
    ] = 120,
    allow_saves: Annotated[
        bool, _option("--allow-saves", "Let the shortened run write checkpoints where it wants to.", LIMITS)
    ] = False,
    scratch: Annotated[
        Optional[str], _option("--scratch", "Keep records and redirected checkpoints here.", LIMITS, metavar="DIR")
    ] = None,
    epochs: Annotated[
        Optional[int], _option("--epochs", "Epochs of the real run, to predict for.", TARGETS, min=1)
    ] = None,
    workers: Annotated[
        Optional[int], _option("--workers", "Workers a loader of the real run, to predict for.", TARGETS, min=0)
    ] = None,
    trials: Annotated[
        Optional[list[str]],
        _option("--try", "Start methods to try loaders under: fork, spawn, forkserver, or none.", TARGETS),
    ] = None,
    target_python: Annotated[
        Optional[str], _option("--target-python", 'A version ("3.12") or specifier (">=3.10,<3.15").', TARGETS)
    ] = None,
    target_platform: Annotated[
        Optional[list[str]], _option("--target-platform", "linux, macos or windows; several by commas.", TARGETS)
    ] = None,
    report: Annotated[
        Optional[str], _option("--report", "Write one page that opens offline.", OUTPUT, metavar="FILE")
    ] = None,
    output_format: Annotated[Literal["text", "json"], _option("--output-format", "text or json.", OUTPUT)] = "text",
    output_file: Annotated[
        Optional[str], _option("--output-file", "Write the report to a file.", OUTPUT, "-o", metavar="FILE")
    ] = None,
    progress: Annotated[
        Optional[bool],
        _option("--progress/--no-progress", "Show a bar; by default on a terminal.", OUTPUT, show_default=False),
    ] = None,
    color: Annotated[Color, _option("--color", "When to use colours.", OUTPUT)] = "auto",
    config: Annotated[
        Optional[str], _option("--config", "A TOML file in the place of pyproject.toml.", RUN, metavar="FILE")
    ] = None,
    isolated: Annotated[bool, _option("--isolated", "Read no configuration file.", RUN)] = False,
) -> int:
    """Run a program, shortened and watched: which findings are true, and what will run out."""
    from dllint import running
    from dllint.runtime.run import Options

    overrides = {"target-python": target_python, "target-platform": _listed(target_platform)}
    tried = _listed(trials)
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


@app.command()
def trace(
    place: Annotated[str, typer.Argument(metavar="FILE[:LINE]", help="A file, or a line of it.")],
    output_format: Annotated[Literal["text", "json"], _option("--output-format", "text or json.", OUTPUT)] = "text",
    config: Annotated[
        Optional[str], _option("--config", "A TOML file in the place of pyproject.toml.", RUN, metavar="FILE")
    ] = None,
    isolated: Annotated[bool, _option("--isolated", "Read no configuration file.", RUN)] = False,
    target_python: Annotated[
        Optional[str], _option("--target-python", 'A version ("3.12") or specifier (">=3.10,<3.15").', TARGETS)
    ] = None,
    target_platform: Annotated[
        Optional[list[str]], _option("--target-platform", "linux, macos or windows; several by commas.", TARGETS)
    ] = None,
    no_cache: Annotated[bool, _option("--no-cache", "Keep no facts between runs.", RUN, "-n")] = False,
    cache_dir: Annotated[Optional[str], _option("--cache-dir", "Where facts are kept.", RUN, metavar="DIR")] = None,
    color: Annotated[Color, _option("--color", "When to use colours.", OUTPUT)] = "auto",
) -> int:
    """Show which start methods are in force at a place, and what a loader's arguments come to."""
    from dllint import following

    overrides = {"cache-dir": cache_dir, "target-python": target_python, "target-platform": _listed(target_platform)}
    return following.run(
        place,
        overrides={key: value for key, value in overrides.items() if value is not None},
        config=config,
        isolated=isolated,
        cache=not no_cache,
        as_json=output_format == "json",
        color=color,
    )


@app.command()
def rule(
    code: Annotated[Optional[str], typer.Argument(help="A code or name: DLL101.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All rules.")] = False,
    output_format: Annotated[Literal["text", "json"], typer.Option("--output-format", help="text or json.")] = "text",
) -> int:
    """Explain a rule: what it finds, why it is bad, what to do."""
    from dllint import explaining

    return explaining.rule(code, every=every, as_json=output_format == "json")


@app.command()
def doctor(
    python: Annotated[
        Optional[str], typer.Option("--python", metavar="FILE", help="The interpreter to ask; this one if none.")
    ] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option("--output-format", help="text or json.")] = "text",
) -> int:
    """Show this machine's limits, what they mean for loaders, and what is wrong with them."""
    from dllint.runtime import doctor

    return doctor.run(python, output_format == "json")


@app.command()
def config(
    key: Annotated[Optional[str], typer.Argument(help="A key of [tool.dllint].")] = None,
) -> int:
    """List the settings that a project can have, or explain one."""
    from dllint import explaining

    return explaining.setting(key)


@app.command()
def clean(
    paths: Annotated[
        Optional[list[str]], typer.Argument(help="Projects whose cache is to go; this one if none.")
    ] = None,
    cache_dir: Annotated[
        Optional[str], typer.Option("--cache-dir", metavar="DIR", help="Where facts are kept.")
    ] = None,
) -> int:
    """Remove the cache."""
    from dllint.checking import clean_cache

    return clean_cache(tuple(paths or (".",)), cache_dir)


@app.command()
def version() -> int:
    """Print the version."""
    print(f"dllint {__version__}")
    return CLEAN
