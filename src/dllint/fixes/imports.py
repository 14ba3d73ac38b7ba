"""Imports that a fix needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import libcst as cst

from dllint.finding import AddImport
from dllint.fixes.statements import Neighbour, insert_after, insert_before, prologue_length
from dllint.fixes.text import Change, Unresolvable
from dllint.fixes.tree import Line, Tree, parse_code


def add_import(tree: Tree, edit: AddImport, limit: int) -> list[Change]:
    """The import as a new line among the module's imports, or nothing where it is in force.

    It follows the last import that stands at module level, before any definition and before `limit`: the
    first place that the same fix changes, which may be module-level code that already needs the import.

    Raises:
        Unresolvable: the module or the name is none.
    """
    names = [*edit.module.split("."), *([edit.name] if edit.name is not None else [])]
    if not all(name.isidentifier() for name in names):
        raise Unresolvable(f"{'.'.join(names)!r} is nothing to import")
    text = f"import {edit.module}" if edit.name is None else f"from {edit.module} import {edit.name}"
    module = tree.module
    if any(_gives(statement, edit) for statement in _imports(tree)):
        return []
    code = parse_code(text).module.body
    lines = module.body
    if not lines:
        start = len(tree.text)
        newline = module.default_newline
        return [Change(start, start, text + newline if tree.leads_line(start) else newline + text)]
    prologue = prologue_length(module)
    last = -1
    for index, node in enumerate(lines):
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            break
        if index >= prologue and isinstance(node, cst.SimpleStatementLine) and any(map(_is_import, node.body)):
            if tree.statement_start(node) >= limit:
                break
            last = index
    if last >= 0:
        return [insert_after(tree, Neighbour(lines, last, True), text, code)]
    if prologue:
        return [insert_after(tree, Neighbour(lines, prologue - 1, True), text, code, 1, _blanks(lines, prologue))]
    return [insert_before(tree, Neighbour(lines, 0, True), text, code, _blanks(lines, 0))]


def _blanks(lines: Sequence[Line], index: int) -> int:
    """How many blank lines stand between the import and the statement at `index` that follows it."""
    if index == len(lines):
        return 0
    following = lines[index]
    if isinstance(following, cst.SimpleStatementLine):
        return 0 if _is_import(following.body[0]) else 1
    return 2 if isinstance(following, (cst.FunctionDef, cst.ClassDef)) else 1


def _is_import(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.Import, cst.ImportFrom))


@lru_cache(maxsize=8)
def _imports(tree: Tree) -> tuple[cst.Import | cst.ImportFrom, ...]:
    return tuple(_module_level_imports(tree.module.body))


def _module_level_imports(block: object) -> Iterator[cst.Import | cst.ImportFrom]:
    """The imports that run with the module: those in the body of a `try` or `with` count, those under `if` do not."""
    for statement in block if isinstance(block, (list, tuple)) else ():
        if isinstance(statement, cst.SimpleStatementLine):
            yield from (node for node in statement.body if isinstance(node, (cst.Import, cst.ImportFrom)))
        elif isinstance(statement, (cst.Try, cst.With)):
            yield from _module_level_imports(statement.body.body)


def _gives(node: cst.Import | cst.ImportFrom, edit: AddImport) -> bool:
    if isinstance(node, cst.ImportFrom):
        if edit.name is None or node.relative or node.module is None or isinstance(node.names, cst.ImportStar):
            return False
        return _dotted(node.module) == edit.module and any(
            _dotted(alias.name) == edit.name and _bound(alias) == edit.name for alias in node.names
        )
    if edit.name is not None:
        return False
    return any(alias.asname is None and f"{_dotted(alias.name)}.".startswith(f"{edit.module}.") for alias in node.names)


def _bound(alias: cst.ImportAlias) -> str:
    return _dotted(alias.asname.name if alias.asname is not None else alias.name)


def _dotted(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""
