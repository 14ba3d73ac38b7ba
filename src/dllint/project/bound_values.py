"""The objects inside what an attribute holds: elements of a list, what a partial binds, the object of a method."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.inference.values import Const, Function, Mapping, Partial, Value

if TYPE_CHECKING:
    from dllint.inference.engine import World


def inside(world: World, held: Value) -> Iterator[tuple[str, Value]]:
    """Yield a value, or the elements of a list, and what is bound in them, each with its path from there:
    `.keywords['vocabulary']` of `partial(encode, vocabulary=…)`."""
    for part in world.mappings.flattened(held):
        yield "", part
        yield from _bound(world, part)


def _bound(world: World, value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Function) and value.receiver is not None:
        yield ".__self__", value.receiver
    if isinstance(value, Partial):
        actuals = world.made_with(value)
        places = [(f".args[{place}]", actual) for place, actual in enumerate(actuals.positional)]
        places += [(f".keywords[{name!r}]", actual) for name, actual in actuals.keywords.items()]
        for path, actual in places:
            yield from ((path, one) for one in world.values.passed(actual))
        unpacked = (one for actual in actuals.mappings for one in world.values.passed(actual))
        for mapping in (one for one in unpacked if isinstance(one, Mapping)):
            for key in world.mappings.all_keys(mapping):
                if isinstance(key, Const):
                    found = world.mappings.in_value(mapping, key.value)
                    kept = found.values if found is not None else ()
                    yield from ((f".keywords[{key.value!r}]", one) for one in kept)
        yield from ((f".func{path}", one) for path, one in _bound(world, value.function))
