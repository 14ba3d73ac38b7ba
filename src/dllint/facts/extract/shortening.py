"""Shortens long literal tables in source code: a few of their numbers and strings stand for all.

libcst takes 3 to 4 KiB of memory per token, and the analysis examines only the first elements of a container. Positions
come from the tokens, so that omissions shift none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dllint.facts.extract.tokens import Tokens

MOST_CHARACTERS = 3_000_000
"""The most characters of a text that is tokenized."""
MOST_TOKENS = 320_000
"""The most tokens of a text that is parsed. The largest file of PyTorch has 196,000."""
_MOST_WEIGHT, _STATEMENT = 500_000, 6
"""The largest weight of a text, which is its tokens plus six per statement line. A line of one name takes up to 12 KiB
and 60 µs (measured), so this is less than 1 GiB. The largest file of PyTorch has 226,000."""
_RUN = 120
"""A run of tokens without a separator weighs its square divided by this: libcst takes 1.2 s for 2,500 operands of one
sum, and time that grows with their square (measured)."""
_DEPTH = 5
"""The weight of a bracket for each of those around it: libcst keeps up to 10 KiB for each, and takes up to 25 µs
(measured)."""
_FIELD_TOKENS = 9
"""What a field of an f-string counts, which is one token: it takes up to 15 KiB and 95 µs where it contains another
f-string (measured)."""
_MOST_NESTING, _SHORT_CHAIN = 800_000, 100
"""The largest sum of the depths of operators that nest to the right, and the chain below which it is not counted.
libcst takes up to 380 bytes for each unit (measured): memory that grows with the square of `- - - 1` or `2**2**2`."""
_SIGNS = frozenset("+-~")
_BINARY = frozenset(("+", "-", "*", "/", "//", "%", "@", "<<", ">>", "&", "|", "^", "<", ">", "<=", ">=", "==", "!="))
_JOINING = frozenset(("in", "is", "and", "or", "if"))
_FIELD = re.compile(r"\{([^{}]{100,})")
_NESTING_IN_FIELD = re.compile(r"[-+~]|\*\*|\b(?:not|lambda|else)\b")
_LINE_END, _CONTINUATION = re.compile(r"[\r\n]"), re.compile(r"\\(?:\r\n|[\r\n])")
_VALUE_ENDS = re.compile(r"[\w)\]}'\".]\Z")
_BEFORE_A_SIGN = frozenset(("and", "or", "not", "in", "is", "if", "else", "lambda", "return", "yield", "await"))
REST = "__and_more__"
"""The name that stands for the omitted elements, whose number is unknown."""
_LONG = 2_000
"""The number of elements above which a row is shortened."""
_KEPT = 100
_BRACKETS = frozenset("()[]{}")
_LITERAL = frozenset("0123456789.'\"")


def shortened(source: str, tokens: Tokens) -> str:
    """Replace most elements of long rows in the source by `*__and_more__`; the tokens are changed in the same way."""
    if len(tokens.texts) < _LONG:
        return source
    pieces: list[str] = []
    done = 0
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    copied = 0
    for first, last, star in _rows(tokens.texts):
        begin, end = tokens.starts[first], tokens.ends[last]
        pieces += (source[done:begin], star, REST)
        done = end
        texts += (*tokens.texts[copied:first], star, REST)
        starts += (*tokens.starts[copied:first], begin, begin)
        ends += (*tokens.ends[copied:first], end, end)
        copied = last + 1
    if not copied:
        return source
    tokens.texts = [*texts, *tokens.texts[copied:]]
    tokens.starts = [*starts, *tokens.starts[copied:]]
    tokens.ends = [*ends, *tokens.ends[copied:]]
    return "".join([*pieces, source[done:]])


def too_large(source: str, tokens: Tokens, most: int = _MOST_WEIGHT) -> str:
    """Return why a text, whose tokens are those left after shortening, is too large to parse; "" if it is not.

    Args:
        most: the largest weight.
    """
    count = len(tokens.texts)
    if count * (1 + _STATEMENT) + _FIELD_TOKENS * source.count("{") > most:
        count += _FIELD_TOKENS * sum(text.count("{") for text in tokens.texts if len(text) > 1)
    if count > MOST_TOKENS:
        return f"more than {MOST_TOKENS:,} tokens"
    if tokens.chain > _SHORT_CHAIN and _nesting(source, tokens) > _MOST_NESTING:
        return "operators nest too deeply"
    reasons = {
        "too many operators in one expression": tokens.squares // _RUN,
        "brackets nest too deeply": tokens.nested * _DEPTH,
    }
    total = count + sum(reasons.values())
    lines = _statements(source, tokens) if total + count * _STATEMENT > most else 0
    if total + lines * _STATEMENT <= most:
        return ""
    reason = max(reasons, key=reasons.__getitem__)
    return reason if reasons[reason] > most // 4 else f"{count:,} tokens in {lines:,} statements"


def _nesting(source: str, tokens: Tokens) -> int:
    """Return the sum of the depths of all operators whose right operand is parsed inside of them."""
    found = outside = wide = negations = tight = done = 0
    opened: list[tuple[int, int, int, int]] = []
    before = ""
    for text, start, end in zip(tokens.texts, tokens.starts, tokens.ends, strict=True):
        if not opened and _LINE_END.search(_CONTINUATION.sub("", source[done:start])):
            wide = negations = tight = 0
            before = ""
        done = end
        depth = outside + wide + negations + tight
        if text in ("lambda", "else"):
            wide, negations, tight = wide + 1, 0, 0
            found += depth + 1
        elif text == "**" or (text in _SIGNS and _is_sign(before)):
            tight += 1
            found += depth + 1
        elif text == "not" and before != "is" and _is_sign(before):
            negations += 1
            found += depth + 1
        elif text in _BINARY or text in _JOINING:
            tight = 0
            if text in ("and", "or", "if"):
                negations = 0
        elif text in "([{":
            opened.append((outside, wide, negations, tight))
            outside, wide, negations, tight = depth, 0, 0, 0
        elif text in ")]}" and opened:
            outside, wide, negations, tight = opened.pop()
        elif text in ",;":
            wide = negations = tight = 0
        elif len(text) > _SHORT_CHAIN:
            found += sum(_nesting_in_fields(text, depth))
        before = text
    return found


def _is_sign(before: str) -> bool:
    """Whether an operator after this token has no left operand."""
    return before in _BEFORE_A_SIGN or not _VALUE_ENDS.search(before)


def _nesting_in_fields(text: str, depth: int) -> Iterator[int]:
    for field in _FIELD.finditer(text.replace("{{", "")):
        inside = sum(1 for _ in _NESTING_IN_FIELD.finditer(field[1]))
        yield inside * depth + inside * (inside + 1) // 2


def _statements(source: str, tokens: Tokens) -> int:
    """Return the number of lines that begin a statement: those outside of brackets."""
    found = depth = done = 0
    for text, start, end in zip(tokens.texts, tokens.starts, tokens.ends, strict=True):
        if not depth and ("\n" in (gap := source[done:start]) or "\r" in gap):
            found += 1
        if text in _BRACKETS:
            depth += 1 if text in "([{" else -1
        done = end
    return found


def for_python(source: str) -> str | None:
    """Return the shortened source, which Python itself parses in little memory; None if even that would take much."""
    if len(source) > MOST_CHARACTERS:
        return None
    tokens = Tokens(source)
    short = shortened(source, tokens)
    return None if too_large(source, tokens) else short


def _rows(texts: Sequence[str]) -> list[tuple[int, int, str]]:
    """Find each long row of literals, or of pairs of literals: the first and last token to omit, and the marker of the
    rest, `*` or `**`."""
    found = []
    at, size = 0, len(texts)
    while at < size:
        if texts[at] != ",":
            at += 1
            continue
        # A row continues as long as the next element, after this comma, is a literal followed by a comma.
        elements = [at + 1]
        end = _element(texts, at + 1)
        pairs = end is not None and ":" in texts[at + 1 : end]
        while end is not None and end < size and texts[end] == ",":
            elements.append(end + 1)
            end = _element(texts, end + 1)
            if end is not None and (":" in texts[elements[-1] : end]) is not pairs:
                end = None
        if len(elements) > _LONG:
            found.append((elements[_KEPT], elements[-1] - 2, "**" if pairs else "*"))
        at = elements[-1]
    return found


def _element(texts: Sequence[str], at: int) -> int | None:
    """Return the token after a literal, or a pair of literals, that begins here; None if there is none."""
    end = _literal(texts, at)
    if end is not None and end < len(texts) and texts[end] == ":":
        end = _literal(texts, end + 1)
    return end


def _literal(texts: Sequence[str], at: int) -> int | None:
    if at < len(texts) and texts[at] in ("-", "+"):
        at += 1
    return at + 1 if at < len(texts) and texts[at][0] in _LITERAL and texts[at] != "." else None
