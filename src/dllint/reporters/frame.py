"""Excerpts of source text with line numbers and the place underlined."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from dllint.reporters.source import cells
from dllint.span import Span

CONTEXT = 2
"""Number of lines shown before and after the place."""
LONGEST = 8
"""Number of lines of one place that are shown; longer ones are shortened in the middle."""
WIDTH = 140
"""Maximum number of screen columns of a source line that are shown."""


def frame(lines: list[str], span: Span, paint: Paint, width: int = WIDTH) -> list[str]:
    """Return the numbered lines around `span`, with carets under it; empty if the file has no such line."""
    if not 1 <= span.line <= len(lines):
        return []
    last = min(max(span.line, span.end_line), len(lines))
    first_shown, last_shown = max(1, span.line - CONTEXT), min(len(lines), last + CONTEXT)
    while first_shown < span.line and not lines[first_shown - 1].strip():
        first_shown += 1
    while last_shown > last and not lines[last_shown - 1].strip():
        last_shown -= 1
    gutter = max(2, len(str(last_shown)))
    margin = paint.dim(f"{'':{gutter}} |")
    shown = [margin]
    for number in range(first_shown, last_shown + 1):
        inside = span.line <= number <= last
        if inside and last - span.line >= LONGEST and LONGEST // 2 <= number - span.line <= last - span.line - 2:
            if number - span.line == LONGEST // 2:
                shown.append(f"{paint.dim(f'{chr(0x22EE):>{gutter}} |')} {paint.mark('|')}")
            continue
        shown += _line(lines[number - 1], number, span, last, gutter, margin, paint, width)
    return [*shown, margin]


def _line(
    line: str, number: int, span: Span, last: int, gutter: int, margin: str, paint: Paint, width: int
) -> list[str]:
    cells_shown, starts = cells(line)
    edge = len(starts) - 1
    begin = starts[min(span.column - 1, edge)]
    end = starts[min(max(span.end_column - 1, 0), edge)]
    left = 0
    if last == span.line == number and begin > width * 2 // 3:
        left = begin - width // 3
    text = _window(cells_shown, starts, left, width)
    numbered = paint.dim(f"{number:>{gutter}} |")
    if last == span.line:
        shown = [f"{numbered} {text}".rstrip()]
        if number == span.line:
            carets = "^" * max(1, min(end - begin, width - (begin - left)))
            shown.append(f"{margin} {' ' * (begin - left)}{paint.mark(carets)}")
        return shown
    if number == span.line:
        return [f"{numbered}   {text}".rstrip(), f"{margin}  {paint.mark('_' * (min(begin, width) + 1) + '^')}"]
    bar = paint.mark("|") if span.line < number <= last else " "
    shown = [f"{numbered} {bar} {text}".rstrip()]
    if number == last:
        shown.append(f"{margin} {paint.mark('|' + '_' * max(1, min(end, width)) + '^')}")
    return shown


def _window(shown: list[str], starts: list[int], left: int, width: int) -> str:
    """Return the visible part of the line, from screen column `left`."""
    return "".join(shown[bisect_left(starts, left) : bisect_right(starts, left + width) - 1])


class Paint:
    """ANSI colours, or none. `mark` uses the colour of the finding's severity."""

    def __init__(self, on: bool, severity: str | None = None) -> None:
        self.on = on
        self._mark = {"error": "1;31", "warning": "1;33", "info": "1;36"}.get(severity or "", "1")

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text

    def mark(self, text: str) -> str:
        return self._in(self._mark, text)

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def title(self, text: str) -> str:
        return self._in("1;4", text)

    def link(self, url: str, text: str) -> str:
        """Return the text as a link to a page, with the OSC 8 escape sequence."""
        return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if url else text

    def dim(self, text: str) -> str:
        return self._in("2", text)

    def label(self, text: str) -> str:
        return self._in("36", text)

    def added(self, text: str) -> str:
        return self._in("32", text)

    def removed(self, text: str) -> str:
        return self._in("31", text)
