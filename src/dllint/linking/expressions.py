"""Traversals of expressions: their parts, the operands of `+`, the keys that they write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from dllint.facts.nodes import Attribute, BinOp, CallRef, Constant, Dict, Name
from dllint.facts.schema import Expr
from dllint.linking.source import SourceFile

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


def walk(expr: Expr, file: SourceFile) -> Iterator[Expr]:
    """Yield an expression and all of its parts, including those of calls."""
    waiting = [expr]
    while waiting:
        expr = waiting.pop()
        yield expr
        if type(expr) is CallRef:
            call = file.calls[expr.index]
            waiting += [argument.value for argument in reversed(call.args)]
            waiting.append(call.func)
        else:
            waiting += reversed(expr.children())


def names_in(expr: Expr | None, file: SourceFile) -> set[str]:
    """Return the names in an expression, also inside its calls."""
    return set() if expr is None else {part.id for part in walk(expr, file) if isinstance(part, Name)}


def without_calls(expr: Expr) -> Iterator[Expr]:
    """Yield an expression and all of its parts, except those inside calls."""
    waiting = [expr]
    while waiting:
        expr = waiting.pop()
        yield expr
        waiting += reversed(expr.children())


def as_display(expr: Expr, file: SourceFile) -> Expr:
    """Return `dict(key=value)` as the display `{"key": value}`, `dict()` as `{}`, and any other expression as it is."""
    if not isinstance(expr, CallRef) or file.calls[expr.index].func != Name("dict"):
        return expr
    args = file.calls[expr.index].args
    if any(one.keyword in (None, "*", "**") for one in args):
        return expr
    return Dict(tuple((Constant(one.keyword), one.value) for one in args))


def summands(expr: Expr) -> list[Expr]:
    """Return the operands that an expression joins with `+`, or the expression itself."""
    if isinstance(expr, BinOp) and expr.op == "+":
        return [*summands(expr.left), *summands(expr.right)]
    return [expr]


def use_as_key(file: SourceFile, name: str) -> Literal["", "named", "filled"]:
    """How a file uses a name as a keyword or key: "filled" if a dict has an entry of that name that is not 0, "named"
    for the keyword of a call, an attribute or any other item; empty if it does not."""
    key = Constant(name)
    calls = file.calls
    stores = [store for scope in range(len(file.scopes)) for store in file.stores(scope) if store.key in (name, key)]
    values = [event.value for scope in file.scopes for event in scope.events if event.value is not None]
    values += [argument.value for call in calls for argument in call.args]
    entries = [
        value
        for whole in values
        for part in without_calls(whole)
        if isinstance(part, Dict)
        for one, value in part.items
        if one == key
    ]
    given = [(call.func, one.value) for call in calls for one in call.args if one.keyword == name]
    filled = [*entries, *(value for func, value in given if func == Name("dict"))]
    filled += [store.value for store in stores if store.key == key and store.value is not None]
    if any(one != Constant(0) for one in filled):
        return "filled"
    return "named" if stores or entries or given else ""


def stored_attributes(file: SourceFile, scope: int) -> Iterator[tuple[str, str]]:
    """Yield the attributes that a scope sets to another object's attribute, each with the name of that one: `self.load
    = task.load_batches`."""
    for store in file.stores(scope):
        if isinstance(store.key, str) and isinstance(store.value, Attribute):
            yield store.key, store.value.attr


def attributes_read(file: SourceFile, name: str) -> list[str]:
    """Return the attributes of a name that a file reads, in any of its scopes: ["load"] for `rows.load(path)`."""
    base = Name(name)
    written = [part for call in file.calls for part in (call.func, *(one.value for one in call.args))]
    events = (event for scope in file.scopes for event in scope.events)
    written += [part for event in events for part in (event.value, event.target) if part is not None]
    found = {
        part.attr
        for expr in written
        for part in without_calls(expr)
        if isinstance(part, Attribute) and part.value == base
    }
    return sorted(found)


def written_out(file: SourceFile) -> list[str]:
    """Return the dotted names that strings of a file's calls consist of: ["data.rows.Rows"] for
    `make(class_name="data.rows.Rows")`."""
    found = {
        part.value
        for call in file.calls
        for argument in call.args
        for part in without_calls(argument.value)
        if isinstance(part, Constant) and isinstance(part.value, str) and _DOTTED.fullmatch(part.value)
    }
    return sorted(found)
