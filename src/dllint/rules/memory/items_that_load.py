"""Objects that a dataset keeps for its items, and whose methods keep what they load: `self.samples[index].load()`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference.values import Class, External, Instance, Site
from dllint.libraries.index import canonical
from dllint.libraries.records import HANDLE, form
from dllint.linking.assignments import Store
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.path_use import takes_path
from dllint.rules.memory.growing_caches import Cache

if TYPE_CHECKING:
    from dllint.project import Project
    from dllint.project.item_run import ItemRun

_READS = frozenset({"imread", "load", "loads", "loadtxt", "read", "read_image", "dcmread", "loadmat", "read_csv"})
"""Last names of functions that return all that a file contains."""
_OPEN = frozenset({"open", "File", "memmap", "open_memmap"})
"""Last names of functions whose result reads the file later."""


class ItemsThatLoad:
    """Finds the attributes in which the objects of a dataset's items keep what they load, and which no worker
    clears."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._found: dict[int, list[Cache]] = {}

    def caches(self, value: Instance) -> list[Cache]:
        """The statements by which objects of a dataset's items keep what they load."""
        kind = self.project.item_code.kind(value)
        found = self._found.get(kind)
        if found is None:
            found = self._found[kind] = list(self._find(value))
        return found

    def _find(self, value: Instance) -> Iterator[Cache]:
        assert isinstance(value.of, Class)
        runs = self.project.item_code.all_runs(value)
        made = self.project.datasets.construction.of(value)
        known: set[tuple[tuple[str, int], str]] = set()
        for run in _of_items(self.project, value, runs):
            # What the constructor loads already is there when workers start.
            method_of = None if (run.file.path, run.scope) in made else run.file.method_of(run.scope)
            for store in run.file.stores(run.scope) if method_of is not None else ():
                attr = store.key
                if store.base != Name(run.receiver) or not isinstance(attr, str) or store.value is None:
                    continue
                owner = run.file.path, method_of or 0
                if (owner, attr) in known or not _is_content(self.project, run, store):
                    continue
                if not any(_lets_go(other, attr) for other in runs):
                    known.add((owner, attr))
                    name = f"{run.file.scopes[method_of or 0].name}.{attr}"
                    yield Cache(name, run, store.event.span, store.event.span)


def _of_items(project: Project, value: Instance, runs: list[ItemRun]) -> list[ItemRun]:
    """The methods that workers call on the object of an item, and those that these call on it and on its parts."""
    by_place: dict[tuple[str, int], ItemRun] = {(run.file.path, run.scope): run for run in runs}
    assert isinstance(value.of, Class)
    own = {id(run) for run in project.item_code.runs(value)}
    found: dict[int, ItemRun] = {}
    todo: list[ItemRun] = []

    def called(run: ItemRun, index: int) -> None:
        for target in project.world.calls.targets(run.file, index, run.run.frame):
            one = by_place.get(target.function.key)
            if one is not None and not target.guessed and id(one) not in own and id(one) not in found:
                found[id(one)] = one
                todo.append(one)

    for run in runs:
        for index in run.file.calls_of(run.scope) if id(run) in own else ():
            func = run.file.calls[index].func
            if isinstance(func, Attribute) and _is_object_of_item(run, func.value):
                called(run, index)
    while todo:
        run = todo.pop()
        for index in run.file.calls_of(run.scope):
            func = run.file.calls[index].func
            if isinstance(func, Attribute) and _is_part(run, func.value):
                called(run, index)
    return list(found.values())


def _is_object_of_item(run: ItemRun, expr: Expr) -> bool:
    """Whether an expression, or the one that a name is bound to, is `self.samples[index]`, or what a method of it
    returns."""
    expr = _bound_to(run, expr)
    while isinstance(expr, CallRef):
        func = run.file.calls[expr.index].func
        if not isinstance(func, Attribute):
            return False
        expr = _bound_to(run, func.value)
    return (
        isinstance(expr, Subscript)
        and isinstance(expr.value, Attribute)
        and expr.value.value == Name(run.receiver)
        and run.is_number_of_item(expr.index)
    )


def _bound_to(run: ItemRun, expr: Expr) -> Expr:
    bindings = run.file.bindings(run.scope).get(expr.id, ()) if isinstance(expr, Name) else ()
    alias = bindings[0].expr if len(bindings) == 1 and bindings[0].kind == "value" else None
    return expr if alias is None else alias


def _is_part(run: ItemRun, expr: Expr) -> bool:
    """Whether an expression is the object of the item itself, `self`, or one that it holds: `self.series[0]`, or `one`
    in a loop over `self.series`."""
    if isinstance(expr, Name) and expr.id != run.receiver:
        iterated = [event.value for event in run.events if event.kind == "for" and event.target == expr]
        if len(iterated) == 1 and iterated[0] is not None:
            return any(isinstance(part, Attribute) and _is_part(run, part) for part in walk(iterated[0], run.file))
        bound = _bound_to(run, expr)
        return bound != expr and isinstance(bound, (Attribute, Subscript)) and _is_part(run, bound)
    while isinstance(expr, (Attribute, Subscript)):
        expr = expr.value
    return bool(run.receiver) and expr == Name(run.receiver)


def _is_content(project: Project, run: ItemRun, store: Store) -> bool:
    """Whether an assigned value is read from a file as a whole."""
    assert store.value is not None
    at = store.event.span.start
    site = Site(run.file, run.scope, store.event.region, at, run.run.frame)
    for one in project.world.values.evaluate(store.value, site):
        if isinstance(one, Instance) and isinstance(one.of, External):
            read = form(canonical(one.of.name))
            if read is not None:
                return read[0] != HANDLE
    calls = [part for part in walk(store.value, run.file) if isinstance(part, CallRef)]
    names = [last_name(run.file.calls[part.index].func) for part in calls]
    return any(
        name in _READS and takes_path(project.world, run.file, part.index)
        for name, part in zip(names, calls, strict=True)
    ) and not any(name in _OPEN or _maps(run.file, part) for name, part in zip(names, calls, strict=True))


def _maps(file: SourceFile, call: CallRef) -> bool:
    return any(one.keyword == "mmap_mode" and one.value != Constant(None) for one in file.calls[call.index].args)


def _lets_go(run: ItemRun, attr: str) -> bool:
    """Whether a function deletes an attribute of this name, or sets it to None."""
    deleted = (one.target for one in run.events if one.kind == "delete" and one.target is not None)
    return any(
        isinstance(part, Attribute) and part.attr == attr for one in deleted for part in walk(one, run.file)
    ) or any(store.key == attr and store.value == Constant(None) for store in run.file.stores(run.scope))
