"""Attributes of instances and modules."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import PurePath

from dllint.facts.nodes import Attribute
from dllint.facts.schema import Annotation
from dllint.inference import enumerations, fields, limits, named_tuples
from dllint.inference.answers import Table
from dllint.inference.attributes_set_before import AttributesSetBefore
from dllint.inference.computed_attributes import computed
from dllint.inference.entries import METHODS
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import (
    NONE,
    UNKNOWN,
    Class,
    Const,
    Data,
    Display,
    External,
    Function,
    Instance,
    Keywords,
    Mapping,
    Module,
    Parsed,
    Partial,
    Pattern,
    Site,
    Super,
    Value,
    Values,
    const,
)
from dllint.linking.assignments import Spread, Store
from dllint.linking.derivations import annotated_in
from dllint.linking.source import SourceFile

_OF_PATHS = frozenset({"parent", "name", "stem", "suffix"})
"""Attributes of a path of pathlib that its text decides."""
_END = (1 << 31, 0)
"""A position after all statements of a scope."""


class Objects:
    """Attribute lookup."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._before = AttributesSetBefore(world)
        self._on_classes: Table[list[Values]] = {}
        self._spreads: Table[dict[Hashable, list[tuple[Spread, Site]]]] = {}

    def attribute(self, value: Value, name: str) -> Values:
        """Return the values of `value.name`."""
        if isinstance(value, Module):
            return self._of_module(value, name)
        if isinstance(value, Class):
            return self._of_class(value, name)
        if isinstance(value, Super):
            return self._of_super(value, name)
        if isinstance(value, Instance):
            if isinstance(value.of, External):
                known = self.world.knowledge.attribute(value, name)
                own = known or (External(f"{value.of.name}().{name}"),)
                return union([own, *self._set_from_outside(value, name)])
            return self._of_instance(value, name)
        if isinstance(value, (Parsed, Data, Keywords, Mapping)):
            if isinstance(value, (Mapping, Keywords)) and name in METHODS:
                return (External(f"dict().{name}"),)
            found = self.world.mappings.in_value(value, name)
            if isinstance(value, Data) and (found is None or not found.named):
                if name in METHODS:
                    return (External(f"dict().{name}"),)
                if name == "read" and not value.pointer:
                    return (External("open().read"),)
            return (found.values or (UNKNOWN,)) if found is not None else (UNKNOWN,)
        if isinstance(value, Display):
            if name in value.names:
                return self.world.mappings.item(value, const(value.names.index(name)))
            return (External(f"{named_tuples.OBJECT if value.names else 'list()'}.{name}"),)
        if isinstance(value, Const) and isinstance(value.value, PurePath):
            if name == "parents":
                return (const(tuple(value.value.parents)),)
            return (const(getattr(value.value, name)) if name in _OF_PATHS else External(f"pathlib.Path().{name}"),)
        if (isinstance(value, Const) and isinstance(value.value, str)) or isinstance(value, Pattern):
            return (External(f"str().{name}"),)
        if isinstance(value, Partial):
            bound = self.world.made_with(value).keywords.get(name)
            return (
                (value.function,)
                if name == "func"
                else (UNKNOWN,)
                if bound is None
                else self.world.values.passed(bound)
            )
        return (self.world.knowledge.member(value, name) if isinstance(value, Function) else ()) or (UNKNOWN,)

    def _of_module(self, module: Module, name: str) -> Values:
        if module.path.startswith("<namespace>"):
            package = module.path.removeprefix("<namespace>")
            found = self.world.index.resolve("", f"{package}.{name}", 0)
            return (Module(found[-1]),) if found else (Module(f"<namespace>{package}.{name}"),)
        if name == "__dict__":
            return (module,)
        own = self.world.imports.member(module.path, name) or self.world.imports.submodule(module.path, name)
        return own or (UNKNOWN,)

    def _of_class(self, cls: Class, name: str) -> Values:
        owners = self._owners(cls, name)
        if owners:
            each = ((owner, value) for owner in owners for value in self._in_class(owner, name))
            return union(self._on_class(value, cls, self._method(value, owner, name)) for owner, value in each)
        known = self.world.knowledge.member(cls, name)
        if known:
            return known
        outside = self.world.hierarchy.externals(cls)
        if outside:
            return tuple(External(f"{base}.{name}") for base in outside[:1])
        return (UNKNOWN,)

    def _on_class(self, value: Value, cls: Class, method: Function | None) -> Values:
        """Return the value of a class attribute, given its value in the class body."""
        if isinstance(value, Function) and method is not None:
            if self.world.hierarchy.is_property(method):
                return (Instance(External("property")),)
            if self.world.hierarchy.receiver_kind(method) == "class":
                return (value.bound_to(cls),)
        return (value,)

    def _method(self, value: Value, owner: Class, name: str) -> Function | None:
        """Return the undecorated function of a class body that determines how a function found there is bound: the
        function itself, or the one that decorators have replaced by it."""
        if not isinstance(value, Function) or value.receiver is not None:
            return None
        scope = self.world.hierarchy.own_methods(owner).get(name)
        return Function(owner.file, scope) if scope is not None and scope in owner.file.decorations else value

    def _owners(self, cls: Class, name: str) -> list[Class]:
        """Return the class that provides an attribute: the first in the resolution order that binds it in its body, or
        has it set later. Among alternative bases, all that provide it."""
        found: list[Class] = []
        for owner in self.world.hierarchy.line(cls):
            if isinstance(owner, Class) and (
                name in owner.file.bindings(owner.scope) or self._set_on_class(owner, name)
            ):
                found.append(owner)
                if not self.world.hierarchy.has_alternatives(cls):
                    break
        return found

    def _set_on_class(self, owner: Class, name: str) -> list[Values]:
        key = (owner, name)
        return self.world.memory.remember(self._on_classes, key, lambda: self._set_from_outside(owner, name), [])

    def _in_class(self, owner: Class, name: str) -> Values:
        """Return the value of a class's own attribute: as bound in the body, or set on the class."""
        member = enumerations.member(owner, name)
        if member is not None:
            return (member,)
        groups = [*self._set_on_class(owner, name)]
        if name in owner.file.bindings(owner.scope):
            groups.insert(0, self.world.values.name(name, Site(owner.file, owner.scope, 0, _END, None)))
        return union(groups)

    def _of_super(self, value: Super, name: str) -> Values:
        receiver = value.receiver
        start = receiver.of if isinstance(receiver, Instance) and isinstance(receiver.of, Class) else value.cls
        method = self.world.hierarchy.method(start, name, after=value.cls)
        if method is not None:
            return self.world.values.method(method, receiver or Instance(value.cls))
        outside = self.world.hierarchy.externals(value.cls)
        return tuple(External(f"{base}.{name}") for base in outside[:1]) or (UNKNOWN,)

    def _of_instance(self, value: Instance, name: str) -> Values:
        assert isinstance(value.of, Class)
        if name == "__class__":
            below = self.world.hierarchy.subclasses(value.of) if value.call < 0 else []
            return (value.of, *limits.OVERRIDES.first(below))
        of_member = enumerations.attribute(self.world, value, name)
        if of_member:
            return of_member
        hierarchy = self.world.hierarchy
        stored, always, filled = self._stored_values(value, name)
        given = fields.given(self.world, value, name)
        outside = self._set_from_outside(value, name, _assigned([*stored, *given]))
        inherited: Values = ()
        if not (always or given) or self._intercepts(value.of, name):
            inherited = fields.default(self.world, value, name) or union(self._inherited(value, name))
        if filled:
            inherited = tuple(one for one in inherited if one != NONE)
        groups = [*([inherited] if inherited else []), *stored, *given, *outside]
        if hierarchy.method(value.of, "__getattribute__") or (stored and hierarchy.method(value.of, "__setattr__")):
            groups.append((UNKNOWN,))
        if groups:
            return self._or_annotated(value, name, union(groups))
        known = self._annotated(value, name) or self.world.knowledge.attribute(value, name)
        if known:
            return known
        externals = self.world.hierarchy.externals(value.of)
        is_field = fields.has_fields(self.world, value.of) and name in fields.names(self.world, value.of)
        if not externals or is_field:
            return computed(self.world, value, name) or (UNKNOWN,)
        return (External(f"{externals[0]}().{name}"),)

    def _intercepts(self, cls: Class, name: str) -> bool:
        """Whether a class attribute intercepts assignments to the attribute of an object: a property, or another
        descriptor with a `__set__`."""
        hierarchy = self.world.hierarchy
        for owner in self._owners(cls, name):
            for value in self._in_class(owner, name):
                method = self._method(value, owner, name)
                if method is not None and hierarchy.is_property(method):
                    return True
                of = value.of if isinstance(value, Instance) else None
                if isinstance(of, Class) and hierarchy.method(of, "__set__") is not None:
                    return True
        return False

    def _inherited(self, value: Instance, name: str) -> list[Values]:
        """Return the values that an object inherits from its class; if only a base is known, from any subclass too."""
        assert isinstance(value.of, Class)
        owners = self._owners(value.of, name)
        if value.call < 0:
            owners += [
                below
                for below in self.world.hierarchy.subclasses(value.of)
                if name in below.file.bindings(below.scope) and below not in owners
            ]
        groups: list[Values] = []
        methods = 0
        for owner in owners:
            for one in self._in_class(owner, name):
                methods += isinstance(one, Function)
                if not isinstance(one, Function) or not limits.OVERRIDES.exceeded(methods):
                    groups.append(self._on_object(one, value, self._method(one, owner, name)))
        return groups

    def _on_object(self, value: Value, owner: Instance, method: Function | None) -> Values:
        """Return the value of an instance attribute, given its value in the class body: a function becomes a bound
        method, and a property or another descriptor is evaluated."""
        hierarchy = self.world.hierarchy
        assert isinstance(owner.of, Class)
        if isinstance(value, Function) and method is not None:
            if hierarchy.is_property(method):
                return self.world.values.returned(method.bound_to(owner), self.world.receiver_frame(owner))
            kind = hierarchy.receiver_kind(method)
            return (value.bound_to(owner if kind == "self" else owner.of) if kind else value,)
        if isinstance(value, Instance) and isinstance(value.of, Class):
            getter = hierarchy.method(value.of, "__get__")
            if getter is not None:
                return self.world.values.returned(getter, self.world.receiver_frame(value))
        if isinstance(value, Instance) and value.of == External("property") and value.file is not None:
            getters = self.world.made_with(value).positional[:1]
            functions = union(self.world.values.passed(one) for one in getters)
            frame = self.world.receiver_frame(owner)
            known = [one.bound_to(owner) for one in functions if isinstance(one, Function)]
            return union(self.world.values.returned(one, frame) for one in known) or (UNKNOWN,)
        return (value,)

    def _stored_values(self, value: Instance, name: str) -> tuple[list[Values], bool, bool]:
        """Return the values that methods assign to an attribute of their own object, whether construction always
        assigns one, and whether one replaces None."""
        groups: list[Values] = []
        always = filled = False
        assert isinstance(value.of, Class)
        line = self.world.hierarchy.line(value.of)
        for owner in self.world.stores.owners(value):
            for store in self.world.stores.own_stores(owner).get(name, ()):
                if self.world.stores.overridden(value, owner, store) or self.world.stores.on_class(owner, store):
                    continue
                site = self.world.stores.store_site(value, owner, store)
                if self.world.stores.skipped(site):
                    continue
                values = self.world.values.evaluate(store.value, site)
                if values == (UNKNOWN,) and isinstance(store.event.detail, Annotation):
                    values = self.world.hierarchy.annotated(store.event.detail.expr, site) or values
                groups.append(self.world.values.owned(values, store.value, site, (owner.scope, f"self.{name}")))
                always = always or (owner in line and self.world.stores.always(owner, store))
                filled = filled or self.world.stores.fills(owner, store)
            # Names computed at run time set data; methods keep their names.
            spreads = self.world.stores.own_spreads(owner)
            own = _assigned(groups)
            for spread in spreads if self.world.hierarchy.method(value.of, name) is None else ():
                if not self.world.stores.overridden(value, owner, spread):
                    place = self.world.stores.store_site(value, owner, spread)
                    found = self.world.stores.spread(spread, name, place, own)
                    groups += [found.values] if found.values else []
                    sure = owner in line and not found.absent and self.world.stores.always(owner, spread)
                    always = always or sure
        return groups, always, filled

    def _set_from_outside(self, value: Value, name: str, own: bool = False) -> list[Values]:
        """Return the values assigned to an attribute by code other than the object's own methods; for a class, by any
        code. `own`: whether the object's own methods assign it under its name."""
        groups: list[Values] = []
        for file, store in self.world.stores.outside_stores(name):
            site = self._place(file, store)
            if any(self._may_be(base, value) for base in self.world.values.evaluate(store.base, site)):
                groups.append(self.world.values.evaluate(store.value, site))
        made = _made(value)
        if made is not None and self._holds_data(value, name):
            spreads = self.world.memory.remember(self._spreads, "outside", self._spread_outside, {})
            for spread, site in spreads.get(made, ()):
                groups.append(self.world.stores.spread(spread, name, site, own).values)
        return [group for group in groups if group]

    def _spread_outside(self) -> dict[Hashable, list[tuple[Spread, Site]]]:
        """Return the assignments under names computed at run time, by the call that creates the object. Objects that
        the analysis cannot distinguish are left out: every attribute of each could be anything."""
        found: dict[Hashable, list[tuple[Spread, Site]]] = {}
        for file, spread in self.world.stores.outside_spreads():
            site = self._place(file, spread)
            bases = self.world.values.evaluate(spread.base, site)
            for base in bases if len(bases) == 1 else ():
                if (made := _made(base)) is not None:
                    found.setdefault(made, []).append((spread, site))
        return found

    def _holds_data(self, value: Value, name: str) -> bool:
        """Whether an attribute may be set under a name computed at run time. Methods, and the attributes of external
        objects, keep their names."""
        of = value.of if isinstance(value, Instance) else value
        if isinstance(of, Class):
            return self.world.hierarchy.method(of, name) is None
        return not isinstance(of, External)

    @staticmethod
    def _place(file: SourceFile, store: Store | Spread) -> Site:
        """Return the site where an assignment is evaluated, in any activation."""
        event = store.event
        return Site(file, store.scope, event.region, event.span.start, None)

    def _may_be(self, left: Value, right: Value) -> bool:
        """Whether two values may be the same object. Objects created by two different known calls are not."""
        if not isinstance(left, Instance) or not isinstance(right, Instance):
            return left == right
        if left.call >= 0 and right.call >= 0:
            return (left.file, left.call) == (right.file, right.call)
        if not isinstance(left.of, Class) or not isinstance(right.of, Class):
            return False
        return left.of in self.world.hierarchy.line(right.of) or right.of in self.world.hierarchy.line(left.of)

    def reassigned(self, expr: Attribute, site: Site) -> Values | None:
        """Return the values of `base.attr` if the same function has set it before on every path to the site; None
        otherwise."""
        return self._before.reassigned(expr, site)

    def handed_over(self, expr: Attribute, site: Site) -> Values | None:
        """Return the values of `parameter.attr` if a caller has set it before the call; None if no caller has, or if
        the function itself sets it on some paths."""
        return self._before.handed_over(expr, site)

    def _or_annotated(self, value: Instance, name: str, found: Values) -> Values:
        """Return the values, or instances of the annotated class if the values say nothing."""
        if all(one in (UNKNOWN, NONE) for one in found):
            return self._annotated(value, name) or found
        return found

    def _annotated(self, value: Instance, name: str) -> Values:
        for owner in self.world.stores.owners(value):
            for event in owner.file.named(annotated_in, owner.scope).get(name, ()):
                if isinstance(event.detail, Annotation):
                    site = Site(owner.file, owner.scope, 0, (0, 0), None)
                    return self.world.hierarchy.annotated(event.detail.expr, site)
        return ()

    def call_method(self, value: Instance, name: str) -> Values:
        """Return the result of calling a method of an instance with unknown arguments."""
        assert isinstance(value.of, Class)
        method = self.world.hierarchy.method(value.of, name)
        if method is None:
            return (UNKNOWN,)
        return self.world.values.returned(method, self.world.receiver_frame(value))


def _assigned(groups: Iterable[Values]) -> bool:
    """Whether assignments give an attribute more than None, the usual value of one that is set later."""
    return any(one != NONE for group in groups for one in group)


def _made(value: Value) -> Hashable:
    """Return a key that identifies a class, or an object by the call that creates it; None if there is none."""
    if isinstance(value, Instance):
        return (value.file, value.call) if value.call >= 0 else None
    return value if isinstance(value, Class) else None
