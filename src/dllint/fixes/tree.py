"""One parsed source: its nodes by the offsets at which they stand."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Union

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

from dllint.fixes.text import BLANKS, LINE_END, Lines, Unresolvable
from dllint.span import Span

Small = cst.BaseSmallStatement
Statement = Union[cst.BaseCompoundStatement, cst.BaseSmallStatement]
STRINGS = tuple(
    getattr(cst, name) for name in ("SimpleString", "FormattedString", "TemplatedString") if hasattr(cst, name)
)
QUOTING = frozenset("'\"\\\r\n#")
"""What may not stand in a replacement field of a formatted string before Python 3.12."""

_TRIVIA = re.compile(r"(?:[ \t\f\r\n]|\\(?=[\r\n])|#[^\r\n]*)*")
_REST_OF_LINE = re.compile(r"(?:[ \t\f;]|\\(?:\r\n|\r|\n))*(?:#[^\r\n]*)?(\r\n|\r|\n|\Z)")


class Tree:
    """A source text and where the nodes of its syntax tree stand.

    All offsets count code points of `text`.

    Attributes:
        text: the source, with its byte-order mark if it has one.
        lines: where its lines start.
        module: the tree.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        source = text[self.lines.first :]
        collecting = gc.isenabled()
        gc.disable()
        try:
            self.module = cst.parse_module(source)
        except cst.ParserSyntaxError as error:
            raise Unresolvable(f"the text does not parse: line {error.raw_line}") from None
        except (RecursionError, ValueError, cst.CSTValidationError):
            raise Unresolvable("the text does not parse") from None
        finally:
            if collecting:
                gc.enable()

    @property
    def indent(self) -> str:
        """One step of indentation."""
        return self.module.default_indent.lstrip("\f") or "    "

    def start(self, node: cst.CSTNode) -> int:
        return self.range(node)[0]

    def range(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of a node, without the parentheses around it."""
        place = self._places[node]
        return self._offset(place.start.line, place.start.column, 0), self._offset(place.end.line, place.end.column, -1)

    def outer(self, node: cst.BaseExpression) -> tuple[int, int]:
        """Start and end of an expression, with the parentheses around it."""
        start, end = self.range(node)
        if node.lpar:
            start, end = self.range(node.lpar[0])[0], self.range(node.rpar[-1])[1]
        return start, end

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._parents.get(node)

    def offsets(self, span: Span) -> tuple[int, int]:
        """
        Raises:
            Unresolvable: the text has no such place.
        """
        return self.lines.offset(span.line, span.column), self.lines.offset(span.end_line, span.end_column)

    def call(self, span: Span) -> cst.Call:
        """The call that stands at `span`.

        Raises:
            Unresolvable: there is none.
        """
        for node in self._expressions.get(self.offsets(span), ()):
            if isinstance(node, cst.Call):
                return node
        raise Unresolvable(f"no call at line {span.line} column {span.column}")

    def expression(self, span: Span) -> cst.BaseExpression:
        """The expression that stands at `span`, with or without the parentheses around it.

        Raises:
            Unresolvable: there is none.
        """
        for node in self._expressions.get(self.offsets(span), ()):
            return node
        raise Unresolvable(f"no expression at line {span.line} column {span.column}")

    def comment(self, span: Span) -> tuple[int, int]:
        """Start and end of the comment that holds `span`.

        Raises:
            Unresolvable: there is none.
        """
        start, end = self.offsets(span)
        for first, last in self._comments:
            if first <= start < end <= last:
                return first, last
        raise Unresolvable(f"no comment at line {span.line} column {span.column}")

    def skip(self, offset: int) -> int:
        """The offset after blanks, line ends and comments. Only meant for places outside of strings."""
        match = _TRIVIA.match(self.text, offset)
        return match.end() if match else offset

    def rest_of_line(self, offset: int) -> tuple[int, int]:
        """End of the line after a statement's end, before and after the line end.

        Raises:
            Unresolvable: the line goes on with something else.
        """
        match = _REST_OF_LINE.match(self.text, offset)
        if match is None:
            raise Unresolvable(f"line {self.lines.line(offset)} goes on after the statement")
        return match.start(1), match.end(1)

    def line_end(self, offset: int) -> str:
        """The line end after `offset`, or where none follows, the file's first one."""
        match = LINE_END.search(self.text, offset)
        return match.group() if match else self.module.default_newline

    def indentation(self, offset: int) -> str:
        """The blanks with which the line that holds `offset` starts; a form feed resets them."""
        start = self.lines.start(offset)
        line = self.text[start:offset]
        return line[: len(line) - len(line.lstrip(BLANKS))].rpartition("\f")[2]

    def is_in_string(self, node: cst.CSTNode) -> bool:
        """Whether a node stands in a formatted string."""
        above = self.parent(node)
        while above is not None and not isinstance(above, cst.BaseStatement):
            if isinstance(above, STRINGS):
                return True
            above = self.parent(above)
        return False

    def multiline_strings(self) -> Iterator[tuple[int, int]]:
        """First and last line of each string that is written on several lines."""
        for node in self._places:
            if isinstance(node, STRINGS):
                first, last = map(self.lines.line, self.range(node))
                if last > first:
                    yield first, last

    def in_multiline_string(self, offset: int) -> bool:
        """Whether the line that holds `offset` starts in a string."""
        line = self.lines.line(offset)
        return any(first < line <= last for first, last in self.multiline_strings())

    def leads_line(self, offset: int) -> bool:
        """Whether only blanks stand before `offset` on its line."""
        return not self.text[self.lines.start(offset) : offset].strip(BLANKS)

    @cached_property
    def _wrapper(self) -> MetadataWrapper:
        return MetadataWrapper(self.module, unsafe_skip_copy=True)

    @cached_property
    def _places(self) -> dict[cst.CSTNode, CodeRange]:
        try:
            places = self._wrapper.resolve(PositionProvider)
        except RecursionError:
            raise Unresolvable("the text nests too deeply") from None
        return dict(places)

    @cached_property
    def _parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        try:
            return dict(self._wrapper.resolve(ParentNodeProvider))
        except RecursionError:
            raise Unresolvable("the text nests too deeply") from None

    @cached_property
    def _expressions(self) -> dict[tuple[int, int], list[cst.BaseExpression]]:
        found: dict[tuple[int, int], list[cst.BaseExpression]] = {}
        for node in self._places:
            if isinstance(node, cst.BaseExpression):
                found.setdefault(self.range(node), []).append(node)
                for left, right in zip(node.lpar, reversed(node.rpar), strict=True):
                    found.setdefault((self.range(left)[0], self.range(right)[1]), []).append(node)
        return found

    @cached_property
    def _comments(self) -> list[tuple[int, int]]:
        return [self.range(node) for node in self._places if isinstance(node, cst.Comment)]

    def _offset(self, line: int, column: int, back: int) -> int:
        """The offset of one of libcst's places; `back` is -1 for the end of a node."""
        if self._aligned is None:
            return self.lines.starts[line - 1] + column + (self.lines.first if line == 1 else 0)
        starts, offsets = self._aligned
        return offsets[starts[line - 1] + column + back] - back

    @cached_property
    def _aligned(self) -> tuple[list[int], list[int]] | None:
        """Line starts of the text that libcst writes, and for each of its code points the offset in the source.

        libcst drops form feeds before statements and backslashes on lines of their own, and counts
        its positions in the text without them. `None` when it drops nothing.
        """
        written = self.module.code
        start = self.lines.first
        if written == self.text[start:]:
            return None
        offsets = []
        for char in written:
            while start < len(self.text) and self.text[start] != char:
                if self.text[start] not in BLANKS + "\\\r\n":
                    raise Unresolvable(f"line {self.lines.line(start)} cannot be placed in the syntax tree")
                start += 1
            offsets.append(start)
            start += 1
        if start > len(self.text):
            raise Unresolvable("the text cannot be placed in its syntax tree")
        offsets.append(len(self.text))
        return Lines(written).starts, offsets


@lru_cache(maxsize=8)
def parse(text: str) -> Tree:
    """The tree of a text; the last few are kept.

    Raises:
        Unresolvable: the text does not parse.
    """
    return Tree(text)


def suites(node: cst.CSTNode) -> Iterator[cst.BaseSuite]:
    """The blocks of a compound statement, those of its `else`, `except`, `finally` and `case` among them."""
    for child in node.children:
        if isinstance(child, cst.BaseSuite):
            yield child
        elif isinstance(
            child, (cst.If, cst.Else, cst.ExceptHandler, cst.ExceptStarHandler, cst.Finally, cst.MatchCase)
        ):
            yield from suites(child)
