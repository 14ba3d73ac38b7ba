"""Decorators: the value of a decorated function or class. Their calls are in the file's list of calls."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Class, External, Function, Instance, Site, Unknown, Value, Values
from dllint.linking.source import SourceFile, last_name

_SAME_FUNCTION = frozenset({"wraps", "lru_cache", "cache"})
"""Decorators whose result behaves like the decorated function."""
_SINGLE_DISPATCH = External("functools.singledispatch")


def defined(site: Site, index: int) -> Class | Function:
    """Return the value of a definition without its decorators."""
    if site.file.scopes[index].kind == "class":
        return Class(site.file, index)
    return Function(site.file, index, None, site.frame)


def decorated_method(world: Engine, function: Function, receiver: Value | None) -> Values:
    """Return the value of a method on an object, or on its class, with its decorators applied."""
    if function.scope not in function.file.decorations:
        return (function if receiver is None else function.bound_to(receiver),)
    found = world.values.definition(
        Site(function.file, max(function.file.scopes[function.scope].parent, 0), 0, (0, 0), None), function.scope
    )
    if receiver is None:
        return found
    return tuple(one.bound_to(receiver) if isinstance(one, Function) else one for one in found)


def unaltered(callees: Values) -> Values:
    """Replace decorators that are themselves altered by a decorator with unknown values."""
    return tuple(UNKNOWN if isinstance(one, Function) and _is_altered(one) else one for one in callees)


def _is_altered(function: Function) -> bool:
    file = function.file
    return any(_last_name(file, call) not in _SAME_FUNCTION for call in file.applied(function.scope))


def _last_name(file: SourceFile, call: int) -> str:
    func = file.calls[call].func
    return last_name(file.calls[func.index].func if isinstance(func, CallRef) else func)


def kept(world: Engine, found: Values, decoration: int, site: Site) -> Values:
    """Return the results of decorators; where a result is external or unknown, also the decorated definition, as most
    decorators keep it. A class created inside a decorator stands for its base.

    A decorator that returns what it is given does not return what other uses give it.
    """
    given = world.values.evaluate(site.file.calls[decoration].args[0].value, site)
    replaced = [one for one in found if not _is_foreign(one)]
    own = [one for one in replaced if one in given or not _is_decorated(one)]
    if len(own) < len(replaced):
        # What other uses give it can be so many that the limits leave out its own.
        found = union([tuple(own), given])
        replaced = list(found)
    if any(isinstance(one, Class) for one in given):
        replaced = [one for one in replaced if not isinstance(one, Class) or one.file.scopes[one.scope].parent == 0]
    if _SINGLE_DISPATCH in world.values.evaluate(site.file.calls[decoration].func, site):
        return union([given, *(tuple(_registered(one)) for one in given if isinstance(one, Function))])
    return tuple(replaced) if found and len(replaced) == len(found) else union([tuple(replaced), given])


def _registered(generic: Function) -> Iterator[Value]:
    """Yield the functions of the same file that a generic function runs for some class of its first argument: those
    that its `register` decorates (docs.python.org, "functools.singledispatch")."""
    file = generic.file
    register = Attribute(Name(generic.name), "register")
    for index, scope in enumerate(file.raw.scopes):
        for decorator in scope.decorators if scope.kind == "function" else ():
            expr = decorator.expr
            if (file.calls[expr.index].func if isinstance(expr, CallRef) else expr) == register:
                yield Function(file, index)


def _is_decorated(value: Value) -> bool:
    """Whether a value is a class or function of a module that decorators are applied to."""
    if not isinstance(value, (Class, Function)):
        return False
    return value.file.scopes[value.scope].parent == 0 and value.scope in value.file.decorations


def _is_foreign(value: Value) -> bool:
    """Whether a value is unknown or external."""
    of = value.of if isinstance(value, Instance) else value
    return isinstance(of, (External, Unknown))
