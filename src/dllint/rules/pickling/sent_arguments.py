"""Arguments of processes that cannot be pickled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dllint.inference.edges import Target
from dllint.inference.values import NONE, Class, Instance
from dllint.libraries.index import LAUNCHERS
from dllint.linking.source import SourceFile
from dllint.project.datasets import Piece
from dllint.project.launches import Launch
from dllint.project.process_starts import Method
from dllint.rules.pickling.local_functions import functions_in, is_lambda, pickle_error
from dllint.rules.pickling.pool_functions import is_lost, pickling_methods, surely_processes
from dllint.rules.pickling.started_processes import STARTED, started_earlier
from dllint.rules.pickling.unpicklable_values import PICKLING_METHODS, place_of, refusal_of
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


@dataclass(frozen=True)
class SentArgument:
    """An argument of a process that cannot be pickled.

    Attributes:
        holder: the parameter that receives it, or the attribute that keeps it: "Trainer.lock".
        what: a description of it: "a lock".
        error: the exception that Python raises.
        file, span, statement: where it is created.
        method: how the process starts; None for the tasks of pools, which are pickled under every method.
        forked_context: whether it fails only because a fork context created it.
        certain: whether the source shows that it is there when the process starts.
    """

    launch: Launch
    method: Method | None
    holder: str
    what: str
    error: str
    file: SourceFile
    span: Span
    statement: Span
    forked_context: bool = False
    certain: bool = True


def sent_arguments(project: Project) -> Iterator[SentArgument]:
    """All such arguments of a project, including the objects whose methods processes run, and what those keep."""
    for launch in project.launches.all():
        api = LAUNCHERS.get(launch.api)
        if api is None or not (surely_processes(project, launch) or _is_own_process(project, launch)):
            continue
        for method in pickling_methods(project, launch, api):
            found = (one for target in launch.targets for one in _of_target(project, launch, method, target))
            yield from (one for one in found if not (one.forked_context and _chooses(project, launch)))


def _is_own_process(project: Project, launch: Launch) -> bool:
    """Whether a launch creates objects of the project's own subclasses of Process."""
    site = project.world.call_site(launch.file, launch.call, launch.frame)
    values = project.world.values.evaluate(launch.file.calls[launch.call].func, site)
    return bool(values) and all(isinstance(value, Class) for value in values)


def _chooses(project: Project, launch: Launch) -> bool:
    """Whether the program selects the launch's context at run time, and so may use the same context for the
    arguments."""
    func = launch.file.calls[launch.call].func
    # An argument may keep less of the call stack than the launch, and so have the contexts of other calls too.
    sites = (project.world.call_site(launch.file, launch.call, frame) for frame in (launch.frame, None))
    return any(len(project.world.values.evaluate(func, site)) > 1 for site in sites)


def _of_target(project: Project, launch: Launch, method: Method | None, target: Target) -> Iterator[SentArgument]:
    function = target.function
    owner = function.receiver if function.receiver is not None else target.frame.receiver
    # An object of a class that the processes call is made by each of them.
    made_there = isinstance(owner, Instance) and owner.file is launch.file and owner.call == launch.call
    sent = not made_there or _is_own_process(project, launch)
    if sent and isinstance(owner, Instance) and isinstance(owner.of, Class):
        yield from _kept_by(project, launch, method, owner)
    for param in function.file.scopes[function.scope].params:
        if param is function.file.scopes[function.scope].params[0] and owner is not None:
            continue
        for value in project.world.parameters.values(function, param.name, target.frame):
            for part in project.world.mappings.flattened(value):
                yield from _judged(project, launch, method, param.name, Piece("", part, None))
                if isinstance(part, Instance) and isinstance(part.of, Class):
                    yield from _kept_by(project, launch, method, part)


def _kept_by(project: Project, launch: Launch, method: Method | None, owner: Instance) -> Iterator[SentArgument]:
    """The attributes that an object of the project keeps, if it is pickled by its attributes."""
    assert isinstance(owner.of, Class)
    if any(project.world.hierarchy.method(owner.of, name) is not None for name in PICKLING_METHODS):
        return
    if method is not None:
        made, error = launch.file.calls[launch.call], STARTED.error(max(project.targets.pythons))
        for path, certain in started_earlier(project, launch, owner):
            holder = f"{owner.of.name}.{path}"
            place = (launch.file, made.span, made.statement)
            yield SentArgument(launch, method, holder, STARTED.what, error, *place, certain=certain)
    for piece in project.datasets.pieces(owner) if owner.call >= 0 else ():
        if piece.initial and not piece.given and piece.kept is not None:
            certain = _certainly_kept(project, owner, piece)
            for sent in _judged(project, launch, method, f"{owner.of.name}.{piece.path}", piece):
                yield replace(sent, certain=certain)


def _certainly_kept(project: Project, owner: Instance, piece: Piece) -> bool:
    """Whether an object has what it keeps in every run: no condition leads to where it is stored, neither in
    the method nor on the way there from the constructor, and the attribute has no other value."""
    first = piece.path.partition(".")[0]
    stored = [one for one in project.datasets.kept(owner) if one.attr == first and one.initial]
    for one in (*stored, *([piece.kept] if piece.kept is not None else [])):
        if one.site.file.is_conditional(one.site.region):
            return False
        for hop in one.hops:
            if any(hop.file.is_conditional(call.region) for call in hop.file.calls if call.span == hop.span):
                return False
    values = {value for one in stored for value in one.values if value != NONE}
    return len(values) <= 1


def _judged(
    project: Project, launch: Launch, method: Method | None, holder: str, piece: Piece
) -> Iterator[SentArgument]:
    python = max(project.targets.pythons)
    for function in functions_in(project.world, piece.value):
        if is_lost(function):
            entry = function.file.scopes[function.scope]
            what = "a lambda" if is_lambda(function) else f"the local function `{entry.name}`"
            error = pickle_error(function, python)
            around = _statement(function.file, entry.parent, entry.header)
            yield SentArgument(launch, method, holder, what, error, function.file, entry.header, around)
    # In a process that was itself launched, objects of the default context use the start method in force there.
    explicit = method is not None and method.shown and method.arrival is None
    refusal = refusal_of(project, piece.value, explicit)
    value = piece.value
    if refusal is None or not isinstance(value, Instance):
        return
    made, span, statement = place_of(piece)
    if made is not None and span is not None:
        yield SentArgument(
            launch,
            method,
            holder,
            refusal.what,
            refusal.error(python),
            made,
            span,
            statement or span,
            refusal.forked_context,
        )


def _statement(file: SourceFile, scope: int, span: Span) -> Span:
    events = file.scopes[scope].events if scope >= 0 else ()
    return next((event.span for event in events if event.span.covers(span)), span)
