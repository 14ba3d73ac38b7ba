"""Two versions of a file, matched with one another: what is outside of an edit is the same, elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Protocol

from dllint.facts.nodes import Base, CallRef, Defined, LambdaRef
from dllint.facts.schema import Call, Event, Region, Scope
from dllint.linking.assignments import Spread, Store
from dllint.linking.bindings import Binding
from dllint.linking.implicit_calls import Iterates, add_implicit_calls, properties_of
from dllint.linking.reads import ReadOfProject, RegionRef, ScopeRef
from dllint.linking.source import SourceFile
from dllint.span import Span


class Positions(Protocol):
    """Maps positions of the old text to the new one."""

    def span(self, span: Span) -> Span: ...


class Different(Exception):
    """The analysis would read something else."""


_OF_PROTOCOLS = ("__enter__", "__iter__")
"""Methods that all files call implicitly if any class has them."""


class Matched:
    """Two versions of a file, matched with one another.

    Args:
        old, new: the versions, linked but without implicit calls, which are added here.
        positions: maps positions; raises `outside` if one is inside of the edit.
        iterates: functions that iterate their arguments.
    """

    def __init__(
        self,
        old: SourceFile,
        new: SourceFile,
        positions: Positions,
        outside: type[Exception],
        iterates: Iterates,
    ) -> None:
        self._old, self._new = old, new
        self._positions, self._outside = positions, outside
        self._iterates = iterates
        self._spans: dict[Span, Span | None] = {}
        self._calls: dict[int, int] = {}
        self._regions: dict[int, int] = {0: 0}
        self._scopes: dict[int, int] = {-1: -1, 0: 0}

    # Matching

    def _span(self, span: Span) -> Span | None:
        if span not in self._spans:
            try:
                self._spans[span] = self._positions.span(span)
            except self._outside:
                self._spans[span] = None
        return self._spans[span]

    def _match(self, project: ReadOfProject) -> None:
        old, new = self._old, self._new
        self._require((old.asks_callable, old.asks_class) == (new.asks_callable, new.asks_class))
        self._require(properties_of([old]) == properties_of([new]))
        for name in project.common.defined:
            self._require(len(old.facts.loaded.get(name, ())) == len(new.facts.loaded.get(name, ())))
        self._regions |= self._matched(old.facts.regions, new.facts.regions, 1)
        self._match_scopes()
        self._calls |= self._matched(old.facts.calls, new.facts.calls, 0)
        for index, other in self._regions.items():
            one, two = old.facts.regions[index], new.facts.regions[other]
            self._require(one.kind == two.kind and one.holds == two.holds)
            self._require(self._regions.get(one.parent) == two.parent)
        # A call in a statement that was edited elsewhere is another one: whoever asked where it is must ask again.
        self._calls = {
            index: other
            for index, other in self._calls.items()
            if self._same_place(old.facts.calls[index], new.facts.calls[other])
        }
        for index, other in self._calls.items():
            self._require((index in old.absent) == (other in new.absent))
        before, after = len(old.calls), len(new.calls)
        named = [add_implicit_calls([file], project.common, self._iterates) for file in (old, new)]
        self._require(len(old.calls) - before == len(new.calls) - after)
        self._calls |= {before + number: after + number for number in range(len(old.calls) - before)}
        for index in range(before, len(old.calls)):
            self._require(self._same_call(index))
        given = [{name: [index for _, index in calls] for name, calls in one.items()} for one in named]
        self._require({name: [*map(self._calls.get, calls)] for name, calls in given[0].items()} == given[1])

    def _match_scopes(self) -> None:
        old, new = self._old.scopes, self._new.scopes
        starts = {(_start(scope.span), scope.kind): index for index, scope in enumerate(new) if index}
        found: dict[int, int] = {}
        for index in range(1, len(old)):
            at = self._start_of(_start(old[index].span))
            other = starts.get((at, old[index].kind)) if at is not None else None
            # Where a function is removed, its place is that of the next one.
            if other is not None and (other not in found or old[index].name == new[other].name):
                found[other] = index
        self._scopes |= {index: other for other, index in sorted(found.items())}
        matched = {*self._scopes.values()}
        self._require([*self._scopes] == sorted(self._scopes))
        for index, other in self._scopes.items():
            if index > 0:
                self._require(self._same_definition(old[index], new[other]))
        left = [old[index] for index in range(len(old)) if index not in self._scopes]
        added = [new[index] for index in range(len(new)) if index not in matched]
        self._require(all(one.kind in ("function", "lambda") and not one.decorators for one in (*left, *added)))
        self._require(self._scopes_named(_OF_PROTOCOLS))
        declared = {self._scopes.get(index): names for index, names in self._old.all_declared.items()}
        self._require(declared == self._new.all_declared)

    def _matched(self, old: list[Any], new: list[Any], first: int) -> dict[int, int]:
        """Return the new numbers of calls or regions outside of the edit."""
        places: dict[tuple[Any, ...], list[int]] = {}
        for index in range(first, len(new)):
            places.setdefault(_kind(new[index]), []).append(index)
        found: dict[int, int] = {}
        last = -1
        taken: dict[tuple[Any, ...], int] = {}
        for index in range(first, len(old)):
            kind = _kind(old[index])
            span = self._span(kind[0])
            if span is None:
                continue
            kind = (span, *kind[1:])
            number = taken.get(kind, 0)
            taken[kind] = number + 1
            here = places.get(kind, ())
            if number < len(here):
                found[index] = here[number]
                # The order stays, or the numbers would tell something else.
                self._require(here[number] > last)
                last = here[number]
        return found

    @staticmethod
    def _require(same: bool) -> None:
        if not same:
            raise Different

    # Equality

    def _same_place(self, one: Call, two: Call) -> bool:
        return (
            self._scopes.get(one.scope) == two.scope
            and self._regions.get(one.region) == two.region
            and self._span(one.statement) == two.statement
        )

    def _same_definition(self, one: Scope, two: Scope) -> bool:
        """Whether what is compared of all scopes is the same."""
        return (
            one.kind == two.kind
            and (one.kind != "class" or one.name == two.name)
            and self._scopes.get(one.parent) == two.parent
            and self._regions.get(one.region) == two.region
            and self._same(one.decorators, two.decorators)
            and self._same(one.bases, two.bases)
        )

    def _same_header(self, index: int) -> bool:
        if index not in self._scopes:
            return False
        one, two = self._old.scopes[index], self._new.scopes[self._scopes[index]]
        return (
            (one.name, one.is_async, one.is_generator) == (two.name, two.is_async, two.is_generator)
            and (index == 0 or self._span(one.header) == two.header)
            and (one.end < 0 if two.end < 0 else self._regions.get(one.end) == two.end)
            and self._same(one.params, two.params)
            and self._same(one.returns, two.returns)
        )

    def _same_extent(self, index: int) -> bool:
        if index not in self._scopes:
            return False
        # The module always spans from the first line to the last.
        return index == 0 or self._span(self._old.scopes[index].span) == self._new.scopes[self._scopes[index]].span

    def _same_call(self, index: int) -> bool:
        if index not in self._calls:
            return False
        one, two = self._old.calls[index], self._new.calls[self._calls[index]]
        return (
            self._same_place(one, two)
            and self._same(one.span, two.span)
            and self._same(one.func, two.func)
            and self._same(one.args, two.args)
        )

    def _same_callee(self, index: int) -> bool:
        if index not in self._calls:
            return False
        return self._same(self._old.calls[index].func, self._new.calls[self._calls[index]].func)

    def _same_shape(self, index: int) -> bool:
        """Whether a call passes as many arguments, at the same places and by the same keywords."""
        if index not in self._calls:
            return False
        one, two = self._old.calls[index].args, self._new.calls[self._calls[index]].args
        return len(one) == len(two) and all(
            (left.keyword, self._span(left.span), self._span(left.value_span))
            == (right.keyword, right.span, right.value_span)
            for left, right in zip(one, two, strict=True)
        )

    def _same_value(self, index: int, position: int) -> bool:
        if index not in self._calls:
            return False
        one, two = self._old.calls[index].args, self._new.calls[self._calls[index]].args
        return len(two) > position and self._same(one[position].value, two[position].value)

    def _same_event(self, one: Event | None, two: Event | None) -> bool:
        if one is None or two is None:
            return one is two
        return (
            one.kind == two.kind
            and self._regions.get(one.region) == two.region
            and all(map(self._same, (one[1], *one[3:5], one[6]), (two[1], *two[3:5], two[6])))
            and self._same_detail(one.detail, two.detail)
        )

    def _same_detail(self, one: Any, two: Any) -> bool:
        """Whether the details of statements are equal: of definitions, they are scopes."""
        if isinstance(one, int):
            return isinstance(two, int) and self._scopes.get(one) == two
        return self._same(one, two)

    def _same_region(self, index: int) -> bool:
        if index not in self._regions:
            return False
        one, two = self._old.facts.regions[index], self._new.facts.regions[self._regions[index]]
        return not index or (self._same(one.expr, two.expr) and self._same(one.span, two.span))

    def _same(self, one: Any, two: Any) -> bool:
        """Whether facts are equal, apart from positions and the numbers of calls."""
        kind = type(one)
        if kind is not type(two):
            return False
        if kind is Span:
            return bool(self._span(one) == two)
        if kind is RegionRef:
            return bool(self._regions.get(one.number) == two.number)
        if kind is CallRef:
            return bool(self._calls.get(one.index) == two.index)
        if kind is ScopeRef:
            return bool(self._scopes.get(one) == two)
        if kind is LambdaRef or kind is Defined:
            return bool(self._scopes.get(one.scope) == two.scope)
        if kind is Store or kind is Spread:
            return self._scopes.get(one.scope) == two.scope and self._same(one[1:], two[1:])
        if kind is Binding:
            number = self._scopes.get(one.number) if one.kind in ("def", "class") else one.number
            return number == two.number and self._same(one[:3], two[:3])
        if isinstance(one, Base):
            return self._same(one.parts(), two.parts())
        if isinstance(one, Event):
            return self._same_event(one, two)
        if isinstance(one, (list, tuple)):
            return len(one) == len(two) and all(map(self._same, one, two))
        return bool(one == two)

    def _same_events(self, one: Collection[Event], two: Collection[Event]) -> bool:
        return len(one) == len(two) and all(map(self._same_event, one, two))

    def _start_of(self, at: tuple[int, int]) -> tuple[int, int] | None:
        """Return where the new text has a place."""
        span = self._span(Span(*at, *at))
        return None if span is None else _start(span)

    def _scopes_named(self, names: Collection[str]) -> bool:
        """Whether the same functions and classes have one of these names."""
        one, two = self._old.scopes, self._new.scopes
        was = [(self._scopes.get(index), entry.name) for index, entry in enumerate(one) if entry.name in names]
        return was == [(index, entry.name) for index, entry in enumerate(two) if entry.name in names]

    def _numbers(self, one: Iterable[int], two: Iterable[int]) -> bool:
        return [*map(self._calls.get, one)] == [*two]


def _start(span: Span) -> tuple[int, int]:
    return span.line, span.column


def _kind(one: Call | Region) -> tuple[Any, ...]:
    return (one.span, one.kind, one.holds) if isinstance(one, Region) else (one.span,)
