"""Handles that a function opens once per process and keeps: in a dict of a module or class, or in a function cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import Expr
from dllint.inference.values import Class, Function, Instance, Site
from dllint.libraries.facets import Opener
from dllint.libraries.index import OPENERS
from dllint.linking.bindings import declared_names
from dllint.linking.source import SourceFile, last_name
from dllint.project.handles import Handles
from dllint.project.worker_code import WorkerRun, called_names

if TYPE_CHECKING:
    from dllint.project.model import Project

_NAMES = frozenset(name.rpartition(".")[2] for name in OPENERS)
_CACHES = frozenset({"cache", "lru_cache"})
_PER_PROCESS = frozenset({"getpid", "current_process", "register_at_fork", "get_worker_info", "local"})
"""Last names of calls that show that processes (or threads) are distinguished."""
_LETTING_GO = frozenset({"clear", "pop", "popitem"})


class CachedHandle(NamedTuple):
    """A handle that the call `call` of a function opens, and that later calls in the same process reuse. `label`
    names it."""

    opener: Opener
    label: str
    file: SourceFile
    scope: int
    call: int


def cached_handles(project: Project, runs: list[WorkerRun]) -> Iterator[CachedHandle]:
    """The handles that functions of worker code open and keep longer than any object."""
    names = _NAMES | {name.rpartition(".")[2] for name in project.settings.openers}
    if names.isdisjoint(called_names(runs)):
        return
    for run in runs:
        if run.entry == "worker_init_fn":
            continue
        for index in run.file.calls_of(run.scope):
            if last_name(run.file.calls[index].func) not in names:
                continue
            label = _keeper(project, run, index)
            if label is None or _told_apart(run.file):
                continue
            site = project.world.call_site(run.file, index, run.frame)
            for value in project.world.values.evaluate(CallRef(index), site):
                opener = project.ask(Handles).opener(value)
                if opener is not None and opener.harm and isinstance(value, Instance) and value.file is run.file:
                    yield CachedHandle(opener, label, run.file, run.scope, index)


def _told_apart(file: SourceFile) -> bool:
    return any(last_name(call.func) in _PER_PROCESS for call in file.calls)


def _keeper(project: Project, run: WorkerRun, index: int) -> str | None:
    """A name for the variable or cache that keeps the result of a call; None if nothing keeps it beyond the lifetime
    of objects."""
    file, scope = run.file, run.scope
    opened: Expr = CallRef(index)
    held = [opened] + [
        Name(name)
        for name, bindings in file.bindings(scope).items()
        if any(binding.kind == "value" and binding.expr == opened for binding in bindings)
    ]
    events = file.scopes[scope].events
    shared = {name for event in events if event.kind == "global" for name in declared_names(event)}
    for event in events:
        if event.value not in held:
            continue
        if event.kind == "return" and _CACHES.intersection(project.world.hierarchy.decorators(Function(file, scope))):
            return f"what `{file.scopes[scope].name}` caches"
        if (
            event.kind == "assign"
            and event.target is not None
            and isinstance(event.target, Name)
            and event.target.id in shared
        ):
            return f"`{event.target.id}`"
    for store in file.stores(scope):
        if store.value not in held:
            continue
        base: Expr = Attribute(store.base, store.key) if isinstance(store.key, str) else store.base
        label = _lasting(project, run, base)
        if label is not None and not _let_go(file, label):
            return f"`{label}`" if isinstance(store.key, str) else f"an item of `{label}`"
    return None


def _lasting(project: Project, run: WorkerRun, expr: Expr) -> str | None:
    """A name for a module variable, or for a class attribute that all objects share; None for anything else."""
    file, scope = run.file, run.scope
    if isinstance(expr, Name):
        local = file.bindings(scope).get(expr.id)
        if local is None:
            return str(expr.id) if expr.id in file.bindings(0) else None
        same = [one.expr for one in local if one.kind == "value" and isinstance(one.expr, Attribute)]
        return _lasting(project, run, same[0]) if len(local) == len(same) == 1 else None
    if not isinstance(expr, Attribute):
        return None
    for cls, of_object in _classes(project, run, expr.value):
        line = [one for one in project.world.hierarchy.line(cls) if isinstance(one, Class)]
        if of_object and any(expr.attr in project.world.stores.own_stores(one) for one in line):
            continue
        if any(expr.attr in one.file.bindings(one.scope) for one in line):
            return f"{cls.name}.{expr.attr}"
    return None


def _classes(project: Project, run: WorkerRun, expr: Expr) -> Iterator[tuple[Class, bool]]:
    """The classes that an expression refers to, each with whether the expression is an object of it."""
    owner = run.file.enclosing_class(run.scope)
    params = run.file.scopes[run.scope].params
    if owner is not None and params and expr == Name(params[0].name):
        yield Class(run.file, owner), params[0].name != "cls"
        return
    if isinstance(expr, Name):
        site = Site(run.file, run.scope, 0, (0, 0), run.frame)
        for value in project.world.values.evaluate(expr, site):
            if isinstance(value, Class):
                yield value, False


def _let_go(file: SourceFile, label: str) -> bool:
    """Whether the file removes handles from a container."""
    name = label.rpartition(".")[2]
    return any(
        isinstance(call.func, Attribute) and call.func.attr in _LETTING_GO and last_name(call.func.value) == name
        for call in file.calls
    )
