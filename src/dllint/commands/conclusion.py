"""The end of a check: writes warnings to stderr, writes the report, and chooses the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

from dllint import registry
from dllint.commands.exits import CLEAN, FAILED, FOUND
from dllint.commands.output import knows_links, tell, terminal_width, wants_color, write
from dllint.commands.settings import Choice
from dllint.config import Settings
from dllint.finding import SEVERITIES, Severity
from dllint.linter import Execution, Report
from dllint.reporters import Format, Style, render
from dllint.reporters.limits import limit_lines
from dllint.reporters.profile import profile_lines
from dllint.reporters.source import counted
from dllint.reporters.statistics import statistics
from dllint.setting_values import ConfigError


@dataclass(frozen=True)
class Request:
    """The user's request on the command line. `around`: no path was named, so `paths` is the project's root."""

    paths: Sequence[str] = ()
    choice: Choice = Choice()
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    show_fixes: bool = False
    add_ignore: bool = False
    baseline: str | None = None
    write_baseline: str | None = None
    with_run: str | None = None
    fail_on: Severity = "warning"
    output_format: Format = "text"
    output_file: str | None = None
    output: Sequence[str] = ()
    statistics: bool = False
    quiet: bool = False
    show_all: bool = False
    verbose: bool = False
    profile_rules: bool = False
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
    around: bool = False

    @property
    def outputs(self) -> list[tuple[Format, str]]:
        """The additional reports: format and file.

        Raises:
            ConfigError: a value of `output` is not FORMAT=FILE.
        """
        found: list[tuple[Format, str]] = []
        for value in self.output:
            name, _, path = value.partition("=")
            if name not in get_args(Format) or not path:
                raise ConfigError(
                    f'--output: "{value}" is not FORMAT=FILE; the formats are {", ".join(get_args(Format))}'
                )
            found.append((cast(Format, name), path))
        return found


@dataclass(frozen=True)
class Check:
    """A request with the settings and execution options derived from it."""

    request: Request
    settings: Settings
    execution: Execution


def conclude(check: Check, report: Report, mended: int = 0) -> int:
    """Write the report and return the exit code; `mended` is the number of findings already fixed."""
    if check.request.write_baseline:
        from dllint.commands.baseline import write_baseline

        write_baseline(report, check.request.write_baseline)
        known = sum(one.code != "DLL001" for one in report.findings)
        tell([f"{counted(known, 'finding')} written to {check.request.write_baseline}."])
    if check.request.baseline:
        from dllint.commands.baseline import without_known

        report = without_known(report, check.request.baseline)
    if check.request.with_run:
        from dllint.verdicts import with_run

        report = with_run(report, check.request.with_run)
    tell_beside(report, check.request)
    _write_report(check.request, report)
    return _exit_code(check.request, report, mended)


def _exit_code(request: Request, report: Report, mended: int) -> int:
    """Return 2 if something could not be checked, 1 for findings of at least the `--fail-on` severity, else 0."""
    if report.incomplete:
        return FAILED
    failing = SEVERITIES.index(request.fail_on)
    found = any(SEVERITIES.index(finding.severity or "warning") >= failing for finding in report.findings)
    if (found and not request.exit_zero) or (mended and request.exit_non_zero_on_fix):
        return FOUND
    return CLEAN


def tell_beside(report: Report, request: Request) -> None:
    """Print on stderr what the report does not contain: what was not checked, warnings, and the limits reached."""
    tell(report.problems, "error")
    if not request.quiet:
        tell(report.warnings, "warning")
        tell(report.notes, "note")
    if request.verbose:
        tell(limit_lines(report.limits), "note")
    if report.profile is not None:
        tell(profile_lines(report.profile, {rule.code: rule.page.name for rule in registry.rules()}))


def _write_report(request: Request, report: Report) -> None:
    """Write the report to stdout or the output file; to stderr if stdout receives the fixed text."""
    to_stderr = request.stdin and (request.fix or request.diff)
    stream = sys.stderr if to_stderr else sys.stdout
    style = Style(
        color=request.output_file is None and wants_color(request.color, stream),
        unsafe_fixes=request.unsafe_fixes,
        quiet=request.quiet,
        directory=os.getcwd(),
        width=0 if request.output_file is not None else terminal_width(stream),
        links=request.output_file is None and knows_links(stream),
        show_all=request.show_all,
        paths=() if request.around else tuple(request.paths),
    )
    for name, path in request.outputs:
        write(render(name, report, replace(style, color=False)), "--output", path)
    text = (statistics if request.statistics else render)(request.output_format, report, style)
    if request.output_file is None:
        stream.write(text)
    else:
        write(text, "--output-file", request.output_file)
