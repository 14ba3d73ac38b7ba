"""What an object from outside the project keeps of its arguments."""

from __future__ import annotations

from collections.abc import Iterable

from dllint.facts.nodes import Attribute
from dllint.inference.interface import Engine
from dllint.inference.values import Actual, External, Instance, Partial, Value, Values
from dllint.libraries.index import KEEPING_FUNCTIONS, PIPELINES, WRAPPERS, canonical
from dllint.linking.expressions import summands

SPLIT = "torch.utils.data.random_split"


def keeps_arguments(name: str) -> bool:
    """Whether calling it makes an object that holds the arguments: a class (by its capital), or a listed function."""
    plain = canonical(name)
    return (
        plain in KEEPING_FUNCTIONS
        or _adds_a_stage(name)
        or (not plain.endswith("()") and plain.rsplit(".", 1)[-1][:1].isupper())
    )


def keeps_as_it_is(name: str) -> bool:
    """Whether an object surely holds what its constructor is given, and does not read it up, as wrappers do."""
    plain = canonical(name)
    return plain in KEEPING_FUNCTIONS or plain in WRAPPERS or plain.endswith("Compose") or _adds_a_stage(name)


def _adds_a_stage(name: str) -> bool:
    """Whether it is a method of a pipeline of stages, which gives the pipeline with one stage more."""
    head, called, rest = canonical(name).partition("()")
    return head in PIPELINES and bool(called and rest)


def held_by(world: Engine, value: Instance) -> Values:
    """The values of the arguments that the object was made with, those inside lists and dicts too."""
    if value.file is None or value.call < 0 or not isinstance(value.of, External) or not keeps_arguments(value.of.name):
        return ()
    actuals = world.made_with(value)
    if canonical(value.of.name) == SPLIT:
        # It draws the indices itself: torch/utils/data/dataset.py.
        return _given(
            world,
            (*actuals.positional[:1], *(actuals.keywords[name] for name in ("dataset",) if name in actuals.keywords)),
        )
    before = _pipeline(world, value) if _adds_a_stage(value.of.name) else ()
    return (*before, *_given(world, (*actuals.positional, *actuals.keywords.values(), *actuals.stars)))


def _pipeline(world: Engine, value: Instance) -> Values:
    """What the pipeline was before the call that added a stage."""
    assert value.file is not None
    func = value.file.calls[value.call].func
    if not isinstance(func, Attribute):
        return ()
    found = world.values.evaluate(func.value, world.call_site(value.file, value.call, value.frame))
    return tuple(one for one in found if isinstance(one, Instance) and one != value)


def bound_by(world: Engine, value: Partial) -> Values:
    """The values of the arguments that a partial binds, those inside lists and dicts too."""
    actuals = world.made_with(value)
    return _given(world, (*actuals.positional, *actuals.keywords.values()))


def _given(world: Engine, actuals: Iterable[Actual]) -> Values:
    found: dict[Value, None] = {}
    for actual in actuals:
        if actual.expr is not None and actual.site is not None:
            for summand in summands(actual.expr):
                for one in world.values.evaluate(summand, actual.site):
                    found.update(dict.fromkeys(world.mappings.flattened(one)))
    return tuple(found)
