"""Add the imports that a fix needs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import libcst as cst

from dllint.finding import AddImport, Edit, HoistFunction, InsertStatement, ReplaceExpression
from dllint.fixes.names import times_bound
from dllint.fixes.statements import (
    Neighbour,
    insert_after,
    insert_before,
    is_import,
    prologue_length,
)
from dllint.fixes.text import Change, Unresolvable
from dllint.fixes.tree import Line, Tree, parse_code


def add_import(tree: Tree, edit: AddImport, limit: int) -> list[Change]:
    """Return the changes that add an import to the module's imports; empty if the import already exists.

    If the existing imports are sorted as by isort, the new one is inserted in that order. Otherwise `import a` precedes
    the first `from a… import`, and any other follows the last import of its section (standard library, packages, own
    modules), or the last import of all. Only imports at module level count, before any definition and before `limit`:
    the first place that the same fix changes, which may be module-level code that needs the import.

    Raises:
        Unresolvable: the module or the name is not an identifier.
    """
    names = [*edit.module.split("."), *([edit.name] if edit.name is not None else [])]
    if not all(name.isidentifier() for name in names):
        raise Unresolvable(f"{'.'.join(names)!r} is nothing to import")
    text = f"import {edit.module}" if edit.name is None else f"from {edit.module} import {edit.name}"
    module = tree.module
    if any(_gives(statement, edit) for statement in _imports(tree)):
        return []
    if (beside := _beside_others(tree, edit, limit)) is not None:
        return [beside]
    code = parse_code(text).module.body
    lines = module.body
    if not lines:
        start = len(tree.text)
        newline = module.default_newline
        return [Change(start, start, text + newline if tree.leads_line(start) else newline + text)]
    prologue = prologue_length(module)
    sorted_place = _sorted_place(tree, edit, limit)
    if sorted_place is not None:
        index, where, blank = sorted_place
        place = Neighbour(lines, index, True)
        if where == "before":
            return [insert_before(tree, place, text, code, blank)]
        return [insert_after(tree, place, text, code, blank)]
    last = last_alike = -1
    for index, node in enumerate(lines):
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            break
        if index >= prologue and is_import(node):
            if tree.statement_start(node) >= limit:
                break
            if edit.name is None and _takes_from(node, edit.module):
                return [insert_before(tree, Neighbour(lines, index, True), text, code, 0)]
            last = index
            key = _sort_key(node, edit.path)
            if key is not None and key.section == _section(edit.module, edit.path):
                last_alike = index
    if last >= 0:
        return [insert_after(tree, Neighbour(lines, last_alike if last_alike >= 0 else last, True), text, code)]
    if prologue:
        return [insert_after(tree, Neighbour(lines, prologue - 1, True), text, code, 1, _blanks(lines, prologue))]
    return [insert_before(tree, Neighbour(lines, 0, True), text, code, _blanks(lines, 0))]


def _takes_from(line: cst.CSTNode, package: str) -> bool:
    """Whether a statement is `from package… import …`."""
    node = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
    if not isinstance(node, cst.ImportFrom) or node.relative or node.module is None:
        return False
    return _dotted(node.module).partition(".")[0] == package


def by_known_names(tree: Tree, edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits without imports that the file already has under another name, and with that name in their code:
    `th.initial_seed()` if the file has `import torch as th`.

    The other name is used only if it is bound in a single place of the file, above all edits.
    """
    found = list(edits)
    for added in [edit for edit in edits if isinstance(edit, AddImport)]:
        if (known := _known_name(tree, added, edits)) is None:
            continue
        old = re.escape(added.module if added.name is None else added.name)
        pattern = re.compile(rf"(?<![\w.]){old}" + (r"(?=\.)" if added.name is None else r"\b"))
        found.remove(added)
        found = [
            replace(edit, code=pattern.sub(known, edit.code))
            if isinstance(edit, (ReplaceExpression, InsertStatement))
            else edit
            for edit in found
        ]
    return found


def _known_name(tree: Tree, added: AddImport, edits: Sequence[Edit]) -> str | None:
    """Return the name by which imports above the edits already bind what `added` imports; `None` if none does."""
    if any(_gives(node, added) for node in _imports(tree)):
        return None
    spans = [
        edit.anchor if isinstance(edit, InsertStatement) else edit.span
        for edit in edits
        if isinstance(edit, (InsertStatement, ReplaceExpression, HoistFunction))
    ]
    first = min((tree.offsets(span)[0] for span in spans), default=0)
    body = tree.module.body
    for node in _module_level_imports(body[: max(0, tree.holder(body, first, first))]):
        if isinstance(node.names, cst.ImportStar):
            continue
        if isinstance(node, cst.Import):
            wanted = added.module if added.name is None else None
        else:
            alike = not node.relative and node.module is not None and _dotted(node.module) == added.module
            wanted = added.name if alike else None
        for alias in node.names:
            name = _alias(alias)
            if wanted is not None and _dotted(alias.name) == wanted and name and times_bound(tree.module, name) == 1:
                return name
    return None


def _beside_others(tree: Tree, edit: AddImport, limit: int) -> Change | None:
    """Return the change that adds the name to an existing `from … import` of the module; `None` if none can take it."""
    for line in tree.module.body:
        node = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
        if not isinstance(node, cst.ImportFrom) or isinstance(node.names, cst.ImportStar) or node.relative:
            continue
        start, end = tree.range(line)
        if edit.name is None or node.module is None or _dotted(node.module) != edit.module or start >= limit:
            continue
        written = tree.text[start:end]
        if "#" in written or "\\" in written or any(one.asname for one in node.names):
            return None
        starts = [tree.range(alias)[0] for alias in node.names]
        places = [(at, at + len(_dotted(alias.name))) for at, alias in zip(starts, node.names, strict=True)]
        following = next(
            (at for at, alias in enumerate(node.names) if _rank(_dotted(alias.name)) > _rank(edit.name)), len(places)
        )
        between = tree.text[places[0][1] : places[1][0]] if len(places) > 1 else ", "
        if "\n" in tree.text[start : places[0][0]] and "\n" not in between:
            return None
        if following < len(places):
            return Change(places[following][0], places[following][0], edit.name + between)
        return Change(places[-1][1], places[-1][1], between + edit.name)
    return None


def _rank(name: str) -> tuple[int, str]:
    """Return isort's sort key of a name: constants, classes, functions."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2, name)


def _sorted_place(tree: Tree, edit: AddImport, limit: int) -> tuple[int, str, int] | None:
    """Return the place of an import among those at the top of the file, in isort's order: the index of a line, whether
    to insert before or after it, and the number of blank lines between the two. `None` if there are no imports, or they
    are in another order."""
    lines = tree.module.body
    first, end = _top_imports(lines)
    block = [
        (index, key)
        for index in range(max(first, prologue_length(tree.module)), end)
        if (key := _sort_key(lines[index], edit.path)) is not None
    ]
    if not block or [key for _, key in block] != sorted(key for _, key in block):
        return None
    wanted = _Key(_section(edit.module, edit.path), edit.name is not None, edit.module.lower(), _member(edit.name, ""))
    before = [index for index, key in block if key <= wanted]
    after = [index for index, key in block if key > wanted]
    same = {index for index, key in block if key.section == wanted.section}
    found = (before[-1], "after") if before and (before[-1] in same or not after) else (after[0], "before")
    return (*found, 0 if found[0] in same else 1) if tree.statement_start(lines[found[0]]) < limit else None


def _top_imports(lines: Sequence[Line]) -> tuple[int, int]:
    """Return the bounds of the first run of imports, after a docstring and assignments of names like `__all__`."""
    first = 0
    while first < len(lines) and not is_import(lines[first]) and _may_lead(lines[first]):
        first += 1
    end = first
    while end < len(lines) and is_import(lines[end]):
        end += 1
    return first, end


def _may_lead(node: Line) -> bool:
    if not isinstance(node, cst.SimpleStatementLine):
        return False
    return all(
        isinstance(one, cst.Expr)
        or (isinstance(one, cst.Assign) and all(_is_special(target.target) for target in one.targets))
        for one in node.body
    )


def _is_special(target: cst.BaseExpression) -> bool:
    return isinstance(target, cst.Name) and target.value.startswith("__") and target.value.endswith("__")


class _Key(NamedTuple):
    """isort's sort key of an import: its section, whether it is `from … import`, the module's name, and the first name
    imported from it, or the module's alias."""

    section: int
    named: bool
    module: str
    member: tuple[int, str, str]


def _sort_key(node: Line, path: str) -> _Key | None:
    first = node.body[0] if isinstance(node, cst.SimpleStatementLine) else None
    if isinstance(first, cst.Import):
        name = _dotted(first.names[0].name)
        return _Key(_section(name, path), False, name.lower(), _member(None, _alias(first.names[0])))
    if isinstance(first, cst.ImportFrom):
        name = _dotted(first.module) if first.module is not None else ""
        member = (0, "", "")
        if not isinstance(first.names, cst.ImportStar):
            member = min(_member(_dotted(one.name), _alias(one)) for one in first.names)
        return _Key(_RELATIVE if first.relative else _section(name, path), True, name.lower(), member)
    return None


def _member(name: str | None, alias: str) -> tuple[int, str, str]:
    return (*(_rank(name) if name is not None else (0, "")), alias)


def _alias(alias: cst.ImportAlias) -> str:
    return _dotted(alias.asname.name) if alias.asname is not None else ""


_STANDARD, _INSTALLED, _OWN, _RELATIVE = range(4)


def _section(module: str, path: str) -> int:
    """Return the isort section of a module; it is the project's own if a directory above the file contains it."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return _STANDARD
    directory = os.path.dirname(os.path.abspath(path))
    while True:
        inner = os.path.join(directory, top)
        if os.path.isfile(f"{inner}.py") or os.path.isdir(inner):
            return _OWN
        above = os.path.dirname(directory)
        if above == directory:
            return _INSTALLED
        directory = above


def _blanks(lines: Sequence[Line], index: int) -> int:
    """Return the number of blank lines between the import and the statement at `index` that follows it."""
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
    """Yield the imports that run with the module: those in a `try` or `with` are included, those under `if` are not."""
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
            _dotted(alias.name) == edit.name and bound_by(alias) == edit.name for alias in node.names
        )
    if edit.name is not None:
        return False
    return any(alias.asname is None and f"{_dotted(alias.name)}.".startswith(f"{edit.module}.") for alias in node.names)


def bound_by(alias: cst.ImportAlias) -> str:
    return _dotted(alias.asname.name if alias.asname is not None else alias.name)


def _dotted(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""
