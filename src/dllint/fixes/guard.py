"""Move module-level statements under the `__main__` guard."""

from __future__ import annotations

import libcst as cst

from dllint.finding import GuardStatements
from dllint.fixes.statements import below_comments, find_statement, prologue_length
from dllint.fixes.text import Change, Unresolvable
from dllint.fixes.tree import Tree

GUARD = 'if __name__ == "__main__":'


def guard_statements(tree: Tree, edit: GuardStatements) -> Change:
    """Return the change that puts the guard above the first statement and indents each line down to the end of the last
    one by one step, except blank lines and lines that begin inside a string.

    Raises:
        Unresolvable: an anchor is in no statement, or in one that shares its line with another.
    """
    first = find_statement(tree, *tree.offsets(edit.first), True)[0]
    last = find_statement(tree, *tree.offsets(edit.last), True)[0]
    if first.position < prologue_length(tree.module) or last.position < first.position:
        raise Unresolvable("the statements cannot stand under a guard")
    for place in (first, last):
        if isinstance(place.node, cst.SimpleStatementLine) and len(place.node.body) > 1:
            raise Unresolvable(f"line {edit.first.line} holds several statements")
    start, end = tree.statement_start(first.node), tree.range(last.node)[1]
    if tree.text[tree.lines.start(start) : start].strip("\f"):
        raise Unresolvable(f"the statement at line {edit.first.line} does not start its line")
    line_end, following = tree.rest_of_line(end)
    if isinstance(last.node, cst.BaseCompoundStatement):
        line_end, _ = below_comments(tree, line_end, following, "")
    newline = tree.line_end(start)
    pieces = [GUARD + newline]
    offset = start
    while offset <= line_end:
        stop = tree.lines.end(offset)
        following = tree.rest_of_line(stop)[1] if stop < len(tree.text) else stop
        line = tree.text[offset:stop]
        fixed = offset != start and tree.starts_in_string(offset)
        # A form feed resets the count of blanks to zero.
        feeds = len(line) - len(line.lstrip("\f"))
        pieces.append(line if fixed or not line.strip() else line[:feeds] + tree.indent + line[feeds:])
        if stop >= line_end:
            break
        pieces.append(tree.text[stop:following])
        offset = following
    return Change(start, line_end, "".join(pieces))
