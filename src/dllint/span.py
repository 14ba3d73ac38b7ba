"""Positions in source text: a span from line and column to line and column."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A range of text: lines and columns count from 1, columns in Unicode code points, the end is exclusive.

    A leading byte-order mark is not counted as a column.
    """

    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def start(self) -> tuple[int, int]:
        """Line and column: it orders places in a file."""
        return self.line, self.column

    def covers(self, other: Span) -> bool:
        """Whether `other` lies inside this span."""
        return self.start <= other.start and (other.end_line, other.end_column) <= (
            self.end_line,
            self.end_column,
        )


WHOLE_FILE = Span(1, 1, 1, 1)
