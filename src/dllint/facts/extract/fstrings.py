"""Finds the end of an f-string, with the nested quotes that PEP 701 allows."""

from __future__ import annotations

import re

STRING = (
    r"'''(?:[^'\\]|\\.|'(?!''))*'''"
    r'|"""(?:[^"\\]|\\.|"(?!""))*"""'
    r"|'(?:[^'\\\r\n]|\\\r\n|\\.)*'"
    r'|"(?:[^"\\\r\n]|\\\r\n|\\.)*"'
)
"""Matches a string without its prefix."""
PREFIX = r"(?:[bB][rR]?|[rR][bB]?|[uU])?"
FORMATTED_PREFIX = r"(?:[fFtT][rR]?|[rR][fFtT])"
_PLAIN = re.compile(PREFIX + f"(?:{STRING})", re.DOTALL)
_OPENING = re.compile(FORMATTED_PREFIX + "('''|\"\"\"|'|\")")
_LINE_END = re.compile(r"[\r\n]")
_MOST_NESTED = 150
"""The deepest nesting of f-strings that Python itself accepts (MAXFSTRINGLEVEL of CPython's Parser/lexer/state.h)."""


class FString:
    """Reads one f-string and everything nested in it.

    Args:
        source: the text.
        start: the offset of its prefix.

    Attributes:
        end: the offset after the closing quotes, or the end of the text.
        deepest: the maximum number of open brackets in it.
        longest: the most characters, excluding strings, inside a field's braces: an upper bound on the tokens of an
            expression in it.
    """

    def __init__(self, source: str, start: int) -> None:
        self._source = source
        self._size = len(source)
        self._level = 0
        self._open = 0
        self.deepest = 0
        self.longest = 0
        opening = _OPENING.match(source, start)
        self.end = min(self._string(opening.end(), opening[1]), self._size) if opening else start

    def _string(self, at: int, quote: str) -> int:
        source = self._source
        self._level += 1
        if self._level > _MOST_NESTED:
            self.deepest = self._size
            return self._size
        while at < self._size:
            char = source[at]
            if char == "\\":
                at += 2
            elif source.startswith(quote, at):
                at += len(quote)
                break
            elif source.startswith("{{", at):
                at += 2
            elif char == "{":
                at = self._field(at + 1, quote)
            else:
                at += 1
        self._level -= 1
        return at

    def _field(self, at: int, quote: str) -> int:
        """Return the offset after the replacement field whose opening brace ends at `at`."""
        source, outside, steps = self._source, self._open, 0
        while at < self._size:
            steps += 1
            char = source[at]
            if char in "'\"fFtTrRbBuU" and not (source[at - 1].isalnum() or source[at - 1] == "_"):
                opening = _OPENING.match(source, at)
                if opening:
                    at = self._string(opening.end(), opening[1])
                    continue
                string = _PLAIN.match(source, at)
                if string:
                    at = string.end()
                    continue
            if char in "([{":
                self._open += 1
                self.deepest = max(self.deepest, self._open)
            elif char in ")]}" and self._open > outside:
                self._open -= 1
            elif char == "}":
                at += 1
                break
            elif char == "#":
                ending = _LINE_END.search(source, at)
                at = ending.start() if ending else self._size
                continue
            elif char == ":" and self._open == outside:
                at = self._format(at + 1, quote)
                break
            at += 1
        self._open = outside
        self.longest = max(self.longest, steps)
        return at

    def _format(self, at: int, quote: str) -> int:
        """Return the offset after the replacement field whose format specification begins at `at`."""
        self._level += 1
        if self._level > _MOST_NESTED:
            self.deepest = self._size
            return self._size
        while at < self._size:
            char = self._source[at]
            if char == "{":
                at = self._field(at + 1, quote)
            elif char == "}":
                at += 1
                break
            elif self._source.startswith(quote, at):
                break
            else:
                at += 1
        self._level -= 1
        return at
