"""The mutations of containers that a file writes."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, Constant, Subscript
from dllint.facts.schema import Call, Expr, Operator
from dllint.inference.entries import Change
from dllint.linking.assignments import Store, entries_loop
from dllint.linking.source import SourceFile

_METHODS = {
    "update": "merge",
    "setdefault": "default",
    "append": "add",
    "insert": "add",
    "add": "add",
    "extend": "extend",
    "pop": "remove",
    "popitem": "remove",
    "remove": "discard",
    "discard": "discard",
    "clear": "clear",
    "sort": "sort",
    "reverse": "reverse",
    "merge_from_file": "opaque",
    "merge_from_list": "opaque",
    "merge_from_dict": "opaque",
    "merge_from_other_cfg": "opaque",
}
ADDING = frozenset(name for name, kind in _METHODS.items() if kind in ("merge", "default", "add", "extend"))
"""Methods that add elements or entries to a container."""


def is_other(written: Expr | str | None, key: object) -> bool:
    """Whether a key written as a constant certainly differs from `key`."""
    if isinstance(written, Constant):
        return bool(written.value != key)
    return isinstance(written, str) and written != key


def sets_dict(file: SourceFile, scope: int) -> bool:
    """Whether a scope sets the attribute `__dict__` of an object."""
    return any(store.key == "__dict__" for store in file.stores(scope))


def changes_in(file: SourceFile) -> Iterator[Change]:
    """Yield the mutations that a file writes."""
    for scope in range(len(file.scopes)):
        for store in file.stores(scope):
            yield _stored(file, store)
        for spread in file.spreads.get(scope, ()):
            at = spread.event.span.start
            kind = "merge" if spread.key is None else "set"
            yield Change(kind, file, scope, spread.event.region, at, spread.base, spread.key, spread.value)
        for event in file.scopes[scope].events:
            at = event.span.start
            target = event.target
            if event.kind == "delete" and isinstance(target, (Attribute, Subscript)):
                key = target.attr if isinstance(target, Attribute) else target.index
                yield Change("remove", file, scope, event.region, at, target.value, key, None)
            elif target is not None and event.detail in (Operator("|"), Operator("+")) and not _is_number(event.value):
                kind = "merge" if event.detail == Operator("|") else "extend"
                yield Change(kind, file, scope, event.region, at, target, None, event.value)
    for method, kind in _METHODS.items():
        for index in file.facts.called.get(method, ()):
            call = file.calls[index]
            if isinstance(call.func, Attribute):
                yield from _called(call, kind, call.func.value, file)


def _stored(file: SourceFile, store: Store) -> Change:
    """Return what an assignment changes: under one key, or under each key of the mapping whose entries a loop copies
    with it."""
    event = store.event
    at = event.span.start
    if not isinstance(store.key, str):
        copied = entries_loop(file.facts, store.scope, event.region, store.key, store.value)
        if copied is not None:
            loop, mapping = copied
            return Change("merge", file, store.scope, loop.region, at, store.base, None, mapping)
    return Change("set", file, store.scope, event.region, at, store.base, store.key, store.value)


def _is_number(expr: Expr | None) -> bool:
    """Whether an added operand is a number, which no container accepts."""
    return isinstance(expr, Constant) and isinstance(expr.value, (int, float, complex))


def _called(call: Call, kind: str, base: Expr, file: SourceFile) -> Iterator[Change]:
    at = call.statement.start
    where = (file, call.scope, call.region, at, base)
    plain = [argument.value for argument in call.args if argument.keyword is None]
    if kind == "merge":
        for argument in call.args:
            if argument.keyword in (None, "**"):
                yield Change("merge", *where, None, argument.value)
            else:
                yield Change("set", *where, Constant(argument.keyword), argument.value)
    elif kind == "default":
        if plain:
            yield Change(kind, *where, plain[0], plain[1] if len(plain) > 1 else Constant(None))
    elif kind in ("add", "extend"):
        if plain:
            yield Change(kind, *where, plain[0] if len(plain) > 1 else None, plain[-1])
    elif kind in ("remove", "discard"):
        yield Change(kind, *where, plain[0] if plain else None, None)
    elif kind == "sort" and call.args:
        yield Change("opaque", *where, None, None)
    else:
        yield Change(kind, *where, None, None)
