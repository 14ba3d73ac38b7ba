"""Items that pickle rejects: their batch never reaches the parent, which waits for it forever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Constant, Name, Starred, Subscript
from dllint.facts.schema import Event, Expr
from dllint.inference.values import (
    NONE,
    Class,
    Display,
    External,
    Frame,
    Function,
    Instance,
    Mapping,
    Partial,
    Site,
    Value,
)
from dllint.libraries.index import canonical
from dllint.libraries.pickling import Refusal
from dllint.libraries.torch import NON_LEAF
from dllint.linking.source import SourceFile
from dllint.project.item_expressions import leaves
from dllint.project.loaders import Loader
from dllint.project.worker_code import ENTRIES
from dllint.rules.pickling.local_functions import is_lambda, is_local, pickle_error
from dllint.rules.pickling.refusals import needs_gradient, refusal_of
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_PASSING = frozenset({"list", "tuple", "zip"})


@dataclass(frozen=True)
class UnpicklableItem:
    """A `return`, `yield` or `raise` in code that workers run. `what` describes the value, `entry` names the
    function."""

    file: SourceFile
    span: Span
    statement: Span
    what: str
    error: str
    entry: str
    raised: bool = False


def unpicklable_items(project: Project, loader: Loader) -> Iterator[UnpicklableItem]:
    """The unpicklable objects that the datasets and the collate function of a loader return or raise."""
    python = max(project.targets.pythons)
    for value in project.dataset_objects(loader) if _passes_items_on(project, loader) else ():
        for name in ENTRIES:
            method = project.world.hierarchy.method(value.of, name) if isinstance(value.of, Class) else None
            if method is not None:
                kinds = ("yield",) if name == "__iter__" else ("return",)
                yield from _given_back(project, loader, method, project.world.receiver_frame(value), kinds)
    for function in collators(project, loader):
        yield from _given_back(project, loader, function, None, ("return",))
    for run in project.worker_runs(loader):
        for event in run.file.scopes[run.scope].events:
            if event.kind == "raise" and event.value is not None:
                site = _site(run.file, run.scope, event, run.frame)
                for one in project.world.values.evaluate(event.value, site):
                    cls = one.of if isinstance(one, Instance) else one
                    if isinstance(cls, Class) and is_local(cls) and not _caught(run.file, event):
                        what = f"an exception of the local class `{cls.name}`"
                        yield UnpicklableItem(
                            run.file, event.span, event.span, what, pickle_error(cls, python), run.entry, True
                        )


def collators(project: Project, loader: Loader) -> Iterator[Function]:
    """The functions of the project that a loader can use as its collate function."""
    for value in project.callables(loader, "collate_fn"):
        while isinstance(value, Partial):
            value = value.function
        if isinstance(value, Function):
            yield value
        elif isinstance(value, Instance) and isinstance(value.of, Class):
            method = project.world.hierarchy.method(value.of, "__call__")
            if method is not None:
                yield Function(method.file, method.scope, value)


def _passes_items_on(project: Project, loader: Loader) -> bool:
    """Whether items reach the parent unchanged: without batching, or through a collate function that only regroups
    them.

    The default collate function accepts tensors, numbers and strings, and raises for anything else.
    """
    given = loader.argument("collate_fn")
    if given.absent and loader.argument("batch_size").values == (NONE,):
        return True
    values = project.callables(loader, "collate_fn")
    if values and all(isinstance(one, External) and canonical(one.name) in ("list", "tuple") for one in values):
        return True
    functions = list(collators(project, loader))
    return bool(functions) and all(_regroups(function) for function in functions)


def _regroups(function: Function) -> bool:
    file, entry = function.file, function.file.scopes[function.scope]
    names = {param.name for param in entry.params}
    returned = [event.value for event in entry.events if event.kind == "return"]
    return bool(returned) and all(value is not None and _regrouped(value, names, file) for value in returned)


def _regrouped(expr: Expr, names: set[str], file: SourceFile) -> bool:
    if isinstance(expr, Name):
        return expr.id in names
    if isinstance(expr, Starred):
        return _regrouped(expr.value, names, file)
    if isinstance(expr, Subscript):
        return _regrouped(expr.value, names, file) and isinstance(expr.index, Constant)
    if isinstance(expr, CallRef):
        call = file.calls[expr.index]
        return (
            isinstance(call.func, Name)
            and call.func.id in _PASSING
            and all(
                argument.keyword in (None, "*") and _regrouped(argument.value, names, file) for argument in call.args
            )
        )
    return False


def _given_back(
    project: Project,
    loader: Loader,
    function: Function,
    frame: Frame | None,
    kinds: tuple[str, ...],
) -> Iterator[UnpicklableItem]:
    """The unpicklable values that a function returns, among those that it creates itself.

    It is unknown whether any other value of a parameter or attribute arrives here.
    """
    file, scope = function.file, function.scope
    python = max(project.targets.pythons)
    regime = project.regimes(loader)[0]
    for event in file.scopes[scope].events:
        if event.kind not in kinds or event.value is None:
            continue
        site = _site(file, scope, event, frame)
        for leaf in leaves(event.value):
            found: Refusal | None = NON_LEAF if needs_gradient(project, leaf, site) else None
            what, error = (found.what, found.error(python)) if found is not None else ("", "")
            for value in _made_here(project, function, leaf, site) if found is None else ():
                found = refusal_of(project, value, regime.source == "explicit")
                if found is not None:
                    what, error = found.what, found.error(python)
                elif _is_lost(value):
                    assert isinstance(value, (Function, Instance))
                    one = value.of if isinstance(value, Instance) else value
                    assert isinstance(one, (Function, Class))
                    what, error = _words(value), pickle_error(one, python)
                if what:
                    break
            if what:
                place = event.value_span or event.span
                yield UnpicklableItem(file, place, event.span, what, error, function.name)
                break


def _made_here(project: Project, function: Function, leaf: Expr, site: Site) -> Iterator[Value]:
    """The values of an expression that a function creates, or a method that it calls for this one value, and those
    that it adds to a dict in every run."""
    world = project.world
    values = world.values.evaluate(leaf, site)
    for value in values:
        if _maker(value) == function.key:
            yield value
            for key in _set_keys(project, function, value) if len(values) == 1 else ():
                found = world.mappings.lookup(leaf, site, key)
                if found is not None and not found.absent:
                    yield from (one for one in found.values if _maker(one) == function.key)
        elif isinstance(leaf, CallRef) and len(values) == 1:
            called = {target.function.key for target in world.calls.targets(function.file, leaf.index, site.frame)}
            if _maker(value) in called:
                yield value


def _set_keys(project: Project, function: Function, value: Value) -> Iterator[str]:
    """The keys under which a function adds entries to a dict in every run."""
    for change in project.world.mappings.history(value) if isinstance(value, Mapping) else ():
        here = (change.file.path, change.scope) == function.key
        if here and isinstance(change.key, Constant) and not change.file.is_conditional(change.region):
            yield str(change.key.value)


def _maker(value: Value) -> tuple[str, int] | None:
    """The function that creates an object or defines a function, as path and scope; None if unknown."""
    if isinstance(value, Function):
        return value.file.path, value.file.scopes[value.scope].parent
    if isinstance(value, Instance) and value.file is not None and value.call >= 0:
        return value.file.path, value.file.calls[value.call].scope
    if isinstance(value, (Display, Mapping)):
        return value.written.site.file.path, value.written.site.scope
    return None


def _site(file: SourceFile, scope: int, event: Event, frame: Frame | None) -> Site:
    return Site(file, scope, event.region, event.span.start, frame)


def _caught(file: SourceFile, event: Event) -> bool:
    """Whether the statement is inside a `try`, whose handlers may catch what it raises."""
    return any(file.facts.regions[region].kind == "try" for region in file.regions(event.region))


def _is_lost(value: Value) -> bool:
    """Whether a value is a lambda or local function, or an object of a local class."""
    if isinstance(value, Function):
        plain = not value.file.scopes[value.scope].decorators
        return value.receiver is None and plain and (is_lambda(value) or is_local(value))
    return isinstance(value, Instance) and isinstance(value.of, Class) and is_local(value.of)


def _words(value: Function | Instance) -> str:
    if isinstance(value, Function):
        return "a lambda" if is_lambda(value) else f"the local function `{value.name}`"
    assert isinstance(value.of, Class)
    return f"an object of the local class `{value.of.name}`"
