"""Calls of the project's objects that a base class from a library passes on to methods of theirs, as the `__call__` of
a transform does to `apply`."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.inference.edges import Target
from dllint.inference.interface import Engine
from dllint.inference.values import Class, External, Function, Instance, Values


def passed_on(world: Engine, value: Instance) -> Iterator[Target]:
    """Yield the methods that calling an object runs, if its class inherits `__call__` from a library. What the library
    passes to them is unknown."""
    for name in _names(world, value):
        first, _, then = name.partition("().")
        objects: Values = world.objects.call_method(value, first) if then else (value,)
        for one in objects:
            if isinstance(one, Instance) and isinstance(one.of, Class):
                method = world.hierarchy.method(one.of, then or first)
                if method is not None:
                    bound = Function(method.file, method.scope, one)
                    yield Target(bound, world.intern(("held", bound), None, bound, None))


def _names(world: Engine, value: Instance) -> tuple[str, ...]:
    for owner in world.hierarchy.line(value.of) if isinstance(value.of, Class) else ():
        if isinstance(owner, Class) and "__call__" in world.hierarchy.own_methods(owner):
            return ()
        if isinstance(owner, External) and (names := world.knowledge.run_by(owner.name, "__call__")):
            return names
    return ()
