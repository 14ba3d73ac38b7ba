"""A declarative fix as text edits that change nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Union

from dllint import files
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
from dllint.fixes.imports import add_import
from dllint.fixes.statements import insert_statement
from dllint.fixes.text import (
    BLANKS,
    LINE_END,
    Change,
    Lines,
    TextEdit,
    Unresolvable,
    apply_changes,
    one_line_end,
    stack,
)
from dllint.fixes.tree import Tree, parse
from dllint.notebooks import CannotPlace, CellText

Sources = Union[Mapping[str, str], Callable[[str], str]]
"""Texts by path, with their own line ends and byte-order marks: a mapping, or a function that reads them."""


def resolve(fix: Fix, sources: Sources) -> list[TextEdit]:
    """The text edits of a fix, by file and place, none overlapping; empty where all is as the fix wants it.

    Raises:
        Unresolvable: a file cannot be read or parsed, an anchor is not there, or the edits contradict each other.
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
            apply_changes(text, changes)
        except Unresolvable as error:
            raise Unresolvable(error.reason, path) from None
        found += [tree.lines.edit(path, change) for change in changes]
    return found


def read(sources: Sources, path: str) -> str:
    """
    Raises:
        Unresolvable: there is no such source, or it cannot be read.
    """
    try:
        return sources[path] if isinstance(sources, Mapping) else sources(path)
    except KeyError:
        raise Unresolvable("no such source", path) from None
    except (files.CannotRead, files.Undecodable) as error:
        raise Unresolvable(str(error), path) from None
    except OSError as error:
        raise Unresolvable(f"cannot be read: {error.strerror or error}", path) from None
    except UnicodeError:
        raise Unresolvable("cannot be decoded", path) from None


def _changes(tree: Tree, edits: Sequence[Edit]) -> list[Change]:
    found: list[Change] = []
    calls: dict[object, list[SetArgument | RemoveArgument]] = {}
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


def in_cells(edits: Sequence[TextEdit], sources: Sources, notebooks: Mapping[str, CellText]) -> list[TextEdit]:
    """The edits with those of notebooks by cell: one for each cell, from the first line that changes to the last.

    Raises:
        Unresolvable: a fix would move code from one cell to another, or change a line that is no Python.
    """
    found = [edit for edit in edits if edit.path not in notebooks]
    if len(found) == len(edits):
        return found
    rest = [edit for edit in edits if edit.path in notebooks]
    for path, (_, new) in texts_after(rest, sources).items():
        cells = notebooks[path]
        try:
            changed = cells.changed_cells(new)
        except CannotPlace as error:
            raise Unresolvable(error.reason, path) from None
        found += [
            replace(whole_lines(cells.notebook, cell.source, source), cell=cell.number)
            for cell, source in changed.items()
        ]
    return found


def whole_lines(path: str, old: str, new: str) -> TextEdit:
    """The one edit that makes one text of another, from the first line that differs to the last."""
    before, after = Lines(old), Lines(new)
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    head = min(before.starts[before.line(head) - 1], after.starts[after.line(head) - 1])
    most = shorter - head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    while tail and len(old) - tail not in before.starts:
        tail -= 1
    return before.edit(path, Change(head, len(old) - tail, new[head : len(new) - tail]))


def texts_after(edits: Iterable[TextEdit], sources: Sources) -> dict[str, tuple[str, str]]:
    """The text before and after of each file that the edits change.

    Raises:
        Unresolvable: a file cannot be read, or two edits overlap.
    """
    by_path: dict[str, list[TextEdit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    found = {}
    for path, group in by_path.items():
        text = read(sources, path)
        lines = Lines(text)
        found[path] = text, apply_changes(text, [lines.change(edit) for edit in group])
    return found
