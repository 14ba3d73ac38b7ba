"""Finds the spans around a place without looking at each of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from dllint.facts.schema import Event, FileFacts
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


def comprehension_clauses(facts: FileFacts) -> dict[int, Event]:
    """Return the `for` clauses of comprehensions, by the regions in which their targets are bound."""
    found: dict[int, Event] = {}
    inside: dict[int, list[int]] = {}
    for index, region in enumerate(facts.regions):
        if region.kind == "for":
            inside.setdefault(region.parent, []).append(index)
    spans = {parent: Enclosing(facts.regions[index].span for index in loops) for parent, loops in inside.items()}
    for scope in facts.scopes if inside else ():
        for event in scope.events_of("for"):
            if event.detail == "comp" and event.value_span is not None and event.region in spans:
                for number in sorted(spans[event.region].around(event.value_span)):
                    index = inside[event.region][number]
                    if facts.regions[index].expr == event.value:
                        found[index] = event
    return found
