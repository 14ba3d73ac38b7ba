"""Finds the calls of `multiprocessing.set_start_method`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Constant
from dllint.inference.values import Const, External
from dllint.libraries.contexts import METHODS
from dllint.libraries.index import canonical
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World


class SetCall(NamedTuple):
    """A call of `multiprocessing.set_start_method`."""

    file: SourceFile
    call: int
    methods: tuple[str, ...]
    force: bool


def set_calls(world: World) -> Iterator[SetCall]:
    """All calls of `set_start_method`, with the methods that they can set."""
    names = {"set_start_method"}
    for file in world.files.values():
        for _, _, imported in file.imports():
            if imported.name == "set_start_method" and imported.alias:
                names.add(imported.alias)
    for name in sorted(names):
        for file, index in world.called(name):
            found = _set_call(world, file, index)
            if found is not None:
                yield found


def _set_call(world: World, file: SourceFile, index: int) -> SetCall | None:
    site = world.call_site(file, index, None)
    values = world.values.evaluate(file.calls[index].func, site)
    if world.unreached(site) or not any(
        isinstance(v, External) and canonical(v.name) == "multiprocessing.set_start_method" for v in values
    ):
        return None
    actuals = world.actuals(file, index, None)
    method = actuals.keywords.get("method") or (actuals.positional[0] if actuals.positional else None)
    force = actuals.keywords.get("force") or (actuals.positional[1] if len(actuals.positional) > 1 else None)
    if method is None or method.site is None:
        return None
    methods = tuple(
        value.value
        for value in world.values.evaluate(method.expr, method.site)
        if isinstance(value, Const) and value.value in METHODS
    )
    return SetCall(file, index, methods, force is not None and force.expr == Constant(True))
