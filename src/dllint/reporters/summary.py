"""The end of the report for people: the number of findings, and commands to run next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dllint.finding import SEVERITIES, Finding
from dllint.reporters import Style, fixable
from dllint.reporters.frame import Paint
from dllint.reporters.source import counted, plain, shown_path

if TYPE_CHECKING:
    from dllint.linter import Report
    from dllint.readiness import Survival


def footer(report: Report, style: Style) -> Iterator[str]:
    """Yield counts by severity, readiness for Python 3.14 if requested, and the next commands."""
    files = counted(report.files_checked, "file")
    skipped = f", {report.files_skipped} skipped" if report.files_skipped else ""
    if not report.findings and not report.files_checked and not report.files_skipped:
        yield "No file was checked."
        return
    if not report.findings:
        yield f"No findings in {files}{skipped}."
        yield from _readiness(report.survival)
        yield from _postponed(report)
        return
    elsewhere = sum(bool(report.asked) and one.path not in report.asked for one in report.findings)
    beside = f" ({elsewhere} of them in other files of the project)" if elsewhere else ""
    yield f"{counted(len(report.findings), 'finding')}{beside} in {files}{skipped}: {_severities(report, style)}."
    yield from _readiness(report.survival)
    yield from _postponed(report)
    offered = sum(fixable(finding, style.unsafe_fixes) for finding in report.findings)
    hidden = sum(fixable(finding, True) for finding in report.findings) - offered
    if offered:
        more = f" ({hidden} more with --unsafe-fixes)" if hidden else ""
        yield f"[{Paint(style.color).label('*')}] {offered} fixable with --fix{more}."
    elif hidden:
        yield f"{hidden} fixable with --fix --unsafe-fixes."
    yield ""
    yield from _next(_commands(report, style, bool(offered), bool(hidden)), style)


def _severities(report: Report, style: Style) -> str:
    """ "1 error, 2 warnings, 3 info", each in its colour."""
    by_severity = Counter(finding.severity for finding in report.findings)
    return ", ".join(
        Paint(style.color, severity).mark(
            f"{by_severity[severity]} info" if severity == "info" else counted(by_severity[severity], severity)
        )
        for severity in reversed(SEVERITIES)
        if by_severity[severity]
    )


def _commands(report: Report, style: Style, offered: bool, hidden: bool) -> Iterator[tuple[str, str]]:
    """Yield commands to continue with, and the purpose of each."""
    ranked = sorted(report.findings, key=lambda one: (one.code < "DLL1", -SEVERITIES.index(one.severity or "warning")))
    worst = ranked[0]
    paths = " ".join(map(shlex.quote, style.paths))
    check = f"dllint check {paths}".rstrip()
    yield f"dllint rule {worst.code}", "what it means, and how to fix it"
    if offered:
        unsafe = " --unsafe-fixes" if style.unsafe_fixes else ""
        yield f"{check} --fix{unsafe}", "apply the fixes marked [*]"
    elif hidden:
        yield f"{check} --diff --unsafe-fixes", "show what the unsafe fixes would change"
    else:
        yield f"{check} --write-baseline dllint.json", "report only new findings from now on"
    yield _look_closer(ranked, style)


def _look_closer(findings: Sequence[Finding], style: Style) -> tuple[str, str]:
    """Return the command that shows why a finding exists: a trace of the calls to it, or a run of the program."""
    traced = next((one for one in findings if one.trace), None)
    if traced is None:
        return "dllint run SCRIPT", "run the program briefly, to see which findings are true"
    place = f"{plain(shown_path(traced.path, style.directory))}:{traced.span.line}"
    return f"dllint trace {shlex.quote(place)}", f"show the calls that lead to {traced.code}"


def _next(commands: Iterable[tuple[str, str]], style: Style) -> Iterator[str]:
    paint = Paint(style.color)
    shown = list(commands)
    width = max(len(command) for command, _ in shown)
    yield "Next:"
    narrow = style.width and width + max(len(purpose) for _, purpose in shown) + 4 > style.width
    for command, purpose in shown:
        if narrow:
            yield f"  {paint.bold(command)}"
            yield f"      {purpose}"
        else:
            yield f"  {paint.bold(command)}{'':{width - len(command)}}  {purpose}"


def _readiness(survival: Survival | None) -> Iterator[str]:
    """Yield lines on whether the project works with the default start method of Python 3.14."""
    if survival is None or not survival.loaders:
        return
    loaders = counted(survival.loaders, "DataLoader")
    verb = "takes" if survival.following == 1 else "take"
    follow = f"{survival.following} {verb} the default start method, forkserver on Linux from Python 3.14"
    yield f"Of {loaders} that can have workers, {follow}."
    if survival.failing:
        yield f"This project fails under forkserver: {_listed(survival.failing)}."
    else:
        yield "No finding says that it fails under forkserver."
    if survival.costing:
        yield f"Forkserver costs memory or time here: {_listed(survival.costing)}."


def _postponed(report: Report) -> Iterator[str]:
    """Yield a line on the findings that hold only under a Python that the project's requirements rule out."""
    if report.postponed:
        found = f"{counted(report.postponed, 'finding')} about Python 3.14"
        verb = "is" if report.postponed == 1 else "are"
        yield f"{found} {verb} left out: the project's requirements do not install there."
        yield "--target-python 3.14 shows what fails."


def _listed(codes: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{code} at {counted(number, 'place')}" for code, number in codes)
