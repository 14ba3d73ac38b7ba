"""Whether the analysis would read the same of a file after an edit, by what it recorded (`linking.recorded`).

Both versions of the file are linked, and their calls, regions and statements matched by position: what is outside of
the edit is the same, elsewhere. Then each recorded query is asked of both. Nothing else is compared, so an edit may
change whatever no query asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from dllint.facts.nodes import Base
from dllint.facts.schema import Event, Expr, Scope
from dllint.inference.changes import changes_in
from dllint.inference.flows import Place, Ways
from dllint.linking.expressions import stored_attributes, writes_key
from dllint.linking.implicit_calls import Iterates
from dllint.linking.matched import Different, Matched, Positions
from dllint.linking.recorded import ALL, STORING, WHOLE, ReadOfProject, Reads
from dllint.linking.source import SourceFile


class Reread(Matched):
    """What the analysis would read of the new version of a file."""

    def __init__(
        self, old: SourceFile, new: SourceFile, positions: Positions, outside: type[Exception], iterates: Iterates
    ) -> None:
        super().__init__(old, new, positions, outside, iterates)
        self._nodes: dict[int, int] = {}
        self._looks_for_changes = False

    def reads_the_same(self, reads: Reads, project: ReadOfProject) -> Reads | None:
        """Return what the analysis would read of the new version; None if it may differ from what it read."""
        try:
            self._match(project)
            self._compare(reads, project)
        except Different:
            return None
        return self._moved(reads)

    # Queries

    def _compare(self, reads: Reads, project: ReadOfProject) -> None:
        old, new = self._old, self._new
        require = self._require
        require(
            {self._calls[one] for one in old.discarded if one in self._calls} == new.discarded & {*self._calls.values()}
        )
        self._compare_clauses()
        if WHOLE in reads.calls:
            require(len(old.calls) == len(new.calls) and all(map(self._same_call, range(len(old.calls)))))
        else:
            require(all(index in self._calls for index in reads.calls))
            require(all(map(self._same_callee, reads.callees)))
            require(all(map(self._same_shape, reads.shapes)))
            require(all(self._same_value(*one) for one in reads.values))
        if WHOLE in reads.regions:
            count = len(old.facts.regions)
            require(count == len(new.facts.regions) and all(map(self._same_region, range(count))))
        else:
            require(all(map(self._same_region, reads.regions)))
        if WHOLE in reads.headers:
            require(len(old.scopes) == len(new.scopes) == len(self._scopes) - 1)
        require(all(map(self._same_header, reads.headers - {WHOLE})))
        require(all(map(self._same_extent, reads.extents)))
        require(self._scopes_defined(project.defined))
        for name in self._asked(reads.called | project.called, old.facts.called, new.facts.called):
            require((name in old.facts.called) == (name in new.facts.called))
            require(self._numbers(old.facts.called.get(name, ()), new.facts.called.get(name, ())))
        for name in self._asked(reads.loaded | project.loaded, old.facts.loaded, new.facts.loaded):
            require(self._same_scopes(old.facts.loaded.get(name, ()), new.facts.loaded.get(name, ())))
        for scope, kinds in reads.events.items():
            if kinds:
                require(scope in self._scopes)
                self._compare_events(old.scopes[scope], new.scopes[self._scopes[scope]], kinds)
        for scope, names in reads.names.items():
            if not names:
                continue
            require(scope in self._scopes)
            one, two = old.bindings(scope), new.bindings(self._scopes[scope])
            if ALL in names:
                require([*one] == [*two])
            for name in self._asked(names, one, two):
                require(self._same(one.get(name), two.get(name)))
        for query, arguments in reads.asked.items():
            if arguments:
                require(self._same_answer(query, arguments))
        for aliases, names in ((_aliases, project.aliases), (_stored, project.stored_under)):
            was, now = aliases(old), aliases(new)
            require(all(was.get(name) == now.get(name) for name in names))
        targets = [{target for _, target in file.aliases} for file in (old, new)]
        require(all((name in targets[0]) == (name in targets[1]) for name in project.aliased))
        require(all(writes_key(old, name) == writes_key(new, name) for name in project.keys))
        self._compare_flows(project, "changes" in reads.asked)

    @staticmethod
    def _asked(names: set[str], one: Iterable[str], two: Iterable[str]) -> set[str]:
        return {*names, *one, *two} - {ALL} if ALL in names else names

    def _compare_events(self, one: Scope, two: Scope, kinds: set[str]) -> None:
        if ALL in kinds:
            self._require(self._same_events(one.events, two.events))
            return
        if STORING in kinds:
            self._require(self._same_events(one.storing(), two.storing()))
        for kind in kinds - {STORING}:
            self._require(self._same_events(one.events_of(kind), two.events_of(kind)))

    def _compare_clauses(self) -> None:
        """Compare the comprehensions' clauses around all regions outside of the edit."""
        old, new = self._old.clauses, self._new.clauses
        for index, other in self._regions.items():
            self._require((index in old) == (other in new))
            self._require(index not in old or self._same_event(old[index], new[other]))
        back = {other: index for index, other in self._regions.items()}
        starts = {_start(old[index]) for index in old}
        for other, event in new.items():
            if other not in back:
                # A comprehension in the edit must not be in a statement that has others.
                self._require(not any(self._start_of(one) == _start(event) for one in starts))

    def _same_scopes(self, one: Iterable[int], two: Iterable[int]) -> bool:
        return [*map(self._scopes.get, one)] == [*two]

    def _scopes_defined(self, names: set[str]) -> bool:
        """Whether the same functions and classes have these names, and the same constructors are of such classes."""
        made = [
            [index for index, scope in enumerate(file.scopes) if _names_class(file, scope, names)]
            for file in (self._old, self._new)
        ]
        return self._scopes_named(names) and self._same_scopes(*made)

    def _same_answer(self, query: str, arguments: set[Any]) -> bool:
        old, new = self._old, self._new
        scopes = self._scopes
        if query in _BY_SCOPE and not all(scope in scopes for scope in arguments):
            return False
        if query == "calls_of":
            return all(self._numbers(old.calls_of(scope), new.calls_of(scopes[scope])) for scope in arguments)
        if query == "calls_given":
            return all(
                scope in scopes and self._numbers(old.calls_given(scope, name), new.calls_given(scopes[scope], name))
                for scope, name in arguments
            )
        if query == "stores":
            return all(self._same(old.stores(scope), new.stores(scopes[scope])) for scope in arguments)
        if query == "spreads":
            return {*map(scopes.get, old.spreads)} == {*new.spreads} and all(
                self._same(old.spreads[scope], new.spreads[scopes[scope]]) for scope in old.spreads
            )
        if query == "children":
            return ALL not in arguments and all(
                self._same_scopes(old.children.get(scope, ()), new.children.get(scopes[scope], ()))
                for scope in arguments
            )
        if query == "imports":
            return len(old.imports()) == len(new.imports()) and all(
                scopes.get(one) == other and self._same_event(was, now)
                for (one, was, _), (other, now, _) in zip(old.imports(), new.imports(), strict=True)
            )
        if query == "of_call":
            return all(self._same_of_call(*one) for one in arguments)
        if query == "each":
            return all(self._same_each(*one) for one in arguments)
        if query == "scopes_binding":
            one, two = old.scopes_binding, new.scopes_binding
            return all(one.get(name) == two.get(name) for name in self._asked(arguments, one, two))
        if query == "regions_of":
            return all(self._same_regions_of(kind) for kind in arguments)
        if query == "aliases":
            return old.aliases == new.aliases
        if query == "aliases_in":
            return all({*old.aliases_in(scope)} == {*new.aliases_in(scopes[scope])} for scope in arguments)
        if query == "derived":
            return all(self._same_derived(*one) for one in arguments)
        if query == "call_around":
            return all(map(self._same_around, arguments))
        if query == "named":
            return self._same_named(arguments)
        return query == "changes"

    def _same_around(self, index: int) -> bool:
        """Whether the calls inside a call are the same, so that a place in it is in none of them before and after."""
        if index not in self._calls:
            return False
        ours, theirs = self._old.calls[index].span, self._new.calls[self._calls[index]].span
        return self._numbers(
            self._old.call_spans.inside(ours),
            self._new.call_spans.inside(theirs),
        )

    def _same_named(self, lookups: set[tuple[Any, ...]]) -> bool:
        names: dict[tuple[Any, ...], set[str]] = {}
        for module, function, name, *arguments in lookups:
            names.setdefault((module, function, *arguments), set()).add(name)
        for (module, function, *arguments), looked_up in names.items():
            derive = getattr(import_module(module), function)
            moved = self._arguments(arguments)
            if moved is None:
                return False
            one, two = derive(self._old, *arguments), derive(self._new, *moved)
            if ALL in looked_up and [*one] != [*two]:
                return False
            asked = self._asked(looked_up, one, two)
            if not all(self._same(one.get(name), two.get(name)) for name in asked):
                return False
        return True

    def _same_derived(self, module: str, name: str, *arguments: Any) -> bool:
        function = getattr(import_module(module), name)
        moved = self._arguments(arguments)
        return moved is not None and self._same(function(self._old, *arguments), function(self._new, *moved))

    def _same_of_call(self, module: str, name: str, index: int) -> bool:
        function, other = getattr(import_module(module), name), self._calls.get(index)
        return other is not None and self._same(function(self._old, index), function(self._new, other))

    def _same_each(self, module: str, name: str) -> bool:
        function = getattr(import_module(module), name)
        one, two = self._old.each(function), self._new.each(function)
        return self._same_scopes([scope for scope, _ in one], [scope for scope, _ in two]) and all(
            self._same(was, now) for (_, was), (_, now) in zip(one, two, strict=True)
        )

    def _arguments(self, arguments: Iterable[Any]) -> list[Any] | None:
        """Return the arguments of a function of a file, in which numbers are scopes; None if one is not there."""
        moved = [self._scopes.get(one) if isinstance(one, int) else one for one in arguments]
        return None if None in moved else moved

    def _same_regions_of(self, kind: str) -> bool:
        old, new = self._old.regions_of(kind), self._new.regions_of(kind)
        numbers = [self._regions.get(index) for index, _ in old]
        return numbers == [index for index, _ in new] and all(self._same_region(index) for index, _ in old)

    # Flows

    def _compare_flows(self, project: ReadOfProject, changes: bool) -> None:
        old, new = self._old, self._new
        self._match_nodes()
        # The way of each argument to the name that is called says as much as that to an attribute which keeps it.
        ways = Ways(self._iterates, lambda name: True, lambda name: ())
        nothing: list[Place] = []
        one, two = (_by_source(ways.collect(file)) for file in (old, new))
        one = {self._place(source): [*map(self._place, targets)] for source, targets in one.items()}
        matched = {*self._nodes.values()}
        for place in (place for place in one if place[0] == "at" and place[2] in matched):
            self._require(one[place] == two.get(place, nothing))
        self._require(all(at in one for at in two if at[0] == "at" and at[2] in matched))
        was, now = self._changed(old, ways), self._changed(new, ways)
        if changes:
            self._require(len(was) == len(now))
            for (left, before), (right, after) in zip(was, now, strict=True):
                self._require(self._same_change(left, right))
                self._require([*map(self._place, before)] == after)
        changed = {place for _, places in now for place in places}
        for place in project.places:
            kind, name = place[0], place[1]
            if kind in ("name", "call") and name != old.path:
                continue
            moved = self._place(place)
            self._require(one.get(moved, nothing) == two.get(moved, nothing))
            if kind in ("attribute", "result"):
                reads = self._reads_name(new, kind, str(name))
                if self._reads_name(old, kind, str(name)) != reads:
                    self._require(moved not in one and moved not in changed)
                    self._looks_for_changes = self._looks_for_changes or reads

    @staticmethod
    def _reads_name(file: SourceFile, kind: str, name: str) -> bool:
        """Whether flows are looked for in the file, apart from its implicit calls: both versions have the same."""
        return bool((file.facts.loaded if kind == "attribute" else file.facts.called).get(name))

    @staticmethod
    def _changed(file: SourceFile, ways: Ways) -> list[tuple[Any, list[Place]]]:
        """Return the mutations in a file, each with the locations of what it changes."""
        return [(one, [*dict.fromkeys(ways.places(one.base, file, one.scope))]) for one in changes_in(file)]

    def _same_change(self, one: Any, two: Any) -> bool:
        return (
            (one.kind, self._scopes.get(one.scope)) == (two.kind, two.scope)
            and self._regions.get(one.region) == two.region
            and self._start_of(one.at) == two.at
            and all(self._same(left, right) for left, right in zip(one[5:], two[5:], strict=True))
        )

    def _place(self, place: Place) -> Place:
        """Return an old location in terms of the new version."""
        if place[0] == "call" and place[1] == self._old.path:
            return ("call", place[1], self._calls.get(int(str(place[2])), ("gone", place[2])))
        if place[0] == "name" and place[1] == self._old.path:
            return ("name", place[1], self._scopes.get(int(str(place[2])), ("gone", place[2])), place[3])
        if place[0] == "at":
            return ("at", place[1], self._nodes.get(int(str(place[2])), ("gone", place[2])))
        return place

    def _match_nodes(self) -> None:
        """Match the nodes of expressions outside of the edit, and of those inside that are the same."""
        for one, two in self._pairs():
            todo: list[tuple[Any, Any]] = [(one, two)]
            while todo:
                left, right = todo.pop()
                if isinstance(left, Base) and type(left) is type(right):
                    self._nodes[id(left)] = id(right)
                    todo += zip(left.children(), right.children(), strict=False)

    def _pairs(self) -> Iterator[tuple[Expr | None, Expr | None]]:
        old, new = self._old, self._new
        for index, other in self._calls.items():
            if self._same_call(index):
                one, two = old.calls[index], new.calls[other]
                yield one.func, two.func
                yield from ((left.value, right.value) for left, right in zip(one.args, two.args, strict=True))
        for index, other in self._scopes.items():
            if index < 0:
                continue
            here, there = old.scopes[index], new.scopes[other]
            if self._same(here.params, there.params):
                for left_param, right_param in zip(here.params, there.params, strict=True):
                    yield left_param.default, right_param.default
            places: dict[tuple[Any, ...], list[Event]] = {}
            for event in there.events:
                places.setdefault((event.span, event.kind), []).append(event)
            taken: dict[tuple[Any, ...], int] = {}
            for event in here.events:
                key = (self._span(event.span), event.kind)
                number = taken.get(key, 0)
                taken[key] = number + 1
                fitting = places.get(key, ())
                if number < len(fitting) and self._same_event(event, fitting[number]):
                    yield event.value, fitting[number].value
                    yield event.target, fitting[number].target

    # Afterwards

    def _moved(self, reads: Reads) -> Reads:
        """Return what was read, in terms of the new version."""
        found = Reads()
        found.calls = {self._calls[one] if one != WHOLE else one for one in reads.calls}
        found.callees = {self._calls[one] for one in reads.callees}
        found.shapes = {self._calls[one] for one in reads.shapes}
        found.values = {(self._calls[one], position) for one, position in reads.values}
        found.regions = {self._regions[one] if one != WHOLE else one for one in reads.regions}
        scopes = self._scopes
        found.headers = {scopes[one] if one != WHOLE else one for one in reads.headers}
        found.extents = {scopes[one] for one in reads.extents}
        found.called, found.loaded = reads.called, reads.loaded
        found.events |= {scopes[one]: kinds for one, kinds in reads.events.items() if kinds}
        found.names |= {scopes[one]: names for one, names in reads.names.items() if names}
        found.asked |= reads.asked
        for query in _BY_SCOPE:
            if query in reads.asked:
                found.asked[query] = {scopes[one] for one in reads.asked[query]}
        found.asked["calls_given"] = {(scopes[scope], name) for scope, name in reads.asked.get("calls_given", ())}
        for query in ("derived", "named"):
            found.asked[query] = {
                tuple(scopes[one] if isinstance(one, int) else one for one in lookup)
                for lookup in reads.asked.get(query, ())
            }
        if self._looks_for_changes:
            found.asked["changes"] = {None}
        found.asked["of_call"] = {
            (module, name, self._calls[index]) for module, name, index in reads.asked.get("of_call", ())
        }
        if "call_around" in reads.asked:
            found.asked["call_around"] = {self._calls[one] for one in reads.asked["call_around"]}
        return found

    def defined_after(self, names: set[str]) -> set[str]:
        """Return the names whose functions are looked up, with those that the flows of the new version ask for."""
        return {*names, *Ways.called(self._new)}

    def places_moved(self, places: Iterable[Place]) -> set[Place]:
        """Return the locations in terms of the new version."""
        return {self._place(one) for one in places}


_BY_SCOPE = ("calls_of", "stores", "aliases_in", "children")
"""Queries whose argument is a scope."""


def _names_class(file: SourceFile, scope: Scope, names: set[str]) -> bool:
    """Whether it is the constructor of a class with one of these names."""
    return scope.name == "__init__" and scope.parent > 0 and file.scopes[scope.parent].name in names


def _start(event: Event) -> tuple[int, int]:
    return event.span.line, event.span.column


def _by_source(ways: Iterable[tuple[Place, Place]]) -> dict[Place, list[Place]]:
    found: dict[Place, list[Place]] = {}
    for source, target in dict.fromkeys(ways):
        if source != target:
            found.setdefault(source, []).append(target)
    return found


def _aliases(file: SourceFile) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for source, target in dict.fromkeys(file.aliases):
        found.setdefault(source, []).append(target)
    return found


def _stored(file: SourceFile) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for scope in range(len(file.scopes)):
        for key, attribute in dict.fromkeys(stored_attributes(file, scope)):
            found.setdefault(key, []).append(attribute)
    return found
