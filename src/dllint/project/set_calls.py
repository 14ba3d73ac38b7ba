"""Finds the calls of `multiprocessing.set_start_method`, and of libraries' functions that call it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Constant
from dllint.inference.names import called_as
from dllint.inference.values import Const, External
from dllint.libraries.contexts import METHODS, package_of
from dllint.libraries.index import REPLACES_START_METHOD, SETS_START_METHOD, canonical
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World


class SetCall(NamedTuple):
    """A call of `multiprocessing.set_start_method`; `own` if the project makes it, and no library in its place.
    `package`: for whose processes it counts, see `contexts.package_of`."""

    file: SourceFile
    call: int
    methods: tuple[str, ...]
    force: bool
    own: bool = True
    package: str = ""


def set_calls(world: World) -> Iterator[SetCall]:
    """All calls of `set_start_method`, with the methods that they can set."""
    own = list(_own_calls(world))
    yield from own
    for file, index, method in _calls_of_libraries(world):
        # What the program sets itself, before or by force, stays.
        if not any(world.import_graph.together((file.path,), (one.file.path,)) for one in own if not one.package):
            yield SetCall(file, index, (method,), False, False)


def _own_calls(world: World) -> Iterator[SetCall]:
    for name in sorted(called_as(world, {"set_start_method"})):
        for file, index in world.called(name):
            yield from _set_by(world, file, index)


def _calls_of_libraries(world: World) -> Iterator[tuple[SourceFile, int, str]]:
    if any(world.called(name) for name in REPLACES_START_METHOD):
        return
    for name in sorted({name.rpartition(".")[2] for name in SETS_START_METHOD}):
        for file, index in world.called(name):
            site = world.call_site(file, index, None)
            values = world.values.evaluate(file.calls[index].func, site)
            named = [canonical(one.name) if isinstance(one, External) else "" for one in values]
            found = next((SETS_START_METHOD[one] for one in named if one in SETS_START_METHOD), None)
            if found is not None and len(named) == 1 and not world.unreached(site):
                yield file, index, found


def _set_by(world: World, file: SourceFile, index: int) -> Iterator[SetCall]:
    site = world.call_site(file, index, None)
    named = [one.name for one in world.values.evaluate(file.calls[index].func, site) if isinstance(one, External)]
    packages = dict.fromkeys(package_of(one) for one in named if canonical(one) == "multiprocessing.set_start_method")
    if not packages or world.unreached(site):
        return
    actuals = world.actuals(file, index, None)
    method = actuals.keywords.get("method") or (actuals.positional[0] if actuals.positional else None)
    force = actuals.keywords.get("force") or (actuals.positional[1] if len(actuals.positional) > 1 else None)
    if method is None or method.site is None:
        return
    methods = tuple(
        value.value
        for value in world.values.evaluate(method.expr, method.site)
        if isinstance(value, Const) and value.value in METHODS
    )
    for package in packages:
        yield SetCall(file, index, methods, force is not None and force.expr == Constant(True), package=package)
