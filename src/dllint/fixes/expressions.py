"""Replace expressions and string literals."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

import libcst as cst

from dllint.finding import ReplaceExpression, ReplaceString
from dllint.fixes.parser import parse_expression
from dllint.fixes.text import LINE_END, Change, Unresolvable
from dllint.fixes.tree import QUOTING, Tree

_ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.SimpleString,
    cst.FormattedString,
    cst.List,
    cst.Dict,
    cst.Set,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.Ellipsis,
)
_DELIMITED = (
    cst.Assign,
    cst.AnnAssign,
    cst.AugAssign,
    cst.Return,
    cst.Expr,
    cst.Element,
    cst.DictElement,
    cst.Index,
    cst.Lambda,
    cst.Param,
)


def replace_expression(tree: Tree, edit: ReplaceExpression) -> Change:
    """Return the change that replaces an expression.

    Raises:
        Unresolvable: there is no such expression, or the new one does not parse or is not allowed there.
    """
    node = tree.expression(edit.span)
    start, end = tree.offsets(edit.span)
    new = parse_expression(edit.code)
    code = LINE_END.sub(tree.line_end(start), edit.code.strip())
    if isinstance(tree.parent(node), cst.ConcatenatedString):
        raise Unresolvable("the expression is a piece of a string")
    if tree.is_in_string(node) and not QUOTING.isdisjoint(code):
        raise Unresolvable("an expression in a string takes no quotes")
    kept = bool(node.lpar) and (start, end) != tree.outer(node)
    if not (kept or new.lpar or isinstance(new, _ATOMS) or _is_delimited(tree, node, new)):
        code = f"({code})"
    text = tree.text
    if start and _is_word(text[start - 1]) and _is_word(code[0]):
        code = " " + code
    if end < len(text) and _is_word(text[end]) and _is_word(code[-1]):
        code += " "
    return Change(start, end, code)


def _is_delimited(tree: Tree, node: cst.BaseExpression, new: cst.BaseExpression) -> bool:
    """Whether an expression without parentheses has the same meaning in place of `node`."""
    parent = tree.parent(node)
    if isinstance(new, cst.BaseNumber):
        return not isinstance(parent, cst.Attribute)
    if isinstance(new, (cst.Tuple, cst.NamedExpr, cst.Yield, cst.GeneratorExp)) or tree.is_in_string(node):
        return False
    if isinstance(parent, cst.Arg):
        return not parent.star
    return isinstance(parent, _DELIMITED)


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def replace_string(tree: Tree, edit: ReplaceString) -> Iterator[Change]:
    """Yield the changes of all strings that evaluate to the old value; concatenated pieces merge into the first.

    Raises:
        Unresolvable: there is no such string, or the new value cannot be written in its quotes.
    """
    found = False
    for node in tree.expressions_in(edit.span):
        if not isinstance(node, (cst.SimpleString, cst.ConcatenatedString)):
            continue
        start, end = tree.range(node)
        if isinstance(tree.parent(node), cst.ConcatenatedString) or _value(tree.text[start:end]) != edit.old:
            continue
        found = True
        first = node.left if isinstance(node, cst.ConcatenatedString) else node
        if not isinstance(first, cst.SimpleString) or "#" in tree.text[tree.range(first)[1] : end]:
            raise Unresolvable("the pieces of the string cannot become one")
        opening = tree.text[start : start + len(first.prefix) + len(first.quote)]
        content = _content(opening, first.quote, edit.new)
        if tree.is_in_string(node) and not QUOTING.isdisjoint(content):
            raise Unresolvable("a string in a string takes no quotes")
        yield Change(start + len(opening), end, content + first.quote)
    if not found:
        raise Unresolvable(f"no string {edit.old!r} at line {edit.span.line} column {edit.span.column}")


def _value(code: str) -> object:
    """Return the value of a literal, `None` for a formatted string."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # Concatenated pieces may be on separate lines.
            return ast.literal_eval(f"({code})")
        except (SyntaxError, ValueError):
            return None


def _content(opening: str, quote: str, value: str) -> str:
    """Return a value as source text between an opening prefix with quotes and the closing quotes."""
    escaped = value.replace("\\", "\\\\").replace(quote[0], f"\\{quote[0]}")
    for content in (value, escaped.replace("\n", "\\n").replace("\r", "\\r")):
        if not LINE_END.search(content) and _value(opening + content + quote) == value:
            return content
    raise Unresolvable(f"{value!r} cannot be written between {opening} and {quote}")
