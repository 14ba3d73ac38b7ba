"""Objects that pickle rejects: handles, locks, generators, classes created at run time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Constant
from dllint.finding import Place
from dllint.inference.values import (
    Class,
    Instance,
    Value,
)
from dllint.libraries.pickling import (
    Refusal,
)
from dllint.libraries.torch import LOADER_ITERATOR
from dllint.linking.source import SourceFile
from dllint.project.arrivals import Hop
from dllint.project.attribute_contents import contents_of, iterates_loader
from dllint.project.handles import Handles
from dllint.project.kept_values import Kept, Piece
from dllint.project.loaders import Loader
from dllint.project.parent_use import ParentTouches
from dllint.project.regimes import Regime
from dllint.rules.pickling.recursive_getattr import RECURSION, recursive_getattr
from dllint.rules.pickling.refusals import of_a_chosen_context, refusal_of, written_refusal
from dllint.rules.pickling.sent_to_workers import Sent
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


@dataclass(frozen=True)
class Refused(Sent):
    """An object that pickle rejects. `touch` is the call in the parent that opens it, if a method does so lazily;
    `handle` is where the handle is opened that it reads through, as a cursor does."""

    refusal: Refusal
    touch: Hop | None = None
    handle: tuple[str, Span] | None = None

    @property
    def kind(self) -> str:
        return self.refusal.what

    @property
    def through(self) -> tuple[str, Span] | None:
        return self.handle

    @property
    def hops(self) -> tuple[Hop, ...]:
        return (self.touch,) if self.touch is not None else super().hops

    @property
    def place(self) -> Place:
        return Place(self.file.path, self.span, f"{self.refusal.what} cannot be pickled")


def refused_by_pickle(project: Project, loader: Loader, regime: Regime) -> Iterator[Refused]:
    """The objects in the datasets and callables of a loader that its workers cannot receive."""
    seen: set[tuple[str, Span]] = set()
    pieces = list(sent_pieces(project, loader))
    chosen = of_a_chosen_context(piece.value for _, piece in pieces)
    for holder, piece in pieces:
        refusal = refusal_of(project, piece.value, regime.source == "explicit")
        if refusal is not None and refusal.forked_context and piece.value in chosen:
            continue
        file, span, statement = place_of(piece) if refusal is not None else (None, None, None)
        if refusal is None or file is None or span is None or (file.path, span) in seen:
            continue
        if not _made_by_worker(project, loader, piece):
            seen.add((file.path, span))
            handle = _handle_of(project, piece.value)
            yield Refused("DLL203", file, span, statement, holder, piece.kept, refusal, handle=handle)
    yield from _unpickled_endlessly(project, loader, pieces)
    for one in _opened_lazily(project, loader, regime):
        if (one.file.path, one.span) not in seen:
            seen.add((one.file.path, one.span))
            yield one
    for value in project.dataset_objects(loader):
        assert isinstance(value.of, Class)
        dropped = project.datasets.dropped(value)
        for kept in project.datasets.kept(value):
            if kept.attr in dropped or not _there(project, loader, kept):
                continue
            refusal = written_refusal(project, kept)
            if refusal is not None and (kept.file.path, kept.span) not in seen:
                seen.add((kept.file.path, kept.span))
                holder = f"{value.of.name}.{kept.attr}"
                statement = kept.store.event.span
                yield Refused("DLL203", kept.file, kept.span, statement, holder, kept, refusal)
            for content in contents_of(project.world, kept):
                if isinstance(content.expr, CallRef) and iterates_loader(project.world, content):
                    file, call = content.site.file, content.site.file.calls[content.expr.index]
                    if (file.path, call.span) not in seen:
                        seen.add((file.path, call.span))
                        holder = f"{value.of.name}.{kept.attr}"
                        yield Refused("DLL203", file, call.span, call.statement, holder, kept, LOADER_ITERATOR)


def _handle_of(project: Project, value: Value) -> tuple[str, Span] | None:
    """Where the handle is opened that an object reads through: the connection of a cursor."""
    whole = project.ask(Handles).whole(value) if isinstance(value, Instance) else value
    if whole == value or not isinstance(whole, Instance) or whole.file is None or whole.call < 0:
        return None
    return whole.file.path, whole.file.calls[whole.call].span


def _unpickled_endlessly(project: Project, loader: Loader, pieces: list[tuple[str, Piece]]) -> Iterator[Refused]:
    """The classes whose objects no worker can unpickle: of the datasets, and of what they and the callables hold."""
    values = (*project.dataset_objects(loader), *(piece.value for _, piece in pieces))
    classes = (value.of for value in values if isinstance(value, Instance) and isinstance(value.of, Class))
    for cls in dict.fromkeys(classes):
        method = recursive_getattr(project, cls)
        if method is not None:
            scope = method.file.scopes[method.scope]
            yield Refused("DLL203", method.file, scope.header, scope.header, cls.name, None, RECURSION)


def _opened_lazily(project: Project, loader: Loader, regime: Regime) -> Iterator[Refused]:
    """The unpicklable values set by methods of the datasets, and of objects inside them, that the parent calls before
    the workers start."""
    for value in project.dataset_objects(loader):
        touches = ParentTouches(project, loader, value)
        for holder in (value, *_objects_inside(project, value)):
            yield from _set_lazily(project, holder, regime, touches)


def _objects_inside(project: Project, value: Instance) -> Iterator[Instance]:
    """The project's objects inside a dataset, one per class: they share their methods."""
    seen = {value.of}
    for piece in project.datasets.pieces(value):
        one = piece.value
        if not piece.initial or piece.given or not isinstance(one, Instance) or not isinstance(one.of, Class):
            continue
        # Datasets inside are queried on their own.
        if one.of not in seen and one.call >= 0 and not project.datasets.derives(one.of):
            seen.add(one.of)
            yield one


def _set_lazily(project: Project, value: Instance, regime: Regime, touches: ParentTouches) -> Iterator[Refused]:
    assert isinstance(value.of, Class)
    initial, in_workers = project.datasets.construction.of(value), project.datasets.construction.in_workers
    for owner in project.world.hierarchy.line(value.of):
        if not isinstance(owner, Class):
            continue
        for attr, stores in project.world.stores.own_stores(owner).items():
            told = set[tuple[str, int]]()
            for store in stores:
                method = owner.file.path, store.scope
                # What opens a file again, in a process that was forked, is no other cause.
                if method in initial or method in told or store.value is None or isinstance(store.value, Constant):
                    continue
                site = project.world.stores.store_site(value, owner, store)
                if in_workers.only(site):
                    continue
                values = (one for one in project.world.values.evaluate(store.value, site) if not in_workers.makes(one))
                refusal = next(
                    (row for one in values if (row := refusal_of(project, one, regime.source == "explicit"))), None
                )
                # What the method itself releases again is not there when workers start.
                if refusal is None or project.datasets.releases.of(value.of, owner, store) == "surely":
                    continue
                hop = touches.of({method}) or touches.of_held(value, {method})
                if hop is None or attr in project.datasets.dropped(value):
                    continue
                event = store.event
                span = event.value_span or event.span
                yield Refused("DLL203", owner.file, span, event.span, f"{value.of.name}.{attr}", None, refusal, hop)
                told.add(method)


def sent_pieces(project: Project, loader: Loader) -> Iterator[tuple[str, Piece]]:
    """The pieces that the datasets and callables of a loader hold when its workers start, each with its path:
    "Rows.file"."""
    for name, piece in (*project.dataset_pieces(loader), *project.callable_pieces(loader)):
        if not piece.given and piece.initial and _there(project, loader, piece.kept):
            yield f"{name}.{piece.path}" if piece.path else name, piece


def _there(project: Project, loader: Loader, kept: Kept | None) -> bool:
    """Whether the attribute is set before the workers start."""
    if kept is None:
        return True
    early = kept.owner is not None or kept.at_once or not project.runs_in_worker(loader, kept.file, kept.scope)
    return kept.initial and early


def _made_by_worker(project: Project, loader: Loader, piece: Piece) -> bool:
    """Whether the object, an element of a list or dict that grows later, is created only by worker code."""
    value, kept = piece.value, piece.kept
    if not isinstance(value, Instance) or value.file is None or kept is None or value in kept.values:
        return False
    scope = value.file.calls[value.call].scope
    initial = project.datasets.construction.of_class(kept.owner) if kept.owner is not None else {}
    return (value.file.path, scope) not in initial and project.runs_in_worker(loader, value.file, scope)


def place_of(piece: Piece) -> tuple[SourceFile | None, Span | None, Span | None]:
    """Where the object is created, or else where it is kept; all None if unknown."""
    value = piece.value
    if isinstance(value, Instance) and value.file is not None and value.call >= 0:
        call = value.file.calls[value.call]
        return value.file, call.span, call.statement
    if piece.kept is not None:
        return piece.kept.file, piece.kept.span, piece.kept.store.event.span
    return None, None, None
