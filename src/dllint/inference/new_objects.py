"""Instantiation of classes that define `__new__`."""

from __future__ import annotations

from dllint.facts.nodes import Constant
from dllint.inference.edges import Given
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import NONE, UNKNOWN, Class, External, Function, Instance, Value, Values


def made_by(world: Engine, maker: Function, given: Given, made: Instance) -> Values:
    """Return the result of `__new__`: the object itself unless it is known to be another value, or none."""
    values = union(world.values.returned(one.function, one.frame) for one in world.calls.applied(maker, given))
    scope = maker.file.scopes[maker.scope]
    nothing = scope.end >= 0 or any(event.value in (None, Constant(None)) for event in scope.events_of("return"))
    found: dict[Value, None] = {}
    for value in values:
        if isinstance(value, Instance) and isinstance(value.of, External):
            arguments = world.actuals(value.file, value.call, value.frame).positional if value.file else []
            classes = world.values.passed(arguments[0]) if arguments and value.of.name == "object.__new__" else ()
            found.update(
                (Instance(one, made.file, made.call, made.frame, made.by), None)
                for one in classes
                if isinstance(one, Class)
            )
        elif value != UNKNOWN and (value != NONE or nothing):
            found[value] = None
    return tuple(found) if found and UNKNOWN not in values else tuple(dict.fromkeys((*found, made)))
