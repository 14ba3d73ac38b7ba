"""DLL302: a dataset keeps many Python objects, and each worker ends up with a copy of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.memory_trend import grows
from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.finding import Finding, Place, Severity
from dllint.inference.values import Class, External, Instance, Value
from dllint.inference.values import Mapping as DictValue
from dllint.libraries.index import READERS, canonical
from dllint.libraries.records import COLUMN, LINES, OPAQUE, RECORDS, ROWS, TABLE, TEXT
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project import Project, Regime
from dllint.project.array_sizes import mib
from dllint.project.arrays import Array
from dllint.project.datasets import Keeping, Kept
from dllint.project.item_code import By
from dllint.project.item_texts import named_as_text, taken_as_text
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes, Use, worst
from dllint.rules.memory.growth_verdict import judge
from dllint.rules.memory.keyed_by_tuples import KeyedByTuples
from dllint.rules.memory.lists_as_datasets import constructing_base, dataset_argument, records_given
from dllint.rules.memory.objects_from_files import Records
from dllint.rules.memory.path_lists import are_paths, holds_paths, lists_paths
from dllint.rules.memory.readings import Held, Reading, grows_when_forked
from dllint.rules.memory.records_per_item import RecordsPerItem
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL302"
MIB = 1 << 20


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Use] = Causes()
    known: dict[Instance, list[tuple[Keeping, Held]]] = {}
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
            if value not in known:
                known[value] = list(_objects(project, value))
            for keeping, held in known[value]:
                kept = keeping.kept
                if held.table and not grows_when_forked(regimes):
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
                kept_too = Place(kept.file.path, kept.span, f"kept here as `{keeping.path}`")
                use = Use(finding, project.loader_place(loader), rank, (kept_too,), methods)
                causes.add(use, (kept.file.path, kept.owner, kept.attr), *_read_once(kept, held))
        reading = records_given(project, loader) if project.regimes(loader) else None
        argument = dataset_argument(loader) if reading is not None else None
        if reading is not None and argument is not None:
            place = (loader.file, argument.value_span, loader.file.calls[loader.call].statement)
            read = (Place(reading.file.path, reading.span, "read here"),)
            shown = render(argument.value, loader.file, 40)
            causes.add(_given(project, loader, place, shown, reading.opener, read), (reading.file.path, reading.call))
    yield from map(worst, causes)


def _given(
    project: Project,
    loader: Loader,
    place: tuple[SourceFile, Span, Span],
    kept: str,
    source: str,
    related: tuple[Place, ...] = (),
) -> Use:
    """The finding for records that are a loader's dataset themselves, or that a dataset of a library keeps.

    Args:
        place: the file, what the finding points at, and the statement around it.
        kept: what holds the records.
        source: what read them.
    """
    regimes = project.regimes(loader)
    regime = max(regimes, key=lambda one: one.shown)
    forked = regime.method == "fork"
    file, span, statement = place
    finding = Finding(
        CODE,
        file.path,
        span,
        "read_fork" if forked else "read",
        {"kept": kept, "method": regime.described, "remedy": "main" if forked else "sent", "source": source},
        severity="info",
        start_methods=() if forked else (regime.method,),
        trace=project.chain(regime.arrival),
        related=related,
        statement=statement,
    )
    methods = tuple(one.method for one in regimes if one.method != "fork")
    return Use(finding, project.loader_place(loader), 1 + regime.shown, methods=methods)


def _read_once(kept: Kept, held: Held) -> Iterator[Hashable]:
    """Keys shared by attributes of one class that hold the same objects: the call that reads them, or the attribute
    that they are taken from, as in `self.names = list(self.rows.keys())`."""
    reading = held.reading
    if reading is None:
        return
    yield kept.owner, reading.file.path, reading.call
    func = reading.file.calls[reading.call].func
    if isinstance(func, Attribute) and isinstance(func.value, Attribute) and isinstance(func.value.value, Name):
        params = reading.file.scopes[reading.file.calls[reading.call].scope].params
        if params and func.value.value == Name(params[0].name):
            yield kept.file.path, kept.owner, func.value.attr


def _objects(project: Project, value: Instance) -> Iterator[tuple[Keeping, Held]]:
    """The attributes of a dataset that hold many Python objects which its workers iterate or index."""
    code = project.item_code
    for keeping in project.datasets.keeps(value):
        kept, holder = keeping.kept, keeping.holder.of
        if not keeping.initial or not isinstance(holder, Class):
            continue
        arrays, records = project.arrays, project.ask(Records)
        collected = project.collected.many(kept.values)
        if collected is not None and not _may_be_objects(project, collected):
            continue
        table = records.table(kept)
        if table is not None and named_as_text(code, value, kept.attr, holder):
            yield keeping, table
            continue
        if arrays.kept(kept.values, kept.store.value, kept.site) and not code.has_fields(value, kept.attr, holder):
            continue
        held = records.kept(kept)
        if held is None:
            filled = _under_tuples(project, value, kept, holder)
            if filled is not None:
                yield keeping, Held(None, None, filled, keys=True)
                continue
            filled = project.ask(RecordsPerItem).filled(value, kept, holder)
            if filled is not None:
                yield keeping, Held(None, None, filled)
            continue
        reading = held.reading
        by_item = any(ask(value, kept.attr, holder) for ask in (code.indexed, code.iterated, code.drawn))
        if not by_item and code.keyed(value, kept.attr, holder):
            texts_of_items = held.reading is not None and held.reading.kind in (LINES, TEXT)
            nested = reading is not None and reading.kind == RECORDS and code.goes_into_fields(value, kept.attr, holder)
            texts_of_items = texts_of_items and named_as_text(code, value, kept.attr, holder, "key")
            by_item = nested or texts_of_items or records.grouped(kept)
        whole = (reading is not None and reading.kind == TABLE) or code.measured(value, kept.attr, holder)
        if reading is None and held.size is None and not _one_per_item(project, value, kept, holder):
            continue
        if not by_item and not (whole and code.read(value, kept.attr, holder)):
            continue
        if reading is not None and _makes_paths(project, value, kept.attr, reading, holder):
            continue
        texts = (ask(code, value, kept.attr, holder) for ask in (taken_as_text, named_as_text))
        if reading is not None and reading.kind == COLUMN and not any(texts):
            continue
        opaque = reading is not None and reading.kind == OPAQUE and (collected is not None or not reading.seen)
        fields_of = (code.has_fields, code.drawn, code.has_attributes)
        by_field = any(ask(value, kept.attr, holder) for ask in fields_of)
        if opaque and (collected is not None or not by_field):
            continue
        yield keeping, held


def _under_tuples(project: Project, value: Instance, kept: Kept, holder: Class) -> tuple[SourceFile, Span] | None:
    """The statement that fills a dict under tuples of fields of the items, which workers look it up by."""
    if not project.item_code.keyed(value, kept.attr, holder):
        return None
    places = [project.ask(KeyedByTuples).filled(one, _items_of(project, value)) for one in kept.values]
    return next((place for place in places if place is not None), None) if all(places) else None


def _items_of(project: Project, value: Instance) -> Iterator[Value]:
    """The containers of a dataset that its workers index by item."""
    for one in project.datasets.kept(value):
        if one.initial and project.item_code.indexed(value, one.attr):
            yield from one.values


def _one_per_item(project: Project, value: Instance, kept: Kept, holder: Class) -> bool:
    """Whether an attribute has one element per item of the dataset: a dict has, where the numbers of items are keys."""
    code, attr = project.item_code, kept.attr
    numbered = any(isinstance(one, DictValue) for one in kept.values)
    return code.indexed(value, attr, holder) and (numbered or code.measured(value, attr, holder))


def _may_be_objects(project: Project, array: Array) -> bool:
    """Whether what counts as an array is whatever a file contains: `torch.load` of one format of several."""
    site = project.world.call_site(array.file, array.call, array.frame)
    values = project.world.values.evaluate(CallRef(array.call), site)
    names = (one.of.name for one in values if isinstance(one, Instance) and isinstance(one.of, External))
    return any(READERS.get(canonical(name)) == OPAQUE for name in names)


def _makes_paths(project: Project, value: Instance, attr: str, reading: Reading, holder: Class) -> bool:
    """Whether the workers make paths from the lines or table rows that an attribute holds."""
    code, kind = project.item_code, reading.kind
    if kind == LINES and reading.under:
        return holds_paths(project.world, code, value, attr, reading.under, holder)
    # Where a decorator hides which index workers look up, every look-up counts.
    by: By = "index" if code.indexed(value, attr, holder) else "any"
    if kind == LINES and code.used_as_path(value, attr, holder, by):
        # A line of a path and its transcript is read by its fields, and only one of them is a path.
        return not named_as_text(code, value, attr, holder)
    asked = lists_paths if kind in (LINES, ROWS, COLUMN) else are_paths
    return asked(project.world, code, value, attr, holder)


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
            related = (Place(held.filled[0].path, held.filled[1], "put into it here"),)
    else:
        values["source"] = held.reading.opener
        message = "read_fork" if forked else "read"
        if held.reading.span.line != kept.span.line or held.reading.file is not kept.file:
            related = (Place(held.reading.file.path, held.reading.span, "read here"),)
        if held.filled is not None and held.filled[1].line not in (held.reading.span.line, kept.span.line):
            related += (Place(held.filled[0].path, held.filled[1], "put into it here"),)
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
