"""A linked file: its facts with the indices that questions about scopes and names need."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Comprehension,
    Constant,
    Defined,
    Element,
    Entered,
    List,
    Name,
    Opaque,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.nodes import last_name as last_name
from dllint.facts.schema import Call, Event, Expr, FileFacts, ImportedName, Operator, Scope
from dllint.span import Span


class Binding(NamedTuple):
    """One way in which a name gets a value in a scope.

    `kind` is "value" (`expr` evaluated at the event), "import", "def", "class", "param" or "opaque" (an exception,
    a deleted name). `number` is the scope index of a def or class, or the position of a parameter.
    """

    kind: str
    event: Event | None
    expr: Expr | None
    number: int


class Store(NamedTuple):
    """`base.attr = value` (or `base[key] = value`) in `scope`."""

    scope: int
    event: Event
    base: Expr
    key: str | Expr
    value: Expr | None


class SourceFile:
    """One file of the project."""

    def __init__(self, path: str, facts: FileFacts, absent: frozenset[int] = frozenset()) -> None:
        """`absent` are calls that no target runs."""
        self.path = path
        self._absent = absent
        self.facts = facts
        self.scopes: list[Scope] = facts.scopes
        self.calls: list[Call] = list(facts.calls)
        self.children: dict[int, list[int]] = {}
        self.decorations: dict[int, int] = {}
        """The call of the uppermost decorator of a scope, of those that may put something in its place."""
        self.decorating: set[int] = set()
        """The calls of decorators."""
        self.making_decorators: set[int] = set()
        """The calls that give them: `repeat(3)` of `@repeat(3)`."""
        for index, scope in enumerate(facts.scopes):
            self.children.setdefault(scope.parent, []).append(index)
        self.interned: dict[Hashable, Any] = {}
        """Where the interpreter keeps its one object for equal parts, as long as the file itself is kept."""
        self.asks_callable = bool(facts.called.get("callable"))
        self.tests: dict[tuple[int, int, Expr], list[tuple[Expr, bool, int]]] = {}
        self.replacing_tests: dict[tuple[int, str], list[tuple[Event, int]]] = {}
        self.main_guards: frozenset[int] | None = None
        self.replacements: dict[int, list[tuple[Event, int]]] = {}
        self._bindings: dict[int, dict[str, list[Binding]]] = {}
        self._stores: dict[int, list[Store]] = {}
        self._calls_of: dict[int, list[int]] | None = None
        self._globals: dict[str, list[Binding]] | None = None
        self._imports: list[tuple[int, Event, ImportedName]] | None = None
        self._packages: frozenset[str] | None = None
        self._clauses: dict[int, Event] | None = None
        self._clauses_at: dict[tuple[int, int], list[int]] = {}

    def __repr__(self) -> str:
        return f"<{self.path}>"

    def __lt__(self, other: SourceFile) -> bool:
        return self.path < other.path

    def calls_of(self, scope: int) -> list[int]:
        """Indices of the calls that stand directly in a scope, in source order; those without parentheses last."""
        if self._calls_of is None:
            self._calls_of = {}
            for index, call in enumerate(self.calls):
                if index in self._absent:
                    continue
                self._calls_of.setdefault(call.scope, []).append(index)
        return self._calls_of.get(scope, [])

    def applied(self, scope: int) -> Iterator[int]:
        """The calls of the decorators of a scope, the uppermost first."""
        call = self.decorations.get(scope)
        while call is not None:
            yield call
            given = self.calls[call].args[0].value
            call = given.index if isinstance(given, CallRef) else None

    def add_call(self, call: Call) -> int:
        """Put a call that is written without parentheses beside the others; gives its index."""
        if self._calls_of is not None:
            self._calls_of.setdefault(call.scope, []).append(len(self.calls))
        self.calls.append(call)
        return len(self.calls) - 1

    def bindings(self, scope: int) -> dict[str, list[Binding]]:
        """What each name that the scope binds is bound to, in source order."""
        found = self._bindings.get(scope)
        if found is None:
            found = {}
            self._bindings[scope] = found
            for position, param in enumerate(self.scopes[scope].params):
                found[param.name] = [Binding("param", None, None, position)]
            outer: set[str] = set()
            for event in self.scopes[scope].events:
                kind, target = event.kind, event.target
                if kind == "assign" and isinstance(target, Name):
                    if event.value is not None:
                        found.setdefault(target.id, []).append(Binding("value", event, _incoming(event), -1))
                    continue
                if kind in ("global", "nonlocal"):
                    outer.update(declared_names(event))
                for name, binding in _bound(event) if kind in _NAMING else ():
                    if name == "" and binding.kind == "def":
                        name = self.scopes[binding.number].name
                    found.setdefault(name, []).append(binding)
            for name in outer:
                found.pop(name, None)
        return found

    def global_bindings(self, name: str) -> list[tuple[int, Binding]]:
        """Assignments to a module-level name from functions that declare it `global`, with their scopes."""
        if self._globals is None:
            self._globals = {}
            self._global_scopes: dict[str, list[int]] = {}
            for index, scope in enumerate(self.scopes):
                declared = {name for event in scope.events_of("global") for name in declared_names(event)}
                for event in scope.events if declared else ():
                    for bound, binding in _bound(event):
                        if bound in declared:
                            self._globals.setdefault(bound, []).append(binding)
                            self._global_scopes.setdefault(bound, []).append(index)
        return list(zip(self._global_scopes.get(name, []), self._globals.get(name, []), strict=False))

    def stores(self, scope: int) -> list[Store]:
        """Assignments to attributes and items that stand directly in a scope."""
        found = self._stores.get(scope)
        if found is None:
            found = [store for event in self.scopes[scope].storing() for store in _stored(scope, event)]
            for index in self.facts.called.get("setattr", ()):
                if self.calls[index].scope == scope and (store := _set(self.calls[index])) is not None:
                    found.append(store)
            self._stores[scope] = found
        return found

    def regions(self, region: int) -> Iterator[int]:
        """A region and those around it, innermost first, without the scope's own body."""
        while region:
            yield region
            region = self.facts.regions[region].parent

    def encloses(self, outer: int, inner: int) -> bool:
        """Whether region `outer` is `inner` or lies around it."""
        if not outer:
            return True
        while inner:
            if inner == outer:
                return True
            inner = self.facts.regions[inner].parent
        return False

    @property
    def clauses(self) -> dict[int, Event]:
        """The `for` clauses of comprehensions, by the regions in which their targets hold."""
        if self._clauses is None:
            self._clauses = {}
            regions: dict[int, list[int]] = {}
            for index, region in enumerate(self.facts.regions):
                if region.kind == "for":
                    regions.setdefault(region.parent, []).append(index)
            for scope in self.scopes if regions else ():
                for event in scope.events_of("for"):
                    if event.detail == "comp" and event.value_span is not None:
                        for index in regions.get(event.region, ()):
                            region = self.facts.regions[index]
                            if region.span.covers(event.value_span) and region.expr == event.value:
                                self._clauses[index] = event
                                self._clauses_at.setdefault(_start(event), []).append(index)
        return self._clauses

    def inside(self, comprehension: Comprehension, at: tuple[int, int], around: int) -> int:
        """The region of the elements of a comprehension in the statement that begins at a place; `around` where it is
        not found."""
        target, iterable, _ = comprehension.clauses[-1]
        clauses = self.clauses
        for region in self._clauses_at.get(at, ()):
            if clauses[region].target == target and clauses[region].value == iterable:
                return region
        return around

    def enclosing_class(self, scope: int) -> int | None:
        """The class of which the function `scope`, or one around it (a lambda, a nested function), is a method."""
        while scope > 0:
            parent = self.scopes[scope].parent
            if parent >= 0 and self.scopes[parent].kind == "class":
                return parent
            scope = parent
        return None

    def method_of(self, scope: int) -> int | None:
        """The class whose body holds the function `scope` directly."""
        parent = self.scopes[scope].parent
        return parent if parent >= 0 and self.scopes[parent].kind == "class" else None

    def qualified_name(self, scope: int) -> str:
        names = []
        while scope > 0:
            names.append(self.scopes[scope].name)
            scope = self.scopes[scope].parent
        return ".".join(reversed(names)) or "<module>"

    def imports(self) -> list[tuple[int, Event, ImportedName]]:
        """The import statements, each with the scope that it stands in and what it imports."""
        if self._imports is None:
            self._imports = [
                (number, event, event.detail)
                for number, scope in enumerate(self.scopes)
                for event in scope.events_of("import")
                if isinstance(event.detail, ImportedName)
            ]
        return self._imports

    def imported_packages(self) -> frozenset[str]:
        """All modules that the file imports, their first names, and the names that it imports from them."""
        if self._packages is None:
            found: set[str] = set()
            for _, _, (module, name, _, _) in self.imports():
                found.add(module)
                found.add(module.split(".")[0])
                if name:
                    found.add(name)
            self._packages = frozenset(found)
        return self._packages

    def header(self, scope: int) -> Span:
        return self.scopes[scope].header


_BINDING = frozenset({"assign", "for", "with"})
_NAMING = _BINDING | {"import", "def", "class", "except"}


def decorated(file: SourceFile, call: int) -> int:
    """The definition that the call of a decorator stands above."""
    given = file.calls[call].args[0].value
    while isinstance(given, CallRef):
        given = file.calls[given.index].args[0].value
    assert isinstance(given, Defined)
    return given.scope


def declared_names(event: Event) -> list[str]:
    """The names of a `global` or `nonlocal` statement."""
    return event.detail if isinstance(event.detail, list) else []


def _start(event: Event) -> tuple[int, int]:
    return event.span.line, event.span.column


def _targets(target: Expr, value: Expr | None) -> Iterator[tuple[Expr, Expr | None]]:
    if isinstance(target, (Tuple, List)):
        starred = False
        values = value.elements if isinstance(value, (Tuple, List)) else ()
        same = len(values) == len(target.elements)
        for index, element in enumerate(target.elements):
            part: Expr | None
            if isinstance(element, Starred):
                starred, element, part = True, element.value, Opaque()
            elif value is None or starred:
                part = Opaque()
            elif same and not isinstance(values[index], Starred):
                part = values[index]
            else:
                part = Subscript(value, Constant(index))
            yield from _targets(element, part)
    else:
        yield target, value


def _incoming(event: Event) -> Expr | None:
    """The expression that stands for what an event assigns to its target."""
    value = event.value
    if value is None:
        return None
    if event.kind == "for":
        return Element(value)
    if event.kind == "with":
        return Entered(value)
    if isinstance(event.detail, Operator) and event.target is not None:
        return BinOp(event.detail.op, event.target, value)
    return value


def _bound(event: Event) -> Iterator[tuple[str, Binding]]:
    kind = event.kind
    if kind in _BINDING:
        if event.target is None or (event.value is None and kind == "assign"):
            return
        if isinstance(event.target, Name):
            yield event.target.id, Binding("value", event, _incoming(event), -1)
        elif isinstance(event.target, (Tuple, List)):
            for target, value in _targets(event.target, _incoming(event)):
                if isinstance(target, Name):
                    yield target.id, Binding("value", event, value, -1)
    elif isinstance(event.detail, ImportedName):
        module, name, alias, _level = event.detail
        if name is None:
            yield alias or module.split(".")[0], Binding("import", event, None, -1)
        elif name == "*":
            yield "*", Binding("import", event, None, -1)
        else:
            yield alias or name, Binding("import", event, None, -1)
    elif isinstance(event.detail, int):
        yield "", Binding("def", event, None, event.detail)
    elif kind == "except" and isinstance(event.target, Name):
        yield event.target.id, Binding("opaque", event, None, -1)


def _stored(scope: int, event: Event) -> Iterator[Store]:
    if event.kind not in _BINDING or event.target is None:
        return
    for target, value in _targets(event.target, _incoming(event)):
        if isinstance(target, Attribute):
            yield Store(scope, event, target.value, target.attr, value)
        elif isinstance(target, Subscript):
            yield Store(scope, event, target.value, target.index, value)


def _set(call: Call) -> Store | None:
    """`setattr(base, "attr", value)`"""
    if call.func != Name("setattr") or len(call.args) != 3 or any(one.keyword for one in call.args):
        return None
    base, key, value = call.args
    if not isinstance(key.value, Constant) or not isinstance(key.value.value, str):
        return None
    target = Attribute(base.value, key.value.value)
    event = Event("assign", call.statement, call.region, target, value.value, None, value.value_span)
    return Store(call.scope, event, base.value, key.value.value, value.value)
