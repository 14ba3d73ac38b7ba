"""Project methods that a framework calls: `trainer.fit(model)` calls the model's `train_dataloader`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dllint.facts.nodes import Attribute, Name
from dllint.inference.constructors import reaching
from dllint.inference.interface import Engine
from dllint.inference.values import Actual, Actuals, Class, External, Frame, Function, Instance, Value
from dllint.libraries.hook_facets import Hooks
from dllint.libraries.index import HOOKS, canonical, methods_run
from dllint.linking.source import SourceFile

ENTRIES = {
    method: frozenset(entry for hooks in HOOKS.values() if method in hooks.methods for entry in hooks.entries)
    for method in {method for hooks in HOOKS.values() for method in hooks.methods}
}
"""Hook name → the framework methods that call it."""


def called_hooks(
    world: Engine, name: str, file: SourceFile, index: int, frame: Frame | None
) -> Iterator[tuple[Function, Frame]]:
    """The hooks that a call of a framework's method runs: of the object itself where its class is the project's
    (`MyTrainer(…).train()`), of those that it is given (`trainer.fit(model, datamodule=data)`), and of those that its
    constructor was given, each with its activation."""
    base, _, own = canonical(name).rpartition(".")
    if run := methods_run(base):
        yield from _run_by_base(world, run.get(own, ()), file, index, frame)
        return
    owner, _, method = canonical(name).rpartition("().")
    hooks = HOOKS.get(owner)
    if hooks is None or method not in hooks.entries:
        return
    func = file.calls[index].func
    site = world.call_site(file, index, frame)
    objects: list[Value] = list(world.values.evaluate(func.value, site)) if isinstance(func, Attribute) else []
    yield from _held(world, owner, hooks, objects)
    for argument in file.calls[index].args:
        if argument.keyword not in ("*", "**"):
            objects += world.values.evaluate(argument.value, site)
    for value in dict.fromkeys(objects):
        for hook, receiver in _methods(world, value, hooks.methods):
            yield hook, world.receiver_frame(receiver)


def _held(world: Engine, owner: str, hooks: Hooks, trainers: list[Value]) -> Iterator[tuple[Function, Frame]]:
    """The hooks of the objects that constructors were given, called with what else those were given."""
    for trainer in trainers if hooks.objects else ():
        actuals = constructed_with(world, owner, trainer)
        if actuals is None:
            continue
        passed = {name: given for name, own in hooks.gives.items() if (given := argument(hooks, actuals, own))}
        for own in hooks.objects:
            held = argument(hooks, actuals, own)
            for value in world.values.evaluate(held.expr, held.site) if held and held.expr and held.site else ():
                for hook, receiver in _methods(world, value, hooks.methods):
                    key = ("hook", trainer, hook)
                    yield hook, world.intern(key, Actuals(keywords=passed), hook, world.receiver_frame(receiver))


def constructed_with(world: Engine, owner: str, value: Value) -> Actuals | None:
    """What the constructor of a framework's class got for an object of it, or of a class of the project that inherits
    from it."""
    if not isinstance(value, Instance) or value.file is None or value.call < 0:
        return None
    making = (value.file, value.call, value.frame)
    found = reaching(world, value.of, world.made_with(value), making, lambda one: _is(one, owner))
    return found.actuals if found is not None else None


def argument(hooks: Hooks, actuals: Actuals, name: str) -> Actual | None:
    """An argument of the constructor, by its keyword or its position."""
    return actuals.keywords.get(name) or dict(zip(hooks.params, actuals.positional, strict=False)).get(name)


def _is(value: Value, owner: str) -> bool:
    return isinstance(value, External) and canonical(value.name) == owner


def _methods(world: Engine, value: Value, names: Iterable[str]) -> Iterator[tuple[Function, Instance]]:
    """Those methods that the class of an object of the project has."""
    if isinstance(value, Instance) and isinstance(value.of, Class):
        for name in names:
            found = world.hierarchy.method(value.of, name)
            if found is not None:
                yield Function(found.file, found.scope, value), value


def _run_by_base(
    world: Engine, hooks: Iterable[str], file: SourceFile, index: int, frame: Frame | None
) -> Iterator[tuple[Function, Frame]]:
    """Yield the methods that a call through `super()` runs on the calling method's own object."""
    scope = file.calls[index].scope
    params = file.scopes[scope].params
    if file.method_of(scope) is None or not params:
        return
    for value in world.values.evaluate(Name(params[0].name), world.call_site(file, index, frame)):
        for hook, receiver in _methods(world, value, hooks):
            yield hook, world.receiver_frame(receiver)
