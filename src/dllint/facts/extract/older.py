"""Rewrites code for Python 2, and for versions below 3.7, into Python that libcst parses, line for line.

What such a program does with its data is the same in both. Where a statement needs another spelling, columns to the
right of it move by a few characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dllint.facts.extract.tokens import Tokens

_CALLED = frozenset({"print", "exec"})
"""The statements that became functions."""
_OPENING = frozenset({"if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def", "class"})
_NO_OPERAND = frozenset({"=", ".", ",", "(", "[", ":", ";", ")", "]", "}"}) | {
    f"{op}=" for op in ("+", "-", "*", "/", "%", "&", "|", "^", "=", "!", "<", ">")
}
"""Tokens after a name that is a variable or called, instead of the keyword of a statement."""
_LINE_END = re.compile(r"(?<!\\)(?:\r\n|\r|\n)")
_OCTAL = re.compile(r"0[0-9]*[1-9][0-9]*\Z")


class _Edits:
    """Replacements of parts of a text."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], str] = {}

    def put(self, start: int, end: int, text: str) -> None:
        self._found[start, end] = self._found.get((start, end), "") + text

    def applied_to(self, source: str) -> str:
        pieces: list[str] = []
        done = 0
        for (start, end), text in sorted(self._found.items()):
            pieces += (source[done:start], text)
            done = end
        return "".join([*pieces, source[done:]])


def as_python3(source: str) -> str | None:
    """Return the text in the syntax of Python 3.7 and newer; None if it contains nothing that had another one.

    Rewritten are `print x`, `exec x`, `except E, e`, `raise E, x`, `<>`, `0777`, `10L`, `ur""`, the parameters of
    `lambda (a, b): …`, and the name `async`. Whether the outcome is valid is left to libcst.
    """
    tokens = Tokens(source)
    edits = _Edits()
    for first, last in _statements(source, tokens):
        _rewrite(source, tokens, first, last, edits)
    texts, starts, ends = tokens.texts, tokens.starts, tokens.ends
    closing = _closing(texts)
    for index, text in enumerate(texts):
        after = texts[index + 1] if index + 1 < len(texts) else ""
        touches = index + 1 < len(texts) and ends[index] == starts[index + 1]
        if text == "<>":
            edits.put(starts[index], ends[index], "!=")
        elif text == "async" and after not in ("def", "for", "with"):
            edits.put(starts[index], ends[index], "Async")
        elif _OCTAL.match(text):
            edits.put(starts[index], ends[index], text.lstrip("0").rjust(len(text)))
        elif text[0].isdigit() and touches and after in ("L", "l"):
            edits.put(starts[index + 1], ends[index + 1], " ")
        elif text in ("ur", "UR", "Ur", "uR") and touches and after[0] in "'\"":
            edits.put(starts[index], starts[index] + 1, " ")
        elif text == "lambda" and after == "(":
            close = closing.get(index + 1, len(texts))
            if list(texts[close + 1 : close + 2]) == [":"]:
                for bracket in (index + 1, close):
                    edits.put(starts[bracket], ends[bracket], " ")
    changed = edits.applied_to(source)
    return None if changed == source else changed


def _statements(source: str, tokens: Tokens) -> Iterator[tuple[int, int]]:
    """Yield the first and the last token of each simple statement, and of the head of each compound one."""
    first = depth = 0
    for index, text in enumerate(tokens.texts):
        if text in ("(", "[", "{"):
            depth += 1
        elif text in (")", "]", "}"):
            depth = max(depth - 1, 0)
        if depth:
            continue
        following = tokens.starts[index + 1] if index + 1 < len(tokens.texts) else len(source)
        ends_line = _LINE_END.search(source, tokens.ends[index], following) is not None
        head = text == ":" and tokens.texts[first] in _OPENING
        if ends_line or text == ";" or head or following == len(source):
            yield first, index - (text == ";")
            first = index + 1


def _rewrite(source: str, tokens: Tokens, first: int, last: int, edits: _Edits) -> None:
    """Rewrite a `print` or an `exec`, or the comma of an `except` or a `raise`."""
    texts, starts, ends = tokens.texts, tokens.starts, tokens.ends
    if last <= first:
        return
    keyword, after = texts[first], texts[first + 1]
    if keyword in _CALLED and after not in _NO_OPERAND:
        gap = starts[first + 1] > ends[first]
        edits.put(ends[first], ends[first] + gap, "(")
        if after == ">>":
            edits.put(starts[first + 1], ends[first + 1], "  ")
        edits.put(ends[last], ends[last], ")")
    elif keyword in ("except", "raise"):
        depth = 0
        for index in range(first + 1, last + 1):
            depth += texts[index] in ("(", "[", "{")
            depth -= texts[index] in (")", "]", "}")
            if texts[index] == "," and not depth:
                if keyword == "except":
                    edits.put(starts[index], ends[index], " as ")
                else:
                    edits.put(starts[index], ends[index], "(")
                    edits.put(ends[last], ends[last], ")")
                return


def _closing(texts: Sequence[str]) -> dict[int, int]:
    """Return, for each opening bracket, the token that closes it."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for index, text in enumerate(texts):
        if text in ("(", "[", "{"):
            opened.append(index)
        elif text in (")", "]", "}") and opened:
            found[opened.pop()] = index
    return found
