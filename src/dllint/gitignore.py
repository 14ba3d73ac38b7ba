"""Patterns of `.gitignore` (gitignore(5)), matched in time linear in the path for each pattern.

A backtracking matcher takes exponential time for `*a*a*a*b`. Here each star takes the shortest text that lets the part
between it and the next star match, and never backtracks: a later match of that part would leave less for the rest, so
no match is missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

LONGEST_PATTERN = 1_000
"""Characters. A longer line is not used as a pattern; Linux paths have at most 4,096."""
MOST_WILDCARDS = 2_000
"""Patterns of one list that need a regular expression, which takes about 0.2 ms to build. Further ones are not used."""

_CLASSES = {
    "alnum": r"0-9A-Za-z",
    "alpha": r"A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": r"0-9",
    "graph": r"\x21-\x7e",
    "lower": r"a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r" \t\n\r\f\v",
    "upper": r"A-Z",
    "xdigit": r"0-9A-Fa-f",
}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MAGIC = re.compile(r"[*?\[\\]")


class _Malformed(Exception):
    """A pattern that matches nothing: an unclosed class, a trailing backslash."""


class Patterns:
    """A list of patterns; the last one that matches a path decides.

    Args:
        lines: the lines of the file.

    Attributes:
        dropped: number of lines that are too long, or exceed the number of patterns with wildcards.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.dropped = 0
        self._included: list[bool] = []
        # By name, or by path from the list's directory: the index of the last pattern, and of the last one that also
        # applies to files.
        self._names: dict[str, tuple[int, int]] = {}
        self._paths: dict[str, tuple[int, int]] = {}
        self._endings: list[tuple[int, bool, str]] = []
        self._wild: list[tuple[int, bool, bool, str]] = []
        self._compiled: dict[int, re.Pattern[str] | None] = {}
        for line in lines:
            self._add(line)

    def __bool__(self) -> bool:
        return bool(self._included)

    def _add(self, line: str) -> None:
        line = _without_trailing_spaces(line.removesuffix("\r"))
        if not line or line.startswith("#"):
            return
        negated = line.startswith("!")
        text = line[1:] if negated else line
        only_directories = text.endswith("/")
        text = text.removesuffix("/")
        anchored = "/" in text
        text = _ESCAPED.sub(lambda pair: "/" if pair[1] == "/" else pair[0], text.removeprefix("/"))
        if not text:
            return
        if len(text) > LONGEST_PATTERN:
            self.dropped += 1
            return
        index = len(self._included)
        self._included.append(not negated)
        if not _MAGIC.search(text):
            table = self._paths if anchored else self._names
            last = index if not only_directories else table.get(text, (-1, -1))[1]
            table[text] = index, last
        elif not anchored and text[0] == "*" and not _MAGIC.search(text, 1):
            self._endings.append((index, only_directories, text[1:]))
        elif len(self._wild) < MOST_WILDCARDS:
            self._wild.append((index, only_directories, anchored, text))
        else:
            self.dropped += 1

    def verdict(self, path: str, is_directory: bool) -> bool | None:
        """Whether the patterns ignore a path; `None` if none matches. Parent directories are not considered.

        Args:
            path: relative to the directory of the list, with "/" between names.
        """
        name = path[path.rfind("/") + 1 :]
        which = 0 if is_directory else 1
        found = -1
        for table, key in ((self._names, name), (self._paths, path)):
            if key in table:
                found = max(found, table[key][which])
        for index, only_directories, ending in reversed(self._endings):
            if index < found:
                break
            if name.endswith(ending) and (is_directory or not only_directories):
                found = index
                break
        for index, only_directories, anchored, text in reversed(self._wild):
            if index < found:
                break
            if (is_directory or not only_directories) and self._matches(index, text, path if anchored else name):
                found = index
                break
        return self._included[found] if found >= 0 else None

    def covers(self, path: str) -> bool:
        """Whether the patterns ignore a file or one of its parent directories."""
        parts = path.split("/")
        above = ("/".join(parts[:count]) for count in range(1, len(parts)))
        return any(self.verdict(directory, True) for directory in above) or bool(self.verdict(path, False))

    def _matches(self, index: int, text: str, path: str) -> bool:
        if index not in self._compiled:
            try:
                self._compiled[index] = re.compile(_translated(text), re.DOTALL)
            except (_Malformed, re.error):
                self._compiled[index] = None
        pattern = self._compiled[index]
        return pattern is not None and pattern.match(path) is not None


def _without_trailing_spaces(line: str) -> str:
    """Return the line without trailing spaces; one after a backslash stays."""
    plain = line.rstrip(" ")
    slashes = len(plain) - len(plain.rstrip("\\"))
    return plain + " " if slashes % 2 and len(plain) < len(line) else plain


def _translated(text: str) -> str:
    """Translate a pattern to a regular expression for paths relative to the directory of its list."""
    groups = [0]
    runs: list[list[str]] = [[]]
    for segment in _segments(text):
        if not segment:
            # No path contains two slashes in a row.
            raise _Malformed
        if segment.strip("*") == "" and len(segment) > 1:
            runs.append([])
        else:
            runs[-1].append(_segment(segment, groups))
    if len(runs) > 1 and not runs[-1]:
        # "a/**" matches everything inside, but not the directory itself.
        runs[-1] = ["[^/]+"]
    # "**/**" is the same as "**".
    first, *others = ["/".join(run) for at, run in enumerate(runs) if run or at == 0]
    pieces = [first] if first else []
    for at, run in enumerate(others):
        anywhere = f"(?:[^/]+/)*?{run}"
        if at < len(others) - 1:
            groups[0] += 1
            anywhere = rf"(?=(?P<g{groups[0]}>{anywhere}(?=/)))(?P=g{groups[0]})"
        pieces.append(anywhere)
    return "/".join(pieces) + r"\Z"


def _segments(text: str) -> list[str]:
    """Split a pattern at slashes, except those in bracket expressions."""
    found, start, at = [], 0, 0
    while at < len(text):
        if text[at] == "[":
            _, at = _class(text, at + 1)
        elif text[at] == "/":
            found.append(text[start:at])
            start = at = at + 1
        else:
            at += 2 if text[at] == "\\" else 1
    return [*found, text[start:]]


def _segment(text: str, groups: list[int]) -> str:
    """Translate the part of a pattern between two slashes to a regular expression; `groups` counts the named groups."""
    parts: list[str] = [""]
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "*":
            if parts[-1] or len(parts) == 1:
                parts.append("")
        elif char == "?":
            parts[-1] += "[^/]"
        elif char == "[":
            piece, at = _class(text, at)
            parts[-1] += piece
        elif char == "\\":
            if at == len(text):
                raise _Malformed
            parts[-1] += re.escape(text[at])
            at += 1
        else:
            parts[-1] += re.escape(char)
    first, *others = parts
    if not others:
        return first
    pieces = [first]
    for part in others[:-1]:
        groups[0] += 1
        pieces.append(f"(?=(?P<g{groups[0]}>[^/]*?{part}))(?P=g{groups[0]})")
    pieces.append(f"[^/]*{others[-1]}(?=/|\\Z)")
    return "".join(pieces)


def _class(text: str, at: int) -> tuple[str, int]:
    """Translate a bracket expression to a regular expression. `at` is the index after the bracket.

    Returns:
        The expression, and the index after the closing bracket.
    """
    negated = text[at : at + 1] in ("!", "^")
    at += negated
    start = at
    pieces = []
    while True:
        if at >= len(text):
            raise _Malformed
        if text[at] == "]" and at > start:
            break
        if text.startswith("[:", at) and (end := text.find(":]", at)) > 0:
            name = text[at + 2 : end]
            if name not in _CLASSES:
                raise _Malformed
            pieces.append(_CLASSES[name])
            at = end + 2
            continue
        low, at = _one(text, at)
        if text[at : at + 1] == "-" and text[at + 1 : at + 2] not in ("", "]"):
            high, at = _one(text, at + 1)
            pieces.append(re.escape(low))
            if low < high:
                pieces.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            pieces.append(re.escape(low))
    inside = "".join(pieces)
    if negated:
        return f"[^/{inside}]", at + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), at + 1


def _one(text: str, at: int) -> tuple[str, int]:
    if text[at] == "\\":
        at += 1
        if at >= len(text):
            raise _Malformed
    return text[at], at + 1


def lines_of(data: bytes) -> Sequence[str]:
    """Return the lines of a `.gitignore`, split as git does."""
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
