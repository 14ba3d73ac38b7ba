"""Callbacks of external functions: the functions of the project that a call of one of them runs."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, CallRef, IfExp, LambdaRef, Name
from dllint.facts.schema import Expr
from dllint.inference.edges import Target
from dllint.inference.interface import Engine
from dllint.inference.library_calls import passed_on
from dllint.inference.packed_arguments import add_handed
from dllint.inference.values import Actuals, Class, External, Frame, Function, Instance, Partial, Value
from dllint.linking.source import SourceFile, last_name

_GIVING_THE_REST = frozenset({"concurrent.futures.ThreadPoolExecutor().submit", "asyncio.to_thread"})
"""External functions that call their first argument with all the others."""
_APPLYING = frozenset({"map", "imap", "imap_unordered", "starmap", "map_async", "starmap_async"}) | {
    *("apply", "apply_async", "submit", "Thread", "Timer")
}
"""Last names of external functions, methods of pools and classes of threads that surely call what they are given."""


def called_back(world: Engine, value: Value, file: SourceFile, index: int, frame: Frame | None) -> Iterator[Target]:
    """Yield functions of the project that an external callee calls during the call (a thread's target, `map`,
    `fire.Fire`, a trainer's callback), or that an external container calls in turn."""
    of = value.of if isinstance(value, Instance) else value
    if not isinstance(of, External):
        return
    name = world.knowledge.canonical(of.name)
    if isinstance(value, Instance):
        yield from contained(world, value)
        return
    if not world.knowledge.calls_back(name) or index in file.mapped:
        return
    site = world.call_site(file, index, frame)
    makes = name in world.knowledge.command_lines
    unsure = not (makes or last_name(file.calls[index].func) in _APPLYING or world.knowledge.surely_calls(name))
    for position in file.of_call(callable_arguments, index):
        argument = file.calls[index].args[position]
        named = argument.value if isinstance(argument.value, Name) and not makes else None
        if named is not None and (not _names_function(world, file, index, named) or _decorates(file, index, named)):
            continue
        for one in world.values.evaluate(argument.value, site):
            if makes and isinstance(one, Class):
                init = world.hierarchy.method(one, "__init__")
                if init is not None:
                    bound = init.bound_to(Instance(one))
                    yield Target(bound, world.intern(("back", bound, frame), None, bound, frame), unsure)
            elif isinstance(one, Function):
                yield Target(one, _back_frame(world, name, one, file, index, frame), unsure)
            elif isinstance(one, Partial) and isinstance(one.plain, Function):
                yield Target(one.plain, _back_frame(world, name, one, file, index, frame), unsure)


def _names_function(world: Engine, file: SourceFile, index: int, name: Name) -> bool:
    """Whether a name may refer to a function, by its name and its bindings alone: a function's own name; where it is
    surely called, a parameter, or a variable such as `load = self.read_cached if cached else self.read`."""
    if any(one.scopes[scope].kind == "function" for one, scope in world.defined(name.id)):
        return True
    if last_name(file.calls[index].func) not in _APPLYING:
        return False
    bindings = file.bindings(file.calls[index].scope).get(name.id, ())
    return any(one.kind == "param" or (one.kind == "value" and _may_be_function(one.expr, file)) for one in bindings)


def _may_be_function(expr: Expr | None, file: SourceFile) -> bool:
    if isinstance(expr, IfExp):
        return _may_be_function(expr.body, file) or _may_be_function(expr.orelse, file)
    return expr is not None and _may_be_called(expr, file)


def _decorates(file: SourceFile, index: int, function: Name) -> bool:
    """Whether the result of a call replaces its one argument, a function, as a decorator's result does: `step =
    compile(step)`, or `return mark(function)` with a parameter `function`."""
    scope = file.calls[index].scope
    if len(file.calls[index].args) != 1:
        return False
    for event in file.scopes[scope].events:
        if event.value == CallRef(index):
            if event.kind == "return":
                return any(param.name == function.id for param in file.scopes[scope].params)
            return event.kind == "assign" and event.target == function
    return False


def _back_frame(
    world: Engine, caller: str, called: Function | Partial, file: SourceFile, index: int, frame: Frame | None
) -> Frame:
    """Return the activation of a function that external code calls; only for a thread are its arguments known."""
    given = world.actuals(file, index, frame)
    function = called.plain if isinstance(called, Partial) else called
    assert isinstance(function, Function)
    if caller in _GIVING_THE_REST and given.positional:
        rest = given.without_first()
        late = world.made_with(called).then(rest) if isinstance(called, Partial) else rest
        return world.intern(("back", file.path, index, called, frame), late, function, frame)
    if caller != "threading.Thread" or given.stars or given.mappings:
        return world.intern(("back", function, frame), None, function, frame)
    listed = (given.keywords.get(name) for name in ("args", "kwargs"))
    actuals = add_handed(world, Actuals(), *listed)
    if isinstance(called, Partial):
        actuals = world.made_with(called).then(actuals)
    return world.intern(("back", file.path, index, called, frame), actuals, function, frame)


def contained(
    world: Engine, value: Instance, depth: int = 0, seen: dict[Instance, int] | None = None
) -> Iterator[Target]:
    """Yield what calling a composed transform of an external class calls in turn. `seen` maps each visited object to
    its depth, as an object shared by many containers need not be visited again."""
    seen = {} if seen is None else seen
    if value.file is None or value.call < 0 or depth > 3 or seen.get(value, depth + 1) <= depth:
        return
    seen[value] = depth
    for held in world.knowledge.held_by(value):
        if isinstance(held, Function):
            yield Target(held, world.intern(("held", held), None, held, None))
        elif isinstance(held, Instance) and isinstance(held.of, Class):
            for name in ("__call__", "forward", "apply"):
                method = world.hierarchy.method(held.of, name)
                if method is not None:
                    bound = Function(method.file, method.scope, held)
                    yield Target(bound, world.intern(("held", bound), None, bound, None))
            yield from passed_on(world, held)
            if world.hierarchy.method(held.of, "__call__") is None:
                yield from contained(world, held, depth + 1, seen)
        elif isinstance(held, Instance):
            yield from contained(world, held, depth + 1, seen)


def callable_arguments(file: SourceFile, index: int) -> list[int]:
    """Return the positions of the arguments of a call that may be functions."""
    return [
        position
        for position, one in enumerate(file.calls[index].args)
        if one.keyword not in ("*", "**") and _may_be_called(one.value, file)
    ]


def _may_be_called(argument: Expr, file: SourceFile) -> bool:
    """Whether an argument may be a function by its syntax: a name, a lambda, or a partial."""
    if isinstance(argument, CallRef):
        return last_name(file.calls[argument.index].func) == "partial"
    return isinstance(argument, (Name, Attribute, LambdaRef))
