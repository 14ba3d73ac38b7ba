"""Move local functions to the top level of their module."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence

import libcst as cst

from dllint.finding import HoistFunction, ReplaceExpression
from dllint.fixes.expressions import replace_expression
from dllint.fixes.names import Surroundings, walk
from dllint.fixes.statements import (
    Neighbour,
    above_comments,
    below_comments,
    blank_lines_above,
    blank_lines_below,
    find_statement,
    insert_before,
)
from dllint.fixes.text import BLANKS, LINE_END, Change, Unresolvable
from dllint.fixes.tree import STRINGS, Tree, parse_code

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")


def hoist_functions(tree: Tree, edits: Sequence[HoistFunction]) -> Iterator[Change]:
    """Yield the changes that move functions before the module-level statements that contain them, in source order.

    Raises:
        Unresolvable: there is no such function, or its meaning would change at the top of the module.
    """
    names: dict[str, HoistFunction] = {}
    for edit in sorted(set(edits), key=lambda edit: edit.span):
        if names.setdefault(edit.name, edit) != edit:
            raise Unresolvable(f"two functions would be called {edit.name!r}")
        yield from _hoist(tree, edit)


def _hoist(tree: Tree, edit: HoistFunction) -> Iterator[Change]:
    if not edit.name.isidentifier() or keyword.iskeyword(edit.name):
        raise Unresolvable(f"{edit.name!r} is no name for a function")
    node = tree.function(edit.span)
    start, end = tree.range(node)
    place = find_statement(tree, start, end, True)[0]
    _require_independence(tree, node, place)
    if isinstance(node, cst.Lambda):
        text = _definition(tree, node, edit.name)
        yield _insertion(tree, place, text, edit.name)
        yield _replacement(tree, node, edit)
    else:
        if edit.name != node.name.value:
            raise Unresolvable(f"{node.name.value!r} would get another name")
        if isinstance(tree.parent(node), cst.Module):
            raise Unresolvable(f"{edit.name!r} stands at the top of its module")
        first, last, following = _lines(tree, node)
        text = _dedented(tree, node, tree.text[first:last])
        yield _insertion(tree, place, text, edit.name)
        yield _removal(tree, node, first, last, following)


def _require_independence(tree: Tree, node: cst.Lambda | cst.FunctionDef, place: Neighbour) -> None:
    """Check that a function does not depend on its surroundings.

    Raises:
        Unresolvable: it does.
    """
    around = list(_around(tree, node))
    nearest = next((one for one in around if isinstance(one, (cst.FunctionDef, cst.ClassDef))), None)
    if isinstance(node, cst.FunctionDef) and isinstance(nearest, cst.ClassDef):
        raise Unresolvable(f"{node.name.value!r} is a method")
    in_class = any(isinstance(one, cst.ClassDef) for one in around)
    for part in walk(node):
        if isinstance(part, cst.Nonlocal):
            raise Unresolvable("it changes a name of the function around it")
        if in_class and isinstance(part, cst.Name):
            name = part.value
            private = name.startswith("__") and not name.endswith("__")
            if private or name in ("super", "__class__"):
                raise Unresolvable(f"{name!r} has its meaning from the class around it")
    params = list(_params(node.params))
    defaults = [param.default for param in params if param.default is not None]
    others: list[cst.CSTNode] = [param.annotation for param in params if param.annotation is not None]
    if isinstance(node, cst.FunctionDef):
        others += [*node.decorators, *([node.returns] if node.returns is not None else [])]
    if defaults or others:
        surroundings = Surroundings(tree, place.position)
        for default in defaults:
            surroundings.require_constant(default)
        for other in others:
            surroundings.require_names(other)


def _around(tree: Tree, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    outer = tree.parent(node)
    while outer is not None:
        yield outer
        outer = tree.parent(outer) if not isinstance(outer, cst.Module) else None


def _params(params: cst.Parameters) -> Iterator[cst.Param]:
    yield from (*params.posonly_params, *params.params, *params.kwonly_params)
    yield from (one for one in (params.star_arg, params.star_kwarg) if isinstance(one, cst.Param))


def _definition(tree: Tree, node: cst.Lambda, name: str) -> str:
    """Return the lambda as a function definition, without a final line end."""
    if tree.is_in_string(node):
        raise Unresolvable("the lambda is inside a string")
    for part in walk(node.body):
        if isinstance(part, (cst.NamedExpr, cst.Yield, cst.Await)):
            raise Unresolvable("the body of the lambda acts on the code around it")
    header = (node.whitespace_after_lambda, node.params, node.colon)
    parts = (part for one in header if isinstance(one, cst.CSTNode) for part in walk(one))
    if any(isinstance(part, cst.Comment) for part in parts):
        raise Unresolvable("a comment stands before the body of the lambda")
    start, end = tree.range(node)[0] + len("lambda"), tree.range(node.colon)[0]
    params = tree.text[tree.skip(start) : end].rstrip(BLANKS + "\\\r\n")
    first, last = tree.outer(node.body)
    body = tree.text[first:last]
    if LINE_END.search(body) and not _holds_together(body):
        body = f"({body})"
    return f"def {name}({params}):{tree.line_end(start)}{tree.indent}return {body}"


def _holds_together(code: str) -> bool:
    """Whether a multi-line expression parses without parentheses around it."""
    try:
        return len(parse_code(f"_ = {code}").module.body) == 1
    except Unresolvable:
        return False


def _replacement(tree: Tree, node: cst.Lambda, edit: HoistFunction) -> Change:
    start, end = tree.outer(node)
    inner = tree.range(node)
    if "#" in tree.text[start : inner[0]] + tree.text[inner[1] : end]:
        start, end = inner
    return replace_expression(tree, ReplaceExpression(edit.path, tree.lines.span(start, end), edit.name))


def _insertion(tree: Tree, place: Neighbour, text: str, name: str) -> Change:
    code = parse_code(text).module.body
    if len(code) != 1 or not isinstance(code[0], cst.FunctionDef) or code[0].name.value != name:
        raise Unresolvable(f"{name!r} cannot stand alone")
    return insert_before(tree, place, text, code, verbatim=True)


def _lines(tree: Tree, node: cst.FunctionDef) -> tuple[int, int, int]:
    """Return the start and end of a definition's lines, including comments above it, and the start of the next line.

    A comment above it that is the heading of several statements stays with them.
    """
    start = tree.statement_start(node)
    indent = tree.indentation(start)
    first = tree.lines.start(start)
    if not tree.leads_line(start) or tree.text[:first].rstrip("\r\n").endswith("\\"):
        raise Unresolvable(f"line {tree.lines.line(start)} starts with something else")
    line_end, following = tree.rest_of_line(tree.range(node)[1])
    line_end, following = below_comments(tree, line_end, following, indent)
    if _heads_more(tree, node, following, indent):
        return first, line_end, following
    return above_comments(tree, first, indent), line_end, following


def _heads_more(tree: Tree, node: cst.FunctionDef, following: int, indent: str) -> bool:
    """Whether a comment above a definition is the heading of the next statement too: this one follows without a blank
    line, and other comments of the block are headings of plain statements."""
    block = tree.parent(node)
    if not isinstance(block, cst.IndentedBlock) or block.body[-1] is node:
        return False
    line = tree.text[following : tree.lines.end(following)]
    if not line.strip() or line.lstrip(BLANKS).startswith(("#", "def ", "class ", "@")):
        return False
    starts = [tree.lines.start(tree.statement_start(one)) for one in block.body if not isinstance(one, cst.FunctionDef)]
    return any(above_comments(tree, start, indent) != start for start in starts)


def _dedented(tree: Tree, node: cst.FunctionDef, text: str) -> str:
    for part in walk(node):
        if isinstance(part, STRINGS) and LINE_END.search(tree.text[slice(*tree.range(part))]):
            raise Unresolvable(f"a string over several lines stands in {node.name.value!r}")
    indent = tree.indentation(tree.statement_start(node))
    lines = []
    for line, line_end in _LINE.findall(text):
        code = line.lstrip(BLANKS)
        _, feed, blanks = line[: len(line) - len(code)].rpartition("\f")
        shared = next((size for size in range(len(indent), 0, -1) if blanks.startswith(indent[:size])), 0)
        lines.append((feed + blanks[shared:] + code if code else "") + line_end)
    return "".join(lines)


def _removal(tree: Tree, node: cst.FunctionDef, first: int, last: int, following: int) -> Change:
    """Return the change that removes the lines of a definition, and the blank lines that separated it."""
    block = tree.parent(node)
    if not isinstance(block, cst.IndentedBlock):
        raise Unresolvable(f"{node.name.value!r} stands in no block")
    if len(block.body) == 1:
        return Change(first, last, f"{tree.indentation(tree.statement_start(node))}pass")
    start, end = first, following
    above, _ = blank_lines_above(tree, first)
    if block.body[-1] is node:
        for _ in range(above):
            start = tree.lines.start(start - 1)
        if following == last:
            start = tree.lines.end(start - 1)
    else:
        below = blank_lines_below(tree, following)
        for _ in range(below if block.body[0] is node and not above else min(above, below)):
            end = tree.rest_of_line(tree.lines.end(end))[1]
    if not all(isinstance(one, cst.FunctionDef) for one in block.body):
        return Change(start, end, "")
    # Fixes that together would empty the block must not be applied together, so each covers the whole block.
    whole = tree.lines.start(tree.statement_start(block.body[0])), tree.range(block.body[-1])[1]
    before, after = min(start, whole[0]), max(end, whole[1])
    return Change(before, after, tree.text[before:start] + tree.text[end:after])
