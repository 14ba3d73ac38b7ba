"""Runs the rules over a linked project; a rule that crashes is reported, and the others still run."""

from __future__ import annotations

import contextvars
import gc
import os
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dllint import registry
from dllint.finding import Finding
from dllint.linter.inputs import Run
from dllint.profiling import current
from dllint.registry import Rule

if TYPE_CHECKING:
    from dllint.project.model import Project

FRAMES = 4000
DEEP_FRAMES = 60_000
DEEP_STACK_BYTES = 512 * 2**20
"""For a rule that met the limit of `FRAMES`. Address space only: pages that are not touched cost nothing."""


@contextmanager
def room_for_questions(last: bool) -> Iterator[None]:
    """Frames for questions that ask questions: the model bounds their depth, at more than Python's default. And no
    collector: facts and answers are all kept to the end, so that looking through them again and again frees nothing.
    In the end it takes a tenth of the time to free them, which the end of a process does at once."""
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(max(frames, FRAMES))
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if last and not gc.get_freeze_count():
            gc.freeze()
        if collecting:
            gc.enable()
        sys.setrecursionlimit(frames)


def step(name: str) -> AbstractContextManager[None]:
    """Counts the time of a step or a rule, where that is wanted."""
    profile = current()
    return nullcontext() if profile is None else profile.step(name)


def found_by_rules(run: Run, project: Project) -> Iterator[Finding]:
    """What the enabled rules find. A rule that crashes is a problem of its own; the others still run."""
    for rule in registry.rules():
        if not run.settings.selects(rule.code, rule.page.preview):
            continue
        if rule.check is None:
            continue
        found: list[Finding] = []
        options = rule.options(run.settings.rules.get(rule.code, {}))
        try:
            with step(rule.code):
                try:
                    found.extend(told(finding, rule) for finding in rule.check(project, options))
                except RecursionError:
                    found = [told(finding, rule) for finding in _with_more_room(rule, project, options)]
        except Exception as error:
            if os.environ.get("DLLINT_DEBUG"):
                traceback.print_exc()
            run.problems.append(_internal_error(rule.code, error))
        yield from found


def _with_more_room(rule: Rule, project: Project, options: Mapping[str, Any]) -> list[Finding]:
    """What a rule finds in a thread whose stack holds many times the frames: code that nests deeper than usual.

    Raises:
        RecursionError: that is not enough either.
    """
    outcome: list[list[Finding] | BaseException] = []

    def work() -> None:
        try:
            assert rule.check is not None
            outcome.append(list(rule.check(project, options)))
        except BaseException as error:
            outcome.append(error)

    frames, stack = sys.getrecursionlimit(), threading.stack_size(DEEP_STACK_BYTES)
    try:
        sys.setrecursionlimit(DEEP_FRAMES)
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(work,), daemon=True)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(frames)
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def _internal_error(code: str, error: Exception) -> str:
    """One line: the rule, the file that it was reading, and how to go on."""
    from dllint.linking.source import SourceFile

    path = None
    frame = error.__traceback__
    while frame is not None:
        files = (one.path for one in frame.tb_frame.f_locals.values() if isinstance(one, SourceFile))
        path = next(files, path)
        frame = frame.tb_next
    where = f" at {os.path.relpath(path)}" if path else ""
    told = " ".join(f"{type(error).__name__}: {error}".split())
    leave = f"`--extend-exclude {os.path.relpath(path)}` or " if path else ""
    return (
        f"internal error in {code}{where}: {told}; it may miss findings, those of other rules stand. "
        f"To go on, leave it out with {leave}`--ignore {code}`"
    )


def told(finding: Finding, rule: Rule) -> Finding:
    """The finding with what its rule's page says: name, severity, text, remedy and address. No error rests on a method
    that is found by its name alone."""
    page = rule.page
    severity = finding.severity or page.severity
    if severity == "error" and any(place.guessed for place in finding.trace):
        severity = "warning"
    return replace(
        finding,
        name=page.name,
        severity=severity,
        text=page.render(finding.message, finding.values),
        help=page.remedy(finding.message, finding.values),
        url=finding.url or Path(page.path).as_uri(),
    )
