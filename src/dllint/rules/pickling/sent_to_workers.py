"""Objects that are sent to workers and cannot be pickled: the loaders that pickle them, the severity, and the
finding."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from dllint.facts.nodes import Name
from dllint.finding import Finding, Fix, Place, Severity, shown_only
from dllint.inference.values import CHOSEN, Class, Instance, Value
from dllint.linking.source import SourceFile
from dllint.project.arrivals import Hop
from dllint.project.kept_values import Kept
from dllint.project.loaders import Loader
from dllint.project.regimes import Regime
from dllint.project.unchosen_paths import UnchosenPaths
from dllint.rules.causes import Causes
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


@dataclass(frozen=True)
class Sent:
    """An object that is sent to workers and cannot be pickled.

    Attributes:
        code: the rule that reports it.
        holder: where it is kept, "Rows.file"; the class of the dataset itself; or the loader's argument.
        kept: the attribute that keeps it; None if none does.
        sure: False if it may only reach a loader without workers.
    """

    code: str
    file: SourceFile
    span: Span
    statement: Span | None
    holder: str
    kept: Kept | None
    sure: bool = field(default=True, kw_only=True)

    @property
    def kind(self) -> str:
        """What it is, if all of its kind that one method keeps are one defect; empty otherwise."""
        return ""

    @property
    def within(self) -> int | None:
        """The scope of its file in which it is defined, if one edit mends all that stand there for one attribute."""
        return None

    @property
    def through(self) -> tuple[str, Span] | None:
        """Where the handle is opened that it reads through; None if there is none."""
        return None

    @property
    def uses(self) -> tuple[Place, ...]:
        """Where the function that creates it passes it on by its name."""
        return ()

    @property
    def files(self) -> set[str]:
        """The files in which it is created and kept."""
        return {self.file.path} | ({self.kept.file.path} if self.kept is not None else set())

    @property
    def hops(self) -> tuple[Hop, ...]:
        """The calls from `__init__` to the method that stores it."""
        return self.kept.hops if self.kept is not None else ()


T = TypeVar("T", bound=Sent)


class Told(NamedTuple):
    """How a rule reports such an object: the key of its message, further values, and a fix."""

    message: str
    values: Mapping[str, str]
    fix: Fix | None = None


def unpicklable(
    project: Project, code: str, sent: Callable[[Loader, Regime], Iterable[T]], tell: Callable[[T, str], Told]
) -> Iterator[Finding]:
    """Yield one finding per object that is sent to workers, with the severity of the worst of its loaders.

    Args:
        sent: returns what a loader sends to workers under a start method.
        tell: returns the rule's report, given the message key for the start method: "main" if the project sets it,
        "latent" if only a target's default is it, "fork_only" if all workers are forked.
    """
    causes: Causes[tuple[T, Loader, Regime]] = Causes()
    for loader, regime in pickled_loaders(project, code):
        for one in sent(loader, regime):
            worst = pickling_regime(project, loader, code, one.files, one.holder)
            if worst is not None:
                causes.add((one, loader, worst), *_causes(one, loader))
    for uses in causes:
        unasked = _run_unasked(project, [use[0] for use in uses])
        uses.sort(
            key=lambda use: (
                *(not use[0].sure, rank(use[2])),
                *((use[0].file.path, use[0].span) not in unasked, use[0].through is not None),
                *(use[0].file.path, use[0].span),
            )
        )
        one, loader, regime = uses[0]
        message, severity = judged(regime)
        sure = one.sure and not _rests_on_guess(project, loader, regime, one.holder)
        told = tell(one, message)
        others = {(other.file.path, other.span) for other, _, _ in uses} - {(one.file.path, one.span)}
        related = [Place(path, span, "this one cannot be pickled either", alike=True) for path, span in sorted(others)]
        related += [project.loader_place(other) for _, other, _ in uses]
        shown = {(place.path, place.span.line) for place in related}
        related[:0] = [place for place in one.uses if (place.path, place.span.line) not in shown]
        kept = one.kept
        if kept is not None and (kept.file is not one.file or kept.span.line != one.span.line):
            related.insert(0, Place(kept.file.path, kept.span, f"kept here as `{kept.attr}`"))
        values = {
            "kept": one.holder,
            "loader": project.where(loader.file, loader.span),
            "method": regime.method,
            "where": regime.where,
            "start": regime.described,
        }
        yield Finding(
            code,
            one.file.path,
            one.span,
            told.message,
            {**values, **told.values},
            severity="warning" if severity == "error" and not sure else severity,
            start_methods=tuple(dict.fromkeys(use[2].method for use in uses if use[2].method != "fork")),
            trace=project.chain(regime.arrival, one.hops),
            related=tuple(dict.fromkeys(related)),
            fixes=() if told.fix is None else (shown_only(told.fix) if severity == "info" else told.fix,),
            statement=one.statement,
        )


def _run_unasked(project: Project, found: Iterable[Sent]) -> set[tuple[str, Span]]:
    """The places of one cause that no option guards which is off by default: of two branches, the one that a program
    takes when nothing chooses is the one to show. All of them if there is one place."""
    places = {(one.file.path, one.span): one for one in found}
    if len(places) == 1:
        return set(places)
    asked = project.ask(UnchosenPaths)
    return {place for place, one in places.items() if asked.around(one.file, one.span) is None}


def _causes(one: Sent, loader: Loader) -> Iterator[Hashable]:
    """The keys of what one edit fixes: the object itself, all of one statement, and the alternatives that branches
    of an `if` assign to the same attribute or variable. Objects of one kind that a method keeps are one defect too:
    three attributes that each hold an h5py file, or a lambda; so are a connection and its cursor, and functions that
    one function defines for one attribute of what a loader reads, such as the steps of a transform."""
    yield one.file.path, one.span
    if one.code == "DLL202" and one.file.is_notebook:
        # A module for what the cells define mends all of it.
        yield one.file.path, "cells"
    if one.through is not None:
        yield one.through
    if one.statement is not None and one.statement != one.span:
        yield one.file.path, one.statement
    yield from _chosen(one)
    kept = one.kept
    if kept is not None and one.within is not None:
        yield one.file.path, one.within, kept.file.path, kept.scope, kept.attr, loader.file.path, loader.call
    written_here = kept is not None and kept.file is one.file and kept.store.event.span == one.statement
    if kept is not None and kept.owner is not None and written_here:
        yield kept.owner.key, kept.scope, kept.attr
        if one.kind:
            yield kept.owner.key, kept.scope, one.kind, one.sure


def _chosen(one: Sent) -> Iterator[Hashable]:
    """The key of an `if` whose branches assign to one variable: the place where its tests stand."""
    if one.statement is None:
        return
    for number in one.file.scopes_around(one.statement):
        for event in one.file.events_around(number, one.statement):
            if event.kind != "assign" or event.span != one.statement or not isinstance(event.target, Name):
                continue
            region = one.file.facts.regions[event.region]
            if region.kind == "if":
                yield one.file.path, number, event.target.id, _first_test(one.file, event.region)


def _first_test(file: SourceFile, branch: int) -> Span:
    """Where the chain of `if`, `elif` and `else` begins that a branch belongs to."""
    region = file.facts.regions[branch]
    above = file.facts.regions[region.parent]
    while above.kind == "if" and not above.holds and region.kind == "if":
        region, above = above, file.facts.regions[above.parent]
    return region.span


def pickled_loaders(project: Project, code: str) -> Iterator[tuple[Loader, Regime]]:
    """The loaders whose workers start by spawn or forkserver, each with its worst regime.

    Nothing is pickled if workers are only ever forked. Such loaders are included if the user selects rules of this
    family.
    """
    for loader in project.loaders:
        worst = pickling_regime(project, loader, code)
        if worst is not None:
            yield loader, worst


def pickling_regime(
    project: Project, loader: Loader, code: str, beside: Iterable[str] = (), holder: str = ""
) -> Regime | None:
    """The regime by which a loader's workers are judged, for programs with the files `beside` and the dataset
    `holder`; None if there is none."""
    selected = (*project.settings.select, *project.settings.extend_select)
    asked = any(code.startswith(prefix) and prefix != "DLL" for prefix in selected)
    regimes = project.regimes(loader, beside, holder)
    forked = regimes[0] if regimes and asked else None
    return next((regime for regime in regimes if regime.method != "fork"), forked)


def rank(regime: Regime) -> tuple[bool, bool, bool, bool]:
    """A sort key for regimes by their effect on an object that cannot be pickled, the worst first."""
    forked, latent = regime.method == "fork", not (regime.shown or regime.only)
    return forked, latent, regime.unchosen, regime.workers.kind != "some"


def judged(regime: Regime) -> tuple[str, Severity]:
    """The message key and severity for an unpicklable object that workers receive under a regime."""
    if regime.method == "fork":
        return "fork_only", "info"
    message = "main" if regime.shown else "latent"
    return message, regime.weighed("error" if regime.shown or regime.only else "warning")


def _rests_on_guess(project: Project, loader: Loader, regime: Regime, holder: str = "") -> bool:
    """Whether the finding depends on a guess: the worker count may come only from an unpacked mapping, or the
    class of the dataset ("Faces" of holder "Faces.rows.crop"), or of an object inside it that is on the way to the
    holder, is only one of those that a name can refer to."""
    if regime.workers.kind == "opaque" or CHOSEN in loader.datasets():
        return True
    name, _, way = holder.partition(".")
    found = [value for value in project.dataset_objects(loader) if isinstance(value.of, Class)]
    meant = [value for value in project.shipped_objects(loader) if value.of.name == name] or found
    meant = [value for value in meant if _inside(project, value, way)[way]] or meant
    return bool(meant) and all(_guessed(project, value, way) for value in meant)


def _guessed(project: Project, value: Instance, way: str) -> bool:
    """Whether a guess is the class of a dataset, or of all objects at one place of a path of attributes in it.

    Guessed are classes that a name chooses, and subclasses of the one whose method makes the dataset.
    """
    groups = [[one for one in values if isinstance(one, Instance)] for values in _inside(project, value, way).values()]
    return project.world.chosen_by_name(value) or any(
        all(project.world.chosen_by_name(one) or project.datasets.is_open(one) for one in group)
        for group in groups
        if group
    )


def _inside(project: Project, value: Instance, way: str) -> dict[str, list[Value]]:
    """The values at each place of a path of attributes inside a dataset: for "rows.crop", those of "rows", too."""
    parts = way.split(".")
    found: dict[str, list[Value]] = {".".join(parts[:count]): [] for count in range(1, len(parts) + 1)}
    for piece in project.datasets.pieces(value):
        if piece.path in found:
            found[piece.path].append(piece.value)
    return found
