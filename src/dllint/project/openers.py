"""Which values are handles that a call of a library opened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute
from dllint.inference.values import PICK_MARK, Const, External, Instance, Pattern, Value, Values
from dllint.libraries.facets import Opener, When
from dllint.libraries.index import OPENERS, canonical
from dllint.libraries.io import OWN_OPENER, OWN_STORE
from dllint.libraries.numpy import VIEWS
from dllint.linking.source import SourceFile
from dllint.linking.with_blocks import in_block_of, opens_block

if TYPE_CHECKING:
    from dllint.project.model import Project

_VIEWS = VIEWS | {"[:]"}
_PARTS = frozenset(method for rows in OPENERS.values() for row in rows for method in row.parts)


class Openers:
    """Finds the calls that opened handles, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._opened_by: dict[Value, tuple[Opener, Instance] | None] = {}

    def opener(self, value: Value) -> Opener | None:
        """The opener whose handle a value is; None if it is no handle."""
        opened = self._opened(value)
        return opened[0] if opened is not None else None

    def whole(self, value: Instance) -> Instance:
        """The handle that an object made by one of its methods reads through, such as a cursor's; otherwise the
        object itself."""
        opened = self._opened(value)
        return opened[1] if opened is not None else value

    def _opened(self, value: Value) -> tuple[Opener, Instance] | None:
        """The opener whose handle a value is, and that handle: for a cursor, the one that it reads through."""
        if value in self._opened_by:
            return self._opened_by[value]
        found = None
        # In a loop a view can be made of itself, so the search backwards needs `seen` to terminate.
        seen: set[Value] = set()
        todo: list[tuple[Value, tuple[str, ...]]] = [(value, ())]
        while todo and found is None:
            one, methods = todo.pop(0)
            if one in seen or not isinstance(one, Instance):
                continue
            seen.add(one)
            opener = self._opener(one)
            if opener is None:
                todo += [(base, (*methods, method)) for base, method in self._bases(one)]
            elif methods.count("[]") <= opener.depth and all(
                opener.array if method in _VIEWS else method in opener.parts for method in methods
            ):
                if not opener.inherited.isdisjoint(methods):
                    opener = opener._replace(harm="")
                found = opener, one if _VIEWS.isdisjoint(methods) or not isinstance(value, Instance) else value
        self._opened_by[value] = found
        return found

    def _opener(self, value: Instance) -> Opener | None:
        """The opener that the call which made a value matches."""
        if not isinstance(value.of, External) or value.file is None or value.call < 0:
            return None
        if value.of.name in self.project.settings.mmap_stores:
            return OWN_STORE
        if value.of.name in self.project.settings.openers:
            return OWN_OPENER
        rows = OPENERS.get(canonical(value.of.name), ())
        return next((row for row in rows if row.when is None or self._holds(row.when, value)), None)

    def _bases(self, value: Instance) -> Iterator[tuple[Value, str]]:
        """The receivers of the slice or method call that made a value, if it returns a view or a part of a handle;
        each with the method."""
        if not isinstance(value.of, External) or value.file is None or value.call < 0:
            return
        name = canonical(value.of.name)
        if name in OPENERS or PICK_MARK in value.of.name:
            return
        mark = name[name.rfind("[") :] if name.endswith("]") else ""
        if mark in ("[:]", "[]"):
            yield Instance(External(name.removesuffix(mark)), value.file, value.call, value.frame), mark
        head, _, method = name.rpartition("().")
        func = value.file.calls[value.call].func
        if head and method in _VIEWS | _PARTS and isinstance(func, Attribute) and func.attr == method:
            site = self.world.call_site(value.file, value.call, value.frame)
            for base in self.world.values.evaluate(func.value, site):
                yield base, method

    def _holds(self, when: When, value: Instance) -> bool:
        assert value.file is not None
        given = self._given(when, value)
        if when.test == "reads":
            return given is None or any(
                isinstance(one, Const) and isinstance(one.value, str) and not set(one.value) & set("wax")
                for one in given
            )
        if given is None:
            return False
        if when.test == "on":
            return any(isinstance(one, Const) and one.value for one in given)
        if when.test == "off":
            return any(not isinstance(one, Const) or not one.value for one in given)
        if when.test.startswith("="):
            return bool(given) and all(isinstance(one, Const) and one.value == when.test[1:] for one in given)
        if when.test.startswith("."):
            return any(
                (isinstance(one, Const) and str(one.value).endswith(when.test))
                or (isinstance(one, Pattern) and one.suffix.endswith(when.test))
                for one in given
            )
        origin = when.test.removesuffix("()")
        stores = (one for one in given if self._comes_from(one, origin) and not self._closed_by_with(one, value))
        return any(when.made is None or self._made_so(when.made, one) for one in stores)

    def _made_so(self, when: When, value: Value) -> bool:
        return isinstance(value, Instance) and value.file is not None and value.call >= 0 and self._holds(when, value)

    def _given(self, when: When, value: Instance) -> Values | None:
        """The values of the argument `when.keyword`; without a keyword, of the argument of the call that made the
        receiver."""
        assert value.file is not None
        if when.keyword:
            return self.project.evaluate_argument(value.file, value.call, when.position, when.keyword, value.frame)
        func = value.file.calls[value.call].func
        site = self.world.call_site(value.file, value.call, value.frame)
        for base in self.world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ():
            if isinstance(base, Instance) and base.file is not None and base.call >= 0:
                return self.project.evaluate_argument(base.file, base.call, when.position, "source", base.frame)
        return None

    def _closed_by_with(self, given: Value, value: Instance) -> bool:
        """Whether a `with` block of another function closes a store before any worker or process starts."""
        if not isinstance(given, Instance) or given.file is None or given.call < 0 or value.file is None:
            return False
        file, scope = given.file, given.file.calls[given.call].scope
        if (file, scope) == (value.file, value.file.calls[value.call].scope) or not opens_block(file, given.call):
            return False
        return not any(one >= 0 and in_block_of(file, one, given.call) for one in self._calls_to_starts(file, scope))

    def _calls_to_starts(self, file: SourceFile, scope: int) -> Iterator[int]:
        """The calls of a function that lead to a loader or to the start of a process."""
        loaders = ((one.file, one.call) for one in self.project.loaders)
        launches = ((one.file, one.call) for one in self.project.launches.all())
        for start, call in (*loaders, *launches):
            inner = start.calls[call].scope
            if (start, inner) == (file, scope):
                yield call
            yield from self.project.programs.calls_to(start, inner).get((file.path, scope), ())

    @staticmethod
    def _comes_from(value: Value, name: str) -> bool:
        of = value.of if isinstance(value, Instance) else value
        return isinstance(of, External) and canonical(of.name).startswith(name)
