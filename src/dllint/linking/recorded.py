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

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from dllint.facts.schema import Argument, Call, Event, FileFacts, ImportedName, Region, Scope
from dllint.linking.assignments import Spread, Store
from dllint.linking.implicit_calls import Common
from dllint.linking.source import Binding, SourceFile
from dllint.span import Span

T = TypeVar("T")
WHOLE = -1
"""Stands for all calls, or all regions, and for how many there are."""
ALL = "<all>"
"""Stands for all names, or for the statements of all kinds."""
STORING = "="
"""Stands for the statements that assign to attributes and items."""


class Reads:
    """What the analysis read of one file.

    Attributes:
        calls: by number, those of which it was read where they are; or `WHOLE`: everything of all calls.
        callees: the calls whose callee was read.
        shapes: the calls of which it was read how many arguments they pass, and by which keywords.
        values: the arguments whose values were read, by call and position.
        regions: by number, or `WHOLE`.
        headers: the scopes whose headers were read; `WHOLE`: how many scopes there are.
        extents: the scopes of which it was read where they end.
        called, loaded: the last names looked up in the facts of these names.
        events: scope → kinds of statements.
        names: scope → names looked up among its bindings.
        asked: what else was asked, by the name of the query and its argument.
    """

    def __init__(self) -> None:
        self.calls: set[int] = set()
        self.callees: set[int] = set()
        self.shapes: set[int] = set()
        self.values: set[tuple[int, int]] = set()
        self.regions: set[int] = set()
        self.headers: set[int] = set()
        self.extents: set[int] = set()
        self.called: set[str] = set()
        self.loaded: set[str] = set()
        self.events: defaultdict[int, set[str]] = defaultdict(set)
        self.names: defaultdict[int, set[str]] = defaultdict(set)
        self.asked: defaultdict[str, set[Any]] = defaultdict(set)


class ReadOfProject:
    """What the analysis read of all files at once.

    Attributes:
        common: what the implicit calls of each file depend on.
        called, loaded, aliases, aliased, stored_under, keys, defined: the names that were looked up, by the query.
        places: the locations of objects from which flows were followed.
    """

    def __init__(self) -> None:
        self.common = Common((), (), (), ())
        self.called: set[str] = set()
        self.loaded: set[str] = set()
        self.aliases: set[str] = set()
        self.aliased: set[str] = set()
        self.stored_under: set[str] = set()
        self.keys: set[str] = set()
        self.defined: set[str] = set()
        self.places: set[tuple[Any, ...]] = set()


class _Numbered(list[Any]):
    """A list that records which of its elements are read."""

    __slots__ = ("seen",)

    def __init__(self, elements: Iterable[Any], seen: set[int]) -> None:
        super().__init__(elements)
        self.seen = seen

    def __getitem__(self, index: Any) -> Any:
        self.seen.add(index if type(index) is int and index >= 0 else WHOLE)
        return list.__getitem__(self, index)

    def __iter__(self) -> Iterator[Any]:
        self.seen.add(WHOLE)
        return list.__iter__(self)

    def __len__(self) -> int:
        self.seen.add(WHOLE)
        return list.__len__(self)

    def __contains__(self, element: object) -> bool:
        self.seen.add(WHOLE)
        return list.__contains__(self, element)

    def __reversed__(self) -> Iterator[Any]:
        self.seen.add(WHOLE)
        return list.__reversed__(self)


class _Calls(_Numbered):
    """The calls of a file, each of which records what is read of it."""

    __slots__ = ("reads",)

    def __init__(self, calls: Iterable[Call], reads: Reads) -> None:
        super().__init__(calls, reads.calls)
        self.reads = reads

    def __getitem__(self, index: Any) -> Any:
        if type(index) is not int or index < 0:
            self.seen.add(WHOLE)
            return list.__getitem__(self, index)
        found = list.__getitem__(self, index)
        if type(found) is Call:
            self.seen.add(index)
            found = tuple.__new__(_RecordedCall, found)
            found.__dict__["_number"], found.__dict__["_reads"] = index, self.reads
            self[index] = found
        return found


class _Callee:
    """The callee of a call; records that it is read, once."""

    def __get__(self, call: _RecordedCall, owner: type | None = None) -> Any:
        kept = call.__dict__
        kept["_reads"].callees.add(kept["_number"])
        found = kept["func"] = tuple.__getitem__(call, 0)
        return found


class _Arguments:
    """The arguments of a call; records that they are read, once."""

    def __get__(self, call: _RecordedCall, owner: type | None = None) -> Any:
        kept = call.__dict__
        number, reads = kept["_number"], kept["_reads"]
        reads.shapes.add(number)
        given: Any = tuple.__getitem__(call, 1)
        found = kept["args"] = [tuple.__new__(_RecordedArgument, one) for one in given]
        for position, one in enumerate(found):
            one.__dict__["_number"], one.__dict__["_reads"] = (number, position), reads
        return found


class _Value:
    """The value of an argument; records that it is read, once."""

    def __get__(self, argument: _RecordedArgument, owner: type | None = None) -> Any:
        kept = argument.__dict__
        kept["_reads"].values.add(kept["_number"])
        found = kept["value"] = tuple.__getitem__(argument, 1)
        return found


class _RecordedTuple:
    """A tuple with names that records what is read of it, also when it is read as a tuple."""

    def _plain(self) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        return iter(self._plain())

    def __getitem__(self, index: Any) -> Any:
        return self._plain()[index]

    def __eq__(self, other: object) -> bool:
        return bool(self._plain() == (other._plain() if isinstance(other, _RecordedTuple) else other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._plain())

    def _replace(self, **parts: Any) -> Any:
        return self._plain()._replace(**parts)


class _RecordedArgument(_RecordedTuple, Argument):
    value = _Value()

    def _plain(self) -> Argument:
        return Argument(self.keyword, self.value, self.span, self.value_span)


class _RecordedCall(_RecordedTuple, Call):
    func = _Callee()
    args = _Arguments()

    def _plain(self) -> Call:
        args = [one._plain() for one in self.args]
        return Call(self.func, args, self.span, self.scope, self.region, self.statement)


class _Scopes(_Numbered):
    """The scopes of a file, each of which records what is read of it."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, int) or index < 0:
            self.seen.add(WHOLE)
        return list.__getitem__(self, index)


class _Named(dict[Any, Any]):
    """A dict that records which names are looked up in it."""

    __slots__ = ("seen",)

    def __init__(self, entries: dict[Any, Any], seen: set[Any]) -> None:
        super().__init__(entries)
        self.seen = seen

    def get(self, name: str, default: Any = None) -> Any:
        self.seen.add(name)
        return dict.get(self, name, default)

    def __getitem__(self, name: str) -> Any:
        self.seen.add(name)
        return dict.__getitem__(self, name)

    def __contains__(self, name: object) -> bool:
        self.seen.add(name)
        return dict.__contains__(self, name)

    def __iter__(self) -> Iterator[str]:
        self.seen.add(ALL)
        return dict.__iter__(self)

    def __len__(self) -> int:
        self.seen.add(ALL)
        return dict.__len__(self)

    def __bool__(self) -> bool:
        self.seen.add(ALL)
        return dict.__len__(self) > 0

    def keys(self) -> Any:
        self.seen.add(ALL)
        return dict.keys(self)

    def values(self) -> Any:
        self.seen.add(ALL)
        return dict.values(self)

    def items(self) -> Any:
        self.seen.add(ALL)
        return dict.items(self)


class _Lookups(set[str]):
    """The names looked up in the result of a function, recorded with the function."""

    __slots__ = ("arguments", "asked", "function")

    def __init__(self, asked: set[Any], function: tuple[str, str], arguments: tuple[int | str, ...]) -> None:
        super().__init__()
        self.asked, self.function, self.arguments = asked, function, arguments

    def add(self, name: str) -> None:
        self.asked.add((*self.function, name, *self.arguments))


class _RecordedScope(Scope):
    """A scope that records which of its statements are read."""

    def __init__(self, scope: Scope, number: int, reads: Reads) -> None:
        self.__dict__.update({name: one for name, one in scope.__dict__.items() if name in _COMPARED_ALWAYS})
        self.__dict__["_scope"] = scope
        self.__dict__["_seen"] = reads.events[number]
        self.__dict__["_number"] = number
        self.__dict__["_reads"] = reads

    @property
    def events(self) -> list[Event]:  # type: ignore[override]
        self.__dict__["_seen"].add(ALL)
        found: list[Event] = self.__dict__["_scope"].events
        return found

    def events_of(self, *kinds: str) -> list[Event]:
        self.__dict__["_seen"].update(kinds)
        found: list[Event] = self.__dict__["_scope"].events_of(*kinds)
        return found

    def storing(self) -> list[Event]:
        self.__dict__["_seen"].add(STORING)
        found: list[Event] = self.__dict__["_scope"].storing()
        return found


class _Part:
    """A part of a scope that records that it is read, once."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, scope: _RecordedScope, owner: type | None = None) -> Any:
        kept, name = scope.__dict__, self._name
        (kept["_reads"].extents if name == "span" else kept["_reads"].headers).add(kept["_number"])
        found = kept[name] = getattr(kept["_scope"], name)
        return found


_COMPARED_ALWAYS = frozenset({"kind", "parent", "region", "decorators", "bases"})
for _name in {*Scope.__match_args__} - _COMPARED_ALWAYS - {"events"}:
    setattr(_RecordedScope, _name, _Part(_name))


class RecordedFile(SourceFile):
    """A file that records what is read of it. `raw` is the same file without that."""

    def __init__(self, raw: SourceFile) -> None:
        facts = raw.facts
        super().__init__(raw.path, facts, raw.absent)
        self.reads = reads = Reads()
        self._raw = raw
        scopes = (_RecordedScope(scope, index, reads) for index, scope in enumerate(facts.scopes))
        self.scopes = _Scopes(scopes, reads.headers)
        self.children = _Named(self.children, reads.asked["children"])
        self.calls = _Calls(raw.calls, reads)
        self.facts = FileFacts(
            self.scopes,
            _Calls(facts.calls, reads),
            _Numbered(facts.regions, reads.regions),
            _Named(facts.called, reads.called),
            _Named(facts.loaded, reads.loaded),
            facts.aliases,
            facts.lines,
        )
        self._recorded_bindings: dict[int, _Named] = {}

    @property
    def raw(self) -> SourceFile:
        return self._raw

    def adopt_implicit(self) -> None:
        """Take over the implicit calls that were added to `raw`."""
        raw = self._raw
        self.calls = _Calls(raw.calls, self.reads)
        self.decorations, self.mapped, self.members = raw.decorations, raw.mapped, raw.members
        self.decorating, self.making_decorators = raw.decorating, raw.making_decorators
        self.member_names = raw.member_names

    def note(self, query: str, argument: object = None) -> None:
        self.reads.asked[query].add(argument)

    def derived(self, function: Callable[..., T], *arguments: int | str) -> T:
        self.reads.asked["derived"].add((function.__module__, function.__name__, *arguments))
        return function(self._raw, *arguments)

    def named(self, function: Callable[..., dict[str, T]], *arguments: int | str) -> dict[str, T]:
        lookups = _Lookups(self.reads.asked["named"], (function.__module__, function.__name__), arguments)
        return _Named(function(self._raw, *arguments), lookups)

    def of_call(self, function: Callable[[SourceFile, int], T], index: int) -> T:
        self.reads.asked["of_call"].add((function.__module__, function.__name__, index))
        return function(self._raw, index)

    def each(self, function: Callable[[SourceFile, int], T]) -> list[tuple[int, T]]:
        self.reads.asked["each"].add((function.__module__, function.__name__))
        return self._raw.each(function)

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
            found = _Named(self._raw.bindings(scope), self.reads.names[scope])
            self._recorded_bindings[scope] = found
        return found

    @property
    def scopes_binding(self) -> Any:
        return _Named(self._raw.scopes_binding, self.reads.asked["scopes_binding"])

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
