"""Edits of a text, by offset. Lines end as in Python: in "\\n", "\\r\\n" or "\\r", and nowhere else."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from dllint.finding import TextEdit as TextEdit
from dllint.span import Span

LINE_END = re.compile(r"\r\n|\r|\n")
BLANKS = " \t\f"


class Unresolvable(Exception):
    """A fix cannot be turned into text.

    Attributes:
        reason: why, in a few words.
        path: the file that stands in its way, where it is known.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.reason = reason
        self.path = path


class Change(NamedTuple):
    """`text[start:end]` becomes `content`; offsets count code points of the whole text, a byte-order mark included."""

    start: int
    end: int
    content: str


class Lines:
    """Where the lines of a text start."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.first = 1 if text.startswith("\ufeff") else 0
        self.starts = [0, *(match.end() for match in LINE_END.finditer(text))]

    def offset(self, line: int, column: int) -> int:
        """The offset of a place.

        Raises:
            Unresolvable: the text has no such place.
        """
        if 1 <= line <= len(self.starts) and column >= 1:
            found = self.starts[line - 1] + column - 1 + (self.first if line == 1 else 0)
            if found <= self._end(line):
                return found
        raise Unresolvable(f"line {line} column {column} is outside of the text")

    def _end(self, line: int) -> int:
        if line == len(self.starts):
            return len(self.text)
        after = self.starts[line]
        return after - (2 if self.text.endswith("\r\n", 0, after) else 1)

    def line(self, offset: int) -> int:
        """The line, from 1, that holds an offset."""
        return bisect_right(self.starts, offset)

    def start(self, offset: int) -> int:
        """The offset at which the line that holds `offset` starts, after a byte-order mark."""
        line = self.line(offset)
        return self.starts[line - 1] + (self.first if line == 1 else 0)

    def end(self, offset: int) -> int:
        """The offset at which the line that holds `offset` ends, before its line end."""
        return self._end(self.line(offset))

    def change(self, edit: TextEdit) -> Change:
        """The offsets of an edit.

        Raises:
            Unresolvable: the text has no such place, or the span ends before it starts.
        """
        span = edit.span
        start, end = self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)
        if end < start:
            raise Unresolvable(f"the span at line {span.line} ends before it starts")
        return Change(start, end, edit.content)

    def edit(self, path: str, change: Change) -> TextEdit:
        return TextEdit(path, self.span(change.start, change.end), change.content)

    def span(self, start: int, end: int) -> Span:
        return Span(*self._place(start), *self._place(end))

    def _place(self, offset: int) -> tuple[int, int]:
        line = self.line(offset)
        return line, max(offset - self.starts[line - 1] - (self.first if line == 1 else 0), 0) + 1


@lru_cache(maxsize=8)
def lines_of(text: str) -> Lines:
    """Where the lines of a text start; those of the last few texts are kept."""
    return Lines(text)


def apply(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after all edits. Spans are those of the given text; insertions at one place keep their order.

    Raises:
        Unresolvable: two edits overlap, or a span is outside of the text.
    """
    lines = Lines(text)
    return apply_changes(text, [lines.change(edit) for edit in edits])


def apply_changes(text: str, changes: Iterable[Change]) -> str:
    """As `apply`, by offsets."""
    pieces: list[str] = []
    done = 0
    for start, end, content in apart(changes):
        pieces += (text[done:start], content)
        done = end
    return "".join([*pieces, text[done:]])


def apart(changes: Iterable[Change]) -> list[Change]:
    """The changes by place.

    Raises:
        Unresolvable: two of them overlap.
    """
    ordered = sorted(changes, key=lambda change: change[:2])
    done = 0
    for start, end, _ in ordered:
        if start < done:
            raise Unresolvable("two edits of one place")
        done = end
    return ordered


def whole_lines(text: str, change: Change) -> bool:
    """Whether the change inserts whole lines between two lines, so that others can stand there too."""
    start, end, content = change
    if start != end or not content:
        return False
    before = text[:start] if start < 2 else text[start - 1 : start]
    at_start = before in ("", "\ufeff", "\r", "\n") and text[start - 1 : start + 1] != "\r\n"
    if at_start:
        return content.endswith(("\r", "\n"))
    return start == len(text) and content.startswith(("\r", "\n"))


def one_line_end(text: str, change: Change) -> Change:
    """The change with the line end of its neighbour, where a carriage return and a line feed would become one."""
    start, end, content = change
    if content.startswith("\n") and text.endswith("\r", 0, start):
        return change._replace(content=LINE_END.sub("\r", content))
    if content.endswith("\r") and text.startswith("\n", end):
        return change._replace(content=LINE_END.sub("\n", content))
    return change


def stack(text: str, changes: Iterable[Change]) -> list[Change]:
    """The changes by place. Lines inserted at one place share the blank lines between them."""
    found: list[Change] = []
    for change in sorted(changes, key=lambda change: change[:2]):
        if found and found[-1].start == change.start and whole_lines(text, found[-1]) and whole_lines(text, change):
            above = len(LINE_END.findall(_ending_lines(found[-1].content))) - 1
            content = change.content
            while above > 0 and (blank := LINE_END.match(content)):
                content = content[blank.end() :]
                above -= 1
            change = change._replace(content=content)
        found.append(change)
    return found


def _ending_lines(content: str) -> str:
    return content[len(content.rstrip("\r\n")) :]
