"""Classes of datasets that give no items themselves: an object that is known to be of such a class is of a subclass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.inference import limits
from dllint.inference.values import Class, Instance, Value
from dllint.libraries.index import PLAIN_BASES, canonical

if TYPE_CHECKING:
    from dllint.inference.engine import World

_GIVING_ITEMS = ("__getitem__", "__getitems__", "__iter__")
_GIVING_NONE = frozenset({"abc.ABC", "typing.Generic", "typing.Protocol", "object"})
"""External bases without items, in addition to those of torch."""


def objects_below(world: World, value: Value) -> list[Instance]:
    """Return an object of each subclass that gives items, if no more is known of an object than its abstract class: a
    parameter annotated with it. Empty for any other value."""
    if not isinstance(value, Instance) or value.call >= 0 or not isinstance(value.of, Class):
        return []
    if not _is_abstract(world, value.of):
        return []
    below = world.hierarchy.subclasses(value.of)
    last = [one for one in below if not world.hierarchy.subclasses(one) and not _is_abstract(world, one)]
    return [Instance(one) for one in limits.OVERRIDES.first(last)]


def _is_abstract(world: World, cls: Class) -> bool:
    """Whether neither a class nor its bases have a method that returns items."""
    outside = map(canonical, world.hierarchy.externals(cls))
    if not all(name in PLAIN_BASES or name in _GIVING_NONE for name in outside):
        return False
    return not any(_gives(world, cls, name) for name in _GIVING_ITEMS)


def _gives(world: World, cls: Class, name: str) -> bool:
    method = world.hierarchy.method(cls, name)
    if method is None or "abstractmethod" in world.hierarchy.decorators(method):
        return False
    scope = method.file.scopes[method.scope]
    return scope.is_generator or bool(scope.events_of("return"))
