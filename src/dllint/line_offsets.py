"""The lines of a text: places to offsets and back. Lines end only in "\\n", "\\r\\n" or "\\r", as in Python."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from typing import NamedTuple

from dllint.finding import TextEdit
from dllint.span import Span

LINE_END = re.compile(r"\r\n|\r|\n")


class Unresolvable(Exception):
    """A fix cannot be turned into text.

    Attributes:
        reason: why, in a few words.
        path: the file that prevents it; "" if unknown.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.reason = reason
        self.path = path


class Change(NamedTuple):
    """Replace `text[start:end]` with `content`; offsets count code points, including a byte-order mark."""

    start: int
    end: int
    content: str


class Lines:
    """The offsets at which the lines of a text start."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.first = 1 if text.startswith("\ufeff") else 0
        self.starts = [0, *(match.end() for match in LINE_END.finditer(text))]

    @cached_property
    def longest(self) -> int:
        """The length of the longest line."""
        return max(map(len, LINE_END.split(self.text)))

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place.

        Raises:
            Unresolvable: there is no such place in the text.
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
        """Return the number, from 1, of the line that contains an offset."""
        return bisect_right(self.starts, offset)

    def start(self, offset: int) -> int:
        """Return the offset at which the line containing `offset` starts, after a byte-order mark."""
        line = self.line(offset)
        return self.starts[line - 1] + (self.first if line == 1 else 0)

    def end(self, offset: int) -> int:
        """Return the offset at which the line containing `offset` ends, before its line end."""
        return self._end(self.line(offset))

    def change(self, edit: TextEdit) -> Change:
        """Convert an edit to offsets.

        Raises:
            Unresolvable: there is no such place in the text, or the span ends before it starts.
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
    """Return the `Lines` of a text; the most recent ones are cached."""
    return Lines(text)
