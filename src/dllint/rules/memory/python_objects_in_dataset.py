"""DLL302: a dataset keeps many Python objects, and each worker ends up with a copy of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from dllint.evidence.memory_trend import grows
from dllint.evidence.thresholds import MIB
from dllint.facts.nodes import Attribute, Name
from dllint.finding import Finding, Place, Severity
from dllint.inference import limits
from dllint.inference.values import Class, Const, Display, Instance, Value
from dllint.inference.values import Mapping as Dictionary
from dllint.linking.conditions import render
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile
from dllint.project import Project, Regime
from dllint.project.array_sizes import mib
from dllint.project.counting import loops
from dllint.project.kept_values import Keeping, Kept
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes, Use, worst
from dllint.rules.memory.entries_turned_into_arrays import becomes_array
from dllint.rules.memory.growth_verdict import judge
from dllint.rules.memory.kept_objects import many_objects
from dllint.rules.memory.lists_as_datasets import constructing_base, dataset_argument, records_given
from dllint.rules.memory.module_records import RecordsOfModules
from dllint.rules.memory.objects_made_in_loops import stays_empty
from dllint.rules.memory.readings import Held, grows_when_forked
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL302"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Use] = Causes()
    known: dict[Instance, list[tuple[Keeping, Held, tuple[Place, ...]]]] = {}
    for loader in project.loaders:
        for value in project.dataset_objects(loader) if project.regimes(loader) else ():
            assert isinstance(value.of, Class)
            regimes = project.regimes(loader, project.programs.behind(value), value.of.name)
            base = constructing_base(project, value)
            if base is not None:
                file, call, name = base
                place = (file, file.calls[call].span, file.calls[call].statement)
                use = _given(project, loader, place, value.of.name, name)
                causes.add(use, (file.path, call))
            for one in project.ask(RecordsOfModules).read_by(value):
                place = (one.file, one.event.value_span or one.event.span, one.event.span)
                apart = one.reading.file is not one.file or one.reading.span.line != one.event.span.line
                read = (Place(one.reading.file.path, one.reading.span, "read here"),) if apart else ()
                use = _given(project, loader, place, one.name, one.reading.opener, read, imported=True)
                causes.add(use, (one.file.path, one.name), (one.file.path, one.reading.file.path, one.reading.call))
            if value not in known:
                known[value] = list(_with_places(project, value))
            for keeping, held, places in known[value]:
                kept = keeping.kept
                if held.table and not grows_when_forked(regimes):
                    continue
                # Where workers start by another method than fork, their descriptors matter more.
                if held.tensors and any(regime.method != "fork" for regime in regimes):
                    continue
                judged = [
                    (rank, regime)
                    for regime in regimes
                    if not ((keeping.dropped or held.table) and regime.method != "fork")
                    and (rank := _rank(options, regime, held)) is not None
                    and (kept.sure or held.size is not None)
                ]
                if not judged:
                    continue
                rank, regime = max(judged, key=lambda pair: pair[0])
                finding = _finding(project, value, keeping, held, regime)
                methods = tuple(other.method for _, other in judged if other.method != "fork")
                use = Use(finding, project.loader_place(loader), rank, places, methods)
                statement = kept.store.event.span
                keys = (kept.file.path, kept.owner, kept.attr), (kept.file.path, kept.owner, statement)
                causes.add(use, *keys, *_read_once(kept, held))
        reading = records_given(project, loader) if project.regimes(loader) else None
        argument = dataset_argument(loader) if reading is not None else None
        if reading is not None and argument is not None:
            place = (loader.file, argument.value_span, loader.file.calls[loader.call].statement)
            read = (Place(reading.file.path, reading.span, "read here"),)
            shown = render(argument.value, loader.file, 40)
            causes.add(_given(project, loader, place, shown, reading.opener, read), (reading.file.path, reading.call))
    yield from map(worst, causes)


def _kept_at(keeping: Keeping) -> Iterator[Place]:
    """Where the attribute of a dataset is set, and before it the one that leads to another object which has it."""
    if keeping.through is not None:
        leads = keeping.through
        yield Place(leads.file.path, leads.span, f"kept here as `{leads.attr}`, which holds it")
    yield Place(keeping.kept.file.path, keeping.kept.span, f"kept here as `{keeping.path}`")


def _with_places(project: Project, value: Instance) -> Iterator[tuple[Keeping, Held, tuple[Place, ...]]]:
    """The attributes of a dataset that hold many objects, each with where it is set."""
    found = list(many_objects(project, value))
    keeps = list(project.datasets.keeps(value)) if found else []
    for keeping, held in found:
        places = chain(
            _kept_at(keeping),
            _set_elsewhere(project, keeping, keeps),
            _shared(keeping, keeps),
            _read_at(found, keeping),
            _added(project, keeping.kept),
        )
        yield keeping, held, tuple(places)


def _added(project: Project, kept: Kept) -> Iterator[Place]:
    """The statements in loops that add to a container, and to the containers that these add."""
    world, taken = project.world, set[Value]()
    todo = list(kept.values)
    for value in todo:
        if not isinstance(value, (Display, Dictionary)) or value in taken or limits.CHANGES.reached(len(taken)):
            continue
        taken.add(value)
        for change in islice(project.datasets.filling(value), limits.CHANGES.most):
            span = change.statement()
            if change.value is None or span is None or becomes_array(world, change):
                continue
            if loops(change.file, change.region):
                yield Place(change.file.path, span, "added here")
                todo += world.values.evaluate(change.value, world.mappings.changed_at(change, value))


def _read_at(found: list[tuple[Keeping, Held]], keeping: Keeping) -> Iterator[Place]:
    """Where the objects are read that a statement keeps, and those that others keep in the same attribute."""
    for other, held in found:
        same = (other.holder, other.kept.attr) == (keeping.holder, keeping.kept.attr)
        reading, kept = held.reading, other.kept
        if same and reading is not None and (reading.file, reading.span.line) != (kept.file, kept.span.line):
            yield Place(reading.file.path, reading.span, "read here")


def _set_elsewhere(project: Project, keeping: Keeping, keeps: list[Keeping]) -> Iterator[Place]:
    """The other places that fill the same attribute before workers start: a branch that loads what another one
    makes."""
    for other in keeps:
        kept = other.kept
        if (
            (other.holder, kept.attr) != (keeping.holder, keeping.kept.attr)
            or not other.initial
            or kept == keeping.kept
        ):
            continue
        if not all(isinstance(one, Const) or stays_empty(project.datasets, one) for one in kept.values):
            yield Place(kept.file.path, kept.span, f"kept here as `{keeping.path}`")


def _shared(keeping: Keeping, keeps: list[Keeping]) -> Iterator[Place]:
    """The places where another attribute got the same container: what `self.names = self.table.names` takes over."""
    own = {one for one in keeping.kept.values if isinstance(one, (Display, Dictionary))}
    for other in keeps:
        if other.kept != keeping.kept and other.path != keeping.path and not own.isdisjoint(other.kept.values):
            yield Place(other.kept.file.path, other.kept.span, f"kept here as `{other.path}`")


def _given(
    project: Project,
    loader: Loader,
    place: tuple[SourceFile, Span, Span],
    kept: str,
    source: str,
    related: tuple[Place, ...] = (),
    imported: bool = False,
) -> Use:
    """The finding for records that are a loader's dataset themselves, or that a dataset of a library or a module keeps.

    Args:
        place: the file, what the finding points at, and the statement around it.
        kept: what holds the records.
        source: what read them.
        imported: whether each process that imports the module reads them, unless it is forked.
    """
    regimes = project.regimes(loader)
    regime = max(regimes, key=lambda one: one.shown)
    forked = regime.method == "fork"
    file, span, statement = place
    message, remedy = ("imported", "imported") if imported else ("read", "sent")
    finding = Finding(
        CODE,
        file.path,
        span,
        "read_fork" if forked else message,
        {"kept": kept, "method": regime.described, "remedy": "main" if forked else remedy, "source": source},
        severity="info",
        start_methods=() if forked else (regime.method,),
        trace=project.chain(regime.arrival),
        related=related,
        statement=statement,
    )
    methods = tuple(one.method for one in regimes if one.method != "fork")
    return Use(finding, project.loader_place(loader), 1 + regime.shown, methods=methods)


def _read_once(kept: Kept, held: Held) -> Iterator[Hashable]:
    """Keys shared by attributes that hold the same objects: in one class by the call that reads them, or the attribute
    that they are taken from, as in `self.names = list(self.rows.keys())`; in subclasses where these take a part of
    what their base has read, as in `self.rows = self.rows[::2]`."""
    reading = held.reading
    if reading is None:
        return
    yield kept.owner, reading.file.path, reading.call
    value = kept.store.value
    own = value is not None and any(one == Attribute(kept.store.base, kept.attr) for one in walk(value, kept.file))
    if own or reading.file.calls[reading.call].scope == kept.scope:
        yield reading.file.path, reading.call, kept.attr
    func = reading.file.calls[reading.call].func
    if isinstance(func, Attribute) and isinstance(func.value, Attribute) and isinstance(func.value.value, Name):
        params = reading.file.scopes[reading.file.calls[reading.call].scope].params
        if params and func.value.value == Name(params[0].name):
            yield kept.file.path, kept.owner, func.value.attr


def _rank(options: Mapping[str, Any], regime: Regime, held: Held) -> int | None:
    if held.size is None:
        return 1 + regime.shown
    return 3 + regime.shown if held.size * (regime.workers.count or 1) >= options["copies-mib"] * MIB else None


def _finding(project: Project, value: Instance, keeping: Keeping, held: Held, regime: Regime) -> Finding:
    assert isinstance(value.of, Class)
    kept = keeping.kept
    method = regime.described
    values = {"kept": f"{value.of.name}.{keeping.path}", "method": method}
    values["remedy"] = "table" if held.table else "main" if regime.method == "fork" else "sent"
    severity: Severity = "info"
    related: tuple[Place, ...] = ()
    forked = regime.method == "fork"
    if held.size is not None:
        severity = "warning"
        values["size"] = mib(held.size)
        message = "made_fork" if forked else "made"
        if regime.workers.count:
            values["total"] = mib(held.size * regime.workers.count)
            values["workers"] = regime.workers.described
            message = "made_fork_total" if forked else "made_total"
    elif held.reading is None:
        message = "each_fork" if forked else "each"
        values["remedy"] = "numbers" if forked else "numbers_sent"
        if held.keys:
            message = "keys_fork" if forked else "keys"
            values["remedy"] = "keys" if forked else "keys_sent"
        if held.filled is not None:
            related = (Place(held.filled[0].path, held.filled[1], "added here"),)
    else:
        values["source"] = held.reading.opener
        message = "read_fork" if forked else "read"
        if held.reading.span.line != kept.span.line or held.reading.file is not kept.file:
            related = (Place(held.reading.file.path, held.reading.span, "read here"),)
        if held.filled is not None and held.filled[1].line not in (held.reading.span.line, kept.span.line):
            related += (Place(held.filled[0].path, held.filled[1], "added here"),)
    return Finding(
        CODE,
        kept.file.path,
        kept.span,
        message,
        values,
        severity=severity,
        start_methods=() if forked else (regime.method,),
        trace=project.chain(regime.arrival, kept.hops),
        related=related,
        statement=kept.store.event.span,
    )


def concerns(run: LoaderRun) -> bool:
    return run.forked and grows(run, "copied")
