"""Finds the spans around a place without looking at each of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from dllint.span import Span


class Enclosing:
    """Spans, any two apart or one inside the other, each with the numbers of what it belongs to."""

    def __init__(self, spans: Iterable[Span]) -> None:
        """Index spans, which are numbered in this order."""
        self._members: dict[Span, list[int]] = {}
        for number, span in enumerate(spans):
            self._members.setdefault(span, []).append(number)
        self._spans = sorted(self._members, key=lambda span: (span.line, span.column, -span.end_line, -span.end_column))
        self._starts = [span[:2] for span in self._spans]
        self._around: list[int] = []
        opened: list[int] = []
        for at, span in enumerate(self._spans):
            while opened and not self._spans[opened[-1]].covers(span):
                opened.pop()
            self._around.append(opened[-1] if opened else -1)
            opened.append(at)

    def around(self, span: Span) -> Iterator[int]:
        """Yield the numbers of the spans that cover `span`, the innermost first."""
        at = bisect_right(self._starts, span[:2]) - 1
        while at >= 0:
            if self._spans[at].covers(span):
                yield from self._members[self._spans[at]]
            at = self._around[at]

    def inside(self, span: Span) -> Iterator[int]:
        """Yield the numbers of the spans that `span` covers."""
        first = bisect_right(self._starts, (span.line, span.column - 1))
        for at in range(first, bisect_right(self._starts, span[2:])):
            if span.covers(self._spans[at]):
                yield from self._members[self._spans[at]]
