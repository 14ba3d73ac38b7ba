"""Started processes that an object keeps, and that pickle meets when the object goes to the next process.

`Process.start()` stores a `Popen` with a weak reference, which no start method's pickling accepts. Measured on Python
3.10 to 3.13 under spawn and forkserver: the first process of an object that keeps its processes starts, the second
fails, joined or not; a process that is not started yet, or closed, is pickled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Comprehension
from dllint.inference.values import Display, External, Instance, Site
from dllint.libraries.pickling import Refusal, instance
from dllint.linking.source import SourceFile
from dllint.project.counting import iterations, loops
from dllint.project.kept_values import Piece
from dllint.project.launches import Launch
from dllint.project.process_starts import Starting

if TYPE_CHECKING:
    from dllint.project.model import Project

STARTED = Refusal("a process started earlier", instance("weakref.ReferenceType"))


def started_earlier(project: Project, launch: Launch, owner: Instance) -> Iterator[tuple[str, bool]]:
    """The attributes of an object that hold processes started before the launch, each with whether that is certain:
    whether the number of processes is known."""
    starts = list(project.ask(Starting).started(launch))
    seen: set[str] = set()
    for piece in project.datasets.pieces(owner) if starts else ():
        value = piece.value
        if piece.path in seen or piece.kept is None or not _is_process(project, value, launch.file):
            continue
        assert isinstance(value, Instance)
        certain: bool | None
        if value.call != launch.call:
            certain = _started_above(project, launch, piece, starts) or None
        elif any(loops(file, file.calls[index].region) and _kept_by(piece, file, index) for file, index in starts):
            certain = _collected(project, launch, piece)
        else:
            certain = None
        if certain is not None:
            seen.add(piece.path)
            yield piece.path, certain


def _kept_by(piece: Piece, file: SourceFile, index: int) -> bool:
    """Whether an object may have its attribute by the time a call runs."""
    kept, call = piece.kept, file.calls[index]
    assert kept is not None
    return kept.file is not file or kept.scope != call.scope or kept.store.event.span < call.span


def _is_process(project: Project, value: object, file: SourceFile) -> bool:
    return (
        isinstance(value, Instance)
        and isinstance(value.of, External)
        and value.of.name.endswith("Process")
        and value.file is file
        and bool(project.launches.at(file, value.call))
    )


def _started_above(project: Project, launch: Launch, piece: Piece, starts: list[tuple[SourceFile, int]]) -> bool:
    """Whether the function that starts the launch's process has started another one before, kept by then."""
    file, scope = launch.file, launch.file.calls[launch.call].scope
    assert isinstance(piece.value, Instance)
    others = [
        file.calls[index]
        for other in project.launches.at(file, piece.value.call)
        for where, index in project.ask(Starting).started(other)
        if where is file
    ]
    later = [
        file.calls[index]
        for where, index in starts
        if where is file and file.calls[index].scope == scope and _kept_by(piece, file, index)
    ]
    return any(
        other.scope == scope and other.span < start.span and file.encloses(other.region, start.region)
        for start in later
        for other in others
    )


def _collected(project: Project, launch: Launch, piece: Piece) -> bool | None:
    """Whether a loop that creates the processes surely creates several, and the object has each of them by the time
    the next one starts; None if it does not have them then, or if there is only one."""
    file, made = launch.file, launch.file.calls[launch.call]
    around = loops(file, made.region)
    assert piece.kept is not None
    if not around or not any(_keeps_each(project, launch, one, around[0]) for one in piece.kept.values):
        return None
    region = file.facts.regions[around[0]]
    if region.kind != "for" or region.expr is None:
        return False
    at = Site(file, made.scope, region.parent, region.span.start, launch.frame)
    count = iterations(project.datasets, region.expr, at)
    if count is None:
        return False
    return True if count > 1 else None


def _keeps_each(project: Project, launch: Launch, value: object, loop: int) -> bool:
    """Whether a list has every process that the loop creates before the next one starts."""
    if not isinstance(value, Display):
        return False
    file, created = launch.file, CallRef(launch.call)
    written = value.written
    if isinstance(written.expr, Comprehension) and written.site.file is file and written.expr.element == created:
        return True
    for change in project.world.mappings.history(value):
        if change.file is not file or change.value is None or not file.encloses(loop, change.region):
            continue
        site = project.world.mappings.changed_at(change, value)
        added = change.value == created or any(
            isinstance(one, Instance) and one.file is file and one.call == launch.call
            for one in project.world.values.evaluate(change.value, site)
        )
        if added:
            return not file.encloses(loop, written.site.region) or written.site.scope != change.scope
    return False
