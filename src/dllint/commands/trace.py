"""What `dllint trace` does: the place, its project, the trace, the report."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from dllint import linter
from dllint.commands.check import CLEAN, Request, load_settings, progress_bar, wants_color
from dllint.config import ConfigError
from dllint.finding import Place
from dllint.linter import Execution, Linked
from dllint.reporters import Style
from dllint.reporters.source import counted
from dllint.reporters.trace import render_json, render_text
from dllint.span import Span
from dllint.tracing import Trace, parse_place, trace_file, trace_line, with_doubts


def run(
    place: str,
    *,
    overrides: Mapping[str, Any],
    config: str | None = None,
    isolated: bool = False,
    cache: bool = True,
    as_json: bool = False,
    color: str = "auto",
) -> int:
    """Trace FILE or FILE:LINE and print it; gives the exit code.

    Raises:
        ConfigError: there is no such file or line, the file cannot be read, or a configuration makes no sense.
    """
    given, line = parse_place(place, os.path.exists(place))
    if not os.path.exists(given):
        raise ConfigError(f"{given}: no such file")
    if os.path.isdir(given):
        raise ConfigError(f"{given}: is a directory; name a file, or a line of one as FILE:LINE")
    settings = load_settings(Request(paths=(given,), overrides=overrides, config=config, isolated=isolated))
    with progress_bar() as progress:
        linked = linter.link(given, settings, Execution(cache=cache, progress=progress))
    trace = _trace(linked, given, line)
    style = Style(color=wants_color(color, sys.stdout), directory=os.getcwd())
    sys.stdout.write(render_json(trace) if as_json else render_text(trace, style))
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
    others = sorted(linked.unreadable.items())
    return with_doubts(trace, [Place(one, Span(at, 1, at, 1), f"not read: {why}") for one, (at, why) in others])
