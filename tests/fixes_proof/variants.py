"""Ways to write the same program: each turns the text of an example into another one that does the same.

A variant is a function of a `Source`. It gives the new text, or raises `DoesNotApply` with the reason.
"""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from dllint.span import Span

SAME = "def same(value):\n    return value\n"
NOTED = (
    "def noted(function):\n    @functools.wraps(function)\n    def call(*args, **kwargs):\n"
    "        return function(*args, **kwargs)\n\n    return call\n"
)


class DoesNotApply(Exception):
    """The example cannot be written that way."""


@dataclass(frozen=True)
class Source:
    """The text of an example's file, and the span of the finding in it."""

    text: str
    span: Span

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines(keepends=True)

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        return list(tokenize.generate_tokens(io.StringIO(self.text).readline))

    def offset(self, line: int, column: int) -> int:
        """Where a place of a syntax tree is in the text, which is ASCII; lines count from 1, columns from 0."""
        return sum(map(len, self.lines[: line - 1])) + column

    def bounds(self, node: ast.AST) -> tuple[int, int]:
        assert (
            isinstance(node, (ast.expr, ast.stmt)) and node.end_lineno is not None and node.end_col_offset is not None
        )
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    @cached_property
    def found(self) -> tuple[int, int]:
        span = self.span
        return self.offset(span.line, span.column - 1), self.offset(span.end_line, span.end_column - 1)

    @cached_property
    def path(self) -> list[ast.AST]:
        """The nodes around the finding, outermost first."""

        def inward(node: ast.AST) -> Iterator[ast.AST]:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, (ast.expr, ast.stmt)):
                    start, end = self.bounds(child)
                    if start <= self.found[0] and self.found[1] <= end:
                        yield child
                        yield from inward(child)
                        return
                elif any(isinstance(one, (ast.expr, ast.stmt)) for one in ast.walk(child)):
                    inner = list(inward(child))
                    if inner:
                        yield child
                        yield from inner
                        return

        return list(inward(self.tree))

    @cached_property
    def expression(self) -> tuple[int, int]:
        exact = [node for node in self.path if isinstance(node, ast.expr) and self.bounds(node) == self.found]
        if not exact:
            raise DoesNotApply("the finding is about no expression")
        return self.found

    @cached_property
    def statement(self) -> ast.stmt:
        """The innermost statement around the finding."""
        inside = [node for node in self.path if isinstance(node, ast.stmt)]
        if not inside or isinstance(inside[-1], (ast.FunctionDef, ast.ClassDef)):
            raise DoesNotApply("the finding is about a definition or a comment")
        return inside[-1]

    def replaced(self, *changes: tuple[int, int, str]) -> str:
        text = self.text
        for start, end, new in sorted(changes, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def with_definition(self, text: str, definition: str) -> str:
        """The text with a definition after its imports."""
        tree = ast.parse(text)
        imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        last = imports[-1].end_lineno if imports else 0
        lines = text.splitlines(keepends=True)
        assert last is not None
        return "".join([*lines[:last], "\n\n", definition, "\n\n", *lines[last:]])


def _names(tree: ast.Module) -> Iterator[ast.Name]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Name))


def _imports(source: Source) -> list[ast.Import | ast.ImportFrom]:
    found = [node for node in source.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if not found:
        raise DoesNotApply("the file imports nothing")
    return found


def aliases(source: Source) -> str:
    changes, renamed = [], {}
    for node in _imports(source):
        parts = []
        for one in node.names:
            bound = one.asname or one.name
            if "." in bound:
                raise DoesNotApply("`import a.b` binds no name of its own")
            renamed[bound] = f"{bound}_"
            parts.append(f"{one.name} as {bound}_")
        head = f"from {node.module} import " if isinstance(node, ast.ImportFrom) else "import "
        changes.append((*source.bounds(node), head + ", ".join(parts)))
    changes += [(*source.bounds(one), renamed[one.id]) for one in _names(source.tree) if one.id in renamed]
    return source.replaced(*changes)


def other_imports(source: Source) -> str:
    """`from a import b` becomes `import a`, and `import a` becomes `from a import b`."""
    changes: list[tuple[int, int, str]] = []
    names = list(_names(source.tree))
    taken = {one.id for one in names} | {one.arg for one in ast.walk(source.tree) if isinstance(one, ast.arg)}
    owners = {id(one.value): one for one in ast.walk(source.tree) if isinstance(one, ast.Attribute)}
    for node in _imports(source):
        lines = []
        for one in node.names:
            bound = one.asname or one.name
            used = [name for name in names if name.id == bound]
            if isinstance(node, ast.ImportFrom):
                lines.append(f"import {node.module}")
                changes += [(*source.bounds(name), f"{node.module}.{one.name}") for name in used]
                continue
            attributes = {owners[id(name)].attr for name in used if id(name) in owners}
            if not used or any(id(name) not in owners for name in used) or attributes & taken:
                lines.append(f"import {one.name}" + (f" as {one.asname}" if one.asname else ""))
                continue
            taken |= attributes
            lines.append(f"from {one.name} import {', '.join(sorted(attributes))}")
            changes += [(*source.bounds(owners[id(name)]), owners[id(name)].attr) for name in used]
        changes.append((*source.bounds(node), "\n".join(dict.fromkeys(lines))))
    return source.replaced(*changes)


def star_import(source: Source) -> str:
    changes = [
        (*source.bounds(node), f"from {node.module} import *")
        for node in _imports(source)
        if isinstance(node, ast.ImportFrom) and node.module in ("torch.utils.data", "multiprocessing", "pathlib")
    ]
    if not changes:
        raise DoesNotApply("no name comes from a module with `__all__`")
    return source.replaced(*changes)


def nested_call(source: Source) -> str:
    start, end = source.expression
    text = source.replaced((start, end, f"same({source.text[start:end]})"))
    return source.with_definition(text, SAME)


def twice_on_a_line(source: Source) -> str:
    statement = source.statement
    start, end = source.bounds(statement)
    code = source.text[start:end]
    if isinstance(statement, ast.Return) and statement.value is not None:
        value = source.text[slice(*source.bounds(statement.value))]
        return source.replaced((start, end, f"first = {value}; return {value}"))
    if isinstance(statement, (ast.Assign, ast.Expr, ast.Delete)) and "\n" not in code:
        return source.replaced((start, end, f"{code}; {code}"))
    start, end = source.expression
    return source.replaced((start, end, f"({source.text[start:end]}, {source.text[start:end]})[0]"))


def _function(source: Source) -> ast.FunctionDef:
    """The function of the module around the finding."""
    functions = [node for node in source.path if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    if not functions:
        raise DoesNotApply("the finding is about code of the module itself")
    if isinstance(functions[0], ast.ClassDef):
        raise DoesNotApply("it is in a method already")
    return functions[0]


def in_a_method(source: Source) -> str:
    function = _function(source)
    start, end = source.bounds(function)
    code = source.text[start:end].replace("(", "(self, ", 1) if function.args.args else None
    code = code or source.text[start:end].replace("()", "(self)", 1)
    inside = "".join(f"    {line}" if line.strip() else line for line in code.splitlines(keepends=True))
    return source.replaced((start, end, f"class Holder:\n{inside}\n\n\n{function.name} = Holder().{function.name}"))


def decorated(source: Source) -> str:
    inside = [node for node in source.path if isinstance(node, ast.FunctionDef)]
    if not inside:
        raise DoesNotApply("the finding is about code of the module itself")
    function = inside[0]
    start, _ = source.bounds(function)
    text = source.replaced((start, start, f"@noted\n{' ' * function.col_offset}"))
    return f"import functools\n{source.with_definition(text, NOTED)}"


def in_a_block(source: Source) -> str:
    statement = source.statement
    start, end = source.bounds(statement)
    if "\n" in source.text[start:end]:
        raise DoesNotApply("the statement is a block itself")
    indent = " " * statement.col_offset
    code = source.text[start:end]
    return source.replaced((start, end, f"try:\n{indent}    {code}\n{indent}finally:\n{indent}    pass"))


def commented(source: Source) -> str:
    """Every argument of the outermost call around the finding, or in it, on a line of its own, with a comment."""
    calls = [node for node in source.path if isinstance(node, ast.Call)]
    calls += [node for node in ast.walk(source.statement) if isinstance(node, ast.Call)]
    call = next((one for one in calls if one.args or one.keywords), None)
    if call is None:
        raise DoesNotApply("there is no call with arguments")
    _, end = source.bounds(call)
    places = [source.bounds(one)[0] for one in (*call.args, *(keyword.value for keyword in call.keywords))]
    for keyword in call.keywords:
        value = source.bounds(keyword.value)[0]
        places.remove(value)
        places.append(value - len(f"{keyword.arg}=" if keyword.arg else "**"))
    indent = " " * (call.col_offset + 4)
    inserted = [(place, place, f"  # why\n{indent}# or not\n{indent}") for place in sorted(places)]
    return source.replaced(*inserted, (end - 1, end - 1, f",  # last\n{indent}"))


def carriage_returns(source: Source) -> str:
    return source.text.replace("\n", "\r\n")


def tabs(source: Source) -> str:
    inside_strings = set()
    for token in source.tokens:
        if token.type == tokenize.STRING:
            inside_strings |= set(range(token.start[0] + 1, token.end[0] + 1))
    lines = [
        line if number in inside_strings else re.sub(r"^(?: {4})+", lambda found: "\t" * (len(found[0]) // 4), line)
        for number, line in enumerate(source.lines, 1)
    ]
    if lines == source.lines:
        raise DoesNotApply("nothing is indented")
    return "".join(lines)


def old_carriage_returns(source: Source) -> str:
    return source.text.replace("\n", "\r")


def two_blanks(source: Source) -> str:
    """Indents of two blanks, where the tabs of `tabs` stand."""
    return re.sub(r"^\t+", lambda found: "  " * len(found[0]), tabs(source), flags=re.MULTILINE)


def trailing_comments(source: Source) -> str:
    """A comment at the end of each statement."""
    ends = {token.start for token in source.tokens if token.type == tokenize.NEWLINE}
    places = [source.offset(*place) for place in ends]
    return source.replaced(*((place, place, "  # why: é𝒳") for place in places))


def form_feeds(source: Source) -> str:
    """A form feed before each statement of the module; it starts no new line."""
    starts = [source.offset(min([node.lineno, *_decorators(node)]), 0) for node in source.tree.body]
    return source.replaced(*((place, place, "\f") for place in set(starts)))


def header(source: Source) -> str:
    return f"#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# Licence: © none\n\n{source.text}"


def backslashes(source: Source) -> str:
    """Lines that go on behind each `import` and `=` of a statement."""
    places = []
    depth = 0
    for token in source.tokens:
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        if not depth and token.string in ("import", "="):
            places.append(source.offset(*token.end))
    if not places:
        raise DoesNotApply("no statement imports or assigns")
    return source.replaced(*((place, place, " \\\n   ") for place in places))


def _decorators(node: ast.stmt) -> list[int]:
    return [one.lineno for one in getattr(node, "decorator_list", [])]


def byte_order_mark(source: Source) -> str:
    return codecs.BOM_UTF8.decode() + source.text.rstrip("\n")


VARIANTS: dict[str, Callable[[Source], str]] = {
    "as the page has it": lambda source: source.text,
    "aliases": aliases,
    "other import forms": other_imports,
    "star import": star_import,
    "nested call": nested_call,
    "twice on a line": twice_on_a_line,
    "in a method": in_a_method,
    "decorated": decorated,
    "in a block": in_a_block,
    "comments in the call": commented,
    "CRLF": carriage_returns,
    "carriage returns": old_carriage_returns,
    "tabs": tabs,
    "two blanks": two_blanks,
    "comments behind statements": trailing_comments,
    "form feeds": form_feeds,
    "header": header,
    "backslashes": backslashes,
    "byte-order mark, no last newline": byte_order_mark,
}
