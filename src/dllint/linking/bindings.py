"""Bindings of names: by statements, by `global` and `nonlocal`, and among `globals()`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint.facts.nodes import Attribute, CallRef, Constant, Name, Subscript
from dllint.facts.schema import Event, Expr, FileFacts, ImportedName, Scope
from dllint.linking.assignments import BINDING, incoming, targets

_NAMING = BINDING | {"import", "def", "class", "except"}


class Binding(NamedTuple):
    """One binding of a name in a scope.

    Attributes:
        kind: "value" (`expr` evaluated at the event), "import", "def", "class", "param" or "opaque" (an exception, a
            deleted name).
        number: the scope index of a def or class, or the position of a parameter.
    """

    kind: str
    event: Event | None
    expr: Expr | None
    number: int


def bindings(facts: FileFacts, index: int, declared: dict[str, str]) -> dict[str, list[Binding]]:
    """Return the bindings of each name that a scope binds, in source order. `declared` are the names that belong to
    another scope."""
    scope = facts.scopes[index]
    found: dict[str, list[Binding]] = {}
    for position, param in enumerate(scope.params):
        found[param.name] = [Binding("param", None, None, position)]
    for event in scope.events:
        target = event.target
        if event.kind == "assign" and isinstance(target, Name):
            if event.value is not None and target.id not in declared:
                found.setdefault(target.id, []).append(Binding("value", event, incoming(event), -1))
            continue
        for name, binding in bound(event, facts.scopes) if event.kind in _NAMING else ():
            changes = binding.kind == "def" and name in found and _changes_property(facts.scopes[binding.number])
            if name not in declared and not changes:
                found.setdefault(name, []).append(binding)
    for event, name in set_among_globals(facts, 0) if not index else ():
        found.setdefault(name, []).append(Binding("value", event, incoming(event), -1))
        found[name].sort(key=lambda one: one.event.span.start if one.event is not None else (0, 0))
    return found


def bound(event: Event, scopes: list[Scope]) -> Iterator[tuple[str, Binding]]:
    """Yield the names that a statement binds, each with its binding."""
    kind = event.kind
    if kind in BINDING:
        if event.target is None or (event.value is None and kind == "assign"):
            return
        for target, value in targets(event.target, incoming(event)):
            if isinstance(target, Name):
                yield target.id, Binding("value", event, value, -1)
    elif isinstance(event.detail, ImportedName):
        module, name, alias, _level = event.detail
        bound = alias or (module.split(".")[0] if name is None else name)
        yield bound, Binding("import", event, None, -1)
    elif isinstance(event.detail, int):
        yield scopes[event.detail].name, Binding("def", event, None, event.detail)
    elif kind == "except" and isinstance(event.target, Name):
        yield event.target.id, Binding("opaque", event, None, -1)


def _changes_property(scope: Scope) -> bool:
    """Whether a function is the setter or deleter of a property, which does not change the getter."""
    return any(
        isinstance(one.expr, Attribute)
        and one.expr.value == Name(scope.name)
        and one.expr.attr in ("setter", "deleter")
        for one in scope.decorators
    )


def declarations(scopes: list[Scope]) -> dict[int, dict[str, str]]:
    """Return the names that functions and classes declare, by scope, each with "global" or "nonlocal". At the top
    level, where all names are global, the statement changes nothing."""
    found: dict[int, dict[str, str]] = {}
    for index, scope in enumerate(scopes):
        for event in scope.events_of("global", "nonlocal") if index else ():
            found.setdefault(index, {}).update(dict.fromkeys(declared_names(event), event.kind))
    return found


def declared_names(event: Event) -> list[str]:
    """Return the names of a `global` or `nonlocal` statement."""
    return event.detail if isinstance(event.detail, list) else []


def imports(scopes: list[Scope]) -> Iterator[tuple[int, Event, ImportedName]]:
    """Yield the import statements, each with the scope that contains it and what it imports."""
    for number, scope in enumerate(scopes):
        for event in scope.events_of("import"):
            if isinstance(event.detail, ImportedName):
                yield number, event, event.detail


def packages(imported: list[tuple[int, Event, ImportedName]]) -> frozenset[str]:
    """Return all imported modules, their top-level packages, and the names imported from them."""
    found: set[str] = set()
    for _, _, (module, name, _, _) in imported:
        found.update((module, module.split(".")[0]))
        if name:
            found.add(name)
    return frozenset(found)


def set_among_globals(facts: FileFacts, scope: int) -> Iterator[tuple[Event, str]]:
    """Yield the statements `globals()["name"] = …` of a scope."""
    for event in facts.scopes[scope].storing() if facts.called.get("globals") else ():
        target = event.target
        if event.kind == "assign" and isinstance(target, Subscript) and isinstance(target.value, CallRef):
            name = target.index.value if isinstance(target.index, Constant) else None
            if isinstance(name, str) and facts.calls[target.value.index].func == Name("globals"):
                yield event, name


def rebound_by_exec(facts: FileFacts, name: str) -> bool:
    """Whether the module may rebind a name by `exec` of a string, unless that is a literal without the name."""
    for index in facts.called.get("exec", ()):
        call = facts.calls[index]
        text = call.args[0].value if len(call.args) == 1 else None
        written = text.value if isinstance(text, Constant) else None
        if call.scope == 0 and text is not None and (not isinstance(written, str) or name in written):
            return True
    return False


def fills_globals(facts: FileFacts) -> bool:
    """Whether a function or the module changes its `globals()` under unknown names."""
    if facts.called.get("globals") is None:
        return False
    changed = [facts.calls[index].func for index in facts.called.get("update", ())]
    changed += [
        event.target
        for scope in facts.scopes
        for event in scope.storing()
        if isinstance(event.target, Subscript) and not isinstance(event.target.index, Constant)
    ]
    return any(
        isinstance(one, (Attribute, Subscript))
        and isinstance(one.value, CallRef)
        and facts.calls[one.value.index].func == Name("globals")
        for one in changed
    )
