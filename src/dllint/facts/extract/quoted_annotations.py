"""Annotations written as strings: `"Rows | None"` (typing documentation, "Forward references")."""

from __future__ import annotations

import ast
from sys import intern

from dllint.facts.nodes import Attribute, BinOp, Constant, Expr, Name, Subscript, Tuple

_LONGEST = 400
"""Characters of the longest string that is parsed. Types written by hand are shorter."""
_DEEPEST = 20
"""Subscripts inside one another, beyond which no string is parsed."""
_OF_VALUES = frozenset({"Literal", "Annotated"})
"""Forms whose arguments need not be types."""


def unquoted(expr: Expr, depth: int = 0) -> Expr:
    """Return an annotation with the types that strings in it name; a string that names none stays as it is."""
    if depth > _DEEPEST:
        return expr
    if isinstance(expr, Subscript):
        return expr if _name(expr.value) in _OF_VALUES else Subscript(expr.value, unquoted(expr.index, depth + 1))
    if isinstance(expr, Tuple):
        return Tuple(tuple(unquoted(one, depth + 1) for one in expr.elements))
    if isinstance(expr, BinOp):
        return BinOp(expr.op, unquoted(expr.left, depth + 1), unquoted(expr.right, depth + 1))
    if not isinstance(expr, Constant) or not isinstance(expr.value, str) or len(expr.value) > _LONGEST:
        return expr
    try:
        parsed = ast.parse(expr.value.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return expr
    return _type(parsed) or expr


def _name(expr: Expr) -> str:
    return expr.attr if isinstance(expr, Attribute) else expr.id if isinstance(expr, Name) else ""


def _type(node: ast.expr) -> Expr | None:
    """Return a type; None if it is no type that is read."""
    if isinstance(node, ast.Name):
        return Name(intern(node.id))
    if isinstance(node, ast.Constant):
        return Constant(node.value) if node.value is None or isinstance(node.value, str) else None
    if isinstance(node, ast.Attribute):
        base = _type(node.value)
        return Attribute(base, intern(node.attr)) if base is not None else None
    if isinstance(node, ast.Subscript):
        base, index = _type(node.value), _type(node.slice)
        return Subscript(base, index) if base is not None and index is not None else None
    if isinstance(node, ast.Tuple):
        parts = tuple(part for one in node.elts if (part := _type(one)) is not None)
        return Tuple(parts) if len(parts) == len(node.elts) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left, right = _type(node.left), _type(node.right)
        return BinOp("|", left, right) if left is not None and right is not None else None
    return None
