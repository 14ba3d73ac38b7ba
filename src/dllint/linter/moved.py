"""Edits that change no facts: comments, blank lines, white space.

Findings stay valid, at other places. Whether an edit is of this kind is not guessed from its text: the facts of the new
text must equal those of the old one with every place moved.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from difflib import SequenceMatcher
from typing import Any, NamedTuple, TypeVar

from dllint import registry, suppressions
from dllint.facts.nodes import Base
from dllint.facts.schema import FileFacts, Scope
from dllint.finding import Edit, Finding, Place
from dllint.line_offsets import LINE_END, Lines, Unresolvable
from dllint.span import WHOLE_FILE, Span

Placed = TypeVar("Placed", Finding, Place)


class Elsewhere(Exception):
    """A place is inside the edited text, so its new position is unknown."""


MOST_LINES = 4000
"""Lines of an edited stretch that are compared one by one."""


class Hunk(NamedTuple):
    """A stretch of the old text that an edit replaced, and by how many characters it became longer."""

    start: int
    end: int
    by: int


class Move:
    """Maps places of an old text to a new one that differs from it in one or several stretches.

    Args:
        old: the text before the edit.
        new: the text after it.

    Raises:
        Elsewhere: lines were joined or split, which can change what a comment or a rule refers to.
    """

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = Lines(old), Lines(new)
        self._hunks = _hunks(old, new)
        moved = 0
        for start, end, by in self._hunks:
            was, now = old[start:end], new[start + moved : end + moved + by]
            if len(LINE_END.findall(was)) != len(LINE_END.findall(now)) and not (
                _at_line_start(old, start) and _at_line_start(old, end) and _at_line_start(new, end + moved + by)
            ):
                raise Elsewhere
            moved += by

    def span(self, span: Span) -> Span:
        """Return the new position of a range.

        Raises:
            Elsewhere: it starts or ends inside the edit.
        """
        if span == WHOLE_FILE:
            return span
        try:
            start = self._old.offset(span.line, span.column)
            end = self._old.offset(span.end_line, span.end_column)
        except Unresolvable as problem:
            raise Elsewhere from problem
        moved = self._begin(start)
        return self._new.span(moved, moved if start == end else self._finish(end))

    def line(self, line: int) -> int:
        """Return the new number of a line.

        Raises:
            Elsewhere: it was edited, and other lines were inserted or removed with it.
        """
        if not 1 <= line <= len(self._old.starts):
            raise Elsewhere
        return self._new.line(self._begin(self._old.starts[line - 1]))

    def _begin(self, offset: int) -> int:
        moved = 0
        for start, end, by in self._hunks:
            if offset >= end:
                moved += by
            elif offset <= start:
                break
            else:
                raise Elsewhere
        return offset + moved

    def _finish(self, offset: int) -> int:
        moved = 0
        for start, end, by in self._hunks:
            if offset <= start:
                break
            if offset < end:
                raise Elsewhere
            moved += by
        return offset + moved


def _hunks(old: str, new: str) -> list[Hunk]:
    """Return the stretches of the old text that the edit replaced, in order: one, or, if that has several lines, those
    of its lines that differ."""
    start, end = _stretch(old, new)
    by = len(new) - len(old)
    was, now = old[start:end], new[start : end + by]
    if not was or not now or ("\n" not in was and "\n" not in now):
        return [Hunk(start, end, by)]
    start = old.rfind("\n", 0, start) + 1
    # The rest of the last line is the same in both.
    rest = len(old) - end - (old[end:].find("\n") + 1 or len(old) - end)
    before, after = _lines(old[start : len(old) - rest]), _lines(new[start : len(new) - rest])
    if len(before) > MOST_LINES or len(after) > MOST_LINES:
        return [Hunk(start, end, by)]
    found: list[Hunk] = []
    starts = [start]
    for line in before:
        starts.append(starts[-1] + len(line))
    for kind, first, last, low, high in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "replace" and last - first == high - low:
            for number in range(last - first):
                found += _in_line(starts[first + number], before[first + number], after[low + number])
        elif kind != "equal":
            found.append(
                Hunk(starts[first], starts[last], sum(map(len, after[low:high])) - starts[last] + starts[first])
            )
    return found


def _lines(text: str) -> list[str]:
    *lines, rest = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([rest] if rest else [])]


def _in_line(start: int, old: str, new: str) -> list[Hunk]:
    if old == new:
        return []
    least = min(len(old), len(new))
    head = _common(old, new, least)
    tail = _common(old[::-1], new[::-1], least - head)
    return [Hunk(start + head, start + len(old) - tail, len(new) - len(old))]


def _stretch(old: str, new: str) -> tuple[int, int]:
    """Return the stretch of the old text that the edit replaced; for whole lines, from the start of a line."""
    least = min(len(old), len(new))
    start = _common(old, new, least)
    end = len(old) - _common(old[::-1], new[::-1], least - start)
    shorter, longer = (old, new) if len(old) <= len(new) else (new, old)
    # Which of several equal lines was inserted is unknown; any of them will do, so take the first.
    inserted = len(longer) - len(shorter)
    if (end if shorter is old else end + len(new) - len(old)) == start:
        while not _at_line_start(longer, start) and longer[start - 1] == longer[start + inserted - 1]:
            start -= 1
            end -= 1
    return start, end


def _common(left: str, right: str, most: int) -> int:
    """Return the length of the common prefix of two texts."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _at_line_start(text: str, offset: int) -> bool:
    return offset == 0 or text[offset - 1] == "\n" or (text[offset - 1] == "\r" and text[offset : offset + 1] != "\n")


def says_the_same(old: FileFacts, new: FileFacts, move: Move) -> bool:
    """Whether the facts of two texts differ only in places, and in those as the move maps them."""
    try:
        return (
            (old.called, old.loaded, old.aliases) == (new.called, new.loaded, new.aliases)
            and _same(old.calls, new.calls, move)
            and _same(old.regions, new.regions, move)
            and len(old.scopes) == len(new.scopes)
            and all(_same_scope(*pair, move) for pair in zip(old.scopes, new.scopes, strict=True))
        )
    except Elsewhere:
        return False


def _same_scope(old: Scope, new: Scope, move: Move) -> bool:
    # The module always spans from the first line to the last.
    names = [one.name for one in fields(Scope) if old.parent >= 0 or one.name not in ("span", "header")]
    return all(_same(getattr(old, name), getattr(new, name), move) for name in names)


def _same(old: Any, new: Any, move: Move) -> bool:
    if isinstance(old, Span):
        return isinstance(new, Span) and move.span(old) == new
    if isinstance(old, (list, tuple)) and not isinstance(old, Base):
        return (
            type(old) is type(new)
            and len(old) == len(new)
            and all(_same(*pair, move) for pair in zip(old, new, strict=True))
        )
    return bool(old == new)


def silences_the_same(old: str, new: str, move: Move) -> bool:
    """Whether both texts contain the same suppressions, moved with the text."""
    if not suppressions.could_suppress(old) and not suppressions.could_suppress(new):
        return True
    names = registry.names()
    try:
        before = [
            (one.comment, one.start, move.span(one.place(0, one.comment))) for one in suppressions.read(old, names)
        ]
    except Elsewhere:
        return False
    return before == [(one.comment, one.start, one.place(0, one.comment)) for one in suppressions.read(new, names)]


def moved(finding: Finding, path: str, shown: str, move: Move) -> Finding:
    """Return a finding after an edit of a file, with moved places and line numbers of that file.

    Args:
        finding: with places in any files.
        path: the file.
        shown: its path as written in messages.
        move: maps the places.

    Raises:
        Elsewhere: one of them is inside the edit.
    """
    words = words_moved(shown, move)
    statement = finding.statement
    if statement is not None and finding.path == path:
        statement = move.span(statement)
    return replace(
        _placed(finding, path, move),
        statement=statement,
        text=words(finding.text),
        help=words(finding.help),
        values={key: words(one) if isinstance(one, str) else one for key, one in finding.values.items()},
        trace=tuple(_place(one, path, move, words) for one in finding.trace),
        related=tuple(_place(one, path, move, words) for one in finding.related),
        fixes=tuple(
            replace(fix, title=words(fix.title), edits=tuple(_edit(one, path, move) for one in fix.edits))
            for fix in finding.fixes
        ),
    )


def _placed(one: Placed, path: str, move: Move) -> Placed:
    return replace(one, span=move.span(one.span)) if one.path == path else one


def _place(one: Place, path: str, move: Move, words: Callable[[str], str]) -> Place:
    return replace(_placed(one, path, move), message=words(one.message))


def _edit(edit: Edit, path: str, move: Move) -> Edit:
    if edit.path != path:
        return edit
    spans = {one.name: getattr(edit, one.name) for one in fields(edit) if isinstance(getattr(edit, one.name), Span)}
    moved_spans: dict[str, Any] = {name: move.span(span) for name, span in spans.items()}
    return replace(edit, **moved_spans)


def words_moved(shown: str, move: Move) -> Callable[[str], str]:
    """Return a function that updates the line numbers of a file in a sentence, like `train.py:12`, after the edit."""
    mention = re.compile(rf"(?<![\w./-]){re.escape(shown)}:(\d+)(?!\d)")

    def turned(text: str) -> str:
        return mention.sub(lambda match: f"{shown}:{move.line(int(match[1]))}", text) if shown in text else text

    return turned
