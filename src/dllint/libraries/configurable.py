"""Constructors that take a configuration: `@configurable` of detectron2 (`detectron2/config/config.py`), which fvcore's
users and others copy, calls them with what the class method `from_config` returns."""

from __future__ import annotations

from dllint.facts.nodes import CallRef
from dllint.inference.edges import Given
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Class, Frame, Function, Instance, Values, const
from dllint.linking.source import last_name

_DECORATOR = "configurable"
_EXPLAINING = "from_config"


def from_configuration(world: Engine, function: Function, name: str, frame: Frame) -> Values:
    """Return the values of a parameter that the call of an activation leaves to the configuration; empty if they are
    unknown."""
    file, scope = function.file, function.file.scopes[function.scope]
    if scope.name != "__init__" or not scope.decorators or frame.call is None or frame.actuals is None:
        return ()
    decorators = (one.expr for one in scope.decorators)
    called = (file.calls[one.index].func if isinstance(one, CallRef) else one for one in decorators)
    if not any(last_name(one) == _DECORATOR for one in called):
        return ()
    of = frame.receiver.of if isinstance(frame.receiver, Instance) else None
    cls = of if isinstance(of, Class) else Class(file, scope.parent)
    explaining = world.hierarchy.method(cls, _EXPLAINING)
    if explaining is None:
        return ()
    path, call = frame.call
    given = Given(world.files[path], call, frame.parent, frame.actuals, (_EXPLAINING,))
    explained = world.values.result(explaining.bound_to(cls), given)
    found = union(world.mappings.item(one, const(name)) for one in explained)
    return tuple(one for one in found if one != UNKNOWN)
