"""Implementation of `dllint run`: runs a program under instrumentation and reports a verdict for every finding."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dllint import linter, roots
from dllint.commands.exits import FAILED, abandon_output
from dllint.commands.output import progress_bar, tell, wants_color, write
from dllint.commands.settings import Choice, listed
from dllint.config import Settings, has_project_mark
from dllint.linter import Execution, Report
from dllint.reporters import RunFormat, Style, render
from dllint.reporters.runs import html
from dllint.run_report import RunReport
from dllint.runtime.outcome import outcome
from dllint.runtime.run import Command, LaunchError, Options, run
from dllint.setting_values import ConfigError

MOST_LINES = 200
"""Maximum number of lines of one finding that are watched."""


@dataclass(frozen=True)
class Request:
    """The options of `dllint run`, as given on the command line.

    Attributes:
        words: the positional words: the program and its own options.
        raw: the whole command line, to see whether a `--` precedes the words.
        module: whether the first word is a module.
        max_batches, max_epochs, time_limit: how the run is shortened; 0 for no limit.
        trials: start methods to try loaders under; `None` for the defaults of the targets.
        report: path of the HTML page; `None` for no page.
    """

    words: Sequence[str] = ()
    raw: Sequence[str] = ()
    module: bool = False
    choice: Choice = Choice()
    max_batches: int = 0
    max_epochs: int = 0
    time_limit: float = 0
    allow_saves: bool = False
    keep_writes: str | None = None
    in_place: bool = False
    network: bool | None = None
    scratch: str | None = None
    epochs: int | None = None
    workers: int | None = None
    trials: list[str] | None = None
    report: str | None = None
    output_format: RunFormat = "text"
    output_file: str | None = None
    show_all: bool = False
    progress: bool | None = None
    color: str = "auto"

    @property
    def command(self) -> Command:
        """The script, module or command to run."""
        before = len(self.raw) - len(self.words) - 1
        if self.words and not self.module and 0 <= before < len(self.raw) and self.raw[before] == "--":
            return Command("command", tuple(self.words))
        return Command("module" if self.module else "script", tuple(self.words))

    def tried(self, settings: Settings) -> tuple[str, ...]:
        """Return the start methods to try loaders under.

        Raises:
            ConfigError: `--try` names something else.
        """
        if self.trials is None:
            return tuple(settings.targets.default_start_methods())
        methods = listed(self.trials)
        for method in methods:
            if method not in ("fork", "spawn", "forkserver", "none"):
                raise ConfigError(f'--try: "{method}" is no start method: fork, spawn, forkserver, or none')
        return tuple(method for method in methods if method != "none")


def execute(request: Request) -> int:
    """Run the program, check its project and report.

    Returns:
        0 if nothing is confirmed or latent, 1 if something is, 2 for a failure of dllint itself, 3 if the program
        failed or hung for a reason that is not a finding.

    Raises:
        ConfigError: the request or a configuration file is invalid, or a report cannot be written.
    """
    try:
        request.command.argv()
        if request.report is not None:
            html.require()
        settings = request.choice.load((_start(request.command),))
        trials = request.tried(settings)
        report = _check(request.command, settings)
        seen = run(
            Options(
                command=request.command,
                max_batches=request.max_batches or None,
                max_epochs=request.max_epochs or None,
                time_limit=request.time_limit or None,
                allow_saves=request.allow_saves,
                in_place=request.in_place,
                network=request.network,
                keep_writes=request.keep_writes,
                directories=_directories(request.command),
                lines=tuple(_lines(report)),
                tell=lambda line: tell([line], "warning"),
                trials=trials,
                scratch=request.scratch,
                progress=request.progress,
                program_to_stderr=request.output_format != "text" and request.output_file is None,
            )
        )
    except (LaunchError, html.CannotDraw) as error:
        tell([str(error)], "error")
        return FAILED
    told = outcome(seen, report, settings, request.epochs, request.workers)
    try:
        _write(request, told)
    except OSError:
        # A terminal that was closed cannot take the report.
        if told.signal is None:
            raise
        abandon_output(sys.stderr)
    return told.status


def _check(command: Command, settings: Settings) -> Report:
    """Check the program's project statically, before it runs.

    If no marker file identifies a project, the files in the script's directory are checked, and what they import.
    """
    paths = [settings.root]
    if not has_project_mark(settings.root):
        beside = _sources_in(os.path.dirname(os.path.abspath(_start(command))))
        paths = roots.imported(beside, roots.by_imports(beside, {}), {}) if beside else []
    with progress_bar() as progress:
        report = linter.check(paths, settings, Execution(progress=progress)) if paths else Report()
    tell(report.problems, "error")
    # A run of a program never executes a notebook.
    return replace(report, findings=tuple(one for one in report.findings if one.path not in report.notebooks))


def _lines(report: Report) -> Iterator[tuple[str, int]]:
    """Yield every line that a finding spans, and the lines of other places with the same defect."""
    for finding in report.findings:
        whole = finding.statement or finding.span
        first, last = min(whole.line, finding.span.line), max(whole.end_line, finding.span.end_line)
        yield from ((finding.path, line) for line in range(first, min(last, first + MOST_LINES) + 1))
        for place in finding.related:
            if place.alike:
                last = min(place.span.end_line, place.span.line + MOST_LINES)
                yield from ((place.path, line) for line in range(place.span.line, last + 1))


def _directories(command: Command) -> tuple[str, ...]:
    """Return the directories that the command names: that of its script, and those among its arguments."""
    named = [word.partition("=")[2] or word for word in command.words]
    places = [one if os.path.isdir(one) else os.path.dirname(one) for one in named if os.path.exists(one)]
    return tuple(dict.fromkeys(os.path.abspath(one) for one in places if one))


def _start(command: Command) -> str:
    """Return the file that the program starts with, if its command names one; otherwise "."."""
    words = ("-m", *command.words) if command.kind == "module" else command.words
    named = words[:1] if command.kind == "script" else [word for word in words if word.endswith(".py")]
    named = [*named, *(file for option, word in pairwise(words) if option == "-m" for file in _files_of(word))]
    return next((one for one in named if os.path.isfile(one)), ".")


def _files_of(module: str) -> tuple[str, ...]:
    """Return the files that a module can be, from the current directory."""
    path = os.path.join(*module.split("."))
    return f"{path}.py", os.path.join(path, "__main__.py")


def _sources_in(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return sorted(one.path for one in entries if one.name.endswith(".py") and one.is_file())
    except OSError:
        return []


def _write(request: Request, told: RunReport) -> None:
    """Write the report to stdout or the output file, and the page if one was requested.

    Raises:
        ConfigError: a file cannot be written.
    """
    style = Style(
        color=request.output_file is None and wants_color(request.color, sys.stdout),
        directory=told.directory,
        show_all=request.show_all,
    )
    text = render(request.output_format, told, style, "runs.")
    if request.output_file is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write(text, "--output-file", request.output_file)
    if request.report is not None:
        write(html.render(told, Style(directory=told.directory)), "--report", request.report)
