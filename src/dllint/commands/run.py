"""`dllint run`: a program under instrumentation, and what its run says of the project."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dllint import linter
from dllint.commands import check as checking
from dllint.commands.check import FAILED, load_settings, progress_bar, wants_color
from dllint.config import ConfigError, Settings, has_project_mark
from dllint.fixes.write import WriteError, write_atomically
from dllint.linter import Execution, Report
from dllint.reporters import Style
from dllint.reporters.runs import RunFormat, html, render
from dllint.run_report import RunReport
from dllint.runtime.outcome import outcome
from dllint.runtime.run import Command, LaunchError, Options, run


@dataclass(frozen=True)
class Request:
    """What was asked on the command line.

    Attributes:
        options: how to run the program.
        overrides: settings that replace those of the configuration.
        report: a file for the page, if one is wanted.
    """

    options: Options
    overrides: Mapping[str, Any] = field(default_factory=dict)
    config: str | None = None
    isolated: bool = False
    report: str | None = None
    output_format: RunFormat = "text"
    output_file: str | None = None
    color: str = "auto"


def command(words: Sequence[str], raw: Sequence[str], module: bool) -> Command:
    """What is to be run, from the words that are no options of ours.

    Args:
        words: the positional words; options of the program among them.
        raw: the whole command line, to see whether a `--` stood before the words.
        module: whether `-m` was given.
    """
    before = len(raw) - len(words) - 1
    if words and not module and 0 <= before < len(raw) and raw[before] == "--":
        return Command("command", tuple(words))
    return Command("module" if module else "script", tuple(words))


def execute(request: Request) -> int:
    """Run the program, check its project and report.

    Returns:
        0 where nothing is confirmed or latent, 1 where something is, 2 for a failure of our own, 3 where the program
        failed or hung for a reason that is no finding.

    Raises:
        ConfigError: the request or a configuration file makes no sense, or a report cannot be written.
    """
    try:
        request.options.command.argv()
        if request.report is not None:
            html.require()
        settings, report = check(request)
        tried = request.options.trials
        allowed = tuple(settings.targets.default_start_methods()) if tried is None else tried
        seen = run(replace(request.options, trials=allowed))
    except (LaunchError, html.CannotDraw) as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    told = outcome(seen, report, settings, request.options.epochs, request.options.workers)
    _write(request, told)
    return told.status


def check(request: Request) -> tuple[Settings, Report]:
    """The static check of the program's project, before it runs.

    Where nothing marks a project, it is the files in the directory of the script.
    """
    start = _start(request.options.command)
    settings = load_settings(
        checking.Request(paths=(start,), overrides=request.overrides, config=request.config, isolated=request.isolated)
    )
    paths = [settings.root] if has_project_mark(settings.root) else _sources_in(os.path.dirname(os.path.abspath(start)))
    with progress_bar() as progress:
        report = linter.check(paths, settings, Execution(progress=progress)) if paths else Report()
    for line in report.problems:
        print(f"error: {line}", file=sys.stderr)
    return settings, report


def _start(command: Command) -> str:
    """The file that the program starts with, as far as its command says; else one that would lie in this directory."""
    scripts = [word for word in command.words if word.endswith(".py") and os.path.isfile(word)]
    if command.kind == "script":
        scripts = [command.words[0]]
    return scripts[0] if scripts and os.path.isfile(scripts[0]) else "."


def _sources_in(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return sorted(one.path for one in entries if one.name.endswith(".py") and one.is_file())
    except OSError:
        return []


def _write(request: Request, told: RunReport) -> None:
    """The report to stdout or the output file, and the page where one is asked for.

    Raises:
        ConfigError: a file cannot be written.
    """
    style = Style(
        color=request.output_file is None and wants_color(request.color, sys.stdout), directory=told.directory
    )
    text = render(request.output_format, told, style)
    if request.output_file is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        _write_file("--output-file", request.output_file, text)
    if request.report is not None:
        _write_file("--report", request.report, html.render(told, Style(directory=told.directory)))


def _write_file(option: str, path: str, text: str) -> None:
    try:
        write_atomically(path, text.encode("utf-8", "backslashreplace"))
    except WriteError as error:
        raise ConfigError(f"{option}: {error}") from None
