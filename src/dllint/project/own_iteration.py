"""Loader classes of the project that give batches themselves: their `__iter__` never asks the base class for any. So no
worker starts, whatever `num_workers` is.

torch starts the workers in `DataLoader._get_iterator`, which only `DataLoader.__iter__` calls
(`torch/utils/data/dataloader.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Comprehension, Constant, LambdaRef, Name, Slice, Starred, Subscript
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.values import (
    Class,
    Const,
    Display,
    External,
    Function,
    Instance,
    Mapping,
    Partial,
    Site,
    Value,
    Values,
)
from dllint.libraries.index import BEGINNING, GOES_INSIDE, HANDING_ON, ITERATING, canonical
from dllint.linking.derivations import looped_in
from dllint.linking.implicit_calls import expressions
from dllint.linking.source import SourceFile, last_name
from dllint.project.loader_apis import loader_api
from dllint.project.prepared_loaders import prepared_loaders

if TYPE_CHECKING:
    from dllint.inference.engine import World

_TORCH = "torch.utils.data.DataLoader"
_NEUTRAL = frozenset({"object", "abc.ABC", "typing.Generic"})
"""Base classes beside the loader that iterate nothing."""
_STARTING = "_get_iterator"
_OF_TORCH = frozenset(
    {"dataset", "sampler", "batch_sampler", "_index_sampler", "collate_fn", "batch_size", "generator"}
)
"""Attributes that the base class sets: reading them starts nothing."""
_ASKING = frozenset({"len", "isinstance", "type", "id", "hasattr", "setattr", "vars", "super", "print"})
"""Builtins that do not iterate an object that they are given."""
_PLAIN_MODULES = frozenset({"numpy", "random", "math", "torch", "range"})


def starts_no_workers(world: World, callees: Values, file: SourceFile, call: int) -> bool:
    """Whether a call certainly constructs loaders that give batches themselves. What prepares a loader may make another
    of the dataset and the options of that one, which has workers."""
    classes = [one for one in map(_class_of, callees) if one is not None]
    if not classes or len(classes) < len(callees) or not all(_iterates_itself(world, one) for one in classes):
        return False
    if world.called(_STARTING) or world.stores.outside_stores("__iter__"):
        return False
    return (file.path, call) not in prepared_loaders(world)


def _class_of(callee: Value) -> Class | None:
    while isinstance(callee, Partial):
        callee = callee.function
    return callee if isinstance(callee, Class) else None


def _iterates_itself(world: World, cls: Class) -> bool:
    method = world.hierarchy.method(cls, "__iter__")
    number = method.file.method_of(method.scope) if method is not None else None
    if method is None or number is None or not _comes_first(world, cls, Class(method.file, number), method):
        return False
    iteration = _Iteration(world, cls)
    return not any(map(iteration.lets_go, iteration.methods())) and not iteration.goes_on(method)


def _comes_first(world: World, cls: Class, owner: Class, method: Function) -> bool:
    """Whether an object's `__iter__` is certainly a method of `owner`: every base class is known, none that comes
    before is torch's, and nothing but the `def` gives the method its name."""
    line = world.hierarchy.line(cls)
    before = line[: line.index(owner)] if owner in line else line
    loaders = [one for one in line if isinstance(one, External) and canonical(one.name) == _TORCH]
    others = [one for one in line if isinstance(one, External) and one not in loaders]
    if not loaders or loaders[0] in before or any(one.name not in _NEUTRAL for one in others):
        return False
    if world.hierarchy.has_alternatives(cls) or method.file.scopes[method.scope].decorators:
        return False
    return all(_is_closed(world, one) for one in line if isinstance(one, Class))


def _is_closed(world: World, cls: Class) -> bool:
    """Whether a class has nothing that its statement does not show: all bases are known, no decorator changes it, and
    its `__iter__` is one plain `def`."""
    entry = cls.file.scopes[cls.scope]
    known = world.hierarchy.bases(cls)
    listed = [one for one in entry.bases if one.keyword is None]
    if entry.decorators or len(known) < len(listed) or len(listed) < len(entry.bases):
        return False
    bound = cls.file.bindings(cls.scope).get("__iter__", [])
    return not bound or (len(bound) == 1 and bound[0].event is not None and bound[0].event.region == entry.region)


class _Iteration:
    """What the methods of one class do with their object."""

    def __init__(self, world: World, cls: Class) -> None:
        self.world = world
        self.cls = cls
        self._reached: list[tuple[Function, bool]] = []

    def methods(self) -> Iterator[Function]:
        for one in (one for one in self.world.hierarchy.line(self.cls) if isinstance(one, Class)):
            for scope in one.file.children.get(one.scope, ()):
                if one.file.scopes[scope].kind == "function":
                    yield Function(one.file, scope)

    def lets_go(self, method: Function) -> bool:
        """Whether a method may start workers, or hands its object to other code, which may iterate it by the base
        class."""
        own = _own_name(method)
        for scope in _within(method):
            file = method.file
            if any(_escapes(expr, own, file) for expr in _uses(file, scope, own)):
                return True
        return False

    def goes_on(self, iteration: Function) -> bool:
        """Whether the iteration goes through anything that may be a loader, in one of the methods that it reaches."""
        self._reached = [(iteration, True)]
        self._reach("__next__", False)
        for method, returns in self._reached:
            own = _own_name(method)
            for scope in _within(method):
                for name in _attributes(method.file, scope, own):
                    self._reach(name, False)
                for expr, site in self._iterated(method, scope, returns):
                    if expr != Name(own) and not self._is_plain(expr, site, own):
                        return True
        return False

    def _reach(self, name: str, returns: bool) -> bool:
        """Record a method that the iteration reaches, and whether it goes through what the method returns; whether the
        class has such a method."""
        method = self.world.hierarchy.method(self.cls, name)
        if method is not None and (method, returns) not in self._reached:
            self._reached.append((method, returns))
        return method is not None

    def _iterated(self, method: Function, scope: int, returns: bool) -> Iterator[tuple[Expr, Site]]:
        """What a scope iterates, and what it returns to be iterated."""
        file = method.file
        # What a statement unpacks into names is a row.
        rows = {event.span: event.value for event in file.scopes[scope].events_of("assign")}
        for expr, _, region, statement, unpacked in file.derived(looped_in, scope):
            if not unpacked or rows.get(statement) != expr:
                yield expr, Site(file, scope, region.number, statement.start, None)
        for index in file.calls_of(scope):
            func = file.calls[index].func
            if isinstance(func, Name) and (func.id in ITERATING or func.id in BEGINNING or func.id == "next"):
                for argument in file.calls[index].args:
                    yield argument.value, self.world.call_site(file, index, None)
        entry = file.scopes[scope]
        for event in entry.events_of("return") if returns and not entry.is_generator else ():
            if event.value is not None and scope == method.scope:
                yield event.value, Site(file, scope, event.region, event.span.start, None)

    def _is_plain(self, expr: Expr, site: Site, own: str, inside: bool = False, depth: int = 0) -> bool:
        """Whether an expression is certainly no loader, and wraps none. With `inside`, no container of one either."""
        if limits.COUNTING_DEPTH.exceeded(depth):
            return False
        match expr:
            case Constant() | Slice() | LambdaRef():
                return True
            case Attribute(Name(name), attr) if name == own and (attr in _OF_TORCH or self._reach(attr, True)):
                return attr in _OF_TORCH or not inside
            case CallRef(index):
                return self._gives_plain(index, site, own, inside, depth)
            case Comprehension(_, _, element, clauses):
                parts = [element] if inside else [one.iterable for one in clauses]
                return all(self._is_plain(one, site, own, inside, depth + 1) for one in parts)
            case Starred(value):
                return self._is_plain(value, site, own, True, depth + 1)
        values = self.world.values.evaluate(expr, site)
        if values and all(self._is_plain_value(one, own, inside, depth) for one in values):
            return True
        match expr:
            case Name(name):
                return self._is_bound_plainly(name, site, own, inside, depth)
            case Attribute(value, _) | Subscript(value, _):
                return value != Name(own) and self._is_plain(value, site, own, True, depth + 1)
        parts = list(expr.children())
        return bool(parts) and all(self._is_plain(one, site, own, inside, depth + 1) for one in parts)

    def _is_bound_plainly(self, name: str, site: Site, own: str, inside: bool, depth: int) -> bool:
        """Whether each statement that gives a local name its value gives it no loader."""
        for one in (bound := site.file.bindings(site.scope).get(name, [])):
            event = one.event
            if event is None or event.value is None or event.kind not in ("assign", "for"):
                return False
            at = site._replace(region=event.region, at=event.span.start)
            part = inside or event.kind == "for" or not isinstance(event.target, Name)
            if not self._is_plain(event.value, at, own, part, depth + 1):
                return False
        return bool(bound)

    def _gives_plain(self, index: int, site: Site, own: str, inside: bool, depth: int) -> bool:
        """Whether a call certainly gives no loader: neither does it make one, nor is it given any."""
        call = site.file.calls[index]
        if isinstance(call.func, Name) and call.func.id in _ASKING:
            return True
        where = self.world.call_site(site.file, index, site.frame)
        callees = self.world.values.evaluate(call.func, where)
        inside |= any(isinstance(one, External) and canonical(one.name) in GOES_INSIDE for one in callees)
        if any(loader_api(self.world, one) is not None for one in callees):
            return False
        for one in call.args:
            if not self._is_plain(one.value, where, own, inside or one.keyword in ("*", "**"), depth + 1):
                return False
        own_method = isinstance(call.func, Attribute) and call.func.value == Name(own)
        if any(isinstance(one, Function) for one in callees) and not own_method:
            made = self.world.values.evaluate(CallRef(index), site)
            return bool(made) and all(self._is_plain_value(one, own, inside, depth) for one in made)
        if callees and all(isinstance(one, (External, Class)) for one in callees):
            return True
        return isinstance(call.func, Attribute) and self._is_plain(call.func, where, own, inside, depth + 1)

    def _is_plain_value(self, value: Value, own: str, inside: bool, depth: int) -> bool:
        if isinstance(value, Const):
            return True
        if isinstance(value, (Display, Mapping)):
            return not inside or self._has_plain_elements(value, own, depth + 1)
        if not isinstance(value, Instance) or not isinstance(value.of, External):
            return False
        name = canonical(value.of.name)
        if loader_api(self.world, value.of) is not None or limits.COUNTING_DEPTH.exceeded(depth):
            return False
        if name.partition(".")[0].partition("(")[0] in _PLAIN_MODULES and not name.startswith("torch.utils"):
            return True
        if value.file is None or value.call < 0 or name not in HANDING_ON:
            return False
        site = self.world.call_site(value.file, value.call, value.frame)
        inside |= name in GOES_INSIDE
        return all(self._is_plain(one.value, site, own, inside, depth + 1) for one in value.file.calls[value.call].args)

    def _has_plain_elements(self, value: Display | Mapping, own: str, depth: int) -> bool:
        mappings = self.world.mappings
        elements = mappings.all_values(value) if isinstance(value, Mapping) else mappings.elements(value)
        return bool(elements) and all(self._is_plain_value(one, own, True, depth) for one in elements)


def _own_name(method: Function) -> str:
    params = method.file.scopes[method.scope].params
    return params[0].name if params else ""


def _within(method: Function) -> Iterator[int]:
    """The scope of a method and those of the functions in it."""
    todo = [method.scope]
    for scope in todo:
        yield scope
        todo += method.file.children.get(scope, ())


def _uses(file: SourceFile, scope: int, own: str) -> Iterator[Expr]:
    """The expressions of a scope, parts of calls separately, without the places where an object is passed on safely: to
    a constructor of a base class, to a builtin that only asks about it, to the caller."""
    for event in file.scopes[scope].events:
        if event.value is not None and not (event.kind == "return" and event.value == Name(own)):
            yield event.value
    for test in file.branch_tests.get(scope, ()):
        if test.expr is not None:
            yield test.expr
    for index in file.calls_of(scope):
        call = file.calls[index]
        asking = (isinstance(call.func, Name) and call.func.id in _ASKING) or last_name(call.func) == "__init__"
        yield call.func
        yield from (one.value for one in call.args if not (asking and one.value == Name(own)))


def _attributes(file: SourceFile, scope: int, own: str) -> Iterator[str]:
    """The attributes that a scope reads of the object, or of `super()`."""
    for expr, *_ in expressions(file, scope):
        todo = [expr]
        while todo:
            part = todo.pop()
            if isinstance(part, Attribute) and (part.value == Name(own) or _is_super(part.value, file)):
                yield part.attr
            todo += part.children()


def _escapes(expr: Expr, own: str, file: SourceFile) -> bool:
    """Whether an expression uses the object otherwise than by its attributes and methods, or starts workers."""
    todo = [expr]
    while todo:
        part = todo.pop()
        match part:
            case Name(name) if name == own:
                return True
            case Attribute(value, attr) if value == Name(own):
                if attr == _STARTING:
                    return True
            case Attribute(value, attr) if _is_super(value, file):
                if attr in (_STARTING, "__iter__"):
                    return True
            case CallRef() if _is_super(part, file):
                return True
            case _:
                todo += part.children()
    return False


def _is_super(expr: Expr, file: SourceFile) -> bool:
    return isinstance(expr, CallRef) and file.calls[expr.index].func == Name("super")
