"""Arguments that reach the constructor of an external class, through partials and through subclasses in the project."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dllint.facts.nodes import Attribute
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import Actuals, Class, External, Frame, Function, Instance, Partial, Super, Value
from dllint.linking.source import SourceFile

Wanted = Callable[[Value], bool]
"""Whether a class is one whose constructor arguments are requested."""
Making = tuple[SourceFile, int, "Frame | None"]
"""The call that creates an object: its file, its index there and the enclosing activation."""


class Reached(NamedTuple):
    """An external class, the arguments of its constructor, and the call that passes them: the call that creates the
    object, or `super().__init__(…)` in a class of the project."""

    base: Value
    actuals: Actuals
    call: Making


def reaching(
    world: Engine, callee: Value, actuals: Actuals, call: Making, wanted: Wanted, depth: int = 0
) -> Reached | None:
    """Return the external class that is constructed when `callee` is called with these arguments, and the arguments
    that reach its constructor; None if unknown."""
    if limits.CONSTRUCTORS.exceeded(depth):
        return None
    if isinstance(callee, Partial):
        merged = world.made_with(callee).then(actuals)
        return reaching(world, callee.plain, merged, call, wanted, depth + 1)
    if isinstance(callee, Class):
        init = world.hierarchy.method(callee, "__init__")
        if init is not None:
            bound = init.bound_to(Instance(callee, *call))
            frame = world.intern(("constructor", call[0].path, call[1], call[2], callee), actuals, bound, call[2])
            return _through(world, bound, frame, wanted, depth)
    names = world.hierarchy.externals(callee) if isinstance(callee, Class) else []
    base = next((one for one in (callee, *map(External, names)) if wanted(one)), None)
    return Reached(base, actuals, call) if base is not None else None


def base_constructed(world: Engine, file: SourceFile, index: int) -> tuple[Value, bool] | None:
    """Return the class whose constructor a constructor calls, and whether its first argument is the object itself:
    `super().__init__(rows)` and `Base.__init__(self, rows)`; None if unknown."""
    func = file.calls[index].func
    if not isinstance(func, Attribute) or func.attr != "__init__":
        return None
    site = world.call_site(file, index, None)
    for base in world.values.evaluate(func.value, site):
        if not isinstance(base, Super):
            return (base, True) if isinstance(base, (Class, External)) else None
        for target in world.values.evaluate(func, site):
            if isinstance(target, External):
                return External(target.name.removesuffix(".__init__")), False
            owner = target.file.enclosing_class(target.scope) if isinstance(target, Function) else None
            if isinstance(target, Function) and owner is not None:
                return Class(target.file, owner), False
    return None


def _through(world: Engine, init: Function, frame: Frame, wanted: Wanted, depth: int) -> Reached | None:
    """Follow the arguments from a constructor of the project to the constructor of its base."""
    if limits.CONSTRUCTORS.exceeded(depth):
        return None
    for index in init.file.calls_of(init.scope):
        call = init.file.calls[index]
        if not isinstance(call.func, Attribute) or call.func.attr != "__init__":
            continue
        site = world.call_site(init.file, index, frame)
        actuals = world.actuals(init.file, index, frame)
        for base in world.values.evaluate(call.func.value, site):
            plain = base
            if isinstance(base, Super):
                for target in world.values.evaluate(call.func, site):
                    if isinstance(target, Function):
                        key = ("base constructor", init.file.path, index, frame, target)
                        inner = world.intern(key, actuals, target, frame)
                        return _through(world, target, inner, wanted, depth + 1)
                    if isinstance(target, External):
                        plain = External(target.name.removesuffix(".__init__"))
            elif actuals.positional:
                actuals = actuals.without_first()
            found = reaching(world, plain, actuals, (init.file, index, frame), wanted, depth + 1)
            if found is not None:
                return found
    return None
