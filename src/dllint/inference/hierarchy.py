"""The class hierarchy: bases, methods, subclasses, and the value of a method's first parameter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from dllint.facts.nodes import CallRef, Expr, Name, Subscript
from dllint.inference import limits
from dllint.inference.annotations import Annotations
from dllint.inference.answers import Table
from dllint.inference.fields import NAMED_TUPLE, has_fields
from dllint.inference.interface import Engine
from dllint.inference.names import AFTER_FIELDS
from dllint.inference.values import Class, External, Function, Instance, Site, Value, Values
from dllint.linking.derivations import functions_in
from dllint.linking.implicit_calls import PROPERTY_DECORATORS
from dllint.linking.source import last_name


class Bases(NamedTuple):
    """The bases of a class, and those groups of them that are alternatives for one."""

    all: tuple[Value, ...]
    alternatives: tuple[Values, ...]


class Hierarchy:
    """Inheritance among the classes of the project; bases outside it are External."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._bases: Table[Bases] = {}
        self._known: dict[tuple[str, int], Bases] = {}
        self._lines: dict[tuple[str, int], tuple[Value, ...]] = {}
        self._alternatives: dict[tuple[str, int], tuple[Values, ...]] = {}
        self._methods: dict[tuple[str, int], dict[str, int]] = {}
        self._found_methods: dict[tuple[Class, str], Function | None] = {}
        self._open: set[tuple[str, int]] = set()
        self._heirs: dict[Class, dict[Class, None]] | None = None
        self._inherits: dict[Class, tuple[Class, ...]] = {}
        self._numbers: dict[Class, int] = {}
        self._below: dict[Class, list[Class]] = {}
        self._unsettled: list[Class] = []
        self._receivers: dict[tuple[str, int], str] = {}
        self._created: list[tuple[Class, Expr]] | None = None
        self._annotations = Annotations(world)

    def bases(self, cls: Class) -> tuple[Value, ...]:
        """Return the classes listed in the class statement: of the project, or External."""
        found = self._known.get(cls.key)
        if found is None:
            memory = self.world.memory
            found = memory.remember(self._bases, cls.key, lambda: self._listed(cls), Bases((), ()))
            if memory.is_settled(self._bases, cls.key):
                self._known[cls.key] = found
            if found.alternatives:
                self._alternatives[cls.key] = found.alternatives
            else:
                self._alternatives.pop(cls.key, None)
        return found.all

    def _listed(self, cls: Class) -> Bases:
        site = _site(cls)
        groups: list[Values] = []
        memory = self.world.memory
        for base in cls.file.scopes[cls.scope].bases:
            if base.keyword is None:
                with memory.apart(limits.BASE_QUESTIONS):
                    groups.append(self._base(base.value, site))
                    exhausted = memory.exhausted
                if exhausted:
                    memory.ask_anew()
        return Bases(
            tuple(value for group in groups for value in group if value != cls),
            tuple(group for group in groups if len(group) > 1),
        )

    def _base(self, expr: Expr, site: Site) -> Values:
        """Return the classes that a base expression can be; type arguments are ignored: `Stream[int]`."""
        own = self._called_on(expr, site)
        if own is not None:
            return (own,)
        found = self.world.values.evaluate(expr, site)
        values = tuple(one for one in found if isinstance(one, (Class, External)))
        if any(isinstance(one, Instance) and self.world.named_tuples.fields(one) is not None for one in found):
            values = (*values, External(NAMED_TUPLE))
        return self._base(expr.value, site) if not values and isinstance(expr, Subscript) else values

    def made_bases(self, cls: Class) -> list[Instance]:
        """Return the classes that calls make and the class statement lists: `class Splits(namedtuple(…))`."""
        site = _site(cls)
        calls = [base.value for base in cls.file.scopes[cls.scope].bases if base.keyword is None]
        found = (one for base in calls for one in self.world.values.evaluate(base, site))
        return [one for one in found if isinstance(one, Instance)]

    def _called_on(self, expr: Expr, site: Site) -> Class | None:
        """Return the class whose class method defines a subclass of what it is called on, `class Traced(cls)`: it is a
        base in any case, and which of its subclasses may be one would be asked of all callers."""
        params = site.file.scopes[site.scope].params
        owner = site.file.method_of(site.scope) if params and expr == Name(params[0].name) else None
        if owner is None or self.receiver_kind(Function(site.file, site.scope)) != "class":
            return None
        return Class(site.file, owner)

    def has_alternatives(self, cls: Class) -> bool:
        """Whether a base of the class, or of one of its ancestors, is one of several alternatives."""
        return any(isinstance(one, Class) and one.key in self._alternatives for one in self.line(cls))

    def line(self, cls: Class) -> tuple[Value, ...]:
        """Return the method resolution order: the class and all ancestors, in the order of attribute lookup (C3)."""
        found = self._lines.get(cls.key)
        if found is None:
            if cls.key in self._open:
                return (cls,)
            self._open.add(cls.key)
            try:
                bases = self.bases(cls)
                lines = [self.line(base) if isinstance(base, Class) else (base,) for base in bases]
            finally:
                self._open.discard(cls.key)
            rest = _merged([*map(list, lines), list(bases)]) if len(lines) > 1 else dict.fromkeys(chain(*lines))
            found = (cls, *rest)
            if cls.key in self._known and all(one.key in self._lines for one in bases if isinstance(one, Class)):
                self._lines[cls.key] = found
        return found

    def own_methods(self, cls: Class) -> Mapping[str, int]:
        """Return the functions defined directly in the class body, by name."""
        found = self._methods.get(cls.key)
        if found is None:
            found = self._methods[cls.key] = cls.file.named(functions_in, cls.scope)
        return found

    def method(self, cls: Class, name: str, after: Class | None = None) -> Function | None:
        """Return the method `name` of an instance of the class; with `after`, as `super()` in `after` resolves it."""
        if after is not None:
            return self._find_method(cls, name, after)
        key = (cls, name)
        found = self._found_methods.get(key)
        if found is None and key not in self._found_methods:
            found = self._find_method(cls, name, None)
            if cls.key in self._lines:
                self._found_methods[key] = found
        return found

    def _find_method(self, cls: Class, name: str, after: Class | None) -> Function | None:
        line = self.line(cls)
        if after is not None:
            passed = self._instead_of(cls, after)
            line = line[line.index(after) + 1 :] if after in line else self.line(after)[1:]
            line = tuple(owner for owner in line if owner not in passed)
        for owner in line:
            if isinstance(owner, Class):
                index = self.own_methods(owner).get(name)
                if index is not None:
                    return Function(owner.file, index)
            elif name == "__init__" and isinstance(owner, External) and self.world.knowledge.ends_chain(owner.name):
                return None
            elif name != "__init__" and isinstance(owner, External):
                for other in self.world.knowledge.run_by(owner.name, name):
                    if (found := self.method(cls, other)) is not None:
                        return found
        return None

    def methods(self, cls: Class, name: str) -> list[Function]:
        """The functions that `name` may mean on an instance of the class: several where it is inherited from a base
        that has alternatives."""
        first = self.method(cls, name)
        if first is None:
            return []
        found = {first.key: first}
        owner = first.file.method_of(first.scope)
        for one in self.line(cls) if self._alternatives else ():
            for group in self._alternatives.get(one.key, ()) if isinstance(one, Class) else ():
                bases = [base for base in group if isinstance(base, Class)]
                if any(Class(first.file, owner) in self.line(base) for base in bases if owner is not None):
                    others = (self.method(base, name) for base in bases)
                    found.update((other.key, other) for other in others if other is not None)
        return list(found.values())

    def _instead_of(self, cls: Class, owner: Class) -> set[Value]:
        """The classes that `cls` inherits from only where it does not inherit from `owner`: the other alternatives
        for a base."""
        found: set[Value] = set()
        for one in self.line(cls) if self._alternatives else ():
            for group in self._alternatives.get(one.key, ()) if isinstance(one, Class) else ():
                lines = [set(self.line(base)) if isinstance(base, Class) else {base} for base in group]
                beside = [line for line in lines if owner in line]
                if beside:
                    found.update(other for line in lines for other in line if not any(other in own for own in beside))
        return found

    def run_by_constructor(self, cls: Class) -> Iterator[Function]:
        """Yield the methods that the constructor of an external base runs, unless the project defines `__init__`, and
        those that a generated constructor runs."""
        own = self.method(cls, "__init__")
        for name in AFTER_FIELDS if own is None or has_fields(self.world, cls) else ():
            yield from self.methods(cls, name)
        for owner in self.line(cls) if own is None else ():
            for name in self.world.knowledge.run_by(owner.name, "__init__") if isinstance(owner, External) else ():
                if (found := self.method(cls, name)) is not None:
                    yield found

    def subclasses(self, cls: Class) -> list[Class]:
        """Return the project's direct and indirect subclasses of the class, in the order of files and lines."""
        if self._heirs is None:
            # Queries on the way find those of the classes before.
            self._heirs, self._numbers = {}, {}
            for candidate in self.world.classes():
                self._numbers[candidate] = len(self._numbers)
            settled: set[Value] = set()
            for candidate in self._numbers:
                bases = self.bases(candidate)
                # In a long line of inheritance, each class has been through with its own ancestors.
                alone = len(bases) == 1 and bases[0] in settled
                for one in (candidate,) if alone else reversed(self.line(candidate)):
                    if isinstance(one, Class):
                        self._inherit(one)
                if candidate.key in self._known:
                    settled.add(candidate)
            self._unsettled = [one for one in self._numbers if one.key not in self._known]
        elif any(one.key in self._known for one in self._unsettled):
            again, self._unsettled = self._unsettled, []
            for candidate in again:
                self._inherit(candidate)
            self._unsettled = [one for one in again if one.key not in self._known]
        found = self._below.get(cls)
        if found is None:
            below: dict[Class, None] = dict.fromkeys(self._heirs.get(cls, ()))
            todo = list(below)
            for one in todo:
                todo += (new := [heir for heir in self._heirs.get(one, ()) if heir not in below])
                below.update(dict.fromkeys(new))
            found = self._below[cls] = sorted(below, key=self._numbers.__getitem__)
        return found

    def created_by(self, metaclass: Class) -> tuple[Class, ...]:
        """Return the classes that a metaclass, or one that inherits from it, creates; empty if it is no metaclass."""
        if self._created is None:
            self._created = [
                (cls, base.value)
                for cls in self.world.classes()
                for base in cls.file.scopes[cls.scope].bases
                if base.keyword == "metaclass"
            ]
        if not self._created:
            return ()
        meant = (metaclass, *self.subclasses(metaclass))
        found: dict[Class, None] = {}
        for cls, expr in self._created:
            site = _site(cls)
            if any(value in meant for value in self.world.values.evaluate(expr, site)):
                found.update(dict.fromkeys((cls, *self.subclasses(cls))))
        return tuple(limits.OVERRIDES.first(list(found)))

    def _inherit(self, cls: Class) -> None:
        """Record a class under the bases that it has as far as known now."""
        assert self._heirs is not None
        bases = tuple(one for one in self.bases(cls) if isinstance(one, Class))
        before = self._inherits.get(cls, ())
        if bases != before:
            self._inherits[cls] = bases
            self._below.clear()
            for base in before:
                self._heirs[base].pop(cls, None)
            for base in bases:
                self._heirs.setdefault(base, {})[cls] = None

    def called_on(self, function: Function, cls: Class) -> tuple[Class, ...]:
        """Return the classes that a class method of `cls` is called on if all calls tell, otherwise `cls` and its
        subclasses."""
        found: dict[Value | None, None] = {}
        if self.world.memory.enter():
            try:
                found = dict.fromkeys(caller.frame.receiver for caller in self.world.calls.callers(function))
            finally:
                self.world.memory.leave()
        named = tuple(one for one in found if isinstance(one, Class))
        return named if named and len(named) == len(found) else (cls, *limits.OVERRIDES.first(self.subclasses(cls)))

    def overrides(self, cls: Class, name: str) -> Iterator[Function]:
        """Yield the methods that `name` can be on an instance of the class or of a subclass."""
        own = self.method(cls, name)
        if own is not None:
            yield own
        for below in self.subclasses(cls):
            index = self.own_methods(below).get(name)
            if index is not None:
                yield Function(below.file, index)

    def meant(self, value: Instance, name: str) -> list[Function]:
        """Return the methods that `name` can be on an object: of its class, or also of subclasses if only a base is
        known."""
        assert isinstance(value.of, Class)
        found = list(limits.OVERRIDES.first(list(self.overrides(value.of, name)))) if value.call < 0 else []
        if not found:
            own = self.method(value.of, name)
            found = [own] if own is not None else []
        return found

    def externals(self, cls: Class) -> list[str]:
        """Return the names of the external ancestors of the class."""
        return [value.name for value in self.line(cls) if isinstance(value, External)]

    def decorators(self, function: Function) -> list[str]:
        """Return the last names of the decorators, without their arguments."""
        names = []
        for decorator in function.file.scopes[function.scope].decorators:
            expr = decorator.expr
            if isinstance(expr, CallRef):
                expr = function.file.calls[expr.index].func
            names.append(last_name(expr))
        return names

    def receiver_kind(self, function: Function) -> str:
        """ "self" or "class" if the first parameter is the receiver, "" if there is none."""
        found = self._receivers.get(function.key)
        if found is None:
            found = ""
            if (
                function.file.method_of(function.scope) is not None
                and function.file.scopes[function.scope].kind == "function"
            ):
                names = self.decorators(function)
                if "classmethod" in names or function.name in ("__new__", "__init_subclass__", "__class_getitem__"):
                    found = "class"
                elif "staticmethod" not in names:
                    found = "self"
            self._receivers[function.key] = found
        return found

    def is_property(self, function: Function) -> bool:
        return any(name in PROPERTY_DECORATORS for name in self.decorators(function))

    def annotation(self, function: Function, name: str) -> Values:
        """Return an instance of the project class that a parameter is annotated with; empty if there is none."""
        scope = function.file.scopes[function.scope]
        for param in scope.params:
            if param.name == name and param.annotation is not None:
                return self.annotated(
                    param.annotation, Site(function.file, max(scope.parent, 0), scope.region, (0, 0), None)
                )
        return ()

    def annotated(self, annotation: Expr, site: Site) -> Values:
        """Return what an annotation says of a value; empty if it names no class of the project."""
        return self._annotations.said(annotation, site)


def _site(cls: Class) -> Site:
    """Return where the header of a class statement is evaluated."""
    scope = cls.file.scopes[cls.scope]
    return Site(cls.file, max(scope.parent, 0), scope.region, scope.header.start, None)


def _merged(orders: list[list[Value]]) -> list[Value]:
    """Merge orders of classes into one that preserves each (C3, Python reference, "The C3 method resolution order").

    Repeatedly takes the first class that is not behind another in any order; if there is none, as with alternatives for
    one base, the first of all.
    """
    behind = Counter(value for order in orders for value in order[1:])
    left = [order[::-1] for order in orders if order]
    found: dict[Value, None] = {}
    while left:
        chosen = next((order[-1] for order in left if not behind[order[-1]]), left[0][-1])
        found[chosen] = None
        for order in left:
            while order and order[-1] in found:
                order.pop()
                if order:
                    behind[order[-1]] -= 1
        left = [order for order in left if order]
    return list(found)
