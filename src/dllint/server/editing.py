"""The documents open in the editor, and positions in its encoding."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from dllint.reporters.source import split_lines
from dllint.span import Span

Encoding = Literal["utf-8", "utf-16", "utf-32"]


@dataclass(frozen=True)
class Piece:
    """A text document of the editor: a file, or a cell of a notebook. `code` is False for a prose cell."""

    uri: str
    version: int | None
    text: str
    code: bool = True
    language: str = "python"

    @cached_property
    def lines(self) -> list[str]:
        return split_lines(self.text)


@dataclass(frozen=True)
class OpenFile:
    """An open file: one piece, or the cells of a notebook in order."""

    path: str
    pieces: tuple[Piece, ...]
    notebook: bool = False

    @property
    def content(self) -> str | bytes:
        """The content that the file would have if saved now; for a notebook, only what a check needs."""
        if not self.notebook:
            return self.pieces[0].text
        cells = [
            {
                "cell_type": "code" if piece.code else "markdown",
                "metadata": {"vscode": {"languageId": piece.language}},
                "source": piece.text,
            }
            for piece in self.pieces
        ]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()

    def piece(self, cell: int | None) -> Piece | None:
        """Return the document of a place, `None` if there is none; `cell` counts from 1."""
        at = 0 if cell is None else cell - 1
        return self.pieces[at] if at < len(self.pieces) else None


def units(text: str, encoding: Encoding) -> int:
    """Return the length of a text in the units of an encoding."""
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    if encoding == "utf-16":
        return len(text) + sum(char > "\uffff" for char in text)
    return len(text)


def position(lines: list[str], line: int, column: int, encoding: Encoding) -> tuple[int, int]:
    """Convert a place, from 1 in code points, to a protocol position, from 0 in the units of the encoding."""
    text = lines[line - 1] if line <= len(lines) else ""
    return line - 1, units(text[: column - 1], encoding)


def place(lines: list[str], line: int, character: int, encoding: Encoding) -> tuple[int, int]:
    """Convert a protocol position to line and column from 1, in code points; a column beyond the line is clamped."""
    text = lines[line] if line < len(lines) else ""
    column = 0
    while column < len(text) and units(text[: column + 1], encoding) <= character:
        column += 1
    return line + 1, column + 1


def holds(span: Span, at: tuple[int, int]) -> bool:
    """Whether a place is in a range, including its end, where the cursor is after typing."""
    return span.start <= at <= (span.end_line, span.end_column)
