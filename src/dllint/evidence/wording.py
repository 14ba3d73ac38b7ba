"""Formatting of figures, places and exceptions for the evidence in reports."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dllint.evidence.thresholds import MIB

if TYPE_CHECKING:
    from dllint.observation import Site

LONGEST = 200
"""Maximum number of characters of an exception's text that are shown."""


def mebibytes(size: float) -> str:
    """Format bytes as `12 MiB`, with one digit after the point below 10."""
    return f"{size / MIB:,.0f} MiB" if size >= 10 * MIB else f"{size / MIB:.1f} MiB"


def counted(number: int, noun: str) -> str:
    """Return the number with its noun: `1 worker`, `2 batches`."""
    plural = "es" if noun.endswith(("s", "batch")) else "s"
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}{plural}"


def listed(words: Iterable[str]) -> str:
    """Join words: `fork, spawn and forkserver`."""
    each = list(dict.fromkeys(words))
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 2 else each)


def describe(site: Site | None) -> str:
    """Format a site as `train.py:12`."""
    return f"{os.path.basename(site.path)}:{site.line}" if site else "an unknown place"


def said(exception: str | None, text: str) -> str:
    """Return an exception as `AttributeError: Can't pickle …`: class without module, first paragraph of the text.

    An exception that contains the traceback of another process is represented by the exception at its end, of whose
    text the first line is shown: what CUDA raises ends in advice about debugging.
    """
    name = (exception or "an error").rpartition(".")[2]
    lines = text.strip().splitlines()
    words: list[str] = []
    for line in lines:
        if line.startswith(("Traceback ", "Original Traceback ")):
            last = _raised(lines)
            return last[:LONGEST] if last.startswith(name) or not words else f"{name}: {last}"[:LONGEST]
        if not line.strip():
            break
        if not line.strip("- "):
            continue
        words += line.split()
    first = " ".join(words)
    first = first if len(first) <= LONGEST else f"{first[: LONGEST - 3]}..."
    return f"{name}: {first}" if first else name


def _raised(lines: list[str]) -> str:
    """The first line of the exception at the end of a traceback: the first one behind the frames, without the module
    of its class."""
    frames = [number for number, line in enumerate(lines) if line.lstrip().startswith('File "')]
    behind = lines[frames[-1] + 1 :] if frames else []
    depth = _depth(lines[frames[-1]]) if frames else 0
    found = next((line.strip() for line in behind if line.strip("- ") and _depth(line) < depth), "")
    head, colon, rest = found.partition(": ")
    if not found or " " in head:
        return next(line.strip() for line in reversed(lines) if line.strip("- "))
    return f"{head.rpartition('.')[2]}{colon}{rest}"


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
