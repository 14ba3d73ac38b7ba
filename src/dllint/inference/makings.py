"""The calls that construct objects of a class. An object whose class alone is known may come from any of them."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import Class, Instance


def objects_of(world: Engine, cls: Class) -> Iterator[Instance]:
    """Yield an object for each call of the project that constructs one of the class, or of a subclass."""
    classes = {cls, *limits.OVERRIDES.first(world.hierarchy.subclasses(cls))}
    names = {name for one in classes for name in (one.name, *world.aliases(one.name))}
    calls = sorted({(file.path, index) for name in names for file, index in world.called(name)})
    for path, index in limits.CANDIDATE_CALLS.first(calls):
        file = world.files[path]
        for callee in world.values.evaluate(file.calls[index].func, world.call_site(file, index, None)):
            if isinstance(callee, Class) and callee in classes:
                yield Instance(callee, file, index)
