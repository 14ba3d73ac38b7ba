"""Arguments of processes that cannot be pickled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dllint.inference import limits
from dllint.inference.edges import Target
from dllint.inference.values import NONE, Class, Frame, Function, Instance, Value
from dllint.libraries.index import LAUNCHERS
from dllint.linking.conditions import render
from dllint.linking.contradictions import contradict
from dllint.linking.object_conditions import object_conditions, of_module
from dllint.linking.source import SourceFile
from dllint.project.kept_values import Kept, Piece
from dllint.project.launches import Launch
from dllint.project.process_starts import Method
from dllint.rules.pickling.local_functions import functions_in, is_lambda, pickle_error
from dllint.rules.pickling.pool_functions import (
    given_functions,
    is_lost,
    on_the_way,
    pickling_methods,
    surely_processes,
)
from dllint.rules.pickling.refusals import PICKLING_METHODS, refusal_of
from dllint.rules.pickling.started_processes import STARTED, started_earlier
from dllint.rules.pickling.unpicklable_values import place_of
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
        remedy: the key of its help.
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
    remedy: str = "main"


def sent_arguments(project: Project) -> Iterator[SentArgument]:
    """All such arguments of a project, including the objects whose methods processes run, and what those keep."""
    for launch in project.launches.all():
        api = LAUNCHERS.get(launch.api)
        if api is None or not (surely_processes(project, launch) or _is_own_process(project, launch)):
            continue
        # What a partial of the target binds is part of the target: DLL207 reports it.
        told = {(one.file, one.file.scopes[one.scope].header) for one in given_functions(project, launch, None)}
        for method in pickling_methods(project, launch, api):
            found = [one for target in launch.targets for one in _of_target(project, launch, method, target)]
            yield from (
                one
                for one in found
                if (one.file, one.span) not in told and not (one.forked_context and _chooses(project, launch))
            )
            # The most certain start method comes first.
            told.update((one.file, one.span) for one in found)


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
        yield from _private(project, launch, method, function, owner.of)
        yield from _kept_by(project, launch, method, owner)
    for param in function.file.scopes[function.scope].params:
        if param is function.file.scopes[function.scope].params[0] and owner is not None:
            continue
        values = project.world.parameters.values(function, param.name, target.frame)
        for value in _on_the_way(project, function, param.name, target.frame, method) or values:
            for part in project.world.mappings.flattened(value):
                yield from _judged(project, launch, method, param.name, Piece("", part, None))
                if isinstance(part, Instance) and isinstance(part.of, Class):
                    yield from _kept_by(project, launch, method, part)


def _private(
    project: Project, launch: Launch, method: Method | None, function: Function, cls: Class
) -> Iterator[SentArgument]:
    """A private method that a process gets as its target.

    Pickle writes the object and the `__name__` of the method, but the attribute is `_Class__name`
    (github.com/python/cpython/issues/77188; measured on Python 3.8 to 3.13, with processes and pools).
    """
    name, target = function.file.scopes[function.scope].name, launch.target
    if not name.startswith("__") or name.endswith("__") or target is None or target.site is None or target.span is None:
        return
    if project.world.hierarchy.receiver_kind(function) != "self":
        return
    if any(project.world.hierarchy.method(cls, one) is not None for one in ("__getattr__", *PICKLING_METHODS)):
        return
    file = target.site.file
    yield SentArgument(
        launch,
        method,
        render(target.expr, file),
        "a private method, which pickle looks up without the name of its class",
        f"AttributeError: '{cls.name}' object has no attribute '{name}'",
        file,
        target.span,
        _statement(file, target.site.scope, target.span),
        remedy="private",
    )


def _on_the_way(
    project: Project, function: Function, param: str, frame: Frame, method: Method | None
) -> tuple[Value, ...]:
    """The values of a parameter on the way of a start method; none if there is no such way."""
    given = project.world.parameters.bound(function, param, frame).actual
    moved = on_the_way(given, method) if given is not None else None
    return project.world.values.passed(moved) if moved is not None and moved is not given else ()


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
            yield SentArgument(launch, method, holder, STARTED.what, error, *place, certain=certain, remedy="started")
    for piece in project.datasets.pieces(owner) if owner.call >= 0 else ():
        if piece.initial and not piece.given and piece.kept is not None:
            stored = _stored(project, owner, piece)
            full = [one for one in stored if any(value != NONE for value in one.values)]
            # The branches of an `if` may store different objects: only one of them is this piece.
            full = [one for one in full if piece.value in one.values] or full
            if _is_alternative(project, owner, piece.path) or _excludes_module(launch, piece.kept):
                continue
            if full and all(_excluded(project, launch, owner, one) for one in full):
                continue
            certain = _certainly_kept(project, owner, piece)
            for sent in _judged(project, launch, method, f"{owner.of.name}.{piece.path}", piece):
                yield replace(sent, certain=certain)


def _stored(project: Project, owner: Instance, piece: Piece) -> list[Kept]:
    """The assignments of the attribute by which an object keeps a piece."""
    first = piece.path.partition(".")[0]
    return [one for one in project.datasets.kept(owner) if one.attr == first and one.initial]


def _is_alternative(project: Project, owner: Instance, path: str) -> bool:
    """Whether an attribute on the way to a piece may have objects of several classes: a run has one of them."""
    holders = [owner]
    for attr in path.split("."):
        kept = (one for holder in holders for one in project.datasets.kept(holder) if one.attr == attr and one.initial)
        inside = [value for one in kept for value in one.values if isinstance(value, Instance)]
        if len({value.of for value in inside}) > limits.ALTERNATIVES_SENT.most:
            return True
        holders = [value for value in inside if isinstance(value.of, Class)]
    return False


def _excluded(project: Project, launch: Launch, owner: Instance, kept: Kept) -> bool:
    """Whether no run that comes to a launch in a method of an object has stored an attribute: `if self.alone:
    self.writer = …` excludes `if not self.alone: spawn(self.train)`."""
    file, call = launch.file, launch.file.calls[launch.call]
    around = file.method_of(call.scope)
    if around is None or kept.owner is None or not isinstance(owner.of, Class):
        return False
    if Class(file, around) not in project.world.hierarchy.line(owner.of):
        return False
    here = object_conditions(file, call.scope, call.region)
    if not here:
        return False
    if contradict(here, object_conditions(kept.file, kept.store.scope, kept.store.event.region)):
        return True
    ways = [one for one in project.world.calls.callers(Function(kept.file, kept.scope)) if one.call >= 0]
    calls = [(one.file, one.file.calls[one.call]) for one in ways]
    before = [object_conditions(where, way.scope, way.region) for where, way in calls]
    return bool(before) and all(contradict(here, one) for one in before)


def _excludes_module(launch: Launch, kept: Kept) -> bool:
    """Whether names of the module choose between a launch and the assignment of an attribute, of whatever object."""
    call = launch.file.calls[launch.call]
    here = object_conditions(launch.file, call.scope, call.region)
    there = object_conditions(kept.file, kept.store.scope, kept.store.event.region) if here else []
    return contradict((one for one in here if of_module(one)), (one for one in there if of_module(one)))


def _certainly_kept(project: Project, owner: Instance, piece: Piece) -> bool:
    """Whether an object has what it keeps in every run: no condition leads to where it is stored, neither in
    the method nor on the way there from the constructor, and the attribute has no other value."""
    stored = _stored(project, owner, piece)
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
    around = file.events_around(scope, span) if scope >= 0 else ()
    return next((event.span for event in around), span)
