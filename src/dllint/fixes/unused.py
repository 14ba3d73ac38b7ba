"""Remove imports and local variables that a fix leaves unused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import libcst as cst

from dllint.fixes.imports import bound_by
from dllint.fixes.names import used_names, walk
from dllint.fixes.statements import blank_lines_above, blank_lines_below
from dllint.fixes.text import Change, apply_changes
from dllint.fixes.tree import Tree, parse

_WORD = re.compile(r"\w+")
_LOOKED_UP = frozenset({"locals", "vars", "eval", "exec"})
"""Builtins that read variables without naming them in the code."""
_ASKED = frozenset({"get_worker_info", "initial_seed", "get_rank"})
"""Functions without side effects."""


def without_unused(old: str, new: str) -> str:
    """Return the new text without top-level imports and simple local variables that only the old text used.

    Raises:
        Unresolvable: one of the texts does not parse.
    """
    before, after = parse(old), parse(new)
    used = _used_in_functions(before)
    while changes := list(_unused_variables(after, used)):
        new = apply_changes(new, changes)
        after = parse(new)
    lost = _uses(before) - _uses(after)
    changes = [
        change
        for line in after.module.body
        if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 and lost
        for change in _without(after, line, lost)
    ]
    return apply_changes(new, changes)


def _used_in_functions(tree: Tree) -> set[tuple[str, str]]:
    """Return pairs of a function's name and a name that occurs more than once in it."""
    return {
        (node.name.value, name)
        for node in walk(tree.module)
        if isinstance(node, cst.FunctionDef)
        for name, count in _names(node).items()
        if count > 1
    }


def _names(function: cst.FunctionDef) -> Counter[str]:
    return Counter(used_names(function))


def _unused_variables(tree: Tree, used: set[tuple[str, str]]) -> Iterator[Change]:
    """Yield changes that remove assignments of simple values to local variables which the fix left unused."""
    functions = {name for name, _ in used}
    for statement in tree.module.body:
        for node in walk(statement):
            if isinstance(node, cst.FunctionDef) and node.name.value in functions:
                names = _names(node)
                lost = {name for name, count in names.items() if count == 1 and (node.name.value, name) in used}
                if lost and _LOOKED_UP.isdisjoint(names):
                    # Positions are computed per module-level statement.
                    tree.range(statement)
                    yield from _settings(tree, node, lost)


def _settings(tree: Tree, function: cst.FunctionDef, lost: set[str]) -> Iterator[Change]:
    for block in walk(function):
        if not lost or not isinstance(block, cst.IndentedBlock) or len(block.body) < 2:
            continue
        for line in block.body:
            node = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
            if not isinstance(node, cst.Assign) or len(node.targets) != 1 or not _is_plain(node.value):
                continue
            target = node.targets[0].target
            start, end = tree.range(line)
            if isinstance(target, cst.Name) and target.value in lost and tree.leads_line(start):
                yield Change(tree.lines.start(start), tree.rest_of_line(end)[1], "")
                # Remove one line at a time, so that no block becomes empty.
                return


def _is_plain(value: cst.BaseExpression) -> bool:
    """Whether evaluating an expression has no side effects."""
    for node in walk(value):
        if isinstance(node, cst.Call):
            named = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
            if not isinstance(named, cst.Name) or named.value not in _ASKED or node.args:
                return False
        elif isinstance(node, (cst.Await, cst.Yield, cst.NamedExpr, cst.Subscript)):
            return False
    return True


def _without(tree: Tree, line: cst.SimpleStatementLine, lost: set[str]) -> Iterator[Change]:
    node = line.body[0]
    if not isinstance(node, (cst.Import, cst.ImportFrom)) or isinstance(node.names, cst.ImportStar):
        return
    kept = [alias for alias in node.names if bound_by(alias).partition(".")[0] not in lost]
    if len(kept) == len(node.names):
        return
    start, end = tree.statement_start(line), tree.range(line)[1]
    if not kept and tree.lines.start(start) == start:
        following = tree.rest_of_line(end)[1]
        above, anything = blank_lines_above(tree, start)
        below = blank_lines_below(tree, following)
        for _ in range(min(above, below) if anything else below):
            following = tree.rest_of_line(tree.lines.end(following))[1]
        yield Change(start, following, "")
    elif kept and "#" not in tree.text[start:end]:
        first, last = tree.range(node.names[0])[0], tree.range(node.names[-1])[1]
        texts = [tree.text[slice(*tree.range(alias))].rstrip(", \r\n\t") for alias in kept]
        yield Change(first, last, ", ".join(texts))


def _uses(tree: Tree) -> set[str]:
    """Return the names that the code reads or binds outside imports, and the words in its strings (`__all__`)."""
    found: set[str] = set()
    waiting: list[cst.CSTNode] = [tree.module]
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.Name):
            found.add(node.value)
        elif isinstance(node, cst.SimpleString):
            found.update(_WORD.findall(node.value))
        elif not isinstance(node, (cst.Import, cst.ImportFrom)):
            waiting += node.children
    return found
