"""Source text for reports: its lines, shortened paths, columns in other units."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from textwrap import wrap
from typing import Any
from unicodedata import category, east_asian_width

from dllint.finding import Finding, Place
from dllint.span import Span

TAB = 4
_NEWLINE = re.compile(r"\r\n|\r|\n")


@lru_cache(maxsize=4)
def split_lines(text: str) -> list[str]:
    """Return the lines as Python counts them, without a byte-order mark; form feeds and Unicode separators end none."""
    return _NEWLINE.split(text.removeprefix("\ufeff"))


def counted(number: int, noun: str) -> str:
    """Return the number with its noun: `1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def wrapped(text: str, begins: int, indent: int, width: int) -> list[str]:
    """Wrap a text into lines of at most `width` columns. The first line begins at column `begins`, the others at column
    `indent`. A width of 0 leaves the text on one line."""
    if not width:
        return [text]
    free = max(width, indent + 20)
    lines = wrap(
        text,
        free,
        initial_indent=" " * min(begins, free - 1),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if not lines:
        return [""]
    # Text that does not fit after the lead starts on the next line.
    fits = len(lines[0]) <= free
    return [lines[0].lstrip(), *lines[1:]] if fits else ["", *(f"{'':{indent}}{lines[0].lstrip()}", *lines[1:])]


def shown_path(path: str, directory: str) -> str:
    """Return the path relative to `directory` if it lies inside, else unchanged."""
    inside = directory and path.startswith(directory.rstrip(os.sep) + os.sep)
    return os.path.relpath(path, directory) if inside else path


def file_path(path: str, directory: str) -> str:
    """Return the path for other programs: with forward slashes, relative to `directory` if it lies inside."""
    return shown_path(path, directory).replace("\\", "/") if os.sep == "\\" else shown_path(path, directory)


def located(path: str, span: Span, cell: int | None = None) -> dict[str, Any]:
    """Return a place as JSON, with a cell only for notebooks."""
    return {
        **({} if cell is None else {"cell": cell}),
        "filename": path,
        "location": {"row": span.line, "column": span.column},
        "end_location": {"row": span.end_line, "column": span.end_column},
    }


def placed(place: Place | None) -> dict[str, Any] | None:
    """Return a place as JSON without its message; `None` without a place."""
    return None if place is None else located(place.path, place.span)


def judged(finding: Finding) -> dict[str, Any]:
    """Return the verdict of a run on a finding as JSON; empty without a run."""
    if finding.verdict is None:
        return {}
    return {"verdict": finding.verdict, "evidence": list(finding.evidence), "origin": finding.origin}


def message(finding: Finding) -> str:
    """Return what a finding says, what a run said of it and its help, one below the other.

    Many programs show them in one line, where only the word before it tells the help from the rest.
    """
    advice = [f"help: {finding.help}"] if finding.help else []
    return "\n".join(line for line in (finding.text, *told_by_run(finding), *advice) if line)


def told_by_run(finding: Finding) -> list[str]:
    """Return the verdict of a run on a finding as one line; empty without a run."""
    if finding.verdict is None:
        return []
    evidence = "; ".join(finding.evidence)
    return [f"run: {finding.verdict}{': ' if evidence else ''}{evidence}"]


def utf16_column(line: str, column: int) -> int:
    """Convert a column, from 1 in code points, to UTF-16 code units from 0."""
    return sum(1 + (ord(char) > 0xFFFF) for char in line[: column - 1])


def utf16_range(lines: list[str], span: Span) -> dict[str, dict[str, int]]:
    """Convert a span to a range of the Language Server Protocol: lines and UTF-16 code units from 0."""

    def position(line: int, column: int) -> dict[str, int]:
        text = lines[line - 1] if line <= len(lines) else ""
        return {"line": line - 1, "character": utf16_column(text, column)}

    return {"start": position(span.line, span.column), "end": position(span.end_line, span.end_column)}


def plain(text: str) -> str:
    """Return the text as one line without control characters: file names may contain line ends and escape sequences."""
    return text if text.isprintable() else "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def visible(line: str) -> tuple[str, list[int]]:
    """Return the line as a terminal can show it, and the screen columns of each code point and of the line's end."""
    shown, starts = cells(line)
    return "".join(shown), starts


@lru_cache(maxsize=16)
def cells(line: str) -> tuple[list[str], list[int]]:
    """Return the printable form of each code point, and the screen columns where each starts and where the line ends.

    Tabs become blanks, and control characters their pictures, because a source text must not control the terminal.
    """
    shown: list[str] = []
    starts: list[int] = []
    at = 0
    for char in line:
        starts.append(at)
        if char == "\t":
            width = TAB - at % TAB
            shown.append(" " * width)
        elif ord(char) < 0x20:
            width = 1
            shown.append(chr(0x2400 + ord(char)))
        elif category(char) in ("Cc", "Cf"):
            width = 1
            shown.append("\N{REPLACEMENT CHARACTER}")
        else:
            width = 0 if category(char) in ("Mn", "Me") else 2 if east_asian_width(char) in "WF" else 1
            shown.append(char)
        at += width
    starts.append(at)
    return shown, starts
