"""Positions in notebooks, given as cell and line.

Findings and edits refer to lines of the text that a notebook's cells form together; reports show the cell and the line
in it. Formats without a notion of cells use the line of the JSON document.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from dllint.finding import Finding, Place
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.linter import Report

    Placed = TypeVar("Placed", Finding, Place)


def by_cell(report: Report) -> Report:
    """Return the report with the places in notebooks converted to cells; edits of fixes are not converted."""
    if not report.notebooks:
        return report

    def all_of(findings: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(
            replace(
                _by_cell(one, report),
                trace=tuple(_by_cell(place, report) for place in one.trace),
                related=tuple(_by_cell(place, report) for place in one.related),
            )
            for one in findings
        )

    known = None if report.known is None else all_of(report.known)
    return replace(report, findings=all_of(report.findings), known=known)


def _by_cell(one: Placed, report: Report) -> Placed:
    cells = report.notebooks.get(one.path)
    place = cells.place(one.span) if cells is not None else None
    return one if place is None else replace(one, path=place.path, span=place.span, cell=place.cell)


def source_of(report: Report, path: str, cell: int | None) -> str | None:
    """Return the text of a file or of a notebook's cell; `None` if the report does not contain it."""
    if cell is None:
        return report.sources.get(path)
    return next(
        (
            part.cell.source
            for text in report.notebooks.values()
            for part in text.parts
            if text.notebook == path and part.cell.number == cell
        ),
        None,
    )


def file_span(report: Report, one: Finding | Place) -> Span:
    """Return the place of a finding in its file; for a notebook, whole lines of the JSON document."""
    if one.cell is None:
        return one.span
    for text in report.notebooks.values():
        if text.notebook == one.path and text.document and any(part.cell.number == one.cell for part in text.parts):
            first, last = (text.document_line(one.cell, line) for line in (one.span.line, one.span.end_line))
            return Span(first, 1, last, 1)
    return Span(1, 1, 1, 1)


def cell_words(one: Finding | Place) -> str:
    """ "cell 3, line 2: " for a place in a notebook, else ""."""
    return "" if one.cell is None else f"cell {one.cell}, line {one.span.line}: "
