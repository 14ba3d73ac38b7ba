"""DLL109: the parent uses a package with native threads before it forks processes that use the same package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import describe
from dllint.facts.nodes import Attribute, Subscript
from dllint.finding import Finding, Place
from dllint.inference.values import Class, External, Frame, Instance
from dllint.libraries.facets import NativePool
from dllint.libraries.index import NATIVE_POOLS
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.launches import Launch
from dllint.project.loaders import Loader
from dllint.project.parent_use import ParentTouches
from dllint.project.same_process import Reached
from dllint.project.worker_code import WorkerRun
from dllint.rules.causes import Causes, Use, worst
from dllint.rules.start_methods.cuda_forks import CudaForks

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL109"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Use] = Causes()
    for loader in project.loaders:
        if not loader.workers().possible or not project.ask(CudaForks).forks(loader):
            continue
        used = dict(_by_workers(project, loader))
        for package, place in chain(_by_parent(project, loader), _by_items(project, loader, used)) if used else ():
            if package in used:
                finding = _finding(project, loader, package, used.pop(package), place)
                causes.add(Use(finding, project.loader_place(loader), loader.has_workers), (finding.path, finding.span))
    for launch in project.launches.all():
        for one, place in _in_processes(project, launch):
            causes.add(Use(one, place), (one.path, one.span), (launch.file.path, launch.call))
    yield from map(worst, causes)


def _in_processes(project: Project, launch: Launch) -> Iterator[tuple[Finding, Place]]:
    """The uses of packages in the forked processes of a launch whose parent used them before."""
    forks = project.ask(CudaForks)
    if not launch.api.endswith("Process") or not forks.launch_forks(launch):
        return
    used: dict[str, tuple[Reached, int]] = {}
    for run in forks.runs_of(launch):
        for index in run.file.calls_of(run.scope):
            package = _package(project, run.file, index, run.frame)
            if package:
                used.setdefault(package, (run, index))
    place = Place(launch.file.path, launch.file.calls[launch.call].span, "this launches the forked process")
    for before, index in forks.calls_before(launch) if used else ():
        package = _package(project, before.file, index, before.frame)
        if package in used:
            yield _of_process(project, package, used.pop(package), place, _place(before.file, index)), place


def _of_process(project: Project, package: str, use: tuple[Reached, int], launched: Place, parent: Place) -> Finding:
    run, index = use
    call = run.file.calls[index]
    pool = NATIVE_POOLS[package]
    return Finding(
        CODE,
        run.file.path,
        call.span,
        "process",
        {
            "call": render(call.func, run.file, 40),
            "package": pool.what,
            "effect": f"{pool.effect}s",
            "process": project.where(project.world.files[launched.path], launched.span),
        },
        severity="warning",
        start_methods=("fork",),
        trace=project.trace(run.hops()),
        related=(parent,),
        statement=call.statement,
    )


def _finding(project: Project, loader: Loader, package: str, use: tuple[WorkerRun, int], place: Place) -> Finding:
    run, index = use
    call = run.file.calls[index]
    return Finding(
        CODE,
        run.file.path,
        call.span,
        "main",
        {
            "call": render(call.func, run.file, 40),
            "package": NATIVE_POOLS[package].what,
            "effect": NATIVE_POOLS[package].effect,
            "loader": project.where(loader.file, loader.span),
        },
        severity="error" if loader.has_workers else "warning",
        start_methods=("fork",),
        trace=project.trace(run.hops),
        related=(place,),
        statement=call.statement,
    )


def _by_workers(project: Project, loader: Loader) -> Iterator[tuple[str, tuple[WorkerRun, int]]]:
    """The packages whose threads the workers' code uses, each with its first call."""
    found: set[str] = set()
    starts = project.ask(_PoolStarts)
    for run in project.worker_runs(loader):
        for package, index in starts.of(run):
            if package not in found:
                found.add(package)
                yield package, (run, index)


class _PoolStarts:
    """The calls of functions in workers that start the threads of a package; many loaders run the same functions."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[tuple[SourceFile, int, Frame | None], list[tuple[str, int]]] = {}

    def of(self, run: WorkerRun) -> list[tuple[str, int]]:
        key = (run.file, run.scope, run.frame)
        found = self._known.get(key)
        if found is None:
            calls = [
                (_package(self._project, run.file, index, run.frame), index) for index in run.file.calls_of(run.scope)
            ]
            found = self._known[key] = [call for call in calls if call[0]]
        return found


def _by_parent(project: Project, loader: Loader) -> Iterator[tuple[str, Place]]:
    """The packages whose threads the parent uses before the workers start: for objects that the dataset keeps, in
    its constructor, and before the loader in the same function."""
    for _, piece in project.dataset_pieces(loader):
        value = piece.value
        if (
            isinstance(value, Instance)
            and isinstance(value.of, External)
            and value.file is not None
            and value.call >= 0
        ):
            package = _running(value.of.name)
            if package:
                yield package, _place(value.file, value.call)
    scopes = [
        (project.world.files[path], scope, None)
        for value in project.dataset_objects(loader)
        if isinstance(value.of, Class)
        for path, scope in project.datasets.construction.of_class(value.of)
    ]
    made = loader.file.calls[loader.call]
    for file, scope, until in [*scopes, (loader.file, made.scope, made.span)]:
        for index in file.calls_of(scope):
            if until is None or file.calls[index].span < until:
                package = _package(project, file, index, None)
                if package:
                    yield package, _place(file, index)


def _by_items(
    project: Project, loader: Loader, used: Mapping[str, tuple[WorkerRun, int]]
) -> Iterator[tuple[str, Place]]:
    """The packages that the parent uses as the workers do: it reads items of the dataset before they start."""
    for dataset in project.dataset_objects(loader):
        if isinstance(dataset.of, Class):
            touches = ParentTouches(project, loader, dataset)
            for package, (run, _) in tuple(used.items()):
                hop = touches.of({(run.file.path, run.scope)})
                if hop is not None:
                    yield package, Place(hop.file.path, hop.span, "this starts the threads in the parent")


def _place(file: SourceFile, index: int) -> Place:
    return Place(file.path, file.calls[index].span, "this starts the threads in the parent")


def _package(project: Project, file: SourceFile, index: int, frame: Frame | None) -> str:
    func = file.calls[index].func
    item = isinstance(func, Attribute) and isinstance(func.value, Subscript)
    for value in project.world.values.evaluate(func, project.world.call_site(file, index, frame)):
        if isinstance(value, External):
            package = _running(value.name)
            # A column of a table is none: nothing is known of it.
            return package if package and (not item or NATIVE_POOLS[package].items) else ""
    return ""


def _running(name: str) -> str:
    """The package whose threads a call provably uses: "polars" for "polars.read_csv().filter"; "" if there is none."""
    package, _, rest = name.partition(".")
    pool = NATIVE_POOLS.get(package)
    if pool is not None and pool.items:
        rest = rest.replace("[:]", "").replace("[]", "")
    return package if pool is not None and _runs(rest, pool) else ""


def _runs(name: str, pool: NativePool) -> bool:
    """Whether a chain such as `read_csv().filter` runs a query. Methods of a column or an expression run none."""
    first, *methods = name.split("()")
    if not methods:
        return first in pool.functions
    if not first.startswith(pool.tables) or any(not method.startswith(".") for method in methods):
        return False
    lazy = first.startswith(pool.lazy)
    *before, last = (method[1:] for method in methods)
    for method in before:
        lazy = method not in pool.runs and (lazy or method.startswith(pool.lazy))
    return last in pool.runs if lazy else last in pool.methods


def judge(case: Case) -> Judgement:
    """Did forked workers wait forever, or crash in the call?"""
    if case.finding.message == "process":
        return case.inconclusive("the run does not record what a process waits for")
    forked = [run for run in case.runs if run.forked]
    stuck = [run for run in forked if not run.batches and (case.seen.hung or run.gave_up)]
    if stuck:
        return case.confirmed(f"the program hung: no forked worker of {describe(stuck[0].loader.site)} sent a batch")
    if not forked:
        return case.refuted("its workers were not forked")
    crashes = [one for run in forked for one in case.seen.crashes(run, case.finding)]
    for crash in sorted(crashes, key=lambda one: not one.in_finding):
        where = f" at {describe(crash.site)}" if crash.site is not None else ""
        said = f"worker {crash.worker} was killed by {crash.signal}{where}"
        return case.confirmed(said) if crash.in_finding else case.inconclusive(said)
    return case.inconclusive("no worker hung in this run")
