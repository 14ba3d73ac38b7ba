"""One parsed source, with its nodes by their offsets in the text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple, Union

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from dllint.facts.collector import collection_paused
from dllint.fixes.parser import parse_module
from dllint.fixes.text import BLANKS, LINE_END, Lines, Unresolvable
from dllint.span import Span

Line = Union[cst.SimpleStatementLine, cst.BaseCompoundStatement]
"""A line of simple statements, or a compound statement."""

STRINGS = tuple(
    getattr(cst, name) for name in ("SimpleString", "FormattedString", "TemplatedString") if hasattr(cst, name)
)
QUOTING = frozenset("'\"\\\r\n#")
"""Characters not allowed in a replacement field of a formatted string before Python 3.12."""
LAST_LINE_END = re.compile(r"(?:\r\n|\r|\n)\Z")

_TRIVIA = re.compile(r"(?:[ \t\f\r\n]|\\(?=[\r\n])|#[^\r\n]*)*")
_REST_OF_LINE = re.compile(r"(?:[ \t\f;]|\\(?:\r\n|\r|\n))*(?:#[^\r\n]*)?(\r\n|\r|\n|\Z)")


class _Part(NamedTuple):
    """A module-level statement, or the lines above the first or below the last one."""

    wrapper: MetadataWrapper
    expressions: dict[tuple[int, int], list[cst.BaseExpression]]
    definitions: list[cst.FunctionDef]
    strings: list[tuple[int, int]]
    """Those not nested in another string, in source order."""
    comments: list[tuple[int, int]]


class Tree:
    """A source text with its syntax tree, whose nodes can be looked up by position.

    All offsets count code points of `text`. Positions are computed only for module-level statements that are queried:
    libcst takes longer for them than for parsing.

    Attributes:
        text: the source, including a byte-order mark.
        lines: the offsets of its lines.
        module: the tree.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self.module = parse_module(text[self.lines.first :])
        self._part_of: dict[cst.CSTNode, int] = {node: index for index, node in enumerate(self.module.body, 1)}
        self._parts: dict[int, _Part] = {}
        self._ranges: dict[cst.CSTNode, tuple[int, int]] = {}
        self._parents: dict[cst.CSTNode, cst.CSTNode] = {}

    @property
    def indent(self) -> str:
        """One step of indentation."""
        return self.module.default_indent.lstrip("\f") or "    "

    def range(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the start and end of a node, without the parentheses around it.

        The node must be a module-level statement, or come from one that a method of this tree has returned.

        Raises:
            Unresolvable: libcst assigns the node no position, as for an empty tuple.
        """
        if node not in self._ranges and node in self._part_of:
            self._part(self._part_of[node])
        if node not in self._ranges:
            raise Unresolvable("it has no place in the text")
        return self._ranges[node]

    def outer(self, node: cst.BaseExpression) -> tuple[int, int]:
        """Return the start and end of an expression, with the parentheses around it."""
        if node.lpar:
            return self.range(node.lpar[0])[0], self.range(node.rpar[-1])[1]
        return self.range(node)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        if node not in self._parents:
            waiting: list[cst.CSTNode] = [self._part_at(self.range(node)[0]).wrapper.module]
            while waiting:
                outer = waiting.pop()
                inner = outer.children
                self._parents.update(dict.fromkeys(inner, outer))
                waiting += inner
        return self._parents.get(node)

    def statement_start(self, node: cst.CSTNode) -> int:
        """Return the offset at which a statement starts, including its decorators."""
        start = self.range(node)[0]
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.decorators:
            return min(start, self.range(node.decorators[0])[0])
        return start

    def holder(self, block: Sequence[Line], start: int, end: int) -> int:
        """Return the index of the statement in a block that contains a range of the text, -1 if there is none."""
        if block is self.module.body:
            candidates: Iterable[int] = (bisect_right(self._bounds, start) - 2,)
        else:
            candidates = range(len(block))
        for index in candidates:
            if 0 <= index < len(block):
                node = block[index]
                if self.statement_start(node) <= start and end <= self.range(node)[1]:
                    return index
        return -1

    def offsets(self, span: Span) -> tuple[int, int]:
        """Convert a span to offsets.

        Raises:
            Unresolvable: there is no such place in the text.
        """
        return self.lines.offset(span.line, span.column), self.lines.offset(span.end_line, span.end_column)

    def call(self, span: Span) -> cst.Call:
        """Return the call at `span`.

        Raises:
            Unresolvable: there is none.
        """
        start, end = self.offsets(span)
        for node in self._part_at(start).expressions.get((start, end), ()):
            if isinstance(node, cst.Call):
                return node
        raise Unresolvable(f"no call at line {span.line} column {span.column}")

    def expression(self, span: Span) -> cst.BaseExpression:
        """Return the expression at `span`, with or without the parentheses around it.

        Raises:
            Unresolvable: there is none.
        """
        start, end = self.offsets(span)
        for node in self._part_at(start).expressions.get((start, end), ()):
            return node
        raise Unresolvable(f"no expression at line {span.line} column {span.column}")

    def function(self, span: Span) -> cst.Lambda | cst.FunctionDef:
        """Return the lambda at `span`, or the function whose `def` through name is at `span`.

        Raises:
            Unresolvable: there is none.
        """
        start, end = self.offsets(span)
        part = self._part_at(start)
        for node in part.expressions.get((start, end), ()):
            if isinstance(node, cst.Lambda):
                return node
        for definition in part.definitions:
            if (self.range(definition)[0], self.range(definition.name)[1]) == (start, end):
                return definition
        raise Unresolvable(f"no function at line {span.line} column {span.column}")

    def expressions_in(self, span: Span) -> Iterator[cst.BaseExpression]:
        """Yield the expressions inside `span`.

        Raises:
            Unresolvable: there is no such place in the text.
        """
        start, end = self.offsets(span)
        for index in range(max(bisect_right(self._bounds, start) - 1, 0), bisect_left(self._bounds, end)):
            for (first, last), nodes in self._part(index).expressions.items():
                if start <= first and last <= end:
                    yield from nodes

    def comment(self, span: Span) -> tuple[int, int]:
        """Return the start and end of the comment that contains `span`.

        Raises:
            Unresolvable: there is none.
        """
        start, end = self.offsets(span)
        for first, last in self._part_at(start).comments:
            if first <= start < end <= last:
                return first, last
        raise Unresolvable(f"no comment at line {span.line} column {span.column}")

    def skip(self, offset: int) -> int:
        """Return the offset after blanks, line ends and comments. Not valid inside strings."""
        match = _TRIVIA.match(self.text, offset)
        return match.end() if match else offset

    def rest_of_line(self, offset: int) -> tuple[int, int]:
        """Return the end of the line after a statement's end: the offsets before and after the line end.

        Raises:
            Unresolvable: the line continues with something else.
        """
        match = _REST_OF_LINE.match(self.text, offset)
        if match is None:
            raise Unresolvable(f"line {self.lines.line(offset)} goes on after the statement")
        return match.start(1), match.end(1)

    def line_end(self, offset: int) -> str:
        """Return the line end after `offset`; if there is none, the file's default line end."""
        end = self.lines.end(offset)
        match = LINE_END.match(self.text, max(end, offset))
        return match.group() if match else self.module.default_newline

    def indentation(self, offset: int) -> str:
        """Return the blanks at the start of the line containing `offset`; a form feed resets them."""
        start = self.lines.start(offset)
        line = self.text[start:offset]
        return line[: len(line) - len(line.lstrip(BLANKS))].rpartition("\f")[2]

    def leads_line(self, offset: int) -> bool:
        """Whether only blanks precede `offset` on its line."""
        return not self.text[self.lines.start(offset) : offset].strip(BLANKS)

    def is_in_string(self, node: cst.CSTNode) -> bool:
        """Whether a node is inside a formatted string."""
        start, end = self.range(node)
        return self._is_inside(start, end)

    def starts_in_string(self, offset: int) -> bool:
        """Whether the line containing `offset` starts inside a string."""
        start = self.lines.start(offset)
        return self._is_inside(start, start)

    def _is_inside(self, start: int, end: int) -> bool:
        """Whether a string starts before `start` and ends after `end`."""
        strings = self._part_at(start).strings
        before = bisect_left(strings, (start,)) - 1
        return before >= 0 and end < strings[before][1]

    def lines_in_strings(self) -> set[int]:
        """Return the numbers of the lines that start inside a string."""
        strings = (string for index in range(len(self.module.body)) for string in self._part(index + 1).strings)
        spans = (self.lines.span(*string) for string in strings)
        return {line for span in spans for line in range(span.line + 1, span.end_line + 1)}

    def _part_at(self, offset: int) -> _Part:
        return self._part(bisect_right(self._bounds, offset) - 1)

    def _part(self, index: int) -> _Part:
        if index not in self._parts:
            self._parts[index] = self._locate(index)
        return self._parts[index]

    def _locate(self, index: int) -> _Part:
        """Compute the positions of a part's nodes with libcst, in the part alone, and shift them to its place."""
        module = self.module
        body = module.body[index - 1 : index] if 0 < index <= len(module.body) else ()
        header = module.header if index == 0 else module.footer if index > len(module.body) else ()
        wrapper = MetadataWrapper(module.with_changes(body=body, header=header, footer=()), unsafe_skip_copy=True)
        with collection_paused():
            try:
                places = wrapper.resolve(PositionProvider)
            except RecursionError:
                raise Unresolvable("the text nests too deeply") from None
        starts = [self._shifts[index] + start for start in Lines(self._written[index]).starts]
        part = _Part(wrapper, {}, [], [], [])
        for node, place in places.items():
            if node is wrapper.module or place.start == place.end:
                continue
            start, end = (
                starts[place.start.line - 1] + place.start.column,
                starts[place.end.line - 1] + place.end.column,
            )
            found = self._ranges[node] = self._source_offset(start), self._source_offset(end - 1) + 1
            if isinstance(node, cst.BaseExpression):
                part.expressions.setdefault(found, []).append(node)
            if isinstance(node, STRINGS):
                part.strings.append(found)
            elif isinstance(node, cst.FunctionDef):
                part.definitions.append(node)
            elif isinstance(node, cst.Comment):
                part.comments.append(found)
        part.strings[:] = _outermost(part.strings)
        for node in [node for group in part.expressions.values() for node in group if node.lpar]:
            for left, right in zip(node.lpar, reversed(node.rpar), strict=True):
                part.expressions.setdefault((self._ranges[left][0], self._ranges[right][1]), []).append(node)
        return part

    @cached_property
    def _written(self) -> list[str]:
        """The parts as libcst renders them: the header, each statement, the footer."""
        module = self.module
        try:
            ends = ("".join(map(module.code_for_node, lines)) for lines in (module.header, module.footer))
            header, footer = ends
            return [header, *map(module.code_for_node, module.body), footer]
        except RecursionError:
            raise Unresolvable("the text nests too deeply") from None

    @cached_property
    def _bounds(self) -> list[int]:
        """The offset at which each part starts."""
        return list(map(self._source_offset, self._shifts))

    @cached_property
    def _shifts(self) -> list[int]:
        """The offset at which each part starts in libcst's rendering."""
        return list(accumulate(map(len, self._written[:-1]), initial=0))

    def _source_offset(self, written: int) -> int:
        """Convert an offset in libcst's rendering to one in the source."""
        if self._aligned is None:
            return written + self.lines.first
        return self._aligned[written] if written < len(self._aligned) else len(self.text)

    @cached_property
    def _aligned(self) -> list[int] | None:
        """The source offset of each code point in libcst's rendering; `None` if the two texts are equal.

        libcst drops form feeds before statements and backslashes on lines of their own, and counts its positions in the
        text without them.
        """
        written = "".join(self._written)
        start = self.lines.first
        if not self.module.has_trailing_newline:
            written = LAST_LINE_END.sub("", written)
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
        return offsets


@lru_cache(maxsize=256)
def parse_code(code: str) -> Tree:
    """Parse new statements; cached separately from the trees of files.

    Raises:
        Unresolvable: the code does not parse.
    """
    try:
        return Tree(code)
    except Unresolvable:
        raise Unresolvable("the new statement does not parse") from None


def parse(text: str) -> Tree:
    """Return the tree of a text; the most recent ones are cached.

    Raises:
        Unresolvable: the text does not parse.
    """
    found = _parsed(text)
    if isinstance(found, Unresolvable):
        raise found
    return found


@lru_cache(maxsize=8)
def _parsed(text: str) -> Tree | Unresolvable:
    """Return the tree, or the error: errors are cached too, because each fix of a broken text would parse it again."""
    try:
        return Tree(text)
    except Unresolvable as error:
        return error.with_traceback(None)


def suites(node: cst.CSTNode) -> Iterator[cst.BaseSuite]:
    """Yield the blocks of a compound statement, including those of `else`, `except`, `finally` and `case`."""
    for child in node.children:
        if isinstance(child, cst.BaseSuite):
            yield child
        elif isinstance(
            child, (cst.If, cst.Else, cst.ExceptHandler, cst.ExceptStarHandler, cst.Finally, cst.MatchCase)
        ):
            yield from suites(child)


def _outermost(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the ranges that no other range contains, in order. Ranges must not overlap partially."""
    reached = -1
    for start, end in sorted(ranges, key=lambda one: (one[0], -one[1])):
        if start >= reached:
            yield start, end
            reached = end
