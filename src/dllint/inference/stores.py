"""Attribute stores: which statements set an attribute, and where their values are evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from dllint.facts.nodes import Attribute, Compare, Constant, Name, Not
from dllint.inference import limits
from dllint.inference.edges import Given, Target
from dllint.inference.entries import ABSENT, OPAQUE, Found
from dllint.inference.interface import Engine
from dllint.inference.names import AFTER_FIELDS
from dllint.inference.values import (
    UNKNOWN,
    Class,
    Const,
    Frame,
    Function,
    Instance,
    Keywords,
    Mapping,
    Pattern,
    Site,
    Value,
    Values,
    const,
)
from dllint.linking.assignments import Spread, Store
from dllint.linking.derivations import stores_elsewhere
from dllint.linking.implicit_calls import KEEPING_PROPERTIES
from dllint.linking.source import SourceFile, last_name

CONSTRUCTORS = ("__init__", *AFTER_FIELDS)
"""Methods that run when an object is constructed."""


class Stores:
    """Assignments to attributes of a method's own receiver, and of other objects."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._own_stores: dict[tuple[str, int], dict[str, list[Store]]] = {}
        self._own_spreads: dict[tuple[str, int], list[Spread]] = {}
        self._outside_spreads: list[tuple[SourceFile, Spread]] | None = None
        self._outside: dict[str, list[tuple[SourceFile, Store]]] | None = None

    def owners(self, value: Instance) -> list[Class]:
        """Return the classes whose code sets attributes of the instance."""
        assert isinstance(value.of, Class)
        owners = [owner for owner in self.world.hierarchy.line(value.of) if isinstance(owner, Class)]
        if value.call < 0:
            owners += [below for below in self.world.hierarchy.subclasses(value.of) if below not in owners]
        return owners

    def overridden(self, value: Instance, owner: Class, store: Store | Spread) -> bool:
        """Whether the object's class overrides the inherited method that contains the store, without calling it."""
        assert isinstance(value.of, Class)
        line = self.world.hierarchy.line(value.of)
        if owner == value.of or owner not in line:
            return False
        name = owner.file.scopes[self._method_of(owner, store.scope)].name
        for nearer in line[: line.index(owner)]:
            own = self.world.hierarchy.own_methods(nearer).get(name) if isinstance(nearer, Class) else None
            if isinstance(nearer, Class) and own is not None:
                file = nearer.file
                calls = [file.calls[index] for index in file.facts.called.get(name, ())]
                return not any(call.scope == own and isinstance(call.func, Attribute) for call in calls)
        return False

    def on_class(self, owner: Class, store: Store | Spread) -> bool:
        """Whether a class method sets an attribute of the class that it is called on."""
        method = Function(owner.file, self._method_of(owner, store.scope))
        return self.world.hierarchy.receiver_kind(method) == "class"

    def always(self, owner: Class, store: Store | Spread) -> bool:
        """Whether constructing an object of the class runs an assignment, if its constructor is not overridden."""
        return (
            not store.event.region
            and owner.file.scopes[store.scope].parent == owner.scope
            and owner.file.scopes[store.scope].name in CONSTRUCTORS
        )

    @staticmethod
    def fills(owner: Class, store: Store | Spread) -> bool:
        """Whether an assignment is guarded by a test that the attribute is None, or false."""
        entry = owner.file.facts.regions[store.event.region]
        if entry.kind != "if" or entry.expr is None or not isinstance(store.key, str):
            return False
        stored = Attribute(store.base, store.key)
        if entry.holds:
            return entry.expr in (Not(stored), Compare(stored, (("is", Constant(None)),)))
        return entry.expr in (stored, Compare(stored, (("is not", Constant(None)),)))

    def skipped(self, site: Site) -> bool:
        """Whether a store stands in a branch that is certainly not taken, in the known activation around it or, if it
        asks for what the command line refuses, in any."""
        if not site.region:
            return False
        return self.world.refused(site) if site.frame is None else self.world.impossible(site)

    def store_site(self, value: Instance, owner: Class, store: Store | Spread) -> Site:
        """Return the site where the value of `self.attr = value` in a method of `owner` is evaluated, for this
        instance."""
        method = self._method_of(owner, store.scope)
        frame = self.method_frame(value, owner, method)
        return Site(
            owner.file,
            store.scope,
            store.event.region,
            store.event.span.start,
            frame if method == store.scope else None,
        )

    @staticmethod
    def _method_of(owner: Class, scope: int) -> int:
        while owner.file.scopes[scope].parent != owner.scope:
            scope = owner.file.scopes[scope].parent
        return scope

    def method_frame(self, value: Instance, owner: Class, method: int) -> Frame:
        """Return the activation of a method of `owner` for the instance: that of the constructor if it is one, else one
        that knows only its receiver."""
        made = self.init_frame(value, owner) if owner.file.scopes[method].name == "__init__" else None
        return made or self.world.receiver_frame(value)

    def init_frame(self, value: Instance, owner: Class) -> Frame | None:
        """Return the activation of `owner.__init__` that constructed the instance; if the call is unknown, the one
        reached from the `__init__` of its own class. None if there is none."""
        if not isinstance(value.of, Class):
            return None
        started = (self._init_frame(value, owner, init) for init in self.world.hierarchy.methods(value.of, "__init__"))
        return next((frame for frame in started if frame is not None), None)

    def _init_frame(self, value: Instance, owner: Class, method: Function) -> Frame | None:
        if value.call < 0 or value.file is None:
            frame = self.world.receiver_frame(value)
        else:
            frame = self.world.making_frame(value, Function(method.file, method.scope, value))
        for _ in range(limits.CONSTRUCTOR_STEPS.most):
            if method.file.method_of(method.scope) == owner.scope and method.file is owner.file:
                return frame
            step = self._next_init(method, frame, value)
            if step is None:
                return None
            method, frame = step.function, step.frame
        limits.CONSTRUCTOR_STEPS.met()
        return None

    def _next_init(self, method: Function, frame: Frame, value: Instance) -> Target | None:
        for index in method.file.calls_of(method.scope):
            call = method.file.calls[index]
            if isinstance(call.func, Attribute) and call.func.attr == "__init__":
                site = self.world.call_site(method.file, index, frame)
                for target in self.world.values.evaluate(call.func, site):
                    if isinstance(target, Function) and target.key != method.key:
                        for one in self.world.calls.applied(target, Given(method.file, index, frame)):
                            if one.function.receiver == value:
                                # A merged activation would include arguments of other classes' and objects' calls.
                                return one._replace(frame=self.world.kept_apart(method.file, index, frame, one))
        return None

    def own_stores(self, cls: Class) -> dict[str, list[Store]]:
        """Return the assignments to attributes of `self` in the methods of a class, including nested functions."""
        found = self._own_stores.get(cls.key)
        if found is None:
            found = self._own_stores[cls.key] = cls.file.named(stores_on_self, cls.scope)
        return found

    def own_spreads(self, cls: Class) -> list[Spread]:
        """Return the assignments to attributes of `self` in the methods of a class whose names are computed at run
        time."""
        found = self._own_spreads.get(cls.key)
        if found is None:
            found = self._own_spreads[cls.key] = []
            for method in cls.file.children.get(cls.scope, ()) if cls.file.spreads else ():
                scope = cls.file.scopes[method]
                if scope.kind == "function" and scope.params:
                    receiver = Name(scope.params[0].name)
                    spread = (one for inner in _within(cls.file, method) for one in cls.file.spreads.get(inner, ()))
                    found += [one for one in spread if one.base == receiver]
        return found

    def outside_spreads(self) -> list[tuple[SourceFile, Spread]]:
        """Assignments to attributes of other things than `self` whose names only a run tells; none where the program
        has more than are looked into."""
        if self._outside_spreads is None:
            found = [
                (file, one)
                for file in self.world.files.values()
                for spreads in file.spreads.values()
                for one in spreads
                if one.base != Name("self")
            ]
            self._outside_spreads = [] if limits.SPREADS.exceeded(len(found)) else found
        return self._outside_spreads

    def spread(self, spread: Spread, name: str, site: Site, own: bool = False) -> Found:
        """Return the values that such an assignment gives the attribute `name`; absent if it may leave the attribute
        alone.

        Args:
            own: whether the attribute is also assigned under its own name. Then an assignment whose name is unknown
                more likely means another attribute: it leaves this one uncertain, and lends it no object.
        """
        if name.startswith("__") and not name.endswith("__"):
            # Such a name is another one outside of the class's own code: `_Trainer__count`.
            return ABSENT
        if spread.key is None:
            return self.world.mappings.lookup(spread.value, site, name) or OPAQUE
        keys = self.world.values.evaluate(spread.key, site)
        fits = [one for one in keys if _may_be(one, name)]
        if not fits:
            return ABSENT
        if own and not any(isinstance(one, Const) for one in fits):
            return Found((UNKNOWN,), True)
        return Found(self.world.values.evaluate(spread.value, site), fits != [const(name)] or len(keys) > 1)

    def names_spread(self, spread: Spread, site: Site) -> set[str]:
        """Return the names that such an assignment is known to set."""
        if spread.key is not None:
            return set(_texts(self.world.values.evaluate(spread.key, site)))
        names: set[str] = set()
        seen: set[Value] = set()
        todo = list(self.world.values.evaluate(spread.value, site))
        while todo:
            value = todo.pop()
            if value in seen:
                continue
            seen.add(value)
            if isinstance(value, Keywords) and value.frame is not None and value.frame.actuals is not None:
                actuals = value.frame.actuals
                own = {param.name for param in value.function.file.scopes[value.function.scope].params}
                names |= actuals.keywords.keys() - own
                # What a subclass hands on to `super().__init__(**options)` is itself a dict of keyword arguments.
                for one in actuals.mappings:
                    if one.expr is not None and one.site is not None:
                        todo += self.world.values.evaluate(one.expr, one.site)
            elif isinstance(value, Mapping):
                names.update(_texts(self.world.mappings.all_keys(value)))
        return names

    def outside_stores(self, name: str) -> list[tuple[SourceFile, Store]]:
        """Return the assignments `base.name = value` whose base is not `self`."""
        if self._outside is None:
            self._outside = {}
            for file in self.world.files.values():
                for _, stores in file.each(stores_elsewhere):
                    for store in stores:
                        if isinstance(store.key, str):
                            self._outside.setdefault(store.key, []).append((file, store))
        return self._outside.get(name, [])

    @cached_property
    def set_on_names(self) -> frozenset[str]:
        """The attributes that are set on the value of a variable or an attribute."""
        self.outside_stores("")
        return frozenset(
            attr
            for attr, stores in (self._outside or {}).items()
            if any(isinstance(store.base, (Name, Attribute)) for _, store in stores)
        )


def _may_be(key: Value, name: str) -> bool:
    """Whether the evaluated name of an attribute can be this one."""
    if isinstance(key, Const):
        return bool(key.value == name)
    return key.fits(name) if isinstance(key, Pattern) else True


def _texts(values: Values) -> Iterator[str]:
    yield from (one.value for one in values if isinstance(one, Const) and isinstance(one.value, str))


def stores_on_self(file: SourceFile, cls: int) -> dict[str, list[Store]]:
    """Return the assignments to attributes of `self` in the methods of a class, including nested functions."""
    found: dict[str, list[Store]] = {}
    for method in file.children.get(cls, ()):
        scope = file.scopes[method]
        if scope.kind != "function" or not scope.params:
            continue
        receiver = Name(scope.params[0].name)
        for inner in _within(file, method):
            for store in file.stores(inner):
                if isinstance(store.key, str) and store.base == receiver:
                    found.setdefault(store.key, []).append(store)
        if keeps_result(file, method):
            for event in scope.events:
                if event.kind == "return" and event.value is not None:
                    found.setdefault(scope.name, []).append(Store(method, event, receiver, scope.name, event.value))
    return found


def keeps_result(file: SourceFile, method: int) -> bool:
    """Whether a method is a property whose first reading sets an attribute of its name: `functools.cached_property`."""
    return any(last_name(decorator.expr) in KEEPING_PROPERTIES for decorator in file.scopes[method].decorators)


def _within(file: SourceFile, scope: int) -> list[int]:
    """Return a function and the functions nested in it."""
    found = [scope]
    for child in file.children.get(scope, ()):
        if file.scopes[child].kind == "function":
            found += _within(file, child)
    return found
