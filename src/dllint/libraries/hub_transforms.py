"""The functions that datasets of the Hugging Face hub hold until an item is read (datasets 3.0, `arrow_dataset.py`,
"set_transform", "with_transform"; `iterable_dataset.py`, "map", "filter").

`map` and `filter` of a dataset on disk run their function at once and do not hold it; those of a stream do.
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import Actual, Const, External, Instance
from dllint.libraries.records import is_of_hub

_HOLDING = frozenset({"with_transform"})
_OF_STREAM = frozenset({"map", "filter"})
_FORMATS = frozenset({"with_format", "with_transform"})
"""Methods whose result has no other transform than the one that they set."""
_RESETTING = ("set_format", "reset_format")


def held(world: Engine, value: Instance) -> Iterator[Actual]:
    """Yield the functions that a dataset of the hub applies when an item is read."""
    if not isinstance(value.of, External) or not is_of_hub(value.of.name):
        return
    for depth, one in enumerate(_made_of(world, value)):
        if limits.PIECE_DEPTH.exceeded(depth):
            return
        yield from _set(world, one)
        method = _method(one)
        if method in _HOLDING or (method in _OF_STREAM and _streams(world, one)):
            assert one.file is not None
            actuals = world.actuals(one.file, one.call, one.frame)
            named = (actuals.keywords[name] for name in ("transform", "function") if name in actuals.keywords)
            yield from (*actuals.positional[:1], *named)
        if method in _FORMATS:
            return


def _made_of(world: Engine, value: Instance) -> Iterator[Instance]:
    """Yield a dataset and those that it was made of by methods, the latest first."""
    todo: Instance | None = value
    seen: set[Instance] = set()
    while todo is not None and todo not in seen and todo.file is not None and todo.call >= 0:
        seen.add(todo)
        yield todo
        func = todo.file.calls[todo.call].func
        before = (
            world.values.evaluate(func.value, world.call_site(todo.file, todo.call, todo.frame))
            if isinstance(func, Attribute)
            else ()
        )
        found = [
            one
            for one in before
            if isinstance(one, Instance) and isinstance(one.of, External) and is_of_hub(one.of.name)
        ]
        todo = found[0] if len(found) == 1 else None


def _method(value: Instance) -> str:
    """Return the method that a dataset is the result of; "" for that of a loading function."""
    head, called, last = value.of.name.rpartition("().")
    return last.partition("[")[0] if called and head else ""


def _streams(world: Engine, value: Instance) -> bool:
    """Whether a dataset is surely read while it is iterated."""
    root = list(_made_of(world, value))[-1]
    given = world.made_with(root).keywords.get("streaming")
    values = world.values.passed(given) if given is not None else ()
    return bool(values) and all(isinstance(one, Const) and one.value is True for one in values)


def _set(world: Engine, value: Instance) -> Iterator[Actual]:
    """Yield the transforms that calls of `set_transform` set on the dataset itself, or on all of its splits.

    A call on one of several splits is left out: nothing tells the splits of one dataset apart.
    """
    if any(map(world.called, _RESETTING)):
        return
    for file, index in world.called("set_transform"):
        func = file.calls[index].func
        if not isinstance(func, Attribute):
            continue
        for one in world.values.evaluate(func.value, world.call_site(file, index, None)):
            if not isinstance(one, Instance) or (one.file, one.call) != (value.file, value.call):
                continue
            if not one.of.name.endswith("[]") and value.of.name.removesuffix("[]") == one.of.name:
                actuals = world.actuals(file, index, None)
                named = (actuals.keywords[name] for name in ("transform",) if name in actuals.keywords)
                yield from (*actuals.positional[:1], *named)
