"""Insert statements into a file, with appropriate blank lines around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Union

import libcst as cst

from dllint.finding import InsertStatement
from dllint.fixes.text import BLANKS, LINE_END, Change, Unresolvable
from dllint.fixes.tree import Line, Tree, parse_code, suites
from dllint.notebooks import MARK

_DEFINITIONS = (cst.FunctionDef, cst.ClassDef)
_Simple = Union[cst.SimpleStatementLine, cst.SimpleStatementSuite]


class Neighbour(NamedTuple):
    """A line of simple statements, or a compound statement, within its block."""

    block: Sequence[Line]
    position: int
    toplevel: bool

    @property
    def node(self) -> Line:
        return self.block[self.position]


def insert_statement(tree: Tree, edit: InsertStatement) -> list[Change]:
    """Return the changes that insert a statement.

    Raises:
        Unresolvable: no statement contains the anchor, or the new code does not parse.
    """
    code = _new_statements(edit.code)
    start, end = tree.offsets(edit.anchor)
    place, simple = find_statement(tree, start, end, edit.toplevel)
    if simple is not None:
        index = next((i for i, small in enumerate(simple.body) if tree.range(small)[1] >= end), len(simple.body) - 1)
        gap = index + (edit.where == "after")
        inside_line = 0 < gap < len(simple.body)
        if inside_line or isinstance(simple, cst.SimpleStatementSuite):
            return _insert_in_line(tree, place, simple, gap, edit.code, code)
    prologue = prologue_length(tree.module)
    if edit.where == "after" and place.toplevel and is_import(place.node) and not _is_future(place.node):
        place = place._replace(position=_last_import(tree.module, place.position))
        return [insert_after(tree, place, edit.code, code.body, 1)]
    if place.toplevel and place.position < prologue:
        return [insert_after(tree, place._replace(position=prologue - 1), edit.code, code.body)]
    if edit.where == "before":
        return [insert_before(tree, place, edit.code, code.body)]
    return [insert_after(tree, place, edit.code, code.body)]


def prologue_length(module: cst.Module) -> int:
    """Return how many statement lines must stay at the top: the docstring and the imports from `__future__`."""
    found = 1 if module.get_docstring(clean=False) is not None else 0
    while found < len(module.body) and _is_future(module.body[found]):
        found += 1
    return found


def is_import(node: cst.CSTNode) -> bool:
    """Whether a module-level line contains an import."""
    return isinstance(node, cst.SimpleStatementLine) and any(
        isinstance(one, (cst.Import, cst.ImportFrom)) for one in node.body
    )


def _last_import(module: cst.Module, position: int) -> int:
    """Return the index of the last import at the top, from `position` on: code between imports would violate E402."""
    last = position
    for index in range(position, len(module.body)):
        node = module.body[index]
        if is_import(node):
            last = index
        elif not isinstance(node, (cst.If, cst.Try, cst.With)) or not _holds_imports_only(node):
            break
    return last


def _holds_imports_only(node: cst.CSTNode) -> bool:
    return all(
        is_import(line) or _holds_imports_only(line)
        for suite in suites(node)
        for line in suite.body
        if isinstance(line, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    )


def _is_future(node: cst.CSTNode) -> bool:
    first = node.body[0] if isinstance(node, cst.SimpleStatementLine) else node
    module = first.module if isinstance(first, cst.ImportFrom) else None
    return isinstance(module, cst.Name) and module.value == "__future__"


def insert_before(
    tree: Tree,
    place: Neighbour,
    text: str,
    code: Sequence[cst.CSTNode],
    blank_below: int = 0,
    verbatim: bool = False,
) -> Change:
    """Return the change that inserts lines above a statement and its comments, with `blank_below` blank lines or more.

    With `verbatim`, the text already has the indentation and line ends of its place.
    """
    start = tree.statement_start(place.node)
    offset = tree.lines.start(start)
    while offset and tree.text[:offset].rstrip("\r\n").endswith("\\"):
        offset = tree.lines.start(offset - 1)
    indent = _indentation(tree, offset)
    offset = above_comments(tree, offset, indent)
    newline = tree.line_end(start)
    above, found = blank_lines_above(tree, offset)
    before = place.block[place.position - 1] if place.position else None
    wanted = blank_lines(before, code[0], place.toplevel) if found and isinstance(code[0], _DEFINITIONS) else 0
    lead = newline * max(wanted - above, 0)
    trail = newline * max(blank_below, blank_lines(code[-1], place.node, place.toplevel))
    rendered = text if verbatim else render(tree, text, indent, newline)
    return Change(offset, offset, lead + rendered + newline + trail)


def insert_after(
    tree: Tree, place: Neighbour, text: str, code: Sequence[cst.CSTNode], blank_above: int = 0, blank_below: int = 0
) -> Change:
    """Return the change that inserts lines below a statement, with at least so many blank lines above and below."""
    start, end = tree.statement_start(place.node), tree.range(place.node)[1]
    indent = _indentation(tree, tree.lines.start(start))
    newline = tree.line_end(end)
    line_end, offset = tree.rest_of_line(end)
    if isinstance(place.node, cst.BaseCompoundStatement):
        line_end, offset = below_comments(tree, line_end, offset, indent)
    lead = max(blank_above, blank_lines(place.node, code[0], place.toplevel))
    rendered = render(tree, text, indent, newline)
    if line_end == offset:
        return Change(offset, offset, newline * (lead + 1) + rendered)
    trail = 0
    if place.position + 1 < len(place.block):
        wanted = blank_below
        if isinstance(code[-1], _DEFINITIONS):
            wanted = max(wanted, blank_lines(code[-1], place.block[place.position + 1], place.toplevel))
        trail = max(wanted - blank_lines_below(tree, offset), 0)
    return Change(offset, offset, newline * lead + rendered + newline * (trail + 1))


def blank_lines(above: cst.CSTNode | None, below: cst.CSTNode, toplevel: bool) -> int:
    """Return the number of blank lines that PEP 8 recommends between two adjacent statements."""
    if above is not None and (isinstance(above, _DEFINITIONS) or isinstance(below, _DEFINITIONS)):
        return 2 if toplevel else 1
    return 2 if toplevel and isinstance(below, _DEFINITIONS) else 0


def render(tree: Tree, text: str, indent: str, newline: str) -> str:
    """Return the lines of new code with the file's indentation and line ends, without a final line end."""
    code = parse_code(text)
    fixed = code.lines_in_strings()
    lines = []
    for number, line in enumerate(LINE_END.split(text.rstrip("\r\n")), 1):
        if number not in fixed:
            steps = 0
            while line.startswith(code.indent, steps * len(code.indent)):
                steps += 1
            line = indent + tree.indent * steps + line[steps * len(code.indent) :] if line.strip() else ""
        lines.append(line)
    return newline.join(lines)


def _new_statements(text: str) -> cst.Module:
    code = parse_code(text).module
    if not code.body:
        raise Unresolvable("there is no statement to insert")
    return code


def find_statement(tree: Tree, start: int, end: int, toplevel: bool) -> tuple[Neighbour, _Simple | None]:
    """Return the statement that contains a range; for a simple statement, also its line or suite.

    Raises:
        Unresolvable: there is none.
    """
    place = _holder(tree, tree.module.body, start, end, True)
    if place is None:
        raise Unresolvable(f"no statement at line {tree.lines.line(start)}")
    while not toplevel and isinstance(place.node, cst.BaseCompoundStatement):
        inner = None
        for suite in suites(place.node):
            if isinstance(suite, cst.SimpleStatementSuite):
                first, last = tree.range(suite)
                if first <= start and end <= last:
                    return place, suite
            elif isinstance(suite, cst.IndentedBlock):
                lines = [
                    node
                    for node in suite.body
                    if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
                ]
                inner = inner or _holder(tree, lines, start, end, False)
        if inner is None:
            break
        place = inner
    return place, place.node if isinstance(place.node, cst.SimpleStatementLine) else None


def _holder(tree: Tree, block: Sequence[Line], start: int, end: int, toplevel: bool) -> Neighbour | None:
    position = tree.holder(block, start, end)
    return Neighbour(block, position, toplevel) if position >= 0 else None


def _insert_in_line(
    tree: Tree, place: Neighbour, simple: _Simple, gap: int, text: str, code: cst.Module
) -> list[Change]:
    """Return the changes that insert code among statements that share a line, or follow a colon on its line."""
    only = code.body[0]
    text = text.strip()
    one_line = len(code.body) == 1 and not LINE_END.search(text) and "#" not in text
    if one_line and isinstance(only, cst.SimpleStatementLine):
        if gap < len(simple.body):
            offset = tree.range(simple.body[gap])[0]
            return [Change(offset, offset, f"{text.rstrip('; ')}; ")]
        offset = tree.range(simple.body[-1])[1]
        return [Change(offset, offset, f"; {text.rstrip('; ')}")]
    indent = _indentation(tree, tree.lines.start(tree.statement_start(place.node)))
    newline = tree.line_end(tree.range(simple)[0])
    changes = []
    if isinstance(simple, cst.SimpleStatementSuite):
        first = tree.range(simple.body[0])[0]
        indent += tree.indent
        content = newline + indent
        if gap == 0:
            content = newline + render(tree, text, indent, newline) + content
        changes.append(Change(len(tree.text[:first].rstrip(BLANKS)), first, content))
    if gap == len(simple.body):
        line_end = tree.rest_of_line(tree.range(simple)[1])[0]
        changes.append(Change(line_end, line_end, newline + render(tree, text, indent, newline)))
    elif gap:
        start, end = tree.range(simple.body[gap - 1])[1], tree.range(simple.body[gap])[0]
        changes.append(Change(start, end, newline + render(tree, text, indent, newline) + newline + indent))
    return changes


def _indentation(tree: Tree, offset: int) -> str:
    line = tree.text[offset : tree.lines.end(offset)]
    return line[: len(line) - len(line.lstrip(BLANKS))].rpartition("\f")[2]


def _line_above(tree: Tree, offset: int) -> tuple[int, str] | None:
    if offset <= tree.lines.first:
        return None
    start = tree.lines.start(offset - 1)
    return start, tree.text[start : tree.lines.end(start)]


def above_comments(tree: Tree, offset: int, indent: str) -> int:
    """Return the offset above the comments that precede a statement, except those at the top of the file."""
    found = offset
    while (above := _line_above(tree, found)) and above[1].lstrip("\f").startswith(indent + "#"):
        if tree.starts_in_string(above[0]) or above[1].startswith(MARK):
            break
        found = above[0]
    return offset if found == tree.lines.first else found


def below_comments(tree: Tree, line_end: int, offset: int, indent: str) -> tuple[int, int]:
    """Return the line end and the next line after trailing comments that are indented deeper than `indent`."""
    found = line_end, offset
    while found[0] < offset < len(tree.text):
        line_end = tree.lines.end(offset)
        line = tree.text[offset:line_end]
        blanks = line[: len(line) - len(line.lstrip(BLANKS))].rpartition("\f")[2]
        deeper = line.lstrip(BLANKS).startswith("#") and len(blanks.expandtabs()) > len(indent.expandtabs())
        if line.strip() and not deeper:
            break
        offset = tree.rest_of_line(line_end)[1]
        if deeper:
            found = line_end, offset
        elif line_end == offset:
            break
    return found


def blank_lines_above(tree: Tree, offset: int) -> tuple[int, bool]:
    """Return the number of blank lines directly above, and whether anything precedes them."""
    found = 0
    while above := _line_above(tree, offset):
        if above[1].strip(BLANKS):
            return found, True
        offset = above[0]
        found += 1
    return found, False


def blank_lines_below(tree: Tree, offset: int) -> int:
    """Return the number of blank lines from the start of a line on."""
    found = 0
    while offset < len(tree.text):
        line_end = tree.lines.end(offset)
        if tree.text[offset:line_end].strip(BLANKS) or line_end == len(tree.text):
            break
        offset = tree.rest_of_line(line_end)[1]
        found += 1
    return found
