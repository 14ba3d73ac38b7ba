"""What `dllint check` does: settings, check, fixes, report, exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from dllint import config, linter, registry
from dllint.config import ConfigError, Settings
from dllint.finding import SEVERITIES, Severity
from dllint.linter import Execution, Report
from dllint.reporters import Format, Style, render
from dllint.reporters.source import counted, shown_path

STDIN = "-"
CLEAN, FOUND, FAILED = 0, 1, 2
WATCH_EVERY_S = 0.5


@dataclass(frozen=True)
class Request:
    """What the user asked for on the command line; `overrides` holds what `[tool.dllint]` could say too."""

    paths: tuple[str, ...] = ()
    overrides: Mapping[str, Any] = field(default_factory=dict)
    config: str | None = None
    isolated: bool = False
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
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    cache: bool = True
    force_exclude: bool = False
    respect_gitignore: bool = True
    stdin_filename: str | None = None
    show_files: bool = False
    show_settings: bool = False
    jobs: int | None = None
    color: str = "auto"
    stdin: bool = False


@dataclass(frozen=True)
class Check:
    """A request with what follows from it."""

    request: Request
    settings: Settings
    execution: Execution


def conclude(check: Check, report: Report, mended: int = 0) -> int:
    """Write the report and give the exit code; `mended` findings are gone from it already."""
    if check.request.baseline:
        from dllint.commands.baseline import without_known

        report = without_known(report, check.request.baseline)
    if check.request.with_run:
        from dllint.verdicts import with_run

        report = with_run(report, check.request.with_run)
    write_report(check.request, report)
    return exit_code(check.request, report, mended)


def run(request: Request, finish: Callable[[Check, Report], int] = conclude) -> int:
    """Check, and finish with what was found; gives the exit code.

    Raises:
        ConfigError: the request or a configuration file makes no sense.
    """
    if not request.paths:
        _warn("no files given, so nothing was checked (`dllint check .` checks this directory)", request)
        return CLEAN
    request, unsaved = _with_stdin(request)
    settings = load_settings(request)
    execution = Execution(
        jobs=request.jobs,
        cache=request.cache,
        respect_gitignore=request.respect_gitignore,
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


def watch(request: Request) -> int:
    """Check again whenever one of the files changes, until interrupted."""
    if STDIN in request.paths:
        raise ConfigError("standard input cannot be watched")
    before: dict[str, int] | None = None
    while True:
        files = linter.select(request.paths, load_settings(request)).files
        now = {path: stamp for path in files if (stamp := _changed_at(path)) is not None}
        if now != before:
            before = now
            if sys.stdout.isatty():
                print("\x1b[2J\x1b[H", end="")
            run(request)
            sys.stdout.flush()
            print(f"Watching {counted(len(now), 'file')}; Ctrl-C ends it.", file=sys.stderr)
        time.sleep(WATCH_EVERY_S)


def _changed_at(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def exit_code(request: Request, report: Report, mended: int = 0) -> int:
    """2 where something was not checked, 1 for findings from the severity of `--fail-on` on, else 0."""
    if report.incomplete:
        return FAILED
    failing = SEVERITIES.index(request.fail_on)
    found = any(SEVERITIES.index(finding.severity or "warning") >= failing for finding in report.findings)
    if (found and not request.exit_zero) or (mended and request.exit_non_zero_on_fix):
        return FOUND
    return CLEAN


def load_settings(request: Request) -> Settings:
    options = {rule.code: {option.name: option.default for option in rule.page.options} for rule in registry.rules()}
    return config.load(
        request.paths, config=request.config, isolated=request.isolated, overrides=request.overrides, options=options
    )


def write_report(request: Request, report: Report) -> None:
    """Problems and warnings to stderr, the report to stdout or the output file."""
    for line in report.problems:
        print(f"error: {line}", file=sys.stderr)
    for line in report.warnings:
        _warn(line, request)
    to_stderr = request.stdin and (request.fix or request.diff)
    stream = sys.stderr if to_stderr else sys.stdout
    style = Style(
        color=request.output_file is None and wants_color(request.color, stream),
        unsafe_fixes=request.unsafe_fixes,
        statistics=request.statistics,
        quiet=request.quiet,
        directory=os.getcwd(),
    )
    text = render(request.output_format, report, style)
    if request.output_file is None:
        stream.write(text)
        return
    from dllint.fixes.write import WriteError, write_atomically

    try:
        write_atomically(request.output_file, text.encode())
    except WriteError as error:
        raise ConfigError(f"--output-file: {error}") from None


def wants_color(choice: str, stream: Any) -> bool:
    """`auto` is a terminal without NO_COLOR (no-color.org), or FORCE_COLOR."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def _warn(line: str, request: Request) -> None:
    if not request.quiet:
        print(f"warning: {line}", file=sys.stderr)


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
    for line in selection.problems:
        print(f"error: {line}", file=sys.stderr)
    for path in selection.files:
        print(shown_path(path, os.getcwd()))
    return FAILED if selection.problems else CLEAN


def clean_cache(paths: Sequence[str], cache_dir: str | None) -> int:
    """Remove the facts that were kept for a project."""
    from dllint.facts import cache

    settings = config.load(paths, overrides={"cache-dir": cache_dir} if cache_dir else {})
    removed = cache.remove(linter.cache_directory(settings))
    print(f"Removed {removed}" if removed else "There is no cache.")
    return CLEAN


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr where that is a terminal, from one second on; it goes when the work is done."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.update
    finally:
        bar.close()


class _Bar:
    """Refreshed by the work itself: a thread would live on in forked processes."""

    PATIENCE_S = 1.0
    BETWEEN_S = 0.1

    def __init__(self) -> None:
        self.started = self.drawn = time.monotonic()
        self.bar: Any = None

    def update(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.started < self.PATIENCE_S or now - self.drawn < self.BETWEEN_S:
            return
        self.drawn = now
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (TextColumn("Reading"), BarColumn(), MofNCompleteColumn())
            self.bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
            self.bar.start()
            self.task = self.bar.add_task("", total=total)
        self.bar.update(self.task, completed=done, total=total, refresh=True)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
