"""Which of its constructor's arguments an object of an external class retains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dllint.facts.nodes import Attribute
from dllint.inference.constructors import reaching
from dllint.inference.generators import GENERATOR
from dllint.inference.interface import Engine
from dllint.inference.values import Actual, Actuals, Display, External, Instance, Keywords, Partial, Value, Values
from dllint.libraries import hub_transforms
from dllint.libraries.index import (
    KEEPING_FUNCTIONS,
    KEPT_AS_GIVEN,
    LETS_GO,
    LISTS_ARGUMENTS,
    PIPELINES,
    PLAIN_BASES,
    WRAPPERS,
    canonical,
)
from dllint.linking.expressions import summands

_CONTAINERS = frozenset(
    {"list", "tuple", "dict", *(f"collections.{name}" for name in ("UserList", "UserDict", "OrderedDict"))}
)
SPLIT = "torch.utils.data.random_split"


def keeps_arguments(name: str) -> bool:
    """Whether the result of calling `name` retains the arguments: a class (recognized by its capital), or a listed
    function."""
    plain = canonical(name)
    return (
        plain in KEEPING_FUNCTIONS
        or _adds_a_stage(name)
        or (not plain.endswith("()") and plain.rsplit(".", 1)[-1][:1].isupper())
    )


def keeps_as_it_is(name: str) -> bool:
    """Whether an object certainly retains its constructor's arguments unchanged, as dataset wrappers do."""
    plain = canonical(name)
    known = plain in KEEPING_FUNCTIONS or plain in WRAPPERS or plain in KEPT_AS_GIVEN
    return known or plain.endswith("Compose") or _adds_a_stage(name)


def _adds_a_stage(name: str) -> bool:
    """Whether `name` is a method of a pipeline that returns the pipeline with one more stage."""
    head, called, rest = canonical(name).partition("()")
    return head in PIPELINES and bool(called and rest)


class Contents(NamedTuple):
    """The arguments that an external object retains, including those inside lists and dicts.

    Attributes:
        values: the retained arguments.
        given: the name of the class if it may transform them; "" if it keeps them as they are.
    """

    values: Values
    given: str = ""


def contents(world: Engine, value: Instance) -> Contents:
    """Return the arguments that an object retains if its class is external, or inherits from an external class."""
    made = _made(world, value)
    if made is None:
        return Contents(_given(world, hub_transforms.held(world, value)))
    name, actuals = made
    given = "" if keeps_as_it_is(name) else name
    if canonical(name) == SPLIT:
        # It draws the indices itself: torch/utils/data/dataset.py.
        dataset = (actuals.keywords[name] for name in ("dataset",) if name in actuals.keywords)
        return Contents(_given(world, (*actuals.positional[:1], *dataset)), given)
    before = _pipeline(world, value) if _adds_a_stage(name) else ()
    used_up = LETS_GO.get(canonical(name), frozenset())
    named = (one for keyword, one in actuals.keywords.items() if keyword not in used_up)
    arguments = (*actuals.positional, *named, *actuals.stars)
    values = (*before, *_given(world, arguments), *_unpacked(world, actuals))
    if canonical(name) in LISTS_ARGUMENTS:
        values = tuple(one for one in values if not _is_generator(one))
    return Contents(values, given)


def _is_generator(value: Value) -> bool:
    if isinstance(value, Display):
        return value.kind == "generator"
    return isinstance(value, Instance) and value.of == GENERATOR


def held_by(world: Engine, value: Instance) -> Values:
    """Return the values of the arguments that an object was constructed with and retains."""
    return contents(world, value).values


def given_to_container(world: Engine, value: Instance) -> Values | None:
    """Return what an object is constructed with whose class extends `list`, `dict` or a class like them:
    `super().__init__(rows)`. None if it extends none of them."""
    if isinstance(value.of, External) or not any(map(_is_container, world.hierarchy.externals(value.of))):
        return None
    made = _made(world, value)
    first = made[1].positional[:1] if made is not None and _is_container(made[0]) else ()
    return tuple(one for actual in first for one in world.values.passed(actual))


def _is_container(name: str) -> bool:
    return canonical(name) in _CONTAINERS


def _made(world: Engine, value: Instance) -> tuple[str, Actuals] | None:
    """Return the external class that constructs an object, and its arguments; for a class of the project, the external
    base whose constructor it calls. None if no argument is retained, or if that is unknown."""
    if value.file is None or value.call < 0:
        return None
    if isinstance(value.of, External):
        return (value.of.name, world.made_with(value)) if keeps_arguments(value.of.name) else None
    if not any(map(_is_keeping_base, map(External, world.hierarchy.externals(value.of)))):
        return None
    making = (value.file, value.call, value.frame)
    found = reaching(world, value.of, world.made_with(value), making, _is_keeping_base)
    return (found.base.name, found.actuals) if found is not None and isinstance(found.base, External) else None


def _is_keeping_base(value: Value) -> bool:
    return isinstance(value, External) and keeps_arguments(value.name) and canonical(value.name) not in PLAIN_BASES


def _unpacked(world: Engine, actuals: Actuals) -> Values:
    """Return the values of dicts unpacked into a call, and of `**kwargs` passed on."""
    found: dict[Value, None] = {}
    # A function that may call itself can pass on its own `**kwargs`.
    seen: set[Value] = set()
    todo = [actuals]
    while todo:
        for one in (value for mapping in todo.pop().mappings for value in world.values.passed(mapping)):
            if one in seen:
                continue
            seen.add(one)
            if isinstance(one, Keywords) and one.frame is not None and one.frame.actuals is not None:
                named = {param.name for param in one.function.file.scopes[one.function.scope].params}
                rest = one.frame.actuals
                kept = [actual for name, actual in rest.keywords.items() if name not in named]
                found.update(dict.fromkeys(_given(world, kept)))
                todo.append(rest)
            elif not isinstance(one, Keywords):
                found.update(dict.fromkeys(world.knowledge.parts(one)))
    return tuple(found)


def _pipeline(world: Engine, value: Instance) -> Values:
    """Return the pipeline as it was before the call that added a stage."""
    assert value.file is not None
    func = value.file.calls[value.call].func
    if not isinstance(func, Attribute):
        return ()
    found = world.values.evaluate(func.value, world.call_site(value.file, value.call, value.frame))
    return tuple(one for one in found if isinstance(one, Instance) and one != value)


def bound_by(world: Engine, value: Partial) -> Values:
    """Return the values of the arguments that a partial binds, including those inside lists and dicts."""
    actuals = world.made_with(value)
    return _given(world, (*actuals.positional, *actuals.keywords.values()))


def _given(world: Engine, actuals: Iterable[Actual]) -> Values:
    found: dict[Value, None] = {}
    for actual in actuals:
        if actual.expr is not None and actual.site is not None:
            for summand in summands(actual.expr):
                for one in world.values.evaluate(summand, actual.site):
                    found.update(dict.fromkeys(world.knowledge.parts(one)))
    return tuple(found)
