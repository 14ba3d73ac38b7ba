"""Turn a declarative fix into text edits that change nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from dllint.finding import (
    AddImport,
    Edit,
    Fix,
    GuardStatements,
    HoistFunction,
    InsertStatement,
    RemoveArgument,
    ReplaceComment,
    ReplaceExpression,
    ReplaceString,
    SetArgument,
)
from dllint.fixes.arguments import change_arguments
from dllint.fixes.expressions import replace_expression, replace_string
from dllint.fixes.guard import guard_statements
from dllint.fixes.hoist import hoist_functions
from dllint.fixes.imports import add_import, by_known_names
from dllint.fixes.sources import Sources, read
from dllint.fixes.statements import insert_statement
from dllint.fixes.text import (
    BLANKS,
    LINE_END,
    Change,
    TextEdit,
    Unresolvable,
    apart,
    one_line_end,
    stack,
)
from dllint.fixes.tree import Tree, parse


def resolve(fix: Fix, sources: Sources) -> list[TextEdit]:
    """Return the text edits of a fix, by file and place, without overlaps; empty if the text is already fixed.

    Raises:
        Unresolvable: a file cannot be read or parsed, an anchor is missing, or the edits contradict each other.
    """
    paths = dict.fromkeys(edit.path for edit in fix.edits)
    found = []
    for path in paths:
        text = read(sources, path)
        try:
            tree = parse(text)
            changes = _changes(tree, [edit for edit in fix.edits if edit.path == path])
            changes = [change for change in changes if text[change.start : change.end] != change.content]
            changes = stack(text, dict.fromkeys(one_line_end(text, change) for change in changes))
            apart(changes)
        except Unresolvable as error:
            raise Unresolvable(error.reason, path) from None
        found += [tree.lines.edit(path, change) for change in changes]
    return found


def _changes(tree: Tree, edits: Sequence[Edit]) -> list[Change]:
    found: list[Change] = []
    calls: dict[object, list[SetArgument | RemoveArgument]] = {}
    edits = by_known_names(tree, edits)
    for edit in edits:
        if isinstance(edit, (SetArgument, RemoveArgument)):
            calls.setdefault(edit.call, []).append(edit)
        elif isinstance(edit, ReplaceExpression):
            found.append(replace_expression(tree, edit))
        elif isinstance(edit, ReplaceString):
            found += replace_string(tree, edit)
        elif isinstance(edit, ReplaceComment):
            found.append(_replace_comment(tree, edit))
        elif isinstance(edit, InsertStatement):
            found += insert_statement(tree, edit)
        elif isinstance(edit, GuardStatements):
            found.append(guard_statements(tree, edit))
    for group in calls.values():
        found += change_arguments(tree, group)
    found += hoist_functions(tree, [edit for edit in edits if isinstance(edit, HoistFunction)])
    limit = min((change.start for change in found), default=len(tree.text))
    imports = [change for edit in edits if isinstance(edit, AddImport) for change in add_import(tree, edit, limit)]
    return imports + found


def _replace_comment(tree: Tree, edit: ReplaceComment) -> Change:
    first, last = tree.comment(edit.span)
    start, end = tree.offsets(edit.span)
    text = tree.text
    rest = text[first:start] + edit.text + text[end:last]
    if LINE_END.search(edit.text) or not (rest == "" or rest.startswith("#")):
        raise Unresolvable("what remains is no comment")
    if edit.text:
        return Change(start, end, edit.text)
    alone = rest == "" and tree.leads_line(first)
    while start > tree.lines.start(start) and text[start - 1] in BLANKS:
        start -= 1
    return Change(start, tree.rest_of_line(end)[1] if alone else end, "")
