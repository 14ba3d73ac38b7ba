"""Rewrites valid Python that libcst cannot parse into an equivalent text that it can.

Positions come from the tokens, so that blanks added to the text shift none.
"""

from __future__ import annotations

import keyword

from dllint.facts.extract.tokens import Tokens

_OPEN, _CLOSED = frozenset("([{"), frozenset(")]}")


def respelled(source: str, tokens: Tokens) -> str | None:
    """Insert a blank between a keyword and an adjacent number (`return.5`, `1if x`), and remove the parentheses around
    an annotated target (`(x): int`).

    The tokens are changed in the same way. None if the text contains neither. Whether it is valid Python is left to
    libcst:
    the running Python may be older than the one that the text is written for.
    """
    dropped = _around_targets(source, tokens)
    pieces: list[str] = []
    done = 0
    for index, (text, start, end) in enumerate(zip(tokens.texts, tokens.starts, tokens.ends, strict=True)):
        if index in dropped:
            pieces += (source[done:start], " " if text == ")" else "")
            done = end
        elif index and tokens.ends[index - 1] == start and _needs_blank(tokens.texts[index - 1], text):
            pieces += (source[done:start], " ")
            done = start
    if not pieces:
        return None
    kept = [index for index in range(len(tokens.texts)) if index not in dropped]
    tokens.texts = [tokens.texts[index] for index in kept]
    tokens.starts = [tokens.starts[index] for index in kept]
    tokens.ends = [tokens.ends[index] for index in kept]
    return "".join([*pieces, source[done:]])


def _needs_blank(left: str, right: str) -> bool:
    """Whether one of two adjacent tokens is a keyword and the other a number."""
    return (keyword.iskeyword(left) and _is_number(right)) or (_is_number(left) and keyword.iskeyword(right))


def _is_number(text: str) -> bool:
    return text[0].isdigit() or (text[0] == "." and text[1:2].isdigit())


def _around_targets(source: str, tokens: Tokens) -> set[int]:
    """Return the parentheses that begin a line outside of all brackets and end before a colon."""
    found: set[int] = set()
    depth, opened = 0, -1
    for index, text in enumerate(tokens.texts):
        if text in _OPEN:
            if text == "(" and not depth and _begins_line(source, tokens, index):
                opened = index
            depth += 1
        elif text in _CLOSED:
            depth -= 1
            if not depth and opened >= 0:
                if tokens.texts[index + 1 : index + 2] == [":"]:
                    found |= {opened, index}
                opened = -1
    return found


def _begins_line(source: str, tokens: Tokens, index: int) -> bool:
    before = tokens.ends[index - 1] if index else 0
    return not index or "\n" in source[before : tokens.starts[index]] or tokens.texts[index - 1] == ";"
