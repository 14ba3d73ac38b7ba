"""What a `worker_init_fn` reads: whether it may prepare different data in each worker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference.values import Unknown
from dllint.libraries.index import WORKER_INFO
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerRun, called_names

if TYPE_CHECKING:
    from dllint.inference.engine import World

_DISTINCT = re.compile(r"^(id|num_workers|seed|rank|n_workers)$|getpid|current_process|environ|getenv", re.IGNORECASE)


def hides_start(world: World, loader: Loader) -> bool:
    """Whether workers may run an unknown `worker_init_fn`. Unpacked options contain none if neither the project nor
    its configuration files use that name as a key."""
    values = loader.argument("worker_init_fn").values
    named = world.writes_key("worker_init_fn") or world.knowledge.configures("worker_init_fn")
    return named and any(isinstance(value, Unknown) for value in values)


def asks_which_worker(run: WorkerRun) -> bool:
    """Whether a `worker_init_fn` may prepare different data in each worker.

    It cannot if it reads neither its parameter nor the worker's number, and calls no method of the dataset, which could
    ask for that: then it prepares the same in all of them.
    """
    file = run.file
    names = {param.name for param in file.scopes[run.scope].params}
    info = _bound_to_info(file, run.scope)
    for expr in own_expressions(file, run.scope):
        for part in walk(expr, file):
            if isinstance(part, Name) and part.id in names:
                return True
            if isinstance(part, (Name, Attribute)) and _DISTINCT.search(last_name(part)):
                return True
            if isinstance(part, CallRef):
                call = file.calls[part.index]
                given = [argument.value for argument in call.args]
                if any(_root(one, file) in info and not _is_part(one) for one in given):
                    return True
                if isinstance(call.func, Attribute) and _root(call.func, file) in info:
                    return True
    return False


def any_asks_which_worker(runs: Iterable[WorkerRun]) -> bool:
    """Whether any worker code asks which worker it is in."""
    return not called_names(runs).isdisjoint(WORKER_INFO)


def _bound_to_info(file: SourceFile, scope: int) -> set[str]:
    """The names that a function binds to the worker's information, its dataset, or what that has."""
    found = {"()"}
    size = 0
    while size < len(found):
        size = len(found)
        for event in file.scopes[scope].events_of("assign"):
            if isinstance(event.target, Name) and event.value is not None and _root(event.value, file) in found:
                found.add(event.target.id)
    return found


def _root(expr: Expr, file: SourceFile) -> str:
    """The name before all attributes of an expression; "()" for a call that asks for the worker's information."""
    while isinstance(expr, (Attribute, Subscript)):
        expr = expr.value
    if isinstance(expr, CallRef):
        return "()" if last_name(file.calls[expr.index].func) in WORKER_INFO else ""
    return expr.id if isinstance(expr, Name) else ""


def _is_part(expr: Expr) -> bool:
    """Whether an expression is an attribute of an object, but no dataset."""
    return isinstance(expr, Attribute) and expr.attr != "dataset"


def own_expressions(file: SourceFile, scope: int) -> Iterator[Expr]:
    """All expressions directly in a function."""
    regions: set[int] = set()
    for event in file.scopes[scope].events:
        regions.update(file.regions(event.region))
        yield from (expr for expr in (event.value, event.target) if expr is not None)
    for index in file.calls_of(scope):
        regions.update(file.regions(file.calls[index].region))
        yield CallRef(index)
    for region in sorted(regions):
        expr = file.facts.regions[region].expr
        if expr is not None:
            yield expr
