"""Implementation of `dllint check`: settings, check, fixes, report, exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace

from dllint import linter
from dllint.commands.conclusion import Check, Request, conclude
from dllint.commands.exits import CLEAN, FAILED
from dllint.commands.output import progress_bar, tell
from dllint.config import Settings, project_root
from dllint.fixes.offers import edits_of, edits_of_first, offered
from dllint.linter import Execution, Report
from dllint.reading import CONFIG_BYTES, MIB
from dllint.reporters.source import counted, plain, shown_path
from dllint.setting_values import ConfigError

STDIN = "-"
WATCH_EVERY_S = 0.5


def run(request: Request) -> int:
    """Check once, or again whenever a file changes; returns the exit code.

    Raises:
        ConfigError: the request or a configuration file is invalid.
    """
    # Validates `--output` before the check starts.
    _ = request.outputs
    if request.fix or request.diff or request.add_ignore:
        from dllint.commands.fix import mend

        return _once(request, mend)
    return _watch(request) if request.watch else _once(request, conclude)


def _once(request: Request, finish: Callable[[Check, Report], int]) -> int:
    if not request.paths:
        root = project_root([os.getcwd()])
        request = replace(request, paths=(root,), around=True)
        if not request.quiet:
            tell([f"checking {root}, {_why(root)}"], "note")
    request, unsaved = _with_stdin(request)
    settings = request.choice.load(request.paths)
    mending = bool(request.fix or request.diff or request.add_ignore)
    execution = Execution(
        jobs=request.jobs,
        cache=not request.no_cache,
        respect_gitignore=not request.no_respect_gitignore,
        force_exclude=request.force_exclude,
        unsaved=unsaved,
        last=not (request.watch or mending),
        edits_of=edits_of if mending else edits_of_first,
        profile=request.profile_rules,
    )
    if request.show_settings:
        from dllint.commands.explain import settings_table

        print(settings_table(settings), end="")
        return CLEAN
    if request.show_files:
        return _show_files(request, settings, execution)
    with progress_bar() as progress:
        report = linter.check(request.paths, settings, replace(execution, progress=progress))
    return finish(Check(request, settings, execution), offered(report, settings, whole=mending))


def _why(root: str) -> str:
    """Explain why a directory is taken as the project around the current one."""
    marks = [name for name in ("pyproject.toml", ".git") if os.path.exists(os.path.join(root, name))]
    if marks:
        return f"the nearest directory that holds a {marks[0]}"
    return "the current directory: no pyproject.toml or .git is in it or above it"


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


def _with_stdin(request: Request) -> tuple[Request, dict[str, str | bytes]]:
    """Return the request with standard input in place of a file, which need not exist, and the text of that input."""
    if STDIN not in request.paths:
        return request, {}
    if len(request.paths) > 1:
        raise ConfigError('"-" (standard input) cannot be combined with other paths')
    if sys.stdin is None:
        raise ConfigError("standard input is closed")
    path = os.path.abspath(request.stdin_filename or STDIN)
    return replace(request, paths=(path,), stdin=True), {path: sys.stdin.buffer.read()}


def _show_files(request: Request, settings: Settings, execution: Execution) -> int:
    selection = linter.select(request.paths, settings, execution)
    tell(selection.problems, "error")
    if not request.quiet:
        from dllint.libraries.configuration_files import SUFFIXES

        told = (
            f"these files' own data files ({', '.join(SUFFIXES)}) are read too, up to {CONFIG_BYTES // MIB} MiB, where "
            "the code names their path; of other data files only the size is read"
        )
        tell([told], "note")
    for path in selection.files:
        shown = shown_path(path, os.getcwd())
        print(plain(shown) if sys.stdout.isatty() else shown)
    return FAILED if selection.problems else CLEAN
