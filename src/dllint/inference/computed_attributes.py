"""Attributes that an object of the project computes as they are read: those that its `__getattr__` answers for."""

from __future__ import annotations

from dllint.facts.nodes import Constant
from dllint.inference.interface import Engine
from dllint.inference.values import Actual, Actuals, Class, Instance, Site, Values


def computed(world: Engine, value: Instance, name: str) -> Values:
    """Return what `__getattr__` returns for a name that nothing else gives the object; empty if it has none."""
    assert isinstance(value.of, Class)
    method = world.hierarchy.method(value.of, "__getattr__")
    if method is None:
        return ()
    getter = method.bound_to(value)
    given = Actuals([Actual(Constant(name), Site(getter.file, 0, 0, (0, 0), None), None)])
    return world.values.returned(getter, world.intern(("attribute", getter, name), given, getter, None))
