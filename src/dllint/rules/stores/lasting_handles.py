"""Handles that outlive every object: opened by a function for a module variable, or in the body of a class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import Event, Expr
from dllint.inference import limits
from dllint.inference.values import Class, Function, Instance, Site
from dllint.libraries.facets import Opener
from dllint.linking.bindings import Binding
from dllint.linking.conditions import under_main_guard
from dllint.linking.source import SourceFile
from dllint.project.arrivals import Hop
from dllint.project.handles import Handles, expressions
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerRun

if TYPE_CHECKING:
    from dllint.project.model import Project

_Place = tuple[str, int]
"""The path of a file and the scope of a function in it."""


class LastingHandle(NamedTuple):
    """A handle that the parent opens for a variable that forked workers read. `label` names the variable, `hops` are
    the calls from a constructor to the function that opens it."""

    opener: Opener
    label: str
    value: Instance
    hops: tuple[Hop, ...] = ()


def lasting_handles(project: Project, loader: Loader, runs: list[WorkerRun]) -> Iterator[LastingHandle]:
    """The handles in module variables that functions of the parent set, and in attributes of classes."""
    readers = [run for run in runs if run.entry != "worker_init_fn"]
    yield from _set_by_functions(project, loader, runs, readers)
    yield from _of_classes(project, readers)
    yield from _set_from_outside(project, loader, readers)
    in_workers = {(run.file.path, run.scope) for run in runs}
    for run in readers:
        yield from _captured(project, run, in_workers)
        yield from _by_default(project, run)


def _set_by_functions(
    project: Project, loader: Loader, runs: list[WorkerRun], readers: list[WorkerRun]
) -> Iterator[LastingHandle]:
    in_workers = {(run.file.path, run.scope) for run in runs}
    seen: set[tuple[str, str]] = set()
    for run in readers:
        file = run.file
        for (around, name), ways in file.within.items():
            if around or (file.path, name) in seen or not _reads(project, run, name):
                continue
            seen.add((file.path, name))
            # Workers that open the handle themselves are another case, and some of them replace the parent's.
            if any((file.path, scope) in in_workers for scope, _ in ways):
                continue
            for scope, binding in ways:
                hops = _run_by_parent(project, loader, file, scope)
                if hops is None or binding.event is None or binding.expr is None:
                    continue
                if _ended(file, scope, binding.event, name):
                    continue
                at = binding.event.span.start
                site = Site(file, scope, binding.event.region, at, None)
                for opener, value in _opened(project, binding.expr, site):
                    yield LastingHandle(opener, f"`{name}`", value, hops)


def _reads(project: Project, run: WorkerRun, name: str) -> bool:
    read = name in project.ask(Handles).names_read(run.file, run.scope)
    return read and name not in run.file.bindings(run.scope)


def _opened(project: Project, expr: Expr, site: Site) -> Iterator[tuple[Opener, Instance]]:
    for value in project.world.values.evaluate(expr, site):
        opener = project.ask(Handles).opener(value)
        if opener is not None and opener.harm and isinstance(value, Instance) and value.file is not None:
            yield opener, value


def _ended(file: SourceFile, scope: int, opened: Event, name: str) -> bool:
    """Whether the function that opens a handle for a variable closes it again, or a `with` statement does."""
    closed = any(
        isinstance(call.func, Attribute) and call.func.value == Name(name) and call.func.attr in ("close", "release")
        for call in (file.calls[index] for index in file.calls_of(scope))
    )
    return closed or opened.kind == "with"


def _run_by_parent(project: Project, loader: Loader, file: SourceFile, scope: int) -> tuple[Hop, ...] | None:
    """The calls to a function during the construction of a dataset, or none of them where another part of the program
    runs it on the way to the loader; None where neither is known."""
    key = (file.path, scope)
    datasets = project.dataset_objects(loader)
    for dataset in datasets:
        assert isinstance(dataset.of, Class)
        hops = project.datasets.construction.of(dataset).get(key)
        if hops is not None:
            return hops
    starts = [(loader.file, loader.file.calls[loader.call].scope)]
    starts += [(one.file, one.file.calls[one.call].scope) for one in datasets if one.file is not None and one.call >= 0]
    above = _above(project, starts)
    callers = project.world.calls.callers(Function(file, scope))
    known = [(one.file, one.file.calls[one.call]) for one in callers if one.call >= 0 and not one.guessed]
    if key in above or any((where.path, call.scope) in above for where, call in known if call.scope > 0):
        return ()
    at_top = (where for where, call in known if call.scope == 0 and not under_main_guard(where, call.region))
    reached = project.import_graph.import_closure({path for path, _ in above})
    return () if any(where.path in reached for where in at_top) else None


def _above(project: Project, starts: list[tuple[SourceFile, int]]) -> set[_Place]:
    """Functions, and those that call them, directly and through others; with the main guards that start them."""
    found: set[_Place] = set()
    todo = list(starts)
    while todo and not limits.MODULES_ABOVE.reached(len(found)):
        file, scope = todo.pop()
        if (file.path, scope) in found:
            continue
        found.add((file.path, scope))
        if scope > 0:
            callers = project.world.calls.callers(Function(file, scope))
            todo += [(one.file, one.file.calls[one.call].scope) for one in callers if one.call >= 0 and not one.guessed]
    return found


def _set_from_outside(project: Project, loader: Loader, readers: list[WorkerRun]) -> Iterator[LastingHandle]:
    """The handles that the code which makes a dataset puts into an attribute of it: `rows.file = open(path)`."""
    for dataset in project.dataset_objects(loader):
        for kept in project.datasets.kept(dataset):
            if kept.owner is not None or not kept.at_once or kept.store.event.kind != "assign":
                continue
            if not any(kept.attr in project.ask(Handles).names_read(run.file, run.scope) for run in readers):
                continue
            if any(store.key == kept.attr for run in readers for store in run.file.stores(run.scope)):
                continue
            assert isinstance(dataset.of, Class)
            for one in kept.values:
                opener = project.ask(Handles).opener(one)
                if opener is not None and opener.harm and isinstance(one, Instance) and one.file is not None:
                    yield LastingHandle(opener, f"`{dataset.of.name}.{kept.attr}`", one)


def _captured(project: Project, run: WorkerRun, in_workers: set[_Place]) -> Iterator[LastingHandle]:
    """The handles in variables of the function around a function that workers run."""
    file, scope = run.file, run.scope
    around = file.scopes[scope].parent
    while around > 0 and file.scopes[around].kind in ("function", "lambda"):
        if (file.path, around) in in_workers:
            return
        for name, bindings in file.bindings(around).items():
            if not _reads(project, run, name):
                continue
            for binding in bindings:
                if binding.kind != "value" or binding.event is None or binding.expr is None:
                    continue
                if _ended(file, around, binding.event, name):
                    continue
                at = binding.event.span.start
                for opener, value in _opened(project, binding.expr, Site(file, around, binding.event.region, at, None)):
                    yield LastingHandle(opener, f"`{name}`", value)
        around = file.scopes[around].parent


def _by_default(project: Project, run: WorkerRun) -> Iterator[LastingHandle]:
    """The handles that a definition at the top level of a module, or of a class in it, opens as default arguments."""
    entry = run.file.scopes[run.scope]
    if entry.parent > 0 and run.file.scopes[entry.parent].kind != "class":
        return
    for param in entry.params:
        if isinstance(param.default, CallRef) and param.name in project.ask(Handles).names_read(run.file, run.scope):
            call = run.file.calls[param.default.index]
            site = project.world.call_site(run.file, param.default.index, None)
            if call.scope != run.scope:
                yield from (
                    LastingHandle(opener, f"`{param.name}`", value)
                    for opener, value in _opened(project, param.default, site)
                )


def _of_classes(project: Project, readers: list[WorkerRun]) -> Iterator[LastingHandle]:
    """The handles that bodies of classes open: `class Rows: connection = sqlite3.connect(path)`."""
    seen: set[tuple[Class, str]] = set()
    for run in readers:
        owner = run.file.method_of(run.scope)
        for cls in project.world.hierarchy.line(Class(run.file, owner)) if owner is not None else ():
            if not isinstance(cls, Class):
                continue
            for name, bindings in cls.file.derived(made_in_body, cls.scope):
                if (cls, name) in seen or not _reads_attribute(project, run, cls, name):
                    continue
                seen.add((cls, name))
                for binding in bindings:
                    if binding.kind != "value" or binding.event is None or not isinstance(binding.expr, CallRef):
                        continue
                    at = binding.event.span.start
                    site = Site(cls.file, cls.scope, binding.event.region, at, None)
                    for opener, value in _opened(project, binding.expr, site):
                        yield LastingHandle(opener, f"`{cls.name}.{name}`", value)


def made_in_body(file: SourceFile, scope: int) -> list[tuple[str, list[Binding]]]:
    """Return the names that a scope binds to what a call returns, with all of their bindings. Methods are most of the
    names in a class."""
    bound = file.bindings(scope).items()
    return [(name, ways) for name, ways in bound if any(isinstance(one.expr, CallRef) for one in ways)]


def _reads_attribute(project: Project, run: WorkerRun, cls: Class, name: str) -> bool:
    """Whether a method reads an attribute of its class that no method sets on the object."""
    if name not in project.ask(Handles).names_read(run.file, run.scope):
        return False
    if name in project.world.stores.own_stores(cls):
        return False
    params = run.file.scopes[run.scope].params
    bases = {Name(cls.name), *(Name(param.name) for param in params[:1])}
    return any(
        isinstance(part, Attribute) and part.attr == name and part.value in bases
        for part in expressions(run.file, run.scope)
    )
