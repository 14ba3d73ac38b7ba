"""The report for people: each finding with its source, how control comes there, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dllint.finding import SEVERITIES, Finding, Fix, Place
from dllint.reporters import Style, fixable
from dllint.reporters.cells import source_of
from dllint.reporters.edits import changed_lines
from dllint.reporters.frame import CONTEXT, Paint, frame
from dllint.reporters.source import counted, plain, shown_path, split_lines, visible

if TYPE_CHECKING:
    from dllint.linter import Report
    from dllint.readiness import Survival

MOST_RELATED = 6
"""Related places that are shown; a cause may have dozens."""
MOST_CHANGED = 12
"""Lines of a fix that are shown."""


def render(report: Report, style: Style) -> str:
    blocks = ["\n".join(block(finding, report, style)) for finding in report.findings]
    if not style.quiet:
        blocks.append("\n".join(_footer(report, style)))
    return "".join(f"{block}\n\n" for block in blocks[:-1]) + "".join(f"{block}\n" for block in blocks[-1:])


def headline(finding: Finding, paint: Paint, *, unsafe: bool) -> str:
    """Code, name, `[*]` where `--fix` would mend it, severity and message."""
    mark = f" [{paint.label('*')}]" if fixable(finding, unsafe) else ""
    return f"{paint.mark(finding.code)} {paint.bold(finding.name)}{mark} {finding.severity}: {plain(finding.text)}"


def location(path: str, line: int, column: int | None, cell: int | None, directory: str) -> str:
    where = (
        f"{shown_path(path, directory)}:{line}" if cell is None else f"{shown_path(path, directory)}:cell {cell}:{line}"
    )
    return plain(where if column is None else f"{where}:{column}")


def block(finding: Finding, report: Report, style: Style) -> Iterable[str]:
    paint = Paint(style.color, finding.severity)
    yield headline(finding, paint, unsafe=style.unsafe_fixes)
    source = source_of(report, finding.path, finding.cell)
    lines = [] if source is None else split_lines(source)
    shown = frame(lines, finding.span, paint)
    gutter = max(2, len(str(min(finding.span.end_line + CONTEXT, len(lines)))))
    place = location(finding.path, finding.span.line, finding.span.column, finding.cell, style.directory)
    yield f"{'':{gutter - 1}}{paint.dim('-->')} {place}"
    yield from shown
    indent = " " * gutter
    yield from _places("via", finding.trace, indent, paint, style)
    yield from _places("note", finding.related[:MOST_RELATED], indent, paint, style)
    if len(finding.related) > MOST_RELATED:
        yield f"{indent}= {paint.bold('note')}: and {len(finding.related) - MOST_RELATED} more places"
    yield from _verdict(finding, indent, paint)
    if finding.help:
        yield f"{indent}= {paint.bold('help')}: {finding.help}"
    yield from _fixes(finding, report, indent, paint, style)


def _places(label: str, places: Sequence[Place], indent: str, paint: Paint, style: Style) -> Iterable[str]:
    names = [location(place.path, place.span.line, None, place.cell, style.directory) for place in places]
    width = min(max(map(len, names), default=0), 40)
    for name, place in zip(names, places, strict=True):
        yield f"{indent}= {paint.bold(label)} {name:<{width}}  {plain(place.message)}"


def _verdict(finding: Finding, indent: str, paint: Paint) -> Iterable[str]:
    """What a run showed of the finding."""
    if finding.verdict is None:
        return
    lead = f"{indent}= {paint.bold('run')}: "
    colour = {"confirmed": paint.removed, "latent": paint.removed, "refuted": paint.added}.get(
        finding.verdict, paint.label
    )
    first, *others = finding.evidence or ("",)
    alone = ", seen by the run only" if finding.origin == "runtime" else ""
    yield f"{lead}{colour(finding.verdict)}{alone}{': ' if first else ''}{first}"
    yield from (f"{indent}       {line}" for line in others)


def _fixes(finding: Finding, report: Report, indent: str, paint: Paint, style: Style) -> Iterable[str]:
    """The first fix with the lines that it changes, the others by title."""
    word = "fix"
    for fix in finding.fixes:
        kind = "" if fix.applicability == "safe" else f" ({fix.applicability})"
        yield f"{indent}= {paint.bold(word)}{kind}: {fix.title}"
        if word == "fix":
            yield from _diff(finding, fix, report, indent, paint, style)
        word = "or"


def _diff(finding: Finding, fix: Fix, report: Report, indent: str, paint: Paint, style: Style) -> Iterable[str]:
    for path, lines in changed_lines(fix, report):
        if path != finding.path:
            yield f"{indent}  {paint.dim(plain(shown_path(path, style.directory)))}"
        for line in lines[:MOST_CHANGED]:
            colour = {"-": paint.removed, "+": paint.added}.get(line[0], paint.dim)
            yield f"{indent}  {colour((line[:2] + visible(line[2:])[0]).rstrip())}"
        if len(lines) > MOST_CHANGED:
            yield f"{indent}  {paint.dim(f'and {len(lines) - MOST_CHANGED} more lines')}"


def _survival(survival: Survival | None) -> Iterable[str]:
    """Will the project get along with the default of Python 3.14?"""
    if survival is None or not survival.loaders:
        return
    loaders = counted(survival.loaders, "DataLoader")
    verb = "starts its" if survival.following == 1 else "start their"
    follow = f"{survival.following} {verb} workers by forkserver, the default on Linux from Python 3.14"
    yield f"Of {loaders} that can have workers, {follow}."
    if survival.failing:
        yield f"This project fails there: {_listed(survival.failing)}."
    else:
        yield "No finding says that it fails there."
    if survival.costing:
        yield f"It costs memory or time there: {_listed(survival.costing)}."


def _listed(codes: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{code} at {counted(number, 'place')}" for code, number in codes)


def _footer(report: Report, style: Style) -> Iterable[str]:
    paint = Paint(style.color)
    files = counted(report.files_checked, "file")
    skipped = f", {report.files_skipped} skipped" if report.files_skipped else ""
    if not report.findings:
        yield f"No findings in {files}{skipped}."
        yield from _survival(report.survival)
        return
    by_severity = Counter(finding.severity for finding in report.findings)
    severities = ", ".join(
        f"{by_severity[severity]} info" if severity == "info" else counted(by_severity[severity], severity)
        for severity in reversed(SEVERITIES)
        if by_severity[severity]
    )
    elsewhere = sum(bool(report.asked) and one.path not in report.asked for one in report.findings)
    beside = f" ({elsewhere} of them in other files of the project)" if elsewhere else ""
    yield f"{counted(len(report.findings), 'finding')}{beside} in {files}{skipped}: {severities}."
    yield from _survival(report.survival)
    offered = sum(fixable(finding, style.unsafe_fixes) for finding in report.findings)
    hidden = sum(fixable(finding, True) for finding in report.findings) - offered
    if offered:
        more = f" ({hidden} more with --unsafe-fixes)" if hidden else ""
        yield f"[{paint.label('*')}] {offered} fixable with --fix{more}."
    elif hidden:
        yield f"{hidden} fixable with --fix --unsafe-fixes."
