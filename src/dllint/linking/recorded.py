"""Files that record what the analysis reads of them, so that an edit of anything else leaves its result as it is.

The analysis is a deterministic program. If everything that it read is the same after an edit, except for positions and
the numbers of calls, it would do the same again. What it reads is recorded here, as finely as pays:

    a call           by its number: that it is there; its callee; how its arguments are passed; the value of each
    a region         by its number
    a header         of a function or class by its number, and where its body ends; or how many there are
    the statements   of a scope: all of them, or those of some kinds, or those that assign to attributes and items
    a name           that is looked up among the names that a scope binds
    a last name      whose calls or readers are looked up

What is computed from a whole file at once (`SourceFile.clauses`, the flows between names) reads from `raw`, which
records nothing; whoever does that records the parts of the result that are used (`Reads.note`), and `reread` compares
them. Of all scopes, kinds, decorators and bases and which contains which are compared always, like the structure of
regions, so reading them is not recorded. A scope that only one version has may be a plain function that nothing asks
for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from dllint.facts.schema import Call, Event, FileFacts, ImportedName, Region
from dllint.linking.assignments import Spread, Store
from dllint.linking.bindings import Binding
from dllint.linking.reads import WHOLE, Reads
from dllint.linking.recorded_parts import Calls, Lookups, Named, Numbered, RecordedScope, Scopes
from dllint.linking.source import SourceFile
from dllint.span import Span

T = TypeVar("T")


class RecordedFile(SourceFile):
    """A file that records what is read of it. `raw` is the same file without that."""

    def __init__(self, raw: SourceFile) -> None:
        facts = raw.facts
        super().__init__(raw.path, facts, raw.absent)
        self.reads = reads = Reads()
        self._raw = raw
        scopes = (RecordedScope(scope, index, reads) for index, scope in enumerate(facts.scopes))
        self.scopes = Scopes(scopes, reads.headers)
        self.children = Named(self.children, reads.asked["children"])
        self.calls = Calls(raw.calls, reads)
        self.facts = FileFacts(
            self.scopes,
            Calls(facts.calls, reads),
            Numbered(facts.regions, reads.regions),
            Named(facts.called, reads.called),
            Named(facts.loaded, reads.loaded),
            facts.aliases,
            facts.lines,
        )
        self._recorded_bindings: dict[int, Named] = {}

    @property
    def raw(self) -> SourceFile:
        return self._raw

    def adopt_implicit(self) -> None:
        """Take over the implicit calls that were added to `raw`."""
        raw = self._raw
        self.calls = Calls(raw.calls, self.reads)
        self.decorations, self.mapped, self.members = raw.decorations, raw.mapped, raw.members
        self.decorating, self.making_decorators = raw.decorating, raw.making_decorators
        self.member_names = raw.member_names

    def note(self, query: str, argument: object = None) -> None:
        self.reads.asked[query].add(argument)

    def derived(self, function: Callable[..., T], *arguments: int | str) -> T:
        self.reads.asked["derived"].add((function.__module__, function.__name__, *arguments))
        return function(self._raw, *arguments)

    def named(self, function: Callable[..., dict[str, T]], *arguments: int | str) -> dict[str, T]:
        lookups = Lookups(self.reads.asked["named"], (function.__module__, function.__name__), arguments)
        return Named(function(self._raw, *arguments), lookups)

    def of_call(self, function: Callable[[SourceFile, int], T], index: int) -> T:
        self.reads.asked["of_call"].add((function.__module__, function.__name__, index))
        return function(self._raw, index)

    def each(self, function: Callable[..., T], *arguments: str) -> list[tuple[int, T]]:
        self.reads.asked["each"].add((function.__module__, function.__name__, *arguments))
        return self._raw.each(function, *arguments)

    def callee(self, index: int) -> Any:
        self.reads.callees.add(index)
        return self._raw.calls[index].func

    def place_of(self, index: int) -> Call:
        self.reads.calls.add(index)
        return self._raw.calls[index]

    @property
    def aliases(self) -> list[tuple[str, str]]:
        self.reads.asked["aliases"].add(None)
        return self._raw.aliases

    def aliases_in(self, scope: int) -> list[tuple[str, str]]:
        self.reads.asked["aliases_in"].add(scope)
        return self._raw.aliases_in(scope)

    def calls_of(self, scope: int) -> list[int]:
        self.reads.asked["calls_of"].add(scope)
        return self._raw.calls_of(scope)

    def calls_given(self, scope: int, name: str) -> list[int]:
        self.reads.asked["calls_given"].add((scope, name))
        return self._raw.calls_given(scope, name)

    def call_at(self, span: Span) -> int | None:
        found = self._raw.call_at(span)
        self.reads.calls.add(WHOLE if found is None else found)
        return found

    def call_around(self, span: Span) -> int | None:
        found = self._raw.call_around(span)
        if found is None:
            self.reads.calls.add(WHOLE)
        else:
            self.reads.asked["call_around"].add(found)
        return found

    def scopes_around(self, span: Span) -> list[int]:
        return self._raw.scopes_around(span)

    @property
    def all_declared(self) -> dict[int, dict[str, str]]:
        # Compared always.
        return self._raw.all_declared

    def imports(self) -> list[tuple[int, Event, ImportedName]]:
        self.reads.asked["imports"].add(None)
        return self._raw.imports()

    @property
    def discarded(self) -> frozenset[int]:
        # Compared for all calls.
        return self._raw.discarded

    def bindings(self, scope: int) -> dict[str, list[Binding]]:
        found = self._recorded_bindings.get(scope)
        if found is None:
            found = Named(self._raw.bindings(scope), self.reads.names[scope])
            self._recorded_bindings[scope] = found
        return found

    @property
    def scopes_binding(self) -> Any:
        return Named(self._raw.scopes_binding, self.reads.asked["scopes_binding"])

    def stores(self, scope: int) -> list[Store]:
        self.reads.asked["stores"].add(scope)
        return self._raw.stores(scope)

    @property
    def spreads(self) -> dict[int, list[Spread]]:
        self.reads.asked["spreads"].add(None)
        return self._raw.spreads

    def regions_of(self, kind: str) -> list[tuple[int, Region]]:
        self.reads.asked["regions_of"].add(kind)
        return self._raw.regions_of(kind)

    def regions(self, region: int) -> Iterator[int]:
        return self._raw.regions(region)

    def encloses(self, outer: int, inner: int) -> bool:
        return self._raw.encloses(outer, inner)

    @property
    def clauses(self) -> dict[int, Event]:
        # Compared always.
        return self._raw.clauses

    def inside(self, comprehension: Any, at: tuple[int, int], around: int) -> int:
        return self._raw.inside(comprehension, at, around)
