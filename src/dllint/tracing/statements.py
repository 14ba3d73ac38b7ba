"""Find the statement at a line."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.linking.source import SourceFile
from dllint.span import Span


def statement_at(file: SourceFile, line: int) -> tuple[Span, int, int] | None:
    """Return the innermost statement that covers the line, else the nearest, with scope and region; else `None`."""
    known = list(_statements(file))
    covering = [one for one in known if one[0].line <= line <= one[0].end_line]
    if covering:
        return max(covering, key=lambda one: (one[0].line, -one[0].end_line, -one[0].column))
    return min(known, key=lambda one: (max(one[0].line - line, line - one[0].end_line), -one[0].line), default=None)


def _statements(file: SourceFile) -> Iterator[tuple[Span, int, int]]:
    """Yield statements and the headers of compound ones. The header of a `def` has the scope of the function's body."""
    regions: dict[int, int] = {}
    for index, scope in enumerate(file.scopes):
        for event in scope.events:
            for one in file.regions(event.region):
                regions.setdefault(one, index)
            if isinstance(event.detail, int):
                inner = file.scopes[event.detail]
                decorated = Span(*inner.span[:2], *inner.header[2:])
                yield decorated, event.detail if event.kind == "def" else index, 0
            elif event.detail != "comp" and event.span.line:
                yield event.span, index, event.region
    for call in file.calls:
        if file.scopes[call.scope].kind != "lambda":
            yield call.statement, call.scope, call.region
    for one, index in regions.items():
        entry = file.facts.regions[one]
        if entry.kind in ("if", "while", "for", "with"):
            yield entry.span, index, entry.parent


def shares_lines(statement: Span, other: Span) -> bool:
    """Whether `other` lies inside the statement, or spans its first line."""
    return statement.covers(other) or other.line <= statement.line <= other.end_line


def enclosing_function(file: SourceFile, scope: int) -> int:
    """Return the function or module that executes the code of a scope; classes and lambdas are skipped."""
    while scope > 0 and file.scopes[scope].kind in ("class", "lambda"):
        scope = file.scopes[scope].parent
    return scope
