"""DLL301: a dataset creates or reads a whole array during construction, and keeps it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.thresholds import FAR, MIB, NEAR, NOTICEABLE
from dllint.evidence.wording import counted, mebibytes
from dllint.finding import Finding, Fix, Place, SetArgument, Severity
from dllint.inference.values import Class, Instance
from dllint.linking.conditions import render
from dllint.linking.source import last_name
from dllint.project import Project, Regime
from dllint.project.array_sizes import mib
from dllint.project.arrays import Array
from dllint.project.class_keys import holds_classes
from dllint.project.kept_values import Keeping, Kept
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes, Use, worst
from dllint.rules.memory.constant_arrays import is_constant
from dllint.rules.memory.kept_objects import reads_texts
from dllint.rules.memory.library_pictures import copied_pictures
from dllint.rules.memory.objects_from_files import Records
from dllint.rules.memory.readings import grows_when_forked
from dllint.rules.memory.tables import kept_table
from dllint.rules.memory.unpickled_arrays import UnpickledArrays
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL301"
COPIES = 256 << 20
"""Bytes of the copies in all workers together from which they are worth reporting."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Use] = Causes()
    labels: list[tuple[Use, list[Hashable], Hashable]] = []
    read_in: dict[Hashable, Hashable] = {}
    tables: set[tuple[str, Span]] = set()
    for loader in project.loaders:
        for value in project.shipped_objects(loader) if project.regimes(loader) else ():
            assert isinstance(value.of, Class)
            regimes = project.regimes(loader, project.programs.behind(value), value.of.name)
            collates = value not in project.dataset_objects(loader)
            if collates:
                # What a collate object holds is no data set that each training process would load.
                regimes = [one for one in regimes if one.method != "fork"]
            for keeping in project.datasets.keeps(value):
                kept, holder = keeping.kept, keeping.holder.of
                if not keeping.initial or not isinstance(holder, Class):
                    continue
                array = project.arrays.kept(kept.values, kept.store.value, kept.site)
                if (array is None or keeping.holder != value) and not project.item_code.read(value, kept.attr, holder):
                    continue
                array = array or project.collected.many(kept.values)
                by_item = project.item_code.indexed(value, kept.attr, holder)
                if array is None and (by_item or project.item_code.keyed(value, kept.attr, holder)):
                    array = project.collected.inside(kept.values) if by_item else None
                    if array is None and by_item and kept.store.value is not None:
                        array = project.arrays.computed(kept.store.value, kept.site)
                    array = array or project.ask(UnpickledArrays).kept(value, kept, holder)
                if array is None or (array.size is None and is_constant(project.item_code, value, kept.attr, holder)):
                    continue
                if array.unpickled and not by_item and not project.item_code.keyed(value, kept.attr, holder):
                    continue
                if collates and not _is_read_by(project, value, array):
                    continue
                if _shares_texts(project, regimes, keeping, value):
                    tables.add((kept.file.path, kept.span))
                    continue
                if _is_made_by_workers(project, value, array):
                    continue
                use = _judge(project, options, loader, regimes, value.of.name, keeping, array)
                if use is not None:
                    # One array kept by several statements is one thing to fix; so are several arrays kept by one
                    # statement, and one file whose parts are kept.
                    attribute = (kept.file.path, kept.owner, kept.attr)
                    read = (kept.file.path, kept.owner, array.file.path, array.call)
                    same = (attribute, array.file.path, array.call)
                    keys: list[Hashable] = [(attribute, kept.span), same]
                    if array.source == "file":
                        keys.append(read)
                    if array.source == "file" and not use.finding.fixes:
                        # So are the tables that one method reads in the same way.
                        keys.append((kept.file.path, kept.owner, kept.scope, use.finding.values["opener"]))
                    method = (kept.file.path, kept.owner, kept.scope)
                    if _is_small_beside(kept, array):
                        labels.append((use, keys, method))
                    else:
                        read_in.setdefault(method, keys[0])
                        causes.add(use, *keys)
    for use in copied_pictures(project, options, CODE):
        causes.add(use, (use.finding.path, use.finding.span))
    for use, keys, where in labels:
        causes.add(use, *([read_in[where]] if where in read_in else []), *keys)
    # Another class may inherit the same statement, and read other columns.
    yield from (found for found in map(worst, causes) if (found.path, found.span) not in tables)


def _is_small_beside(kept: Kept, array: Array) -> bool:
    """Whether an array is the labels of what the same method reads, by its name: small beside the data."""
    return array.size is None and array.source == "file" and holds_classes(kept.attr)


def _shares_texts(project: Project, regimes: list[Regime], keeping: Keeping, value: Instance) -> bool:
    """Whether forked workers read texts of a table: DLL302 says what they cost."""
    kept, holder = keeping.kept, keeping.holder.of
    assert isinstance(holder, Class)
    if not grows_when_forked(regimes) or kept_table(project.ask(Records), kept) is None:
        return False
    return reads_texts(project, value, kept, holder)


def _is_read_by(project: Project, value: Instance, array: Array) -> bool:
    """Whether an object makes or reads an array itself, before workers start. What a collate object is given may be
    converted on the way, as by a loader class that collates what another part of the program has read."""
    assert isinstance(value.of, Class)
    return (array.file.path, array.file.calls[array.call].scope) in project.datasets.construction.of(value)


def _is_made_by_workers(project: Project, value: Instance, array: Array) -> bool:
    """Whether only code run per item creates the array, as for a cache, so that it is not sent to workers."""
    assert isinstance(value.of, Class)
    place = array.file.path, array.file.calls[array.call].scope
    runs = {(run.file.path, run.scope) for run in project.item_code.all_runs(value)}
    return place in runs and place not in project.datasets.construction.of(value)


def _judge(
    project: Project,
    options: Mapping[str, Any],
    loader: Loader,
    regimes: list[Regime],
    name: str,
    keeping: Keeping,
    array: Array,
) -> Use | None:
    """The most severe use of an array by a loader; None if nothing is worth reporting."""
    kept = keeping.kept
    judged = [
        verdict
        for regime in regimes
        if (verdict := _under(options, regime, array, keeping.dropped and regime.method != "fork")) is not None
        and (kept.sure or verdict[2] != "info")
    ]
    if not judged:
        return None
    rank, message, severity, regime = max(judged, key=lambda verdict: verdict[0])
    methods = [other.method for *_, other in judged if other.method not in ("fork", regime.method)]
    method = regime.described
    opener = render(array.file.calls[array.call].func, array.file)
    values = {"kept": f"{name}.{keeping.path}", "method": method, "opener": opener}
    if array.size is not None:
        values["size"] = mib(array.size)
        if regime.workers.count:
            values["total"] = mib(array.size * regime.workers.count)
            values["workers"] = regime.workers.described
    values["remedy"] = "tensor" if array.library == "torch" else "load" if array.mappable else "main"
    apart = array.span.line != kept.span.line or array.file is not kept.file
    kept_too = Place(kept.file.path, kept.span, f"kept here as `{keeping.path}`")
    places = [Place(array.file.path, array.span, "made here")] if apart else []
    if array.put is not None and array.put[1].line not in (array.span.line, kept.span.line):
        places.append(Place(array.put[0].path, array.put[1], "added here"))
    if keeping.through is not None:
        leads = keeping.through
        places.append(Place(leads.file.path, leads.span, f"kept here as `{leads.attr}`, which holds it"))
    made = (*places, kept_too)
    finding = Finding(
        CODE,
        kept.file.path,
        kept.span,
        message,
        values,
        severity=severity,
        start_methods=() if regime.method == "fork" else (regime.method, *methods),
        trace=project.chain(regime.arrival, kept.hops),
        fixes=_fixes(array, message, kept),
        statement=kept.store.event.span,
    )
    return Use(finding, project.loader_place(loader), rank, made)


def _under(
    options: Mapping[str, Any], regime: Regime, array: Array, dropped: bool
) -> tuple[int, str, Severity, Regime] | None:
    """The cost of an array under one start method: rank, message, severity and regime; None if it is not worth
    reporting."""
    if dropped:
        return None
    size = array.size
    large = size is not None and size >= options["shared-mib"] * MIB
    if array.library == "torch":
        return (2, "fork" if regime.method == "fork" else "shared", "info", regime) if large else None
    if regime.method == "fork":
        if large:
            return 2, "fork", "info", regime
        # Forked workers share it: of an unknown size, tables and texts are small beside what workers read.
        unknown = size is None and array.source == "file" and (array.mappable or array.unpickled)
        return (1, "whole_file_fork", "info", regime) if unknown else None
    if size is None:
        if array.source != "file":
            return None
        return (5, "whole_file", "warning", regime) if regime.shown else (3, "whole_file", "info", regime)
    copies = regime.workers.count or 1
    if size * copies < options["copies-mib"] * MIB:
        return None
    message = "copies" if regime.workers.count else "copies_each"
    return (6 if regime.shown else 4), message, regime.weighed("warning"), regime


def _fixes(array: Array, message: str, kept: Kept) -> tuple[Fix, ...]:
    call = array.file.calls[array.call]
    if (
        message != "whole_file_fork"
        or last_name(call.func) != "load"
        or array.library != "numpy"
        or call.span != kept.span
    ):
        return ()
    edit = SetArgument(array.file.path, array.span, "mmap_mode", '"r"')
    return (Fix('Map the file instead of reading it: `mmap_mode="r"`', "unsafe", (edit,)),)


def judge(case: Case) -> Judgement:
    """Is the array copied into each worker?"""
    with_arrays = [run for run in case.runs if run.storages is not None]
    if not with_arrays:
        return case.inconclusive("the run did not measure what workers receive")
    run = max(with_arrays, key=lambda one: one.array_bytes * one.count)
    size, total = run.array_bytes, run.array_bytes * run.count
    if size < NOTICEABLE:
        shared = run.storages.storage_bytes if run.storages else 0
        if shared >= NOTICEABLE and not run.forked:
            return case.confirmed(f"the workers share one copy of {mebibytes(shared)} in /dev/shm")
        return case.refuted(f"pickling for a worker copies {mebibytes(size)} of arrays")
    if not run.forked:
        each = f"each of {counted(run.count, 'worker')} started by {run.method}"
        return case.confirmed(f"{each} got a copy of {mebibytes(size)}, {mebibytes(total)} in total")
    others = [method for method in run.others if method != "fork"]
    if others and total >= NEAR * COPIES:
        where = case.where(others[0])
        return case.latent(
            f"under {where}, each of {counted(run.count, 'worker')} gets a copy of {mebibytes(size)}, "
            f"{mebibytes(total)} in total",
            "shared by the forked workers of this run",
        )
    if not others or total < FAR * COPIES:
        return case.refuted(f"the forked workers share it; without fork the copies would need {mebibytes(total)}")
    return case.inconclusive(
        f"the forked workers share it; without fork the copies would need {mebibytes(total)}, "
        f"and {mebibytes(COPIES)} count as large"
    )


def concerns(run: LoaderRun) -> bool:
    return run.array_bytes * run.count >= NEAR * COPIES
