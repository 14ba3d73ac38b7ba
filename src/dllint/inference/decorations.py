"""Decorators: the value of a decorated function or class. Their calls are in the file's list of calls."""

from __future__ import annotations

from dllint.facts.nodes import CallRef
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Class, External, Function, Instance, Site, Unknown, Value, Values
from dllint.linking.source import SourceFile, last_name

_SAME_FUNCTION = frozenset({"wraps", "lru_cache", "cache"})
"""Decorators whose result does what the function does."""


def defined(site: Site, index: int) -> Class | Function:
    """What a definition without its decorators is."""
    if site.file.scopes[index].kind == "class":
        return Class(site.file, index)
    return Function(site.file, index, None, site.frame)


def decorated_method(world: Engine, function: Function, receiver: Value | None) -> Values:
    """What a method is on an object, or on its class, with what decorators made of it."""
    if function.scope not in function.file.decorations:
        return (function if receiver is None else function.bound_to(receiver),)
    found = world.values.definition(
        Site(function.file, max(function.file.scopes[function.scope].parent, 0), 0, (0, 0), None), function.scope
    )
    if receiver is None:
        return found
    return tuple(one.bound_to(receiver) if isinstance(one, Function) else one for one in found)


def unaltered(callees: Values) -> Values:
    """What a decorator's call runs, without the functions that something from outside has made decorators of: what
    those do is not known."""
    return tuple(UNKNOWN if isinstance(one, Function) and _is_altered(one) else one for one in callees)


def _is_altered(function: Function) -> bool:
    file = function.file
    return any(_last_name(file, call) not in _SAME_FUNCTION for call in file.applied(function.scope))


def _last_name(file: SourceFile, call: int) -> str:
    func = file.calls[call].func
    return last_name(file.calls[func.index].func if isinstance(func, CallRef) else func)


def kept(world: Engine, found: Values, decoration: int, site: Site) -> Values:
    """What decorators gave, or what they were given where that is something from outside or not known: most keep
    the function. A class made in a decorator stands for the one that it inherits from."""
    given = world.values.evaluate(site.file.calls[decoration].args[0].value, site)
    replaced = [one for one in found if not _is_foreign(one)]
    if any(isinstance(one, Class) for one in given):
        replaced = [one for one in replaced if not isinstance(one, Class) or one.file.scopes[one.scope].parent == 0]
    return tuple(replaced) if found and len(replaced) == len(found) else union([tuple(replaced), given])


def _is_foreign(value: Value) -> bool:
    """Whether a value is not known, or from outside the project."""
    of = value.of if isinstance(value, Instance) else value
    return isinstance(of, (External, Unknown))
