"""Threads, pools and locks that a dataset carries into forked workers, where nothing runs or releases them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, Name
from dllint.facts.schema import Expr
from dllint.inference.values import Class, Const, External, Instance, Site
from dllint.libraries.index import LOCKS, THREAD_EXECUTORS, THREAD_POOLS, canonical
from dllint.linking.source import SourceFile
from dllint.project.kept_values import Kept
from dllint.project.loaders import Loader
from dllint.project.process_starts import Starting
from dllint.project.worker_code import WorkerRun
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


class Carried(NamedTuple):
    """An object that hangs in forked workers.

    `kind` is "executor", "pool" or "lock". `by` is the cause: the use that starts the threads, or the statement that
    holds the lock.
    """

    kind: str
    kept: Kept
    by: tuple[SourceFile, Span] | None


def carried(project: Project, loader: Loader) -> Iterator[Carried]:
    """The objects that the loader's datasets keep and worker code uses, and whose threads do not exist after a fork."""
    runs = project.worker_runs(loader)
    for value in project.dataset_objects(loader):
        assert isinstance(value.of, Class)
        for kept in project.datasets.kept(value):
            kind = _kind(kept)
            if (
                not kind
                or project.runs_in_worker(loader, kept.file, kept.scope)
                or not any(_uses(run, kept.attr) for run in runs)
            ):
                continue
            if kind == "pool":
                yield Carried(kind, kept, None)
            elif kind == "executor":
                used = _used_in_parent(project, value.of, kept.attr)
                if used is not None:
                    yield Carried(kind, kept, used)
            else:
                held = _held_while_starting(project, loader, kept)
                if held is not None:
                    yield Carried(kind, kept, held)


def _kind(kept: Kept) -> str:
    for value in kept.values:
        if isinstance(value, Instance) and isinstance(value.of, External):
            name = canonical(value.of.name)
            for kind, names in (("executor", THREAD_EXECUTORS), ("pool", THREAD_POOLS), ("lock", LOCKS)):
                if name in names:
                    return kind
    return ""


def _uses(run: WorkerRun, attr: str) -> bool:
    """Whether a function calls a method of the attribute, or enters it as a context manager."""
    for index in run.file.calls_of(run.scope):
        func = run.file.calls[index].func
        if isinstance(func, Attribute) and _is_attribute(func.value, attr):
            return True
    return any(
        event.kind == "with" and event.value is not None and _is_attribute(event.value, attr)
        for event in run.file.scopes[run.scope].events
    )


def _is_attribute(expr: Expr, attr: str) -> bool:
    return bool(isinstance(expr, Attribute) and expr.attr == attr and isinstance(expr.value, Name))


def _used_in_parent(project: Project, cls: Class, attr: str) -> tuple[SourceFile, Span] | None:
    """The first task submitted to the executor during the dataset's construction, which starts its threads; None
    without one."""
    for path, scope in project.datasets.construction.of_class(cls):
        file = project.world.files[path]
        for index in file.calls_of(scope):
            func = file.calls[index].func
            if isinstance(func, Attribute) and func.attr in ("submit", "map") and _is_attribute(func.value, attr):
                return file, file.calls[index].span
    return None


def _held_while_starting(project: Project, loader: Loader, kept: Kept) -> tuple[SourceFile, Span] | None:
    """A `with` statement of the lock inside which the loader is iterated; None if there is none."""
    for file in project.files:
        for scope, entry in enumerate(file.scopes):
            if not any(event.kind == "with" for event in entry.events):
                continue
            for iteration in project.ask(Starting).iterations(file, scope, None):
                if iteration.loader is not loader:
                    continue
                for index in file.regions(iteration.region):
                    region = file.facts.regions[index]
                    at = region.span.start
                    site = Site(file, scope, region.parent, at, None)
                    if region.kind == "with" and region.expr is not None:
                        values = project.world.values.evaluate(region.expr, site)
                        if any(isinstance(value, Instance) and value in kept.values for value in values):
                            return file, region.span
    return None


def raised_threads(project: Project, loader: Loader) -> Iterator[tuple[WorkerRun, int]]:
    """Calls of `torch.set_num_threads` with more than one thread in code that the loader's workers run, in a program
    that trains.

    The parent then has torch's own thread pool, which the forked child waits for.
    """
    if loader.flag("persistent_workers"):
        return
    runs = [
        (run, index)
        for run in project.worker_runs(loader)
        for index, name in project.workers.external_calls(run, "torch.set_num_threads")
        if name == "torch.set_num_threads"
    ]
    if runs and not _trains(project, loader):
        return
    for run, index in runs:
        values = project.evaluate_argument(run.file, index, 0, "int", run.frame) or ()
        counts = [value.value for value in values if isinstance(value, Const)]
        if counts and len(counts) == len(values) and all(isinstance(one, int) and one > 1 for one in counts):
            yield run, index


def _trains(project: Project, loader: Loader) -> bool:
    program = project.programs.loaded(loader.file, loader.call)
    return any(file.path in program for file, _ in project.world.called("backward"))
