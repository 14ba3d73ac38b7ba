"""Functions and classes that workers cannot import: defined in a function or under the main guard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import Expr
from dllint.finding import Place
from dllint.inference.values import Class, External, Function, Instance, Partial, Site, Value
from dllint.libraries.index import NAMED_AS_WRAPPED, PICKLE_BY_VALUE, canonical
from dllint.libraries.torch import MODULE_HOOKS
from dllint.linking.conditions import under_main_guard
from dllint.linking.expressions import without_calls
from dllint.linking.implicit_calls import decorated
from dllint.linking.source import SourceFile, last_name
from dllint.project.dataset_and_workers import goes_with_workers
from dllint.project.kept_values import Kept
from dllint.project.loaders import Loader
from dllint.rules.pickling.local_functions import functions_in, is_lambda, is_local, pickle_error
from dllint.rules.pickling.sent_to_workers import Sent

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.model import Project


@dataclass(frozen=True)
class UnpicklableFunction(Sent):
    """A lambda, or a local function or class. `role` is "dataset" for the class of the dataset itself."""

    scope: int
    role: str = ""

    @property
    def is_lambda(self) -> bool:
        return self.file.scopes[self.scope].kind == "lambda"

    @property
    def kind(self) -> str:
        return "a lambda" if self.is_lambda else ""

    @property
    def within(self) -> int | None:
        entry = self.file.scopes[self.scope]
        return entry.parent if entry.kind in ("function", "lambda") else None

    @property
    def place(self) -> Place:
        kind = self.file.scopes[self.scope].kind
        what = "the lambda" if self.is_lambda else f"the {kind}"
        return Place(self.file.path, self.span, f"{what} cannot be pickled")

    @property
    def words(self) -> str:
        """ "a lambda", "the local class `Squares`"."""
        entry = self.file.scopes[self.scope]
        return "a lambda" if self.is_lambda else f"the local {entry.kind} `{entry.name}`"

    @property
    def uses(self) -> tuple[Place, ...]:
        entry = self.file.scopes[self.scope]
        if self.is_lambda or self.role or entry.parent < 0:
            return ()
        around = self.file.scopes[entry.parent].span
        given = (
            argument.value_span
            for index in range(len(self.file.facts.calls))
            if around.covers((call := self.file.calls[index]).span)
            for argument in call.args
            if Name(entry.name) in without_calls(argument.value)
        )
        return tuple(Place(self.file.path, span, f"`{entry.name}` is used here") for span in given)

    def error(self, pythons: Iterable[tuple[int, int]]) -> str:
        """The error of the given Python versions when they pickle it, without the exception's class if the versions
        differ."""
        kind = Class if self.file.scopes[self.scope].kind == "class" else Function
        texts = [pickle_error(kind(self.file, self.scope), python) for python in sorted(pythons)]
        return texts[-1] if texts[0] == texts[-1] else texts[-1].partition(": ")[2]


def unpicklable_function(
    code: str, one: Function | Class, holder: str, kept: Kept | None = None, role: str = "", sure: bool = True
) -> UnpicklableFunction:
    """Wrap a function or class as an object sent to workers, with the statement that defines it."""
    entry = one.file.scopes[one.scope]
    around = one.file.events_around(entry.parent, entry.header) if entry.parent >= 0 else ()
    statement = next((event.span for event in around), None)
    return UnpicklableFunction(code, one.file, entry.header, statement, holder, kept, one.scope, role, sure=sure)


class LocalObjects:
    """Finds functions and classes that a worker cannot import by name."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._of: dict[tuple[str, int], list[UnpicklableFunction]] = {}

    def of(self, loader: Loader) -> list[UnpicklableFunction]:
        """The ones that the loader's datasets hold, or that are its callables."""
        key = (loader.file.path, loader.call)
        found = self._of.get(key)
        if found is None:
            found = self._of[key] = list(_local_objects(self._project, loader))
        return found


def _local_objects(project: Project, loader: Loader) -> Iterator[UnpicklableFunction]:
    """Lambdas that the loader's datasets and callables hold, then functions and classes that no module defines by
    name, then those among its callables."""
    seen: set[tuple[str, int]] = set()
    local: list[UnpicklableFunction] = []
    held: dict[tuple[str, int], str] = {}
    for name, piece in project.shipped_pieces(loader):
        if piece.given in PICKLE_BY_VALUE:
            continue
        holder = f"{name}.{piece.path}" if piece.path else name
        value = piece.value
        if isinstance(value, Instance) and value.file is not None and isinstance(value.of, External):
            held.setdefault((value.file.path, value.call), holder)
        for one in _by_name(project.world, value):
            if one.key not in seen:
                seen.add(one.key)
                if isinstance(one, Function) and is_lambda(one):
                    yield unpicklable_function("DLL201", one, holder, piece.kept)
                elif piece.initial:
                    local.append(unpicklable_function("DLL202", one, holder, piece.kept))
    yield from _hooks(project.world, held, seen)
    for value in project.dataset_objects(loader):
        if (
            isinstance(value.of, Class)
            and value.of.key not in seen
            and _is_lost(project.world, value.of)
            and (paired := goes_with_workers(project.world, loader, value)) is not False
        ):
            seen.add(value.of.key)
            sure = paired is True
            lost = unpicklable_function("DLL202", value.of, value.of.name, None, "dataset", sure)
            local.append(lost)
    yield from local
    for argument in ("collate_fn", "worker_init_fn"):
        for given in project.callables(loader, argument):
            for function in functions_in(project.world, given):
                named = _named_as_wrapped(project.world, function)
                if function.receiver is None and (is_lambda(function) or is_local(function)) and not named:
                    yield unpicklable_function("DLL204", function, argument)
            for one in _by_name(project.world, given):
                if one.key not in seen and (isinstance(one, Class) or is_guarded(one.file, one.scope)):
                    seen.add(one.key)
                    yield unpicklable_function("DLL202", one, argument)


def is_guarded(file: SourceFile, scope: int) -> bool:
    """Whether a function or class of the module is defined under its `__main__` guard, which workers do not enter.

    Where the module binds the name outside of the guard, too, pickle finds that other object in the workers.
    """
    entry = file.scopes[scope]
    if entry.parent != 0 or entry.kind == "lambda" or not under_main_guard(file, entry.region):
        return False
    bound = (one.event for one in file.bindings(0).get(entry.name, ()))
    return all(event is None or under_main_guard(file, event.region) for event in bound)


def _by_name(world: World, value: Value) -> Iterator[Function | Class]:
    """The lambdas, and the functions and classes that workers cannot import, which pickle would store by name."""
    if isinstance(value, Function):
        if is_lambda(value) or (value.receiver is None and _is_lost(world, value)):
            yield value
    elif isinstance(value, Class) or (isinstance(value, Instance) and isinstance(value.of, Class)):
        cls = value if isinstance(value, Class) else value.of
        if isinstance(cls, Class) and _is_lost(world, cls):
            yield cls
    elif isinstance(value, Partial):
        yield from _by_name(world, value.function)


def _is_lost(world: World, one: Function | Class) -> bool:
    """Whether a worker cannot import a function or class. For a decorated local function that is unknown: it counts
    as importable, unless its decorators keep its name."""
    file, scope = one.file, one.scope
    entry = file.scopes[scope]
    if isinstance(one, Class) and any(world.hierarchy.method(one, name) for name in ("__reduce__", "__reduce_ex__")):
        return False
    if is_guarded(file, scope):
        return True
    if isinstance(one, Function) and _named_as_wrapped(world, one):
        return False
    if isinstance(one, Function) and not all(_keeps_name(world, one, decorator.expr) for decorator in entry.decorators):
        return False
    return is_local(one)


def _keeps_name(world: World, function: Function, decorator: Expr) -> bool:
    """Whether the result of a decorator is pickled by the function's own qualified name."""
    file, entry = function.file, function.file.scopes[function.scope]
    site = Site(file, max(entry.parent, 0), entry.region, entry.header.start, None)
    expr = file.calls[decorator.index].func if isinstance(decorator, CallRef) else decorator
    values = world.values.evaluate(expr, site)
    return bool(values) and all(isinstance(one, External) and canonical(one.name) in NAMED_AS_WRAPPED for one in values)


def _named_as_wrapped(world: World, function: Function) -> bool:
    """Whether a function is a decorator's wrapper with the name of the wrapped function, by `functools.wraps`, so
    that pickle finds it in its place."""
    closure = world.decorating(function.frame)
    if closure is None or closure.call is None:
        return False
    file, maker = world.files[closure.call[0]], function.file.scopes[function.scope].parent
    wrapped = file.scopes[decorated(file, closure.call[1])].parent == 0
    calls = map(function.file.calls.__getitem__, function.file.calls_of(maker))
    return wrapped and any(last_name(call.func) in ("wraps", "update_wrapper") for call in calls)


def _hooks(world: World, held: dict[tuple[str, int], str], seen: set[tuple[str, int]]) -> Iterator[UnpicklableFunction]:
    """Lambdas and local functions registered as hooks of modules that the datasets hold."""
    for name in MODULE_HOOKS:
        for file, index in world.called(name):
            call = file.calls[index]
            if not isinstance(call.func, Attribute) or not call.args:
                continue
            site = world.call_site(file, index, None)
            holder = next(
                (
                    held[base.file.path, base.call]
                    for base in world.values.evaluate(call.func.value, site)
                    if isinstance(base, Instance) and base.file is not None and (base.file.path, base.call) in held
                ),
                None,
            )
            if holder is None:
                continue
            for hook in world.values.evaluate(call.args[0].value, site):
                for one in _by_name(world, hook):
                    if one.key not in seen:
                        seen.add(one.key)
                        code = "DLL201" if isinstance(one, Function) and is_lambda(one) else "DLL202"
                        yield unpicklable_function(code, one, holder)
