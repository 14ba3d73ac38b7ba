"""The values of dicts that create missing entries: `collections.defaultdict`."""

from __future__ import annotations

from dllint.facts.nodes import BinOp, Constant, Opaque, Subscript
from dllint.inference.answers import Table
from dllint.inference.changes import Changes
from dllint.inference.edges import Given
from dllint.inference.entries import Change
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import (
    UNKNOWN,
    Actuals,
    Class,
    Display,
    External,
    Function,
    Instance,
    Mapping,
    Partial,
    Value,
    Values,
    Written,
)

DEFAULT_DICT = "collections.defaultdict"
_LISTS = {"list": "list", "set": "set", "collections.deque": "list"}
_DICTS = frozenset({"dict", "collections.OrderedDict"})


class DefaultFactories:
    """The values of each such dict: one abstract value stands for all results of its factory."""

    def __init__(self, world: Engine, changes: Changes) -> None:
        self.world = world
        self.changes = changes
        self._made: dict[tuple[str, int], Opaque] = {}
        self._values: Table[Values] = {}

    def is_one(self, value: Value) -> bool:
        """Whether a value is such a dict, created by a call of the project."""
        return (
            isinstance(value, Instance)
            and value.call >= 0
            and isinstance(value.of, External)
            and self.world.knowledge.canonical(value.of.name) == DEFAULT_DICT
        )

    def values(self, value: Instance) -> Values:
        """Return the values under any key."""
        return self.world.memory.remember(self._values, value, lambda: self._find(value), ())

    def _find(self, value: Instance) -> Values:
        assert value.file is not None
        groups: list[Values] = []
        given = Given(value.file, value.call, value.frame, Actuals(), ("factory",))
        first = self.world.made_with(value)
        for factory in (one for written in first.positional[:1] for one in self.world.values.passed(written)):
            if isinstance(factory, (Class, Function, Partial)):
                groups.append(self.world.values.result(factory, given))
            elif isinstance(factory, External):
                groups.append(self._container(value, self.world.knowledge.canonical(factory.name)))
        groups += map(self.world.values.passed, first.keywords.values())
        for copied in first.positional[1:]:
            groups += [self.world.mappings.values_of(one) or (UNKNOWN,) for one in self.world.values.passed(copied)]
        for change in self.changes.of(value):
            if (
                change.kind in ("set", "default")
                and change.value is not None
                and not _changes_in_place(change, union(groups))
            ):
                runs = self.changes.runs(change, value)
                groups += [self.world.values.evaluate(change.value, where) for where in runs]
        return union(groups)

    def _container(self, value: Instance, name: str) -> Values:
        """Return the list or dict that stands for those under all keys. In the points-to analysis it is at its dict's
        place."""
        assert value.file is not None
        place = (value.file.path, value.call)
        made = self._made.get(place)
        if made is None:
            made = self._made[place] = Opaque()
            self.changes.flows.stand(made, ("call", *place))
        written = Written(made, self.world.call_site(value.file, value.call, value.frame))
        if name in _LISTS:
            return (Display(_LISTS[name], written),)
        return (Mapping(written),) if name in _DICTS else ()


def _changes_in_place(change: Change, made: Values) -> bool:
    """Whether a mutation changes what the factory made under a key in place: `rows[key] += [row]`."""
    value, key = change.value, Constant(change.key) if isinstance(change.key, str) else change.key
    kept = any(isinstance(one, (Display, Mapping)) for one in made)
    if not kept or key is None or not isinstance(value, BinOp) or value.op not in ("+", "|", "&", "-"):
        return False
    return value.left == Subscript(change.base, key)
