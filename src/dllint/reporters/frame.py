"""Excerpts of source text with line numbers and the place underlined."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from dllint.reporters.source import cells
from dllint.span import Span

CONTEXT = 2
"""Lines shown before and after the place."""
LONGEST = 8
"""Lines of one place that are shown; the middle of a longer one is left out."""
WIDTH = 140
"""Screen columns of a source line that are shown."""


def frame(lines: list[str], span: Span, paint: Paint) -> list[str]:
    """The lines around `span`, numbered, with carets under it; nothing where the file has no such line."""
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
        shown += _line(lines[number - 1], number, span, last, gutter, margin, paint)
    return [*shown, margin]


def _line(line: str, number: int, span: Span, last: int, gutter: int, margin: str, paint: Paint) -> list[str]:
    cells_shown, starts = cells(line)
    edge = len(starts) - 1
    begin = starts[min(span.column - 1, edge)]
    end = starts[min(max(span.end_column - 1, 0), edge)]
    left = 0
    if last == span.line == number and begin > WIDTH * 2 // 3:
        left = begin - WIDTH // 3
    text = _window(cells_shown, starts, left)
    numbered = paint.dim(f"{number:>{gutter}} |")
    if last == span.line:
        shown = [f"{numbered} {text}".rstrip()]
        if number == span.line:
            carets = "^" * max(1, min(end - begin, WIDTH - (begin - left)))
            shown.append(f"{margin} {' ' * (begin - left)}{paint.mark(carets)}")
        return shown
    if number == span.line:
        return [f"{numbered}   {text}".rstrip(), f"{margin}  {paint.mark('_' * (min(begin, WIDTH) + 1) + '^')}"]
    bar = paint.mark("|") if span.line < number <= last else " "
    shown = [f"{numbered} {bar} {text}".rstrip()]
    if number == last:
        shown.append(f"{margin} {paint.mark('|' + '_' * max(1, min(end, WIDTH)) + '^')}")
    return shown


def _window(shown: list[str], starts: list[int], left: int) -> str:
    """The part of the line that is shown, from screen column `left`."""
    return "".join(shown[bisect_left(starts, left) : bisect_right(starts, left + WIDTH) - 1])


class Paint:
    """ANSI colours, or none. `mark` is the colour of the finding's severity."""

    def __init__(self, on: bool, severity: str | None = None) -> None:
        self.on = on
        self._mark = {"error": "1;31", "warning": "1;33", "info": "1;36"}.get(severity or "", "1")

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text

    def mark(self, text: str) -> str:
        return self._in(self._mark, text)

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def dim(self, text: str) -> str:
        return self._in("34", text)

    def label(self, text: str) -> str:
        return self._in("36", text)

    def added(self, text: str) -> str:
        return self._in("32", text)

    def removed(self, text: str) -> str:
        return self._in("31", text)
