"""The names that code reads and binds, without scope analysis: may report too many, never too few."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator

import libcst as cst

from dllint.fixes.text import Unresolvable
from dllint.fixes.tree import Tree

_SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.BaseComp)
_BUILTINS = frozenset(dir(builtins))
_CONSTANT = (
    cst.BaseNumber,
    cst.SimpleString,
    cst.ConcatenatedString,
    cst.Ellipsis,
    cst.Name,
    cst.Attribute,
    cst.UnaryOperation,
    cst.BinaryOperation,
    cst.Tuple,
)
"""Expressions that always evaluate to the same value while their names keep theirs."""


def walk(node: cst.CSTNode, into_scopes: bool = True) -> Iterator[cst.CSTNode]:
    """Yield a node and its descendants, in source order.

    Without `into_scopes`, the descendants of functions, classes, lambdas and comprehensions are skipped.
    """
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        if into_scopes or not isinstance(found, _SCOPES):
            waiting += reversed(found.children)


def used_names(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names in an expression or a target, except those after a dot and those of keyword arguments."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, cst.Name):
            yield found.value
        elif isinstance(found, (cst.Attribute, cst.Arg)):
            waiting.append(found.value)
        else:
            waiting += found.children


def bound_names(nodes: Iterable[cst.CSTNode], into_scopes: bool = True) -> set[str]:
    """Return the names that statements bind, or whose items or attributes they assign; "*" for a star import."""
    found: set[str] = set()
    for statement in nodes:
        for node in walk(statement, into_scopes):
            for target in _targets(node):
                found.update(used_names(target))
            if isinstance(node, cst.ImportFrom) and isinstance(node.names, cst.ImportStar):
                found.add("*")
    return found


def times_bound(node: cst.CSTNode, name: str) -> int:
    """Return how many places in a tree bind a name, in any scope."""
    return sum(name in used_names(target) for part in walk(node) for target in _targets(part))


_BINDERS: tuple[tuple[tuple[type[cst.CSTNode], ...], str], ...] = (
    ((cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For, cst.CompFor, cst.Del), "target"),
    ((cst.FunctionDef, cst.ClassDef, cst.Param, cst.AsName, cst.NameItem, cst.TypeAlias, cst.TypeVar), "name"),
    ((cst.MatchAs, cst.MatchStar), "name"),
    ((cst.MatchMapping,), "rest"),
)


def _targets(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.ImportAlias) and node.asname is None:
        yield node.name
    for kinds, attribute in _BINDERS:
        if isinstance(node, kinds) and (target := getattr(node, attribute)) is not None:
            yield target


class Surroundings:
    """Decides which expressions can move in front of a module-level statement without changing their value.

    Args:
        position: the index of the statement.
    """

    def __init__(self, tree: Tree, position: int) -> None:
        body = tree.module.body
        self._above = bound_names(body[:position], into_scopes=False)
        self._unsteady = bound_names(body[position : position + 1])
        self._unsteady |= bound_names(body[position + 1 :], into_scopes=False)
        for statement in body:
            for node in walk(statement):
                if isinstance(node, cst.Global):
                    self._unsteady.update(item.name.value for item in node.names)
        self._imported = bound_names(
            node
            for statement in body[:position]
            for node in walk(statement, into_scopes=False)
            if isinstance(node, (cst.Import, cst.ImportFrom))
        )

    def require_names(self, node: cst.CSTNode) -> None:
        """Check that an expression's names have the same meaning before the statement.

        Raises:
            Unresolvable: the expression uses a name that has or may have another meaning there.
        """
        for name in used_names(node):
            if name in self._unsteady or not (name in self._above or name in _BUILTINS or "*" in self._above):
                raise Unresolvable(f"it needs {name!r}, which belongs to the code around it")

    def require_constant(self, node: cst.BaseExpression) -> None:
        """Check that an expression has the same, immutable value before the statement.

        Raises:
            Unresolvable: the expression may have another value there, or creates a new object each time.
        """
        self.require_names(node)
        for part in walk(node):
            constant = not isinstance(part, cst.BaseExpression) or isinstance(part, _CONSTANT)
            if isinstance(part, cst.Attribute):
                constant = self._imported.issuperset(used_names(part))
            if not constant:
                raise Unresolvable("a default value would be evaluated each time")
