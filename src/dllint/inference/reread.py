"""Whether the analysis would read the same of a file after an edit, by what it recorded (`linking.recorded`).

Both versions of the file are linked, and their calls, regions and statements matched by position: what is outside of
the edit is the same, elsewhere. Then each recorded query is asked of both. Nothing else is compared, so an edit may
change whatever no query asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from dllint.facts.schema import Event, Scope
from dllint.inference.flows import Place, Ways
from dllint.inference.reread_flows import RereadFlows
from dllint.linking.expressions import stored_attributes, use_as_key
from dllint.linking.matched import Different
from dllint.linking.reads import ALL, STORING, WHOLE, ReadOfProject, Reads
from dllint.linking.source import SourceFile


class Reread(RereadFlows):
    """What the analysis would read of the new version of a file."""

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
        require(all(use_as_key(old, name) == use_as_key(new, name) for name in project.keys))
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
        if query == "lambdas":
            # Their numbers are part of the names under which they are looked up.
            return all(scopes.get(scope) == scope for scope in arguments)
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

    def _same_each(self, module: str, name: str, *arguments: str) -> bool:
        function = getattr(import_module(module), name)
        one, two = self._old.each(function, *arguments), self._new.each(function, *arguments)
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
