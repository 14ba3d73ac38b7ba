"""The modules that a process has loaded: those that its program imports, without what only functions import that the
process does not run."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from dllint.facts.schema import ImportedName
from dllint.linking.source import SourceFile
from dllint.project.same_process import Reached, reach

if TYPE_CHECKING:
    from dllint.inference.engine import World


def loaded_by(world: World, tops: Iterable[str], running: Iterable[Reached]) -> set[str]:
    """Return the paths of the modules that are loaded with some files.

    Args:
        tops: the paths of these files.
        running: the functions that the process runs besides those that the modules call at their top level.
    """
    tops, runs = list(tops), {(one.file.path, one.scope) for one in running}
    loaded = _closed(world, tops, runs)
    begun = [Reached(file, 0, None) for file in loaded.values()]
    return set(_closed(world, tops, runs | {(one.file.path, one.scope) for one in reach(world, begun)}))


def _closed(world: World, tops: Iterable[str], running: Set[tuple[str, int]]) -> dict[str, SourceFile]:
    loaded: dict[str, SourceFile] = {}
    todo = list(tops)
    while todo:
        path = todo.pop()
        file = world.files.get(path)
        if file is not None and path not in loaded:
            loaded[path] = file
            todo += set(world.import_graph.imports(path)) - _left_out(world, file, running)
    return loaded


def _left_out(world: World, file: SourceFile, running: Set[tuple[str, int]]) -> set[str]:
    """The modules that only functions import which do not run."""
    loads, waits = set[str](), set[str]()
    for number, scope in enumerate(file.scopes):
        runs = scope.kind != "function" or (file.path, number) in running
        for event in scope.events_of("import"):
            if isinstance(event.detail, ImportedName):
                (loads if runs else waits).update(world.imports.reached(file, event.detail))
    return waits - loads
