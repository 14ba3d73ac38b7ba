"""Objects of the project's own classes of dicts that fill themselves: `class Splits(dict)` with an `__init__`."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import CallRef, Name
from dllint.facts.schema import Expr
from dllint.inference import enumerations
from dllint.inference.answers import Table
from dllint.inference.changes import Changes
from dllint.inference.constructors import reaching
from dllint.inference.entries import Found
from dllint.inference.folding import is_member
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import Class, Const, External, Instance, Mapping, Site, Unknown, Value, Values, Written
from dllint.linking.assignments import Store
from dllint.linking.source import SourceFile

_CLASSES = frozenset({"dict", "collections.OrderedDict", "collections.UserDict"})
_REDEFINING = ("__getitem__", "__setitem__", "__iter__", "keys", "values", "items")
"""Methods after which the entries are no longer those of the dict itself."""
Entry = tuple[Expr, "Expr | None", Site, bool]
"""The key and the value that a statement sets, its site, and whether construction always runs it."""


class DictObjects:
    """The entries of each such object: those of the dict that its base's constructor makes, and those that its own
    methods and other code set."""

    def __init__(self, world: Engine, changes: Changes) -> None:
        self.world = world
        self.changes = changes
        self._stores: dict[tuple[str, int], list[Store]] = {}
        self._under: Table[Values] = {}
        self._all: Table[Values] = {}

    def is_one(self, value: Value) -> bool:
        """Whether a value is such an object, created by a call of the project."""
        if not isinstance(value, Instance) or not isinstance(value.of, Class) or value.call < 0:
            return False
        hierarchy = self.world.hierarchy
        return any(self.world.knowledge.canonical(name) in _CLASSES for name in hierarchy.externals(value.of)) and all(
            hierarchy.method(value.of, name) is None for name in _REDEFINING
        )

    def fills_itself(self, cls: Class) -> bool:
        """Whether methods of a class of dicts set items of the object, or hand it to functions that may: `self[name] =
        cls`, `fill(self, name, cls)`."""
        if not any(self.world.knowledge.canonical(name) in _CLASSES for name in self.world.hierarchy.externals(cls)):
            return False
        line = [one for one in self.world.hierarchy.line(cls) if isinstance(one, Class)]
        return any(self._own(one) or one.file.derived(hands_on_receiver, one.scope) for one in line)

    def under(self, value: Instance, key: Value) -> Values:
        """Return the values under a key; empty if none is known."""
        return self.world.memory.remember(self._under, (value, key), lambda: self._found(value, key), ())

    def values(self, value: Instance) -> Values:
        """Return the values under any key."""
        return self.world.memory.remember(self._all, (value, "values"), lambda: self._every(value, keys=False), ())

    def keys(self, value: Instance) -> Values:
        """Return the keys."""
        return self.world.memory.remember(self._all, (value, "keys"), lambda: self._every(value, keys=True), ())

    def _found(self, value: Instance, key: Value) -> Values:
        if not isinstance(key, Const) and not is_member(key):
            return self.values(value)
        wanted = key.value if isinstance(key, Const) else key
        groups: list[Values] = []
        for mapping in self._made(value):
            found = self.world.mappings.in_value(mapping, wanted) or Found((), True)
            groups.append(found.values)
        for named, stored, site, always in self._set(value):
            keys = enumerations.plain(self.world, self.world.values.evaluate(named, site))
            if always and keys == (key,):
                groups = []
            if any(one == key or not (isinstance(one, Const) or is_member(one)) for one in keys):
                groups.append(self.world.values.evaluate(stored, site))
        return union(groups)

    def _every(self, value: Instance, keys: bool) -> Values:
        mappings = self.world.mappings
        groups = [mappings.all_keys(one) if keys else mappings.all_values(one) for one in self._made(value)]
        for named, stored, site, _ in self._set(value):
            groups.append(self.world.values.evaluate(named if keys else stored, site))
        return union(tuple(one for one in group if not isinstance(one, Unknown)) for group in groups)

    def _made(self, value: Instance) -> Iterator[Mapping]:
        """Yield the dict that the constructor of the external base makes: `super().__init__(train=…)`."""
        assert value.file is not None
        making = (value.file, value.call, value.frame)
        found = reaching(self.world, value.of, self.world.made_with(value), making, _is_dict)
        if found is not None and found.call != making:
            file, index, frame = found.call
            yield Mapping(Written(CallRef(index), self.world.call_site(file, index, frame)))

    def _set(self, value: Instance) -> Iterator[Entry]:
        """Yield the assignments to items of the object, in its own methods and elsewhere."""
        assert isinstance(value.of, Class)
        for owner in self.world.hierarchy.line(value.of):
            for store in self._own(owner) if isinstance(owner, Class) else ():
                if isinstance(owner, Class) and not self.world.stores.overridden(value, owner, store):
                    assert not isinstance(store.key, str)
                    site = self.world.stores.store_site(value, owner, store)
                    yield store.key, store.value, site, self.world.stores.always(owner, store)
        for change in self.changes.of(value):
            if change.kind == "set" and change.key is not None and not isinstance(change.key, str):
                for where in self.changes.runs(change, value):
                    yield change.key, change.value, where, False

    def _own(self, cls: Class) -> list[Store]:
        found = self._stores.get(cls.key)
        if found is None:
            found = self._stores[cls.key] = []
            for scope in cls.file.children.get(cls.scope, ()):
                entry = cls.file.scopes[scope]
                if entry.kind == "function" and entry.params:
                    receiver = Name(entry.params[0].name)
                    items = (one for one in cls.file.stores(scope) if not isinstance(one.key, str))
                    found += [one for one in items if one.base == receiver]
        return found


def hands_on_receiver(file: SourceFile, cls: int) -> bool:
    """Return whether a method of a class gives its object to a function."""
    for scope in file.children.get(cls, ()):
        params = file.scopes[scope].params
        for inner in (scope, *file.children.get(scope, ())) if params else ():
            for index in file.calls_of(inner):
                call = file.calls[index]
                given = any(one.value == Name(params[0].name) for one in call.args)
                if given and call.func not in (Name("super"), Name("len"), Name("isinstance"), Name("type")):
                    return True
    return False


def _is_dict(value: Value) -> bool:
    return isinstance(value, External) and value.name in _CLASSES
