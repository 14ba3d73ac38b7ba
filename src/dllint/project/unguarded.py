"""Processes that start whenever a file is imported, and so again in each process that imports it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.project.conditions import render
from dllint.project.loaders import Loader
from dllint.project.reaching import Reached, reach, runs_when_imported, stepped
from dllint.project.source import SourceFile
from dllint.project.start_methods import Hop
from dllint.project.starting import Method
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


@dataclass(frozen=True)
class TopLevelStart:
    """A statement at the top level of a file that starts processes other than by fork.

    Attributes:
        span: the call, or the header of the `for` statement, at the top level.
        text: what it is, in words.
        loader: the loader whose workers start, if it is one's.
        hops: what leads from the statement to the start.
    """

    file: SourceFile
    span: Span
    statement: Span
    region: int
    text: str
    method: Method
    loader: Loader | None
    hops: tuple[Hop, ...]


def top_level_starts(project: Project, file: SourceFile) -> list[TopLevelStart]:
    """All of one file, in source order.

    None in a notebook, whose cells no process imports, nor in a `__main__.py`, which `multiprocessing` does not import
    again (CPython, `multiprocessing/spawn.py`, `_fixup_main_from_name`).
    """
    if file.path.endswith((".ipynb", "__main__.py")):
        return []
    module = Reached(file, 0, None)
    found = list(_here(project, module))
    for index in file.calls_of(0):
        call = file.calls[index]
        if not runs_when_imported(file, call.region):
            continue
        starts = [stepped(module, index, target) for target in project.world.calls.targets(file, index)]
        text = f"`{render(call.func, file)}`"
        for reached in reach(project.world, starts):
            for start in _here(project, reached):
                hops = (*reached.hops()[1:], Hop(start.file, start.span, f"{start.text} starts processes"))
                found.append(
                    TopLevelStart(file, call.span, call.statement, call.region, text, start.method, start.loader, hops)
                )
    return sorted(found, key=lambda start: start.span)


def _here(project: Project, reached: Reached) -> Iterator[TopLevelStart]:
    """The starts directly in one scope."""
    file = reached.file
    at_top = reached.scope == 0
    for iteration in project.starting.iterations(file, reached.scope, reached.frame):
        if at_top and not runs_when_imported(file, iteration.region):
            continue
        text = project.starting.described(iteration)
        for regime in project.regimes(iteration.loader):
            if regime.method != "fork" and regime.source != "inherited":
                method = Method(regime.method, regime.where)
                yield TopLevelStart(
                    file, iteration.span, iteration.statement, iteration.region, text, method, iteration.loader, ()
                )
    for index in file.calls_of(reached.scope):
        call = file.calls[index]
        launches = project.starting.launching.get((file.path, index), ())
        if at_top and launches and not runs_when_imported(file, call.region):
            continue
        for launch in launches:
            for method in project.starting.methods(launch):
                if method.name != "fork" and (method.arrival is None or method.arrival.origin.launch is None):
                    text = f"`{render(call.func, file)}`"
                    yield TopLevelStart(file, call.span, call.statement, call.region, text, method, None, ())
