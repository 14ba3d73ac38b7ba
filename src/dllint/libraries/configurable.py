"""Constructors and functions that take a configuration: `@configurable` of detectron2 (`detectron2/config/config.py`),
which fvcore's users and others copy, calls them with what `from_config` returns for it. That is the class method of
this name, or the function that `@configurable(from_config=…)` names."""

from __future__ import annotations

import re

from dllint.facts.nodes import CallRef
from dllint.inference.arguments import takes
from dllint.inference.edges import Given
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Actual, Actuals, Class, Frame, Function, Instance, Site, Values
from dllint.linking.source import last_name

_DECORATOR = "configurable"
_EXPLAINING = "from_config"
_CONFIGURATION = re.compile(r"cfg|conf", re.IGNORECASE)


def from_configuration(world: Engine, function: Function, name: str, frame: Frame) -> Values:
    """Return the values of a parameter that the call of an activation leaves to the configuration; empty if they are
    unknown, or if the call gives none."""
    scope = function.file.scopes[function.scope]
    if not scope.decorators or frame.call is None or frame.actuals is None:
        return ()
    for decorator in scope.decorators:
        call = function.file.calls[decorator.expr.index] if isinstance(decorator.expr, CallRef) else None
        if last_name(decorator.expr if call is None else call.func) != _DECORATOR:
            continue
        if scope.name == "__init__":
            found = _of_class(world, function, name, frame)
            return tuple(one for one in found if one != UNKNOWN)
        given = [one.value for one in call.args if one.keyword == _EXPLAINING] if call is not None else []
        if given and _is_configured(world, function, frame.actuals):
            site = Site(function.file, scope.parent, scope.region, decorator.span.start, None)
            explaining = world.values.evaluate(given[0], site)
            return union(_explained(world, one, name, frame) for one in explaining if isinstance(one, Function))
    return ()


def _of_class(world: Engine, init: Function, name: str, frame: Frame) -> Values:
    of = frame.receiver.of if isinstance(frame.receiver, Instance) else None
    cls = of if isinstance(of, Class) else Class(init.file, init.file.scopes[init.scope].parent)
    explaining = world.hierarchy.method(cls, _EXPLAINING)
    return _explained(world, explaining.bound_to(cls), name, frame) if explaining is not None else ()


def _explained(world: Engine, explaining: Function, name: str, frame: Frame) -> Values:
    """Return what a function returns under a name for the arguments of an activation."""
    assert frame.call is not None
    path, call = frame.call
    given = Given(world.files[path], call, frame.parent, frame.actuals, (_EXPLAINING,))
    told = (world.mappings.in_value(one, name) for one in world.values.result(explaining, given))
    return union(found.values if found is not None else (UNKNOWN,) for found in told)


def _is_configured(world: Engine, function: Function, actuals: Actuals) -> bool:
    """Whether a call gives a function a configuration in place of its arguments: it would lack some otherwise, or its
    first argument is named like one."""
    if "cfg" in actuals.keywords or not takes(function.file.scopes[function.scope].params, actuals, 0):
        return True
    return bool(actuals.positional) and _is_configuration(world, actuals.positional[0])


def _is_configuration(world: Engine, actual: Actual) -> bool:
    if actual.expr is None or actual.site is None:
        return False
    values = world.values.evaluate(actual.expr, actual.site)
    made = [one.of.name.rpartition(".")[2] for one in values if isinstance(one, Instance)]
    return any(map(_CONFIGURATION.search, made or [last_name(actual.expr)]))
