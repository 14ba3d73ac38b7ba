"""Whether the flows between names, arguments and attributes that a file shows are the same after an edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.facts.nodes import Base
from dllint.facts.schema import Event, Expr
from dllint.inference.flows import Place, Ways, by_source, gathered
from dllint.inference.written_changes import changes_in
from dllint.linking.implicit_calls import Iterates
from dllint.linking.matched import Matched, Positions
from dllint.linking.reads import ReadOfProject
from dllint.linking.source import SourceFile


class RereadFlows(Matched):
    """Two versions of a file, and the flows that they show."""

    def __init__(
        self, old: SourceFile, new: SourceFile, positions: Positions, outside: type[Exception], iterates: Iterates
    ) -> None:
        super().__init__(old, new, positions, outside, iterates)
        self._nodes: dict[int, int] = {}
        self._looks_for_changes = False

    def _compare_flows(self, project: ReadOfProject, changes: bool) -> None:
        old, new = self._old, self._new
        self._match_nodes()
        # The way of each argument to the name that is called says as much as that to an attribute which keeps it.
        ways = Ways(self._iterates, lambda name: True, lambda name: ())
        nothing: dict[Place, int] = {}
        one, two = (by_source(ways.collect(file)) for file in (old, new))
        one = {self._place(source): self._places(targets) for source, targets in one.items()}
        matched = {*self._nodes.values()}
        for place in (place for place in one if place[0] == "at" and place[2] in matched):
            self._require(one[place] == two.get(place, nothing))
        self._require(all(at in one for at in two if at[0] == "at" and at[2] in matched))
        was, now = self._changed(old, ways), self._changed(new, ways)
        if changes:
            self._require(len(was) == len(now))
            for (left, before), (right, after) in zip(was, now, strict=True):
                self._require(self._same_change(left, right))
                self._require(self._places(before) == after)
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
    def _changed(file: SourceFile, ways: Ways) -> list[tuple[Any, dict[Place, int]]]:
        """Return the mutations in a file, each with the locations of what it changes."""
        return [(one, gathered(ways.places(one.base, file, one.scope))) for one in changes_in(file)]

    def _same_change(self, one: Any, two: Any) -> bool:
        return (
            (one.kind, self._scopes.get(one.scope)) == (two.kind, two.scope)
            and self._regions.get(one.region) == two.region
            and self._start_of(one.at) == two.at
            and all(self._same(left, right) for left, right in zip(one[5:], two[5:], strict=True))
        )

    def _places(self, places: Mapping[Place, int]) -> dict[Place, int]:
        return {self._place(place): how for place, how in places.items()}

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
