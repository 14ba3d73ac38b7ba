"""Implementation of `dllint trace`: the place, its project, the trace, the report."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from dllint import linter
from dllint.commands.exits import CLEAN
from dllint.commands.output import progress_bar, wants_color
from dllint.commands.settings import Choice
from dllint.finding import Place
from dllint.linter import Execution, Linked
from dllint.notebooks import is_notebook
from dllint.reporters import Style, TraceFormat, render
from dllint.reporters.source import counted
from dllint.setting_values import ConfigError
from dllint.span import Span
from dllint.tracing import Trace, parse_place, trace_file, trace_line


def run(
    place: str, choice: Choice, *, no_cache: bool = False, output_format: TraceFormat = "text", color: str = "auto"
) -> int:
    """Trace FILE or FILE:LINE and print the result; returns the exit code.

    Raises:
        ConfigError: there is no such file or line, the file cannot be read, or a configuration is invalid.
    """
    given, line = parse_place(place, os.path.exists(place))
    if not os.path.exists(given):
        raise ConfigError(f"{given}: no such file")
    if os.path.isdir(given):
        raise ConfigError(f"{given}: is a directory; name a file, or a line of one as FILE:LINE")
    if is_notebook(given):
        raise ConfigError(f"{given}: a notebook is not traced; `dllint check {given}` checks it")
    settings = choice.load((given,))
    with progress_bar() as progress:
        linked = linter.link(given, settings, Execution(cache=not no_cache, progress=progress))
    trace = linter.with_room(lambda: _trace(linked, given, line))
    style = Style(color=wants_color(color, sys.stdout), directory=os.getcwd())
    sys.stdout.write(render(output_format, trace, style, "traces."))
    return CLEAN


def _trace(linked: Linked, given: str, line: int | None) -> Trace:
    path = os.path.abspath(given)
    if path in linked.unreadable:
        at, reason = linked.unreadable[path]
        raise ConfigError(f"{given}:{at}: cannot be read: {reason}")
    lines = linked.project.world.files[path].facts.lines
    if line is not None and not 1 <= line <= lines:
        raise ConfigError(f"{given} has {counted(lines, 'line')}, and no line {line}")
    trace = trace_file(linked.project, path) if line is None else trace_line(linked.project, path, line)
    if trace is None:
        raise ConfigError(f"{given} holds no statement")
    unread = [
        Place(one, Span(at, 1, at, 1), f"not read: {why}") for one, (at, why) in sorted(linked.unreadable.items())
    ]
    return replace(trace, doubts=(*trace.doubts, *unread), limits=linter.limits_met(linked.project))
