"""What the analysis computes of one file alone, for `SourceFile.derived`, `named` and `each`."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, CallRef, Constant, Dict, Expr, List, Name, Starred, Subscript, Tuple
from dllint.facts.schema import Annotation, Event
from dllint.linking.assignments import Store
from dllint.linking.expressions import without_calls
from dllint.linking.implicit_calls import expressions
from dllint.linking.reads import RegionRef, ScopeRef
from dllint.linking.source import SourceFile, last_name
from dllint.span import Span

_COUNTS = ("num_workers", "dataloader_num_workers")


def functions_in(file: SourceFile, scope: int) -> dict[str, int]:
    """Return the functions that a class defines directly in its body, by name (the last definition wins)."""
    found: dict[str, int] = {}
    for name, bindings in file.bindings(scope).items():
        defined = [one.number for one in bindings if one.kind == "def"]
        if defined and file.scopes[defined[-1]].kind == "function":
            found[name] = ScopeRef(defined[-1])
    return found


def stores_by_name(file: SourceFile, scope: int) -> dict[str, list[Store]]:
    """Return the assignments of a scope to attributes, by the attribute."""
    found: dict[str, list[Store]] = {}
    for store in file.stores(scope):
        if isinstance(store.key, str):
            found.setdefault(store.key, []).append(store)
    return found


def stores_of_methods(file: SourceFile, cls: int) -> dict[str, list[Store]]:
    """Return the assignments to attributes directly in the scopes inside a class, by the attribute."""
    found: dict[str, list[Store]] = {}
    for scope in file.children.get(cls, ()):
        for name, stores in stores_by_name(file, scope).items():
            found.setdefault(name, []).extend(stores)
    return found


def receivers_in(file: SourceFile, cls: int) -> list[str]:
    """Return the names of the first parameters of the methods of a class."""
    first = (file.scopes[scope].params[:1] for scope in file.children.get(cls, ()))
    return [*dict.fromkeys(param.name for params in first for param in params)]


def stores_in_functions(file: SourceFile) -> dict[str, list[Store]]:
    """Return the assignments to attributes by all scopes of a file but the module, by the attribute."""
    found: dict[str, list[Store]] = {}
    for scope in range(1, len(file.scopes)):
        for name, stores in stores_by_name(file, scope).items():
            found.setdefault(name, []).extend(stores)
    return found


def worker_counts_in(file: SourceFile, scope: int) -> list[str]:
    """Return the last names of the worker counts that a scope passes, or puts into a dict: `num_workers=args.workers`,
    `{"num_workers": args.workers}`."""
    given = [one for index in file.calls_of(scope) for one in file.calls[index].args]
    counts = [one.value for one in given if one.keyword in _COUNTS]
    written = (event.value for event in file.scopes[scope].events if event.value is not None)
    for value in (*written, *(one.value for one in given)):
        if isinstance(value, Dict):
            counts += [entry for key, entry in value.items if isinstance(key, Constant) and key.value in _COUNTS]
    return [*dict.fromkeys(name for one in counts if (name := name_of(one)))]


def name_of(expr: Expr) -> str | None:
    """Return the last name of a variable, an attribute or an entry: that of `args["workers"]` is "workers"."""
    if not isinstance(expr, Subscript):
        return last_name(expr)
    return expr.index.value if isinstance(expr.index, Constant) and isinstance(expr.index.value, str) else None


def stores_of_items(file: SourceFile, scope: int) -> list[Store]:
    """Return the assignments of a scope to items."""
    return [one for one in file.stores(scope) if not isinstance(one.key, str)]


def stores_elsewhere(file: SourceFile, scope: int) -> list[Store]:
    """Return the assignments of a scope to attributes of anything but `self`."""
    return [one for one in file.stores(scope) if isinstance(one.key, str) and one.base != Name("self")]


def setters_in(file: SourceFile, cls: int) -> list[tuple[str, ScopeRef]]:
    """Return the setters of properties in a class, by name."""
    return [
        (file.scopes[scope].name, ScopeRef(scope))
        for scope in file.children.get(cls, ())
        if any(last_name(one.expr) == "setter" for one in file.scopes[scope].decorators)
    ]


def constructed_in(file: SourceFile, scope: int) -> list[tuple[str, Expr]]:
    """Return the names that a scope binds once, to what a call returns."""
    return [
        (name, bindings[0].expr)
        for name, bindings in file.bindings(scope).items()
        if len(bindings) == 1 and isinstance(bindings[0].expr, CallRef)
    ]


def annotated_in(file: SourceFile, scope: int) -> dict[str, list[Event]]:
    """Return the annotated assignments of a class body, by name."""
    found: dict[str, list[Event]] = {}
    for event in file.scopes[scope].events_of("assign"):
        if isinstance(event.detail, Annotation) and isinstance(event.target, Name):
            found.setdefault(event.target.id, []).append(event)
    return found


def unpacked_in(file: SourceFile, scope: int) -> list[tuple[Expr, Span, RegionRef, Span, bool]]:
    """Return the iterables unpacked in the expressions of a scope, each with its span, region and statement, and
    whether it is the whole expression."""
    return [
        (part.value, span, RegionRef(region), statement, part is expr)
        for expr, span, region, statement in expressions(file, scope)
        for part in without_calls(expr)
        if isinstance(part, Starred)
    ]


def looped_in(file: SourceFile, scope: int) -> list[tuple[Expr, Span, RegionRef, Span, bool]]:
    """Return what a scope iterates without a call, each with its span, region and statement, and whether it is
    unpacked."""
    entry, calls = file.scopes[scope], (file.calls[index] for index in file.calls_of(scope))
    return [
        *(
            (event.value, event.span, RegionRef(event.region), event.span, False)
            for event in entry.events_of("for")
            if event.value is not None
        ),
        *(
            (event.value, event.value_span or event.span, RegionRef(event.region), event.span, True)
            for event in entry.events_of("assign")
            if isinstance(event.target, (Tuple, List)) and event.value is not None
        ),
        *(
            (expr, span, region, statement, not whole)
            for expr, span, region, statement, whole in unpacked_in(file, scope)
        ),
        *(
            (one.value, one.value_span, RegionRef(call.region), call.statement, True)
            for call in calls
            for one in call.args
            if one.keyword == "*"
        ),
    ]


def names_read(file: SourceFile, scope: int) -> list[str]:
    """Return the names and attribute names that a scope reads, or calls a part of."""
    found = {*file.loaded_in.get(scope, ())}
    for index in (*file.calls_of(scope), *file.absent):
        if file.calls[index].scope == scope:
            found.update(_attributes(file.calls[index].func))
    return sorted(found)


def names_one_of(file: SourceFile, *names: str) -> bool:
    """Return whether a file calls, reads or imports something by one of several last names."""
    imported = {one.name for _, _, one in file.imports()}
    return any(name in imported or file.facts.called.get(name) or file.facts.loaded.get(name) for name in names)


def _attributes(expr: Expr) -> Iterator[str]:
    """The names in an attribute or subscript chain: `x`, `a` and `b` of `x.a[0].b`."""
    while isinstance(expr, (Attribute, Subscript)):
        if isinstance(expr, Attribute):
            yield expr.attr
        expr = expr.value
    if isinstance(expr, Name):
        yield expr.id
