"""Generator functions: the generators that calls return, and the elements that iterating them yields."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Starred
from dllint.facts.schema import Scope
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import NONE, UNKNOWN, Class, External, Frame, Function, Instance, Site, Value, Values
from dllint.linking.source import last_name

GENERATOR = External("types.GeneratorType")
_KEEP = frozenset({"classmethod", "staticmethod", "contextmanager"})
"""Decorators that leave a generator function one; what a context manager yields is what `with` binds."""


def makes_generator(scope: Scope) -> bool:
    """Whether calling the function returns a generator; with unknown decorators it may return anything."""
    plain = all(last_name(one.expr) in _KEEP for one in scope.decorators)
    return scope.is_generator and not scope.is_async and plain


def runs(world: Engine, value: Value) -> Iterator[tuple[Function, Frame | None]]:
    """Yield the activations of the generator functions behind a generator; none for other values."""
    if not isinstance(value, Instance) or value.of != GENERATOR or value.file is None or value.call < 0:
        return
    for target in world.calls.targets(value.file, value.call, value.frame):
        if target.function.file.scopes[target.function.scope].is_generator:
            yield target.function, target.frame


def elements(world: Engine, value: Value) -> Values | None:
    """Return the values that a generator yields; None for anything else."""
    groups = [world.values.yielded(function, frame) for function, frame in runs(world, value)]
    return union(groups) if groups else None


def of_object(world: Engine, value: Instance) -> Values:
    """Return the elements that the `__iter__` of a project's class gives; empty if it has none."""
    method = world.hierarchy.method(value.of, "__iter__") if isinstance(value.of, Class) else None
    if method is None:
        return ()
    bound, frame = method.bound_to(value), world.receiver_frame(value)
    if makes_generator(bound.file.scopes[bound.scope]):
        return world.values.yielded(bound, frame)
    groups: list[Values] = []
    for given in world.values.returned(bound, frame):
        own = given.of if isinstance(given, Instance) and isinstance(given.of, Class) else None
        stepping = world.hierarchy.method(own, "__next__") if own is not None else None
        if isinstance(given, Instance) and stepping is not None:
            groups.append(world.values.returned(stepping.bound_to(given), world.receiver_frame(given)))
        else:
            groups.append((UNKNOWN,) if given == value else world.values.element_of(given))
    return union(groups)


def yielded(world: Engine, function: Function, frame: Frame | None) -> Values:
    """Return the values that a generator function yields in an activation."""
    groups: list[Values] = []
    for event in function.file.scopes[function.scope].events_of("yield"):
        site = Site(function.file, function.scope, event.region, event.span.start, frame)
        if frame is not None and world.impossible(site):
            continue
        if isinstance(event.value, Starred):
            groups += [world.values.element_of(value) for value in world.values.evaluate(event.value.value, site)]
        else:
            groups.append((NONE,) if event.value is None else world.values.evaluate(event.value, site))
    return union(groups)
