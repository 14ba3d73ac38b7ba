"""A linked file: its facts, with indices for lookups by scope and by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import Any, TypeVar

from dllint.facts.aliases import aliases_by, aliases_of
from dllint.facts.nodes import CallRef, Comprehension, Name
from dllint.facts.nodes import last_name as last_name
from dllint.facts.schema import Call, Event, Expr, FileFacts, ImportedName, Region, Scope
from dllint.linking.assignments import Spread, Store, incoming, set_by_name, spreads, stored
from dllint.linking.bindings import (
    Binding,
    bindings,
    bound,
    declarations,
    fills_globals,
    imports,
    packages,
    rebound_by_exec,
    set_among_globals,
)
from dllint.linking.enclosing import Enclosing, comprehension_clauses
from dllint.notebooks import is_notebook
from dllint.span import Span

T = TypeVar("T")


_CONDITIONAL = frozenset({"if", "while", "case", "handler", "tryelse", "loopelse"})
"""Kinds of regions that a condition of the program leads to."""


class SourceFile:
    """One file of the project."""

    def __init__(self, path: str, facts: FileFacts, absent: frozenset[int] = frozenset()) -> None:
        """Index the facts of a file. `absent` are the calls that no target runs."""
        self.path = path
        self.absent = absent
        self.facts = facts
        self.scopes: list[Scope] = facts.scopes
        self.calls: list[Call] = list(facts.calls)
        self.children: dict[int, list[int]] = {}
        self.decorations: dict[int, int] = {}
        """Scope → the call of its uppermost decorator, among those that may replace the definition."""
        self.mapped: dict[int, int] = {}
        """Call of `map` → the call of its function for an element."""
        self.decorating: set[int] = set()
        """The calls of decorators."""
        self.making_decorators: set[int] = set()
        """The calls that return decorators: `repeat(3)` of `@repeat(3)`."""
        for index, scope in enumerate(facts.scopes):
            self.children.setdefault(scope.parent, []).append(index)
        self.interned: dict[Hashable, Any] = {}
        """Where the interpreter interns values of equal parts, for as long as the file itself lives."""
        self.asks_callable = bool(facts.called.get("callable"))
        self.asks_class = bool(facts.called.get("isinstance"))
        self.tests: dict[tuple[int, int, Expr], list[tuple[Expr, bool, int]]] = {}
        self.standing_tests: dict[tuple[int, int, tuple[int, int], Expr], list[tuple[Expr, bool, int]]] = {}
        self.standing_classes: dict[tuple[int, int, tuple[int, int], str], list[int]] = {}
        self.replacing_tests: dict[tuple[int, str], list[tuple[Event, int]]] = {}
        self.main_guards: frozenset[int] | None = None
        self.replacements: dict[int, list[tuple[Event, int]]] = {}
        # Whether the condition of a region is never true (`closed_values`).
        self.never_met: dict[int, bool] = {}
        # Name → its value, and the name that an import of the standard library gives it (`closed_values`).
        self.closed_names: dict[str, Any] = {}
        self.standard_names: dict[str, tuple[str, str | None]] | None = None
        # Scope → its statements by the names that they set (`conditions`).
        self.setting: dict[int, dict[str, list[Event]]] = {}
        self.in_every_process: dict[int, bool] = {}
        """Region → whether no condition on it asks which process runs (`runs_when_imported`)."""
        self.members: dict[tuple[int, str], int] = {}
        """Class and name of a member of an enumeration → the call that creates it."""
        self.member_names: dict[int, str] = {}
        self._bindings: dict[int, dict[str, list[Binding]]] = {}
        self._stores: dict[int, list[Store]] = {}
        self._calls_of: dict[int, list[int]] | None = None
        self._calls_given: dict[int, dict[str, list[int]]] = {}
        self._event_spans: dict[int, Enclosing] = {}

    def __repr__(self) -> str:
        return f"<{self.path}>"

    @property
    def is_notebook(self) -> bool:
        """Whether the file consists of the cells of a notebook, which nothing imports."""
        return is_notebook(self.path)

    def __lt__(self, other: SourceFile) -> bool:
        return self.path < other.path

    @property
    def raw(self) -> SourceFile:
        """The same file for readers that compute something of all of it, see `recorded`."""
        return self

    def note(self, query: str, argument: object = None) -> None:
        """Record that something was computed from `raw`."""

    def derived(self, function: Callable[..., T], *arguments: int | str) -> T:
        """Return what a function makes of the file: a function of a module that reads nothing else, whose result
        consists of facts, with `CallRef`, `RegionRef` and `ScopeRef` instead of numbers. Numbers among the arguments
        are scopes.

        What it reads is not recorded: the results are compared.
        """
        return function(self, *arguments)

    def named(self, function: Callable[..., dict[str, T]], *arguments: int | str) -> dict[str, T]:
        """Return what such a function makes of the file, by name: only the entries that are looked up are compared."""
        return function(self, *arguments)

    def of_call(self, function: Callable[[SourceFile, int], T], index: int) -> T:
        """Return what such a function makes of a call."""
        return function(self, index)

    def each(self, function: Callable[..., T], *arguments: str) -> list[tuple[int, T]]:
        """Return what such a function makes of each scope, by scope, without empty results."""
        return [(scope, found) for scope in range(len(self.scopes)) if (found := function(self, scope, *arguments))]

    def callee(self, index: int) -> Expr:
        """Return the callee of a call, for readers that need no more of it."""
        return self.calls[index].func

    def place_of(self, index: int) -> Call:
        """Return a call for readers of its scope, region and statement."""
        return self.calls[index]

    @property
    def aliases(self) -> list[tuple[str, str]]:
        """The pairs of last names (the second may be bound to the object that the first names)."""
        return self.facts.aliases

    def aliases_in(self, scope: int) -> list[tuple[str, str]]:
        """Return those pairs that the statements and calls of one scope make."""
        pairs = [*aliases_of(self.scopes[scope], self.calls)]
        pairs += [pair for index in self.calls_of(scope) for pair in aliases_by(self.calls[index], self.calls)]
        return pairs

    def calls_of(self, scope: int) -> list[int]:
        """Return the indices of the calls directly in a scope, in source order; implicit ones last."""
        if self._calls_of is None:
            self._calls_of = {}
            for index, call in enumerate(self.calls):
                if index in self.absent:
                    continue
                self._calls_of.setdefault(call.scope, []).append(index)
        return self._calls_of.get(scope, [])

    def call_at(self, span: Span) -> int | None:
        """Return the first call that covers exactly this range."""
        return self._calls_at.get(span)

    def call_around(self, span: Span) -> int | None:
        """Return the innermost call that covers a range."""
        index = self.call_at(span)
        return next(self.call_spans.around(span), None) if index is None else index

    @cached_property
    def call_spans(self) -> Enclosing:
        return Enclosing(call.span for call in self.calls)

    @cached_property
    def loaded_in(self) -> dict[int, list[str]]:
        """The names and attribute names that each scope reads without calling them."""
        found: dict[int, list[str]] = {}
        for name, scopes in self.facts.loaded.items():
            for scope in scopes:
                found.setdefault(scope, []).append(name)
        return found

    def scopes_around(self, span: Span) -> list[int]:
        """Return the scopes that contain a place, the outermost first."""
        return sorted(self._scope_spans.around(span))

    @cached_property
    def _scope_spans(self) -> Enclosing:
        return Enclosing(scope.span for scope in self.scopes)

    def events_around(self, scope: int, span: Span) -> list[Event]:
        """Return the statements of a scope whose spans cover a place, in source order."""
        found = self._event_spans.get(scope)
        if found is None:
            found = self._event_spans[scope] = Enclosing(event.span for event in self.scopes[scope].events)
        return [self.scopes[scope].events[number] for number in sorted(found.around(span))]

    @cached_property
    def _calls_at(self) -> dict[Span, int]:
        return {call.span: index for index, call in reversed([*enumerate(self.calls)])}

    def calls_given(self, scope: int, name: str) -> list[int]:
        """Return those of `calls_of` that pass a name as a whole argument."""
        found = self._calls_given.get(scope)
        if found is None:
            found = self._calls_given[scope] = {}
            for index in self.calls_of(scope):
                for given in {one.value.id for one in self.calls[index].args if isinstance(one.value, Name)}:
                    found.setdefault(given, []).append(index)
        return found.get(name, [])

    @cached_property
    def discarded(self) -> frozenset[int]:
        """The calls that are a whole statement, so nothing iterates or awaits what they return."""
        return frozenset(
            event.value.index
            for scope in self.scopes
            for event in scope.events_of("expr")
            if type(event.value) is CallRef
        )

    def applied(self, scope: int) -> Iterator[int]:
        """Yield the calls of the decorators of a scope, uppermost first."""
        call = self.decorations.get(scope)
        while call is not None:
            yield call
            given = self.calls[call].args[0].value
            call = given.index if isinstance(given, CallRef) else None

    def add_call(self, call: Call) -> int:
        """Add an implicit call. Returns its index."""
        if self._calls_of is not None:
            self._calls_of.setdefault(call.scope, []).append(len(self.calls))
            self._calls_given.pop(call.scope, None)
        self.calls.append(call)
        return len(self.calls) - 1

    def bindings(self, scope: int) -> dict[str, list[Binding]]:
        """Return the bindings of each name that the scope binds, in source order."""
        found = self._bindings.get(scope)
        if found is None:
            found = self._bindings[scope] = bindings(self.facts, scope, self.declared(scope))
        return found

    def declared(self, scope: int) -> dict[str, str]:
        """Return the names that a function declares, each with "global" or "nonlocal"."""
        return self.all_declared.get(scope, {})

    @cached_property
    def all_declared(self) -> dict[int, dict[str, str]]:
        return declarations(self.scopes)

    @cached_property
    def scopes_binding(self) -> Counter[str]:
        """The number of scopes that bind each name."""
        return Counter(name for scope in range(len(self.scopes)) for name in self.bindings(scope))

    def bindings_within(self, scope: int, name: str) -> list[tuple[int, Binding]]:
        """Return the assignments to a scope's name by functions that declare it `global` or `nonlocal` (or set it in
        `globals()`), with their scopes."""
        return self.within.get((scope, name), [])

    @cached_property
    def within(self) -> dict[tuple[int, str], list[tuple[int, Binding]]]:
        """All such assignments, by the scope that owns the name and the name."""
        found: dict[tuple[int, str], list[tuple[int, Binding]]] = {}
        for index, declared in self.all_declared.items():
            for event in self.scopes[index].events:
                for name, binding in bound(event, self.scopes):
                    if name in declared:
                        found.setdefault((self.owner(name, index), name), []).append((index, binding))
        for index in {self.calls[call].scope for call in self.facts.called.get("globals", ())} - {0}:
            for event, name in set_among_globals(self.facts, index):
                binding = Binding("value", event, incoming(event), -1)
                found.setdefault((0, name), []).append((index, binding))
        return found

    def owner(self, name: str, scope: int) -> int:
        """Return the enclosing scope that owns a name which a function declares `global` or `nonlocal`."""
        if self.declared(scope)[name] == "nonlocal":
            while scope > 0:
                scope = self.scopes[scope].parent
                if self.scopes[scope].kind == "function" and name in self.bindings(scope):
                    return scope
        return 0

    def rewrites(self, name: str) -> bool:
        """Whether the module may rebind a name in a way known only at run time."""
        return rebound_by_exec(self.facts, name) or self._fills_globals

    @cached_property
    def _fills_globals(self) -> bool:
        return fills_globals(self.facts)

    def stores(self, scope: int) -> list[Store]:
        """Return the assignments to attributes and items directly in a scope."""
        found = self._stores.get(scope)
        if found is None:
            found = [store for event in self.scopes[scope].storing() for store in stored(scope, event)]
            for index in (*self.facts.called.get("setattr", ()), *self.facts.called.get("__setattr__", ())):
                if (
                    self.calls[index].scope == scope
                    and (store := set_by_name(self.calls[index], self.facts)) is not None
                ):
                    found.append(store)
            self._stores[scope] = found
        return found

    @cached_property
    def spreads(self) -> dict[int, list[Spread]]:
        """Assignments to attributes whose names are computed at run time, by the scope that contains them."""
        found: dict[int, list[Spread]] = {}
        for spread in spreads(self.facts):
            found.setdefault(spread.scope, []).append(spread)
        return found

    def regions_of(self, kind: str) -> list[tuple[int, Region]]:
        """Return the regions of one kind, each with its index."""
        return self._by_kind.get(kind, [])

    @cached_property
    def _by_kind(self) -> dict[str, list[tuple[int, Region]]]:
        found: dict[str, list[tuple[int, Region]]] = {}
        for index, region in enumerate(self.facts.regions):
            found.setdefault(region.kind, []).append((index, region))
        return found

    @cached_property
    def branch_tests(self) -> dict[int, list[Region]]:
        """The tests of `if` and `while` statements, by the scope that makes them: the region of each first branch."""
        found: dict[int, list[Region]] = {}
        scopes = sorted(range(1, len(self.scopes)), key=lambda one: self.scopes[one].span.start, reverse=True)
        around = [0]
        for region in sorted(
            (one for one in self.facts.regions if one.expr is not None and one.holds), key=lambda one: one.span
        ):
            if region.kind not in ("if", "while"):
                continue
            while scopes and self.scopes[scopes[-1]].span.start <= region.span.start:
                around.append(scopes.pop())
            while len(around) > 1 and not self.scopes[around[-1]].span.covers(region.span):
                around.pop()
            found.setdefault(around[-1], []).append(region)
        return found

    def regions(self, region: int) -> Iterator[int]:
        """Yield a region and the regions around it, innermost first, without the scope's own body."""
        while region:
            yield region
            region = self.facts.regions[region].parent

    def encloses(self, outer: int, inner: int) -> bool:
        """Whether region `outer` is `inner` or contains it."""
        if not outer:
            return True
        while inner:
            if inner == outer:
                return True
            inner = self.facts.regions[inner].parent
        return False

    def is_conditional(self, region: int) -> bool:
        """Whether a place stands in a branch, an exception handler or a loop that may run no pass."""
        return any(self.facts.regions[index].kind in _CONDITIONAL for index in self.regions(region))

    @cached_property
    def clauses(self) -> dict[int, Event]:
        """The `for` clauses of comprehensions, by the regions in which their targets are bound."""
        return comprehension_clauses(self.facts)

    @cached_property
    def _clauses_at(self) -> dict[tuple[tuple[int, int], Expr | None, Expr | None], int]:
        found: dict[tuple[tuple[int, int], Expr | None, Expr | None], int] = {}
        for index, event in self.clauses.items():
            found.setdefault((event.span.start, event.target, event.value), index)
        return found

    def inside(self, comprehension: Comprehension, at: tuple[int, int], around: int) -> int:
        """Return the region of a comprehension's elements in the statement that begins at a place; `around` if it is
        not found."""
        target, iterable, _ = comprehension.clauses[-1]
        return self._clauses_at.get((at, target, iterable), around)

    def enclosing_class(self, scope: int) -> int | None:
        """Return the class of the method that is, or contains, the function `scope` (a lambda or a nested function);
        None if there is none."""
        while scope > 0:
            parent = self.scopes[scope].parent
            if parent >= 0 and self.scopes[parent].kind == "class":
                return parent
            scope = parent
        return None

    def method_of(self, scope: int) -> int | None:
        """Return the class whose body directly contains the function `scope`; None if there is none."""
        parent = self.scopes[scope].parent
        return parent if parent >= 0 and self.scopes[parent].kind == "class" else None

    def qualified_name(self, scope: int) -> str:
        names = []
        while scope > 0:
            names.append(self.scopes[scope].name)
            scope = self.scopes[scope].parent
        return ".".join(reversed(names)) or "<module>"

    def imports(self) -> list[tuple[int, Event, ImportedName]]:
        """Return the import statements, each with the scope that contains it and what it imports."""
        return self._imports

    @cached_property
    def _imports(self) -> list[tuple[int, Event, ImportedName]]:
        return list(imports(self.scopes))

    def imported_packages(self) -> frozenset[str]:
        """Return all modules that the file imports, their top-level packages, and the names imported from them."""
        return self._packages

    @cached_property
    def _packages(self) -> frozenset[str]:
        return packages(self.imports())

    def header(self, scope: int) -> Span:
        return self.scopes[scope].header
