"""Trainers of frameworks: the arguments that they receive along with the options from which they construct loaders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute
from dllint.facts.schema import Param
from dllint.inference.constructors import reaching
from dllint.inference.entries import Found
from dllint.inference.unions import union
from dllint.inference.values import Actuals, Class, External, Instance, Value, Values
from dllint.libraries.facets import LoaderApi, TrainerApi
from dllint.libraries.index import LOADERS, canonical
from dllint.linking.source import SourceFile
from dllint.span import WHOLE_FILE

if TYPE_CHECKING:
    from dllint.inference.engine import World


_TRAINERS = {name: trainer for api in LOADERS.values() for name, trainer in api.trainers.items()}
"""The classes that construct loaders from options, by name."""


def given_to_trainers(
    world: World, api: LoaderApi, made: tuple[SourceFile, int], wanted: Callable[[TrainerApi], Iterable[str]]
) -> Found:
    """The values of arguments of the trainers that receive the options constructed by the call `made`.

    Absent if no such trainer is given one.
    """
    groups: list[Values] = []
    for trainer, actuals in _trainers(world, api):
        options = _argument(world, trainer, actuals, trainer.options).values
        if any(isinstance(one, Instance) and (one.file, one.call) == made for one in options):
            groups += (_argument(world, trainer, actuals, name).values for name in wanted(trainer))
    values = union(groups)
    return Found(values, not values)


def fed_to(world: World, api: LoaderApi, made: tuple[SourceFile, int]) -> Values:
    """The datasets that are passed to methods of the object that the call `made` constructs. What is no object of the
    project, such as an array, the library puts into a dataset of its own."""
    groups: list[Values] = []
    for method, param in api.fed_by.items():
        for file, index in world.called(method):
            func, site = file.calls[index].func, world.call_site(file, index, None)
            receivers = world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ()
            if any(isinstance(one, Instance) and (one.file, one.call) == made for one in receivers):
                actuals = world.actuals(file, index, None)
                given = actuals.keywords.get(param) or next(iter(actuals.positional), None)
                groups.append(world.values.passed(given) if given is not None else ())
    return tuple(one for one in union(groups) if isinstance(one, Instance) and isinstance(one.of, Class))


def options_of(world: World, trainer: Value) -> Values:
    """The options from which a trainer constructs its loaders; empty if it uses none."""
    if not isinstance(trainer, Instance) or trainer.file is None or trainer.call < 0:
        return ()
    making = (trainer.file, trainer.call, trainer.frame)
    found = reaching(world, trainer.of, world.made_with(trainer), making, _makes_loaders)
    if found is None or not isinstance(found.base, External):
        return ()
    api = _TRAINERS[canonical(found.base.name)]
    if isinstance(trainer.of, Class) and world.hierarchy.method(trainer.of, api.maker) is not None:
        return ()
    return _argument(world, api, found.actuals, api.options).values


def _makes_loaders(value: Value) -> bool:
    return isinstance(value, External) and canonical(value.name) in _TRAINERS


def _trainers(world: World, api: LoaderApi) -> Iterator[tuple[TrainerApi, Actuals]]:
    """The calls that construct a trainer, with the arguments that reach its own constructor."""

    def is_trainer(value: Value) -> bool:
        return isinstance(value, External) and canonical(value.name) in api.trainers

    names = {name.rpartition(".")[2] for name in api.trainers}
    names |= {
        one.name for one in world.classes() if any(map(is_trainer, map(External, world.hierarchy.externals(one))))
    }
    names |= {alias for name in names for alias in world.aliases(name)}
    for file, index in sorted({(file.path, index) for name in names for file, index in world.called(name)}):
        source = world.files[file]
        for callee in world.values.evaluate(source.calls[index].func, world.call_site(source, index, None)):
            if not isinstance(callee, (Class, External)):
                continue
            actuals = world.actuals(source, index, None)
            found = reaching(world, callee, actuals, (source, index, None), is_trainer)
            if found is None or not isinstance(found.base, External):
                continue
            trainer = api.trainers[canonical(found.base.name)]
            if not isinstance(callee, Class) or world.hierarchy.method(callee, trainer.maker) is None:
                yield trainer, found.actuals


def _argument(world: World, trainer: TrainerApi, actuals: Actuals, name: str) -> Found:
    params = [Param(one, "normal", None, None, WHOLE_FILE) for one in trainer.params]
    return world.parameters.given(actuals, params, name, 0)
