"""Methods of the project that a framework calls: `trainer.fit(model)` calls the model's `train_dataloader`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dllint.facts.nodes import Attribute, Name
from dllint.inference.interface import Engine
from dllint.inference.values import Class, Frame, Function, Instance, Value
from dllint.libraries.index import HOOKS, RUNS_METHODS, canonical
from dllint.linking.source import SourceFile

ENTRIES = {
    method: frozenset(entry for hooks in HOOKS.values() if method in hooks.methods for entry in hooks.entries)
    for method in {method for hooks in HOOKS.values() for method in hooks.methods}
}
"""The methods of frameworks that call a hook, by its name."""


def called_hooks(
    world: Engine, name: str, file: SourceFile, index: int, frame: Frame | None
) -> Iterator[tuple[Function, Instance]]:
    """The hooks that a call of a framework's method runs: of the object itself where its class is the project's
    (`MyTrainer(…).train()`), and of those that it is given (`trainer.fit(model, datamodule=data)`), each with its
    object."""
    base, _, own = canonical(name).rpartition(".")
    if base in RUNS_METHODS:
        yield from _run_by_base(world, RUNS_METHODS[base].get(own, ()), file, index, frame)
        return
    owner, _, method = canonical(name).rpartition("().")
    hooks = HOOKS.get(owner)
    if hooks is None or method not in hooks.entries:
        return
    func = file.calls[index].func
    site = world.call_site(file, index, frame)
    objects: list[Value] = list(world.values.evaluate(func.value, site)) if isinstance(func, Attribute) else []
    for argument in file.calls[index].args:
        if argument.keyword not in ("*", "**"):
            objects += world.values.evaluate(argument.value, site)
    for value in dict.fromkeys(objects):
        if isinstance(value, Instance) and isinstance(value.of, Class):
            for hook in hooks.methods:
                found = world.hierarchy.method(value.of, hook)
                if found is not None:
                    yield Function(found.file, found.scope, value), value


def _run_by_base(
    world: Engine, hooks: Iterable[str], file: SourceFile, index: int, frame: Frame | None
) -> Iterator[tuple[Function, Instance]]:
    """The methods that a call through `super()` runs, on the object that the calling method belongs to."""
    scope = file.calls[index].scope
    params = file.scopes[scope].params
    if file.method_of(scope) is None or not params:
        return
    for value in world.values.evaluate(Name(params[0].name), world.call_site(file, index, frame)):
        if isinstance(value, Instance) and isinstance(value.of, Class):
            for hook in hooks:
                found = world.hierarchy.method(value.of, hook)
                if found is not None:
                    yield Function(found.file, found.scope, value), value
