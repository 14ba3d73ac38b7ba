"""Finds the calls of a project that construct DataLoaders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Subscript
from dllint.inference.constructors import base_constructed
from dllint.inference.names import called_as
from dllint.inference.values import Class, External, Instance, Partial, Value
from dllint.libraries.filled_classes import FILLS_OPTIONS
from dllint.libraries.index import ALIASES, LOADERS
from dllint.linking.source import SourceFile, last_name
from dllint.project.loader_apis import loader_api
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.inference.engine import World


def find_loaders(world: World) -> Iterator[Loader]:
    """All calls of the project that construct a DataLoader, in the order of the files."""
    names = {name.rsplit(".", 1)[-1] for name in (*_in_reach(world), *world.settings.loaders)}
    names |= {alias.rsplit(".", 1)[-1] for alias, name in ALIASES.items() if name in LOADERS}
    own = [cls for cls in world.classes() if loader_api(world, cls) is not None]
    names |= {cls.name for cls in own}
    names = called_as(world, names)
    named = ((file.path, index) for name in names for file, index in world.called(name))
    unnamed = ((file.path, index) for file, index in world.calls.looked_up()) if own else ()
    calls = sorted({*named, *unnamed, *_called_at_once(world, names), *_of_own_class(world, own)})
    made: set[Class] = set()
    for path, index in calls:
        file = world.files[path]
        call = file.calls[index]
        if isinstance(call.func, Attribute) and call.func.attr == "__init__":
            continue
        site = world.call_site(file, index, None)
        for value in world.values.evaluate(call.func, site):
            found = loader_api(world, value)
            if found is not None:
                made.update(_own(value))
                if not world.unreached(site):
                    yield Loader(world, file, index, value, *found)
                break
    for file, index, name in world.knowledge.described_loaders():
        yield Loader(world, file, index, External(name), LOADERS[name], "DataLoader")
    for name in sorted(FILLS_OPTIONS):
        for file, index in world.called(name):
            yield from _filled_options(world, file, index)
    for name in sorted(world.knowledge.instantiating):
        for file, index in world.called(name):
            for value in world.knowledge.built(file, index, None):
                found = loader_api(world, value)
                if found is not None:
                    made.update(_own(value))
                    yield Loader(world, file, index, value, *found)
                    break
    yield from _never_made(world, own, made)


def _own(value: Value) -> Iterator[Class]:
    """The class of the project that a callee constructs, also through a partial."""
    while isinstance(value, Partial):
        value = value.function
    if isinstance(value, Class):
        yield value


def _never_made(world: World, classes: list[Class], made: set[Class]) -> Iterator[Loader]:
    """The calls by which loader classes of the project pass a dataset that they make to the constructor of their base,
    where the project never constructs them: a registry, or users of the library, do."""
    seen = {base for cls in made for base in world.hierarchy.line(cls)}
    calls: set[tuple[str, int]] = set()
    for cls in classes:
        init = world.hierarchy.method(cls, "__init__")
        if init is None or cls in seen or world.hierarchy.subclasses(cls):
            continue
        for index in init.file.calls_of(init.scope):
            base = base_constructed(world, init.file, index)
            api = loader_api(world, base[0]) if base is not None else None
            if base is None or api is None or not api[0].dataset or (init.file.path, index) in calls:
                continue
            calls.add((init.file.path, index))
            loader = Loader(world, init.file, index, base[0], api[0], cls.name)
            if any(isinstance(value, Instance) for value in loader.datasets()):
                yield loader
            break


def _filled_options(world: World, file: SourceFile, index: int) -> Iterator[Loader]:
    """The trainer options among the objects whose fields a call fills."""
    for made in world.values.evaluate(CallRef(index), world.call_site(file, index, None)):
        for one in world.mappings.flattened(made):
            if isinstance(one, Instance) and one.file is file and one.call == index:
                found = loader_api(world, one.of)
                if found is not None and found[0].trainers:
                    yield Loader(world, file, index, one.of, *found)


def _in_reach(world: World) -> Iterator[str]:
    """The APIs that can construct a DataLoader in this project.

    An API with a lower-case name, as variables have, counts only if its package is imported: otherwise following
    everything that a variable of that name is bound to would visit most of a program.
    """
    for name in LOADERS:
        package, _, rest = name.partition(".")
        if package in world.import_graph.packages or not rest.rpartition(".")[2].islower():
            yield name


def _of_own_class(world: World, loaders: list[Class]) -> Iterator[tuple[str, int]]:
    """The calls by which a loader class of the project constructs its own class: `cls(rows)` in a class method,
    `self.__class__(rows)`."""
    lines = {base.key for cls in loaders for base in world.hierarchy.line(cls) if isinstance(base, Class)}
    for file, index in (*world.called("cls"), *world.called("__class__")) if lines else ():
        around = file.enclosing_class(file.calls[index].scope)
        if around is not None and (file.path, around) in lines:
            yield file.path, index


def _called_at_once(world: World, loaders: set[str]) -> Iterator[tuple[str, int]]:
    """The calls whose callee is itself a call of `partial` or of a function that may return a loader class, or a class
    with type arguments.

    Examples: `partial(DataLoader, num_workers=4)(rows)`, `loader_class(kind)(rows)`, `DataLoader[Batch](rows)`.
    """
    names = {"partial", *world.aliases("partial")} | {one[:-2] for one in loaders if one.endswith("()")}
    for file, index in world.called(""):
        func = file.calls[index].func
        of_call = isinstance(func, CallRef) and last_name(file.calls[func.index].func) in names
        if of_call or (isinstance(func, Subscript) and last_name(func.value) in loaders):
            yield file.path, index
