"""Named fields that a collate function takes of each item of a batch: what has them is a dict or an object, whatever
the source of the items says."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, CallRef, Comprehension, Constant, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference.values import Class, Function, Instance, Partial, Value
from dllint.libraries.index import AROUND_ITERABLES, ATTRIBUTES
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project import Project
from dllint.project.loaders import Loader

_OF_ARRAYS = ATTRIBUTES | {"shape", "dtype", "ndim", "size", "device", "itemsize", "nbytes", "flat", "is_cuda"}


def takes_fields(project: Project, loader: Loader) -> bool:
    """Whether a collate function of a loader takes fields of the items by name: `[item["text"] for item in items]`."""
    functions = (_function(project, one) for one in project.callables(loader, "collate_fn"))
    return any(_takes_fields(project, one) for one in functions if one is not None)


def _function(project: Project, value: Value) -> Function | None:
    """The function that is given the items; None where a partial gives it something else first."""
    if isinstance(value, Partial):
        bound = project.world.made_with(value)
        return _function(project, value.function) if not bound.positional and not bound.rest else None
    if isinstance(value, Instance) and isinstance(value.of, Class):
        return project.world.hierarchy.method(value.of, "__call__")
    return value if isinstance(value, Function) else None


def _takes_fields(project: Project, function: Function) -> bool:
    file = function.file
    params = file.scopes[function.scope].params[bool(project.world.hierarchy.receiver_kind(function)) :]
    if not params:
        return False
    written = list(_expressions(file, function.scope))
    items = set(_gone_through(file, function.scope, written, Name(params[0].name)))
    called = {file.calls[one.index].func for one in written if isinstance(one, CallRef)}
    return any(
        one.value in items and isinstance(one.index, Constant) and isinstance(one.index.value, str)
        if isinstance(one, Subscript)
        else isinstance(one, Attribute) and one.value in items and one.attr not in _OF_ARRAYS and one not in called
        for one in written
    )


def _expressions(file: SourceFile, scope: int) -> Iterator[Expr]:
    for event in file.scopes[scope].events:
        for expr in (event.value, event.target):
            if expr is not None:
                yield from walk(expr, file)
    for index in file.calls_of(scope):
        yield CallRef(index)


def _gone_through(file: SourceFile, scope: int, written: list[Expr], items: Expr) -> Iterator[Expr]:
    """The loop variables that are bound to one item after another."""
    loops = [(one.target, one.value) for one in file.scopes[scope].events_of("for")]
    for expr in written:
        if isinstance(expr, Comprehension):
            loops += [(clause.target, clause.iterable) for clause in expr.clauses]
    for target, iterable in loops:
        call = file.calls[iterable.index] if isinstance(iterable, CallRef) else None
        if iterable == items and target is not None:
            yield target
        elif call is not None and call.args and call.args[0].value == items and target is not None:
            last = last_name(call.func)
            if last == "enumerate":
                yield from getattr(target, "elements", ())[1:]
            elif last in AROUND_ITERABLES:
                yield target
