"""Calls that may launch a process, by the names of what they call: only these are evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from dllint.facts.aliases import result_name
from dllint.facts.nodes import Attribute, CallRef, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference.names import called_as
from dllint.libraries.index import LAUNCHERS
from dllint.linking.source import SourceFile, last_name

if TYPE_CHECKING:
    from dllint.inference.engine import World


def possible_launches(world: World) -> list[tuple[SourceFile, int]]:
    """The calls whose callee has the name of a launcher: only these are examined."""
    names = {name.rsplit(".", 1)[-1] for name in LAUNCHERS if not name.endswith("()")} | {""}
    started = {name for name in LAUNCHERS if "()" not in name} | set(world.settings.launchers)
    names |= set(_aliases(world, names)) | called_as(world, {name.rsplit(".", 1)[-1] for name in started})
    names |= set(_holders(world))
    calls = [(file, index) for name in sorted(names) for file, index in world.called(name)]
    return [(file, index) for file, index in dict.fromkeys(calls) if _plausible(world, file, index, names)]


_POOL_METHODS = frozenset(name.rsplit(".", 1)[-1] for name in LAUNCHERS if "()." in name)
_PROCESS_MODULES = frozenset({"torch.multiprocessing", "multiprocess", "ProcessPoolExecutor", "Pool"}) | {
    name.partition(".")[0] for name in LAUNCHERS if "()." in name or name.rsplit(".", 1)[-1] in _POOL_METHODS
}
_CALLED_RESULTS = frozenset(name[:-2].rsplit(".", 1)[-1] for name in LAUNCHERS if name.endswith("()"))


def _plausible(world: World, file: SourceFile, index: int, names: Set[str]) -> bool:
    """Whether a call of a common name (`map`, `apply`) or of another call's result is worth evaluating."""
    func = file.calls[index].func
    if isinstance(func, CallRef):
        inner = file.calls[func.index].func
        name = last_name(inner) if isinstance(inner, (Name, Attribute)) else ""
        return name in _CALLED_RESULTS or result_name(name) in names
    if isinstance(func, Attribute) and func.attr in _POOL_METHODS:
        return (
            bool(_PROCESS_MODULES & file.imported_packages())
            or _imported_object(world, file, func.value)
            or _gets_a_pool(world, file)
        )
    if isinstance(func, Subscript):
        # `starters[method](target=run)`
        return last_name(func.value) in names - {""}
    return isinstance(func, (Name, Attribute))


def _imported_object(world: World, file: SourceFile, receiver: Expr) -> bool:
    """Whether an object comes from another module of the project: `from pools import pool`, `pools.pool`."""
    while isinstance(receiver, Attribute):
        receiver = receiver.value
    return isinstance(receiver, Name) and any(
        receiver.id in (alias, name, module.split(".")[0]) and world.imports.find(file, module, level) is not None
        for _, _, (module, name, alias, level) in file.imports()
    )


def _gets_a_pool(world: World, file: SourceFile) -> bool:
    """Whether a file that makes process pools imports this one, and so may pass them to it."""
    return any(_PROCESS_MODULES & importer.imported_packages() for importer, _ in world.imports.importers(file))


def _aliases(world: World, names: set[str]) -> Iterator[str]:
    for file in world.files.values():
        for _, _, imported in file.imports():
            if imported.name in names and imported.alias:
                yield imported.alias


def _holders(world: World) -> Iterator[str]:
    """Names of variables that hold a launcher object, to be called later: `start = elastic_launch(config, main)`,
    `start = partial(Process, target=main)`."""
    makers = {name.removesuffix("()").rsplit(".", 1)[-1] for name in LAUNCHERS if name.endswith("()")}
    plain = {name.rsplit(".", 1)[-1] for name in LAUNCHERS if not name.endswith("()")}
    plain |= set(_aliases(world, plain))
    for name in (*makers, *_aliases(world, makers), "partial", *_aliases(world, {"partial"})):
        for file, index in world.called(name):
            given = file.calls[index].args[:1]
            if name not in makers and not (given and last_name(given[0].value) in makers | plain):
                continue
            for event in file.scopes[file.calls[index].scope].events:
                if event.kind != "assign" or event.value != CallRef(index) or event.target is None:
                    continue
                if isinstance(event.target, (Name, Attribute)):
                    yield last_name(event.target)
