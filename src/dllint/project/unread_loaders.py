"""Loaders that are never iterated: callers read only their dataset and other options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Name, Tuple
from dllint.facts.schema import Event, Expr
from dllint.inference.values import Function, Instance, Site, Unknown
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.loaders import Loader

_OPTIONS = frozenset(
    {
        *("dataset", "batch_size", "sampler", "batch_sampler", "collate_fn", "num_workers", "pin_memory", "drop_last"),
        *("worker_init_fn", "timeout", "generator", "prefetch_factor", "persistent_workers"),
    }
)
"""Attributes of a loader that can be read without starting workers (torch/utils/data/dataloader.py)."""


def only_asked(world: World, loader: Loader, program: SourceFile) -> bool:
    """Whether the function that makes the loader only returns it, and all its callers in a program read only options
    of the result."""
    made = _held(loader.file, loader.call)
    if made is None or loader.site.scope == 0:
        return False
    reached = world.import_graph.import_closure([program.path])
    callers = world.calls.callers(Function(loader.file, loader.site.scope))
    calls = [(one.file, one.call) for one in callers if one.file.path in reached]
    if not calls or any(use == "used" for use in _uses(world, loader, loader.file, loader.site.scope, made)):
        return False
    for file, index in calls:
        got = _held(file, index) if index >= 0 else None
        if not got or any(use != "asked" for use in _uses(world, loader, file, file.calls[index].scope, got)):
            return False
    return True


def _held(file: SourceFile, index: int) -> set[str] | None:
    """The variables that a statement assigns the result of a call to.

    Empty if the result is returned at once; None for any other use.
    """
    scope = file.calls[index].scope
    for event in file.scopes[scope].events:
        value = event.value
        if event.kind == "return" and value is not None and CallRef(index) in _returned(value):
            return set()
        if event.kind == "assign" and value == CallRef(index) and event.target is not None:
            targets = event.target.elements if isinstance(event.target, Tuple) else (event.target,)
            names = {one.id for one in targets if isinstance(one, Name)}
            plain = all(isinstance(one, Name) for one in targets)
            return names if plain and not _read_inside(file, scope, names) else None
    return None


def _read_inside(file: SourceFile, scope: int, names: set[str]) -> bool:
    """Whether a nested function may read variables of the function around it."""
    for inner in (inner for name in names for inner in file.facts.loaded.get(name, ())):
        around = file.scopes[inner].parent
        while around > 0:
            if around == scope:
                return True
            around = file.scopes[around].parent
    return scope == 0


def _uses(world: World, loader: Loader, file: SourceFile, scope: int, names: set[str]) -> Iterator[str]:
    """How a function uses the loader that a variable holds: "asked" (an option is read), "returned" or "used"."""
    places: list[tuple[Expr, Event | None, Site]] = []
    for event in file.scopes[scope].events:
        if event.value is not None:
            site = Site(file, scope, event.region, event.span.start, None)
            places.append((event.value, event, site))
    for index in file.calls_of(scope):
        site = world.call_site(file, index, None)
        call = file.calls[index]
        given = (one.value for one in call.args) if call.func != Name("len") else ()
        places += [(part, None, site) for part in (call.func, *given)]
    for expr, within, site in places:
        returned = _returned(expr) if within is not None and within.kind == "return" else ()
        for part, parent in _parts(expr):
            if isinstance(part, Name) and part.id in names and _is(world, loader, part, site):
                if isinstance(parent, Attribute) and parent.attr in _OPTIONS:
                    yield "asked"
                else:
                    yield "returned" if part in returned else "used"


def _returned(expr: Expr) -> tuple[Expr, ...]:
    return expr.elements if isinstance(expr, Tuple) else (expr,)


def _parts(expr: Expr) -> Iterator[tuple[Expr, Expr | None]]:
    """An expression and all of its parts except those inside calls, each with its parent."""
    todo: list[tuple[Expr, Expr | None]] = [(expr, None)]
    while todo:
        part, parent = todo.pop()
        yield part, parent
        todo += [(child, part) for child in part.children()]


def _is(world: World, loader: Loader, name: Name, site: Site) -> bool:
    """Whether a variable may hold the loader, or a container with it."""
    values = world.values.evaluate(name, site)
    return any(
        isinstance(one, Unknown) or (isinstance(one, Instance) and one.file is loader.file and one.call == loader.call)
        for value in values
        for one in (value, *world.mappings.flattened(value))
    )
