"""The start methods of launchers, from their arguments or those of the objects that they are called on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute
from dllint.facts.schema import Expr, Param
from dllint.inference.values import Actual, Actuals, Const, External, Frame, Instance
from dllint.libraries import contexts
from dllint.libraries.facets import LauncherApi
from dllint.libraries.index import POOLS, canonical
from dllint.linking.source import SourceFile
from dllint.span import WHOLE_FILE

if TYPE_CHECKING:
    from dllint.inference.engine import World


def argument(api: LauncherApi, actuals: Actuals, name: str) -> Actual | None:
    """Return an argument of a launcher's call; None if it is not given."""
    if name in actuals.keywords:
        return actuals.keywords[name]
    if name in api.params:
        slot = api.params.index(name)
        if slot < len(actuals.positional):
            return actuals.positional[slot]
    return None


def methods_of(
    world: World,
    api: LauncherApi,
    context: str | None,
    file: SourceFile,
    index: int,
    frame: Frame | None,
    actuals: Actuals,
) -> tuple[str, ...]:
    if context is not None:
        return (context,) if context in contexts.METHODS else ("default",)
    if api.method.startswith("="):
        actual = argument(api, actuals, api.method[1:])
        if actual is None:
            return (api.fallback,)
        return _known(world, actual) or (api.fallback,)
    if api.method in ("executor", "pool", "elastic"):
        return _from_receiver(world, api, file, index, frame)
    if api.started_by:
        return _if_it_starts(world, api, file, index, frame)
    return (api.method,)


def _if_it_starts(world: World, api: LauncherApi, file: SourceFile, index: int, frame: Frame | None) -> tuple[str, ...]:
    """The start methods of a launcher object that starts processes only if its constructor is told to."""
    func, site = file.calls[index].func, world.call_site(file, index, frame)
    found: dict[str, None] = {}
    for value in world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ():
        made = world.made_with(value) if isinstance(value, Instance) and value.call >= 0 else Actuals()
        told, method = (
            world.parameters.given(made, [Param(name, "keyword", None, None, WHOLE_FILE)], name, 0)
            for name in (api.started_by, "start_method")
        )
        if told.absent or any(isinstance(one, Const) and one.value is None for one in told.values):
            found[api.method] = None
        if any(not (isinstance(one, Const) and one.value is None) for one in told.values):
            named = [one.value for one in method.values if isinstance(one, Const) and one.value in contexts.METHODS]
            found.update(dict.fromkeys(named or (api.fallback,)))
    return tuple(found) or (api.method,)


def _known(world: World, actual: Actual) -> tuple[str, ...]:
    """The start methods that an argument names, as a string or a context."""
    found: list[str] = []
    if actual.expr is None or actual.site is None:
        return ()
    for value in world.values.evaluate(actual.expr, actual.site):
        if isinstance(value, Const) and value.value in contexts.METHODS:
            found.append(value.value)
        elif isinstance(value, Const) and value.value is None:
            found.append("default")
        elif isinstance(value, External):
            context = contexts.known_method_of(value.name)
            if context is not None:
                found.append(context)
    return tuple(dict.fromkeys(found))


def _from_receiver(
    world: World, api: LauncherApi, file: SourceFile, index: int, frame: Frame | None
) -> tuple[str, ...]:
    call = file.calls[index]
    receiver: Expr | None = call.func.value if isinstance(call.func, Attribute) else None
    if api.method == "elastic":
        inner = world.actuals(file, index, frame) if api.params else constructed_with(world, file, index, frame)
        config = inner.keywords.get("config") or (inner.positional[0] if inner.positional else None)
        values = (
            world.values.evaluate(config.expr, config.site) if config is not None and config.site is not None else ()
        )
        names: tuple[str, ...] = ("start_method",)
    else:
        values = world.values.evaluate(receiver, world.call_site(file, index, frame)) if receiver is not None else ()
        names = tuple(pool.context for pool in POOLS.values())
    found: list[str] = []
    for value in values:
        if (
            not isinstance(value, Instance)
            or not isinstance(value.of, External)
            or value.file is None
            or value.call < 0
        ):
            continue
        context = contexts.known_method_of(value.of.name)
        if context is not None:
            found.append(context)
            continue
        made = world.made_with(value)
        for name in names:
            if name in made.keywords:
                found += _known(world, made.keywords[name])
        pool = POOLS.get(canonical(value.of.name))
        if pool is not None and pool.context_at < len(made.positional):
            found += _known(world, made.positional[pool.context_at])
    return tuple(dict.fromkeys(found)) or (api.fallback,)


def constructed_with(world: World, file: SourceFile, index: int, frame: Frame | None) -> Actuals:
    """The constructor arguments of the object that a call calls."""
    for value in world.values.evaluate(file.calls[index].func, world.call_site(file, index, frame)):
        if isinstance(value, Instance) and isinstance(value.of, External) and value.file and value.call >= 0:
            return world.made_with(value)
    return Actuals()
