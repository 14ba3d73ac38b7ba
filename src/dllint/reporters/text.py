"""The report for people: the findings of each file with their source, the calls that lead there, and the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dllint.finding import Finding, Fix, Place
from dllint.reporters import Style, fixable
from dllint.reporters.cells import source_of
from dllint.reporters.edits import changed_lines
from dllint.reporters.frame import CONTEXT, WIDTH, Paint, frame
from dllint.reporters.ordering import by_file
from dllint.reporters.source import counted, plain, shown_path, split_lines, visible, wrapped
from dllint.reporters.summary import footer

if TYPE_CHECKING:
    from dllint.linter import Report

MOST_RELATED = 3
"""Maximum number of related places that are shown; a cause may have dozens."""
MOST_FINDINGS = 2000
"""Maximum number of findings that are shown; nobody reads as many."""
MOST_CHANGED = 12
"""Maximum number of lines of a fix that are shown."""
LONGEST_CHANGED = 400
"""Maximum number of characters of such a line, starting a little before the change."""


def render(report: Report, style: Style) -> str:
    blocks: list[str] = []
    for path, findings in by_file(report.findings):
        heading = _heading(path, findings, style)
        for finding in findings[: MOST_FINDINGS - len(blocks)]:
            blocks.append("\n".join([*heading, *block(finding, report, style)]))
            heading = []
    left = len(report.findings) - len(blocks)
    if left > 0:
        blocks.append(f"{counted(left, 'more finding')} not shown here; `--output-format concise` lists all.")
    if not style.quiet:
        blocks.append("\n".join(footer(report, style)))
    return "".join(f"{block}\n\n" for block in blocks[:-1]) + "".join(f"{block}\n" for block in blocks[-1:])


def _heading(path: str, findings: Sequence[Finding], style: Style) -> list[str]:
    """Return the heading with the file of the following findings."""
    paint = Paint(style.color)
    name = plain(shown_path(path, style.directory))
    number = paint.dim(f": {counted(len(findings), 'finding')}")
    return [f"{paint.title(name)}{number}", ""]


def headline(finding: Finding, style: Style) -> Iterator[str]:
    """Yield code, name, `[*]` if `--fix` fixes the finding, severity and message."""
    paint = Paint(style.color, finding.severity)
    mark, star = (" [*]", f" [{paint.label('*')}]") if fixable(finding, style.unsafe_fixes) else ("", "")
    lead = f"{finding.code} {finding.name}{mark} {finding.severity}: "
    code = paint.link(finding.url, paint.mark(finding.code)) if style.links else paint.mark(finding.code)
    shown = f"{code} {paint.bold(finding.name)}{star} "
    first, *others = wrapped(plain(finding.text), len(lead), 2, style.width)
    yield f"{shown}{paint.mark(finding.severity or '')}: {first}".rstrip()
    yield from others


def location(path: str, line: int, column: int | None, cell: int | None, directory: str) -> str:
    where = (
        f"{shown_path(path, directory)}:{line}" if cell is None else f"{shown_path(path, directory)}:cell {cell}:{line}"
    )
    return plain(where if column is None else f"{where}:{column}")


def block(finding: Finding, report: Report, style: Style) -> Iterable[str]:
    paint = Paint(style.color, finding.severity)
    yield from headline(finding, style)
    source = source_of(report, finding.path, finding.cell)
    lines = [] if source is None else split_lines(source)
    gutter = max(2, len(str(min(finding.span.end_line + CONTEXT, len(lines)))))
    width = min(WIDTH, max(20, style.width - gutter - 5)) if style.width else WIDTH
    shown = frame(lines, finding.span, paint, width)
    place = location(finding.path, finding.span.line, finding.span.column, finding.cell, style.directory)
    yield f"{'':{gutter - 1}}{paint.dim('-->')} {place}"
    yield from shown
    indent = " " * gutter
    yield from _places("via", finding.trace, indent, paint, style)
    related = finding.related if style.show_all else _most_telling(finding.related)
    yield from _places("note", related, indent, paint, style)
    if len(finding.related) > len(related):
        yield f"{indent}= {paint.bold('note')}: and {len(finding.related) - len(related)} more (--show-all)"
    yield from _verdict(finding, indent, paint)
    if finding.help:
        yield from _said(finding.help, indent, paint, style)
    yield from _fixes(finding, report, indent, paint, style)


def _most_telling(places: Sequence[Place]) -> tuple[Place, ...]:
    """Return a few of the places, in their order, preferring those with a new message."""
    new = list({place.message: place for place in reversed(places)}.values())[::-1]
    chosen = [*new, *(place for place in places if place not in new)][:MOST_RELATED]
    return tuple(place for place in places if place in chosen)


def _said(text: str, indent: str, paint: Paint, style: Style) -> Iterator[str]:
    """Yield a line `= help: …`, wrapped to the width of the terminal."""
    first, *others = wrapped(text, len(f"{indent}= help: "), len(indent) + 4, style.width)
    yield f"{indent}= {paint.bold('help')}: {first}"
    yield from others


def _places(label: str, places: Sequence[Place], indent: str, paint: Paint, style: Style) -> Iterable[str]:
    names = [location(place.path, place.span.line, None, place.cell, style.directory) for place in places]
    width = min(max(map(len, names), default=0), 40)
    for name, place in zip(names, places, strict=True):
        lead = len(indent) + len(label) + max(width, len(name)) + 5
        first, *others = wrapped(plain(place.message), lead, len(indent) + 4, style.width)
        yield f"{indent}= {paint.bold(label)} {name:<{width}}  {first}".rstrip()
        yield from others


def _verdict(finding: Finding, indent: str, paint: Paint) -> Iterable[str]:
    """Yield the verdict of a run on the finding."""
    if finding.verdict is None:
        return
    lead = f"{indent}= {paint.bold('run')}: "
    colour = {"confirmed": paint.removed, "latent": paint.removed, "refuted": paint.added}.get(
        finding.verdict, paint.label
    )
    first, *others = finding.evidence or ("",)
    alone = ", found by the run only" if finding.origin == "runtime" else ""
    yield f"{lead}{colour(finding.verdict)}{alone}{': ' if first else ''}{first}"
    yield from (f"{indent}       {line}" for line in others)


def _fixes(finding: Finding, report: Report, indent: str, paint: Paint, style: Style) -> Iterable[str]:
    """Yield the first fix with the lines that it changes, and the titles of the others."""
    word = "fix"
    for fix in finding.fixes:
        if not fix.edits:
            # A fix without edits cannot be applied; the help covers it already.
            if not finding.help:
                yield from _said(fix.title, indent, paint, style)
            continue
        kind = "" if fix.applicability == "safe" else f" ({fix.applicability})"
        lead = f"{indent}= {word}{kind}: "
        first, *others = wrapped(fix.title, len(lead), len(indent) + 4, style.width)
        yield f"{indent}= {paint.bold(word)}{kind}: {first}"
        yield from others
        if word == "fix":
            yield from _diff(finding, fix, report, indent, paint, style)
        word = "or"


def _diff(finding: Finding, fix: Fix, report: Report, indent: str, paint: Paint, style: Style) -> Iterable[str]:
    for path, lines in changed_lines(fix, report):
        if path != finding.path:
            yield f"{indent}  {paint.dim(plain(shown_path(path, style.directory)))}"
        for line in _excerpts(lines[:MOST_CHANGED]):
            colour = {"-": paint.removed, "+": paint.added}.get(line[0], paint.dim)
            yield f"{indent}  {colour((line[:2] + visible(line[2:])[0]).rstrip())}"
        if len(lines) > MOST_CHANGED:
            yield f"{indent}  {paint.dim(f'and {len(lines) - MOST_CHANGED} more lines')}"


def _excerpts(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a diff; long ones are shortened to where a removed and the following added line differ."""
    for index, line in enumerate(lines):
        if len(line) <= LONGEST_CHANGED:
            yield line
            continue
        other = {"-": lines[index + 1 : index + 2], "+": lines[max(index - 1, 0) : index]}.get(line[0], [])
        shared = _shared(line[2:], other[0][2:]) if other and other[0][0] != line[0] else 0
        begin = max(0, shared - LONGEST_CHANGED // 4)
        end = begin + LONGEST_CHANGED
        yield f"{line[:2]}{'…' * (begin > 0)}{line[2:][begin:end]}{'…' * (len(line) - 2 > end)}"


def _shared(left: str, right: str) -> int:
    """Return the length of the common prefix of two lines."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left.startswith(right[low:middle], low) else (low, middle - 1)
    return low
