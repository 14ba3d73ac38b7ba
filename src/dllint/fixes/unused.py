"""Removes what a fix leaves without a use: imports, and variables of functions."""

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
"""Builtins that read variables without their names."""
_ASKED = frozenset({"get_worker_info", "initial_seed", "get_rank"})
"""Functions that only tell something."""


def without_unused(old: str, new: str) -> str:
    """The new text without the imports at its top, and without the plain variables of functions, that the old one used
    and it does not use any more.

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
    """Functions by name, with each name that stands more than once in one of them."""
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
    """The lines that set a variable of a function to a plain value, where the function had a use for it."""
    functions = {name for name, _ in used}
    for statement in tree.module.body:
        for node in walk(statement):
            if isinstance(node, cst.FunctionDef) and node.name.value in functions:
                names = _names(node)
                lost = {name for name, count in names.items() if count == 1 and (node.name.value, name) in used}
                if lost and _LOOKED_UP.isdisjoint(names):
                    # Places are those of a whole statement of the module.
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
                # One line at a time: a block keeps a statement.
                return


def _is_plain(value: cst.BaseExpression) -> bool:
    """Whether evaluating an expression does nothing else."""
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
    """The names that the code reads or binds outside of its imports, and those that `__all__` and others quote."""
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
