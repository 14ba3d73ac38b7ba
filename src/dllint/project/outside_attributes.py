"""Attributes of datasets, and of the objects inside them, that code other than their own methods sets:
`dataset.transform = …`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.inference import limits
from dllint.inference.values import Class, External, Instance, Site, Values
from dllint.libraries.contents import held_by
from dllint.linking.assignments import Store
from dllint.linking.derivations import stores_elsewhere
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World

_OWN = frozenset({"self", "cls", "args"})


class Assigned(NamedTuple):
    """An assignment to an attribute, with the object whose attribute it sets."""

    attr: str
    file: SourceFile
    store: Store
    base: Instance

    @property
    def site(self) -> Site:
        event = self.store.event
        return Site(self.file, self.store.scope, event.region, event.span.start, None)

    @property
    def at_once(self) -> bool:
        """Whether the function that constructs the object also sets the attribute."""
        made = self.base.file is self.file and self.base.call >= 0
        return made and self.file.calls[self.base.call].scope == self.store.scope

    def site_for(self, value: Instance) -> Site:
        """The site of the assignment, in the activation that constructed `value` if that function also sets it."""
        return self.site._replace(frame=value.frame) if self.at_once else self.site


class OutsideAttributes:
    """The assignments from outside to attributes of a project's datasets."""

    def __init__(self, world: World, is_dataset: Callable[[Class], bool]) -> None:
        self.world = world
        self._is_dataset = is_dataset

    def of_class(self, cls: Class) -> list[Assigned]:
        """The assignments to attributes of objects of one of the project's classes."""
        return self._by_object.get(cls.key, [])

    def replaces(self, value: Instance, attr: str) -> bool:
        """Whether the function that constructs an object surely sets an attribute again before it uses the object."""
        file = value.file
        if file is None or value.call < 0 or not isinstance(value.of, Class):
            return False
        made = file.calls[value.call]
        lines = (one for one in self.world.hierarchy.line(value.of) if isinstance(one, Class))
        return any(
            one.attr == attr
            and one.at_once
            and (one.base.file, one.base.call) == (file, value.call)
            and isinstance(one.store.base, Name)
            and file.encloses(one.store.event.region, made.region)
            and not _is_used(
                file, made.scope, one.store.base, (made.statement.end_line, made.statement.end_column), one.store
            )
            for owner in lines
            for one in self.of_class(owner)
        )

    def of_object(self, value: Instance) -> Values:
        """The values assigned to attributes of an object of an external class."""
        found = self._by_object.get((value.file, value.call), ()) if isinstance(value.of, External) else ()
        return tuple(one for each in found for one in self.world.values.evaluate(each.store.value, each.site))

    @cached_property
    def _by_object(self) -> dict[Hashable, list[Assigned]]:
        """All assignments, by class key, or by file and call that construct an external object."""
        table: dict[Hashable, list[Assigned]] = {}
        with self.world.memory.apart(limits.OUTSIDE_QUESTIONS):
            for object_, one in self._found():
                table.setdefault(object_, []).append(one)
        return table

    def _found(self) -> Iterator[tuple[Hashable, Assigned]]:
        for file in self.world.files.values():
            for _, stores in file.each(stores_elsewhere):
                for store in stores:
                    if _is_replaced(file, store):
                        continue
                    for one in self._assigned(file, store):
                        of = one.base.of
                        if isinstance(of, External):
                            yield (one.base.file, one.base.call), one
                        # For other objects only an assignment where they are constructed counts: its value is there
                        # from the start.
                        elif self._is_dataset(of) or one.at_once:
                            yield of.key, one

    def _assigned(self, file: SourceFile, store: Store) -> Iterator[Assigned]:
        """An assignment, once for each object whose attribute it sets."""
        wrapped = isinstance(store.base, Attribute) and store.base.attr == "dataset"
        base = store.base.value if wrapped and isinstance(store.base, Attribute) else store.base
        if not isinstance(store.key, str) or not isinstance(base, (Name, Attribute)):
            return
        if isinstance(base, Name) and base.id in _OWN and not wrapped:
            return
        if isinstance(base, Attribute) and not _is_made(file, store.scope, base):
            # It may hold an object that was made elsewhere, long before.
            return
        at = store.event.span.start
        for value in self.world.values.evaluate(base, Site(file, store.scope, store.event.region, at, None)):
            if isinstance(value, Instance):
                for one in held_by(self.world, value) if wrapped else (value,):
                    if isinstance(one, Instance) and (isinstance(one.of, Class) or one.call >= 0):
                        found = Assigned(store.key, file, store, one)
                        if isinstance(base, Name) or (found.at_once and isinstance(one.of, Class)):
                            yield found


def _is_made(file: SourceFile, scope: int, attribute: Attribute) -> bool:
    """Whether a function assigns the result of a call to an attribute: `self.data = Data()`."""
    events = file.scopes[scope].events_of("assign")
    return any(one.target == attribute and isinstance(one.value, CallRef) for one in events)


def _is_replaced(file: SourceFile, store: Store) -> bool:
    """Whether the same function surely assigns to the attribute again before it uses the object: `data.transform = a`,
    then `data.transform = b`."""
    end = (store.event.span.end_line, store.event.span.end_column)
    return any(
        (later.base, later.key) == (store.base, store.key)
        and isinstance(later.base, Name)
        and later.event.span > store.event.span
        and file.encloses(later.event.region, store.event.region)
        and not _is_used(file, store.scope, later.base, end, later)
        for later in file.derived(stores_elsewhere, store.scope)
    )


def _is_used(file: SourceFile, scope: int, name: Name, after: tuple[int, int], until: Store) -> bool:
    """Whether a function reads or binds a name between a place and an assignment to an attribute of it."""
    end = until.event.span.start
    if until.value is not None and any(part == name for part in walk(until.value, file)):
        return True
    for event in file.scopes[scope].events:
        if not after <= event.span.start < end:
            continue
        if event.target == name or event.kind in ("for", "while"):
            return True
        if event.value is not None and any(part == name for part in walk(event.value, file)):
            return True
    return any(
        after <= (file.calls[index].span.line, file.calls[index].span.column) < end
        and any(part == name for part in walk(CallRef(index), file))
        for index in file.calls_of(scope)
    )
