"""Splits source text into tokens with their positions, by one regular expression.

Asking libcst for positions would cost several times its parse. The walk over the tree consumes these tokens in step
with the nodes, so that a mismatch is noticed at the next name or literal.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from dllint.facts.extract.fstrings import FORMATTED_PREFIX, PREFIX, STRING, FString
from dllint.span import Span

_FIELD = r"\{(?:[^%s{}\n\r]|\{[^%s{}\n\r]*\})*\}"
_SIMPLE_FSTRING = "|".join(
    rf"{quote}(?!{quote}{quote})(?:[^{quote}\\{{\n\r]|\\[^\r]|\{{\{{|(?!\{{\{{){_FIELD % (quote, quote)})*{quote}"
    for quote in "'\""
)
"""Matches an f-string without nested quotes of its own kind and with little nesting: nearly all of them."""
_NAME = r"[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*"
_TOKEN = re.compile(
    # Each run of blanks and each comment can be matched in only one way, otherwise backtracking takes exponential time
    # on a text that ends in comments.
    r"(?:[ \t\f]+(?![ \t\f])|\\\r?\n|\\\r|\#[^\r\n]*(?![^\r\n]))*"
    rf"(?:({_NAME}(?!['\"A-Za-z0-9_\x80-\U0010ffff])"
    r"|0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+"
    r"|(?:[0-9](?:_?[0-9])*\.?(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*)(?:[eE][-+]?[0-9](?:_?[0-9])*)?[jJ]?"
    rf"|{PREFIX}(?:{STRING})"
    r"|\.\.\.|\*\*=|//=|>>=|<<=|->|[-:+*/%&|^@=<>!]=|\*\*|//|>>|<<|<>|[-+*/%&|^~@=<>.:!])"
    r"|([()\[\]{},;])"
    r"|([\r\n]+)"
    rf"|({FORMATTED_PREFIX}(?:{_SIMPLE_FSTRING}))"
    rf"|({FORMATTED_PREFIX}['\"])"
    rf"|({_NAME})"
    # Matches anything else, and the end: otherwise preceding blanks and comments would be read again from each
    # character.
    r"|.|\Z)",
    re.DOTALL,
)
_BRACKET, _NEWLINE, _FSTRING, _FSTRING_OPENING = 2, 3, 4, 5
_LONG_FSTRING = 150
"""The length in characters above which an f-string is read in full, to measure its nesting."""
_LONG_RUN = 100
"""The length in tokens above which the square of a run is counted."""
_SHALLOW = 5
"""The depth of brackets below which they are not counted."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_GOES_ON = (" ", "\t", "\f", "#", "\\", "elif", "else")
"""Prefixes of a line that may continue the module-level statement above it."""


class Tokens:
    """The tokens of a text, without comments and white space.

    Attributes:
        texts: the tokens; an f-string is one.
        starts, ends: their offsets in the text.
        brackets: the deepest nesting of brackets.
        deepest: the token at the end of the longest chain.
        chain: the longest run of tokens without a separator, summed over the open brackets, plus the `lambda`s of one
            statement and the `elif`s of one module-level statement: an upper bound on the nesting of the tree.
        nested: for each bracket that stands in more than five others, the number of further ones, summed.
        squares: the squares of the long runs of tokens without a separator, summed.
    """

    __slots__ = ("_given", "brackets", "chain", "deepest", "ends", "lines", "nested", "squares", "starts", "texts")

    def __init__(self, source: str) -> None:
        self.texts: Sequence[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.lines = [0, *(match.end() for match in _LINE_END.finditer(source))]
        self.brackets = 0
        self.chain = 0
        self.nested = 0
        self.squares = 0
        self.deepest = 0
        self._given: tuple[int, int, Span] = (-1, -1, Span(1, 1, 1, 1))
        self._read(source)

    def _read(self, source: str) -> None:
        texts: list[str] = []
        starts, ends = self.starts, self.ends
        open_runs: list[int] = []
        base = longest = deepest = 0
        elifs = lambdas = most_elifs = most_lambdas = 0
        first = 0
        at: int | None = 0
        while at is not None:
            begin, at = at, None
            for match in _TOKEN.finditer(source, begin):
                group = match.lastindex
                start, end = match.span(group or 0)
                if group == _BRACKET:
                    text = source[start]
                    texts.append(text)
                    starts.append(start)
                    ends.append(end)
                    run = len(texts) - first
                    if base + run > longest:
                        longest = base + run
                        self.deepest = len(texts) - 1
                    if run > _LONG_RUN and text not in "([{":
                        self.squares += run * run
                    if text in "([{":
                        open_runs.append(run)
                        base += run
                        if len(open_runs) > deepest:
                            deepest = len(open_runs)
                        if len(open_runs) > _SHALLOW:
                            self.nested += len(open_runs) - _SHALLOW
                        first = len(texts)
                    elif text in ",;":
                        first = len(texts)
                        if lambdas and text == ";":
                            most_lambdas, lambdas = max(most_lambdas, lambdas), 0
                    elif open_runs:
                        run = open_runs.pop()
                        base -= run
                        first = len(texts) - run - 1
                elif group == _NEWLINE:
                    if not open_runs:
                        run = len(texts) - first
                        if run > longest:
                            longest = run
                            self.deepest = len(texts) - 1
                        if run > _LONG_RUN:
                            self.squares += run * run
                        first = len(texts)
                        if lambdas:
                            most_lambdas, lambdas = max(most_lambdas, lambdas), 0
                        if elifs and not source.startswith(_GOES_ON, end):
                            most_elifs, elifs = max(most_elifs, elifs), 0
                elif group == _FSTRING_OPENING or (group == _FSTRING and end - start > _LONG_FSTRING):
                    fstring = FString(source, start)
                    at = fstring.end
                    texts.append(source[start:at])
                    starts.append(start)
                    ends.append(at)
                    deepest = max(deepest, len(open_runs) + fstring.deepest)
                    if base + len(texts) - first + fstring.longest > longest:
                        longest = base + len(texts) - first + fstring.longest
                        self.deepest = len(texts) - 1
                    break
                elif group:
                    text = match[group]
                    texts.append(text)
                    starts.append(start)
                    ends.append(end)
                    if text == "elif":
                        elifs += 1
                    elif text == "lambda":
                        lambdas += 1
        self.texts = texts
        self.brackets = deepest
        self.chain = max(longest, base + len(texts) - first) + max(most_elifs, elifs) + max(most_lambdas, lambdas)

    def span(self, first: int, last: int) -> Span:
        """Return the span from the token `first` to the token `last`, both included."""
        # A call is often a whole argument, value or statement, which asks for the same span next.
        if self._given[0] == first and self._given[1] == last:
            return self._given[2]
        found = self._span(first, last)
        self._given = first, last, found
        return found

    def _span(self, first: int, last: int) -> Span:
        lines = self.lines
        start = self.starts[first]
        end = self.ends[last]
        line = bisect_right(lines, start)
        begin = lines[line - 1]
        if line < len(lines) and end > lines[line]:
            end_line = bisect_right(lines, end)
            if lines[end_line - 1] == end:
                end_line -= 1
            return Span(line, start - begin + 1, end_line, end - lines[end_line - 1] + 1)
        return Span(line, start - begin + 1, line, end - begin + 1)


def tokens_around(source: str, leaves: list[tuple[int, int]]) -> Tokens:
    """Return the tokens of a text whose names and literals are already located (as pairs of offsets)."""
    tokens = Tokens("")
    tokens.lines = [0, *(match.end() for match in _LINE_END.finditer(source))]
    texts: list[str] = []
    done = 0
    for start, end in [*sorted(leaves), (len(source), len(source))]:
        between = Tokens(source[done:start])
        texts += between.texts
        tokens.starts += [done + offset for offset in between.starts]
        tokens.ends += [done + offset for offset in between.ends]
        if end > start:
            texts.append(source[start:end])
            tokens.starts.append(start)
            tokens.ends.append(end)
        done = end
    tokens.texts = texts
    return tokens
