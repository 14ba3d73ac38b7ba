"""What `dllint check` does: settings, check, fixes, report, exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dllint import linter
from dllint.commands.exits import CLEAN, FAILED, FOUND
from dllint.commands.output import progress_bar, tell, wants_color, write
from dllint.commands.settings import Choice
from dllint.config import ConfigError, Settings
from dllint.finding import SEVERITIES, Severity
from dllint.linter import Execution, Report
from dllint.reporters import Format, Style, render
from dllint.reporters.limits import limit_lines
from dllint.reporters.source import counted, shown_path
from dllint.reporters.statistics import statistics

STDIN = "-"
WATCH_EVERY_S = 0.5


@dataclass(frozen=True)
class Request:
    """What the user asked for on the command line."""

    paths: Sequence[str] = ()
    choice: Choice = Choice()
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    show_fixes: bool = False
    add_ignore: bool = False
    baseline: str | None = None
    with_run: str | None = None
    fail_on: Severity = "warning"
    output_format: Format = "text"
    output_file: str | None = None
    statistics: bool = False
    quiet: bool = False
    verbose: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    no_cache: bool = False
    force_exclude: bool = False
    no_respect_gitignore: bool = False
    stdin_filename: str | None = None
    show_files: bool = False
    show_settings: bool = False
    jobs: int | None = None
    watch: bool = False
    color: str = "auto"
    stdin: bool = False


@dataclass(frozen=True)
class Check:
    """A request with what follows from it."""

    request: Request
    settings: Settings
    execution: Execution


def run(request: Request) -> int:
    """Check once, or again whenever a file changes; gives the exit code.

    Raises:
        ConfigError: the request or a configuration file makes no sense.
    """
    if request.fix or request.diff or request.add_ignore:
        from dllint.commands.fix import mend

        return _once(request, mend)
    return _watch(request) if request.watch else _once(request, conclude)


def conclude(check: Check, report: Report, mended: int = 0) -> int:
    """Write the report and give the exit code; `mended` findings are gone from it already."""
    if check.request.baseline:
        from dllint.commands.baseline import without_known

        report = without_known(report, check.request.baseline)
    if check.request.with_run:
        from dllint.verdicts import with_run

        report = with_run(report, check.request.with_run)
    tell_beside(report, check.request)
    _write_report(check.request, report)
    return _exit_code(check.request, report, mended)


def _once(request: Request, finish: Callable[[Check, Report], int]) -> int:
    if not request.paths:
        if not request.quiet:
            tell(["no files given, so nothing was checked (`dllint check .` checks this directory)"], "warning")
        return CLEAN
    request, unsaved = _with_stdin(request)
    settings = request.choice.load(request.paths)
    execution = Execution(
        jobs=request.jobs,
        cache=not request.no_cache,
        respect_gitignore=not request.no_respect_gitignore,
        force_exclude=request.force_exclude,
        unsaved=unsaved,
    )
    if request.show_settings:
        from dllint.commands.explain import settings_table

        print(settings_table(settings), end="")
        return CLEAN
    if request.show_files:
        return _show_files(request, settings, execution)
    with progress_bar() as progress:
        report = linter.check(request.paths, settings, replace(execution, progress=progress))
    return finish(Check(request, settings, execution), report)


def _watch(request: Request) -> int:
    """Check again whenever one of the files changes, until interrupted."""
    if STDIN in request.paths:
        raise ConfigError("standard input cannot be watched")
    before: dict[str, int] | None = None
    while True:
        files = linter.select(request.paths, request.choice.load(request.paths)).files
        now = {path: stamp for path in files if (stamp := _changed_at(path)) is not None}
        if now != before:
            before = now
            if sys.stdout.isatty():
                print("\x1b[2J\x1b[H", end="")
            _once(request, conclude)
            sys.stdout.flush()
            tell([f"Watching {counted(len(now), 'file')}; Ctrl-C ends it."])
        time.sleep(WATCH_EVERY_S)


def _changed_at(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def _exit_code(request: Request, report: Report, mended: int) -> int:
    """2 where something was not checked, 1 for findings from the severity of `--fail-on` on, else 0."""
    if report.incomplete:
        return FAILED
    failing = SEVERITIES.index(request.fail_on)
    found = any(SEVERITIES.index(finding.severity or "warning") >= failing for finding in report.findings)
    if (found and not request.exit_zero) or (mended and request.exit_non_zero_on_fix):
        return FOUND
    return CLEAN


def tell_beside(report: Report, request: Request) -> None:
    """Print on stderr what the report does not hold: what was not checked, warnings, and the limits that were met."""
    tell(report.problems, "error")
    if not request.quiet:
        tell(report.warnings, "warning")
    if request.verbose:
        tell(limit_lines(report.limits), "note")


def _write_report(request: Request, report: Report) -> None:
    """The report to stdout or the output file; to stderr where stdout takes the fixed text."""
    to_stderr = request.stdin and (request.fix or request.diff)
    stream = sys.stderr if to_stderr else sys.stdout
    style = Style(
        color=request.output_file is None and wants_color(request.color, stream),
        unsafe_fixes=request.unsafe_fixes,
        quiet=request.quiet,
        directory=os.getcwd(),
    )
    text = (statistics if request.statistics else render)(request.output_format, report, style)
    if request.output_file is None:
        stream.write(text)
    else:
        write(text, "--output-file", request.output_file)


def _with_stdin(request: Request) -> tuple[Request, dict[str, str | bytes]]:
    """Puts what standard input holds in the place of a file, which need not exist."""
    if STDIN not in request.paths:
        return request, {}
    if len(request.paths) > 1:
        raise ConfigError('"-" is standard input and takes no other paths beside it')
    path = os.path.abspath(request.stdin_filename or STDIN)
    return replace(request, paths=(path,), stdin=True), {path: sys.stdin.buffer.read()}


def _show_files(request: Request, settings: Settings, execution: Execution) -> int:
    selection = linter.select(request.paths, settings, execution)
    tell(selection.problems, "error")
    for path in selection.files:
        print(shown_path(path, os.getcwd()))
    return FAILED if selection.problems else CLEAN
