"""Objects and modules: what their attributes are."""

from __future__ import annotations

from collections.abc import Hashable

from dllint.facts.nodes import Attribute, Name
from dllint.facts.schema import Annotation, Expr
from dllint.inference import fields
from dllint.inference.edges import Given, Target
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
    Frame,
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
)
from dllint.linking.source import SourceFile, Store


class Objects:
    """Attribute lookup."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._own_stores: dict[tuple[str, int], dict[str, list[Store]]] = {}
        self._stored: dict[tuple[str, int], dict[str, list[Store]]] = {}
        self._outside: dict[str, list[tuple[SourceFile, Store]]] | None = None
        self._named: set[str] | None = None
        self._handed: dict[Hashable, tuple[Values | None, int | None] | None] = {}

    def attribute(self, value: Value, name: str) -> Values:
        """The values of `value.name`."""
        if isinstance(value, Module):
            return self._of_module(value, name)
        if isinstance(value, Class):
            return self._of_class(value, name)
        if isinstance(value, Super):
            return self._of_super(value, name)
        if isinstance(value, Instance):
            if isinstance(value.of, External):
                known = self.world.knowledge.attribute(value, name)
                return known or (External(f"{value.of.name}().{name}"),)
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
            return (External(f"list().{name}"),)
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
        return (UNKNOWN,)

    def _of_module(self, module: Module, name: str) -> Values:
        if module.path.startswith("<namespace>"):
            package = module.path.removeprefix("<namespace>")
            found = self.world.index.resolve("", f"{package}.{name}", 0)
            return (Module(found[-1]),) if found else (Module(f"<namespace>{package}.{name}"),)
        if name == "__dict__":
            return (module,)
        own = self.world.imports.member(module.path, name) or self.world.imports.submodule(module.path, name)
        return union([own, *self._set_on_module(module, name)]) or (UNKNOWN,)

    def _set_on_module(self, module: Module, name: str) -> list[Values]:
        """What other files set a module's attribute to: `settings.workers = 4`."""
        groups: list[Values] = []
        for file, store in self.outside_stores(name):
            if not isinstance(store.base, Name) or file.path == module.path:
                continue
            site = Site(file, store.scope, store.event.region, (store.event.span.line, store.event.span.column), None)
            if module in self.world.values.evaluate(store.base, site):
                groups.append(self.world.values.evaluate(store.value, site))
        return groups

    def _of_class(self, cls: Class, name: str) -> Values:
        method = self.world.hierarchy.method(cls, name)
        if method is not None:
            return self.world.values.method(
                method, cls if self.world.hierarchy.receiver_kind(method) == "class" else None
            )
        for owner in self.world.hierarchy.line(cls):
            if isinstance(owner, Class) and name in owner.file.bindings(owner.scope):
                return self.world.values.name(name, Site(owner.file, owner.scope, 0, (0, 0), None))
        outside = self.world.hierarchy.externals(cls)
        if outside:
            return tuple(External(f"{base}.{name}") for base in outside[:1])
        return (UNKNOWN,)

    def _of_super(self, value: Super, name: str) -> Values:
        receiver = value.receiver
        start = receiver.of if isinstance(receiver, Instance) and isinstance(receiver.of, Class) else value.cls
        method = self.world.hierarchy.method(start, name, after=value.cls)
        if method is not None:
            return self.world.values.method(method, receiver or Instance(value.cls))
        outside = self.world.hierarchy.externals(value.cls)
        return tuple(External(f"{base}.{name}") for base in outside[:1]) or (UNKNOWN,)

    def _of_instance(self, value: Instance, name: str) -> Values:
        cls = value.of
        assert isinstance(cls, Class)
        hierarchy = self.world.hierarchy
        groups: list[Values] = []
        methods = hierarchy.meant(value, name)
        for method in methods:
            if hierarchy.is_property(method):
                groups.append(self.world.values.returned(method, self.world.receiver_frame(value)))
            elif hierarchy.receiver_kind(method):
                receiver: Value = value if hierarchy.receiver_kind(method) == "self" else cls
                groups.append(self.world.values.method(method, receiver))
            else:
                groups.append(self.world.values.method(method, None))
        groups += self._stored_values(value, name)
        if not methods:
            groups += fields.given(self.world, value, name)
        if groups:
            return self._or_annotated(value, name, union(groups))
        for owner in self._owners(value):
            if name in owner.file.bindings(owner.scope):
                groups.append(self.world.values.name(name, Site(owner.file, owner.scope, 0, (0, 0), None)))
        if groups:
            return self._or_annotated(value, name, union(groups))
        for file, store in self.outside_stores(name):
            site = Site(file, store.scope, store.event.region, (store.event.span.line, store.event.span.column), None)
            for base in self.world.values.evaluate(store.base, site):
                if isinstance(base, Instance) and isinstance(base.of, Class) and cls in hierarchy.line(base.of):
                    groups.append(self.world.values.evaluate(store.value, site))
        if groups:
            return union(groups)
        outside = hierarchy.externals(cls)
        if outside:
            return (External(f"{outside[0]}().{name}"),)
        return self._annotated(value, name) or (UNKNOWN,)

    def _owners(self, value: Instance) -> list[Class]:
        """The classes whose code sets attributes of the instance."""
        assert isinstance(value.of, Class)
        owners = [owner for owner in self.world.hierarchy.line(value.of) if isinstance(owner, Class)]
        if value.call < 0:
            owners += [below for below in self.world.hierarchy.subclasses(value.of) if below not in owners]
        return owners

    def overridden(self, value: Instance, owner: Class, store: Store) -> bool:
        """Whether the object's class has another method in the place of the inherited one with the store, and does not
        call that."""
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

    def _stored_values(self, value: Instance, name: str) -> list[Values]:
        groups: list[Values] = []
        for owner in self._owners(value):
            for store in self.own_stores(owner).get(name, ()):
                if self.overridden(value, owner, store):
                    continue
                site = self.store_site(value, owner, store)
                values = self.world.values.evaluate(store.value, site)
                groups.append(self.world.values.owned(values, store.value, site, (owner.scope, f"self.{name}")))
        return groups

    def store_site(self, value: Instance, owner: Class, store: Store) -> Site:
        """Where the value of `self.attr = value` in a method of `owner` is evaluated, for this instance."""
        method = self._method_of(owner, store.scope)
        frame: Frame | None = None
        if owner.file.scopes[method].name == "__init__":
            frame = self.init_frame(value, owner)
        if frame is None:
            frame = self.world.receiver_frame(value)
        return Site(
            owner.file,
            store.scope,
            store.event.region,
            (store.event.span.line, store.event.span.column),
            frame if method == store.scope else None,
        )

    @staticmethod
    def _method_of(owner: Class, scope: int) -> int:
        while owner.file.scopes[scope].parent != owner.scope:
            scope = owner.file.scopes[scope].parent
        return scope

    def init_frame(self, value: Instance, owner: Class) -> Frame | None:
        """The activation of `owner.__init__` when the instance was made; where it is not known by which call, the one
        that the `__init__` of its own class leads to."""
        if not isinstance(value.of, Class):
            return None
        method = self.world.hierarchy.method(value.of, "__init__")
        if method is None:
            return None
        if value.call < 0 or value.file is None:
            frame = self.world.receiver_frame(value)
        else:
            frame = self.world.making_frame(value, Function(method.file, method.scope, value))
        for _ in range(8):
            if method.file.method_of(method.scope) == owner.scope and method.file is owner.file:
                return frame
            step = self._next_init(method, frame, value)
            if step is None:
                return None
            method, frame = step.function, step.frame
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
                                return one
        return None

    def own_stores(self, cls: Class) -> dict[str, list[Store]]:
        """Assignments to attributes of `self` in the methods of a class (functions nested in them included)."""
        found = self._own_stores.get(cls.key)
        if found is None:
            found = self._own_stores[cls.key] = {}
            for method in cls.file.children.get(cls.scope, ()):
                scope = cls.file.scopes[method]
                if scope.kind != "function" or not scope.params:
                    continue
                receiver = Name(scope.params[0].name)
                for inner in self._within(cls.file, method):
                    for store in cls.file.stores(inner):
                        if isinstance(store.key, str) and store.base == receiver:
                            found.setdefault(store.key, []).append(store)
        return found

    def _within(self, file: SourceFile, scope: int) -> list[int]:
        found = [scope]
        for child in file.children.get(scope, ()):
            if file.scopes[child].kind == "function":
                found += self._within(file, child)
        return found

    def outside_stores(self, name: str) -> list[tuple[SourceFile, Store]]:
        """Assignments `something.name = value` other than on a method's own receiver."""
        if self._outside is None:
            self._outside = {}
            for file in self.world.files.values():
                for scope in range(len(file.scopes)):
                    for store in file.stores(scope):
                        if isinstance(store.key, str) and store.base != Name("self"):
                            self._outside.setdefault(store.key, []).append((file, store))
        return self._outside.get(name, [])

    def reassigned(self, expr: Attribute, site: Site) -> Values | None:
        """What `base.attr` is where the same function has set it before, on every way here; None otherwise."""
        if site.at == (0, 0):
            return None
        here = self._stored_here(expr, site)
        for store in reversed(here):
            at = (store.event.span.line, store.event.span.column)
            if at < site.at and site.file.encloses(store.event.region, site.region):
                where = Site(site.file, site.scope, store.event.region, at, site.frame)
                values = self.world.values.evaluate(store.value, where)
                owner = site.file.enclosing_class(site.scope)
                if owner is not None and isinstance(expr.value, Name):
                    return self.world.values.owned(values, store.value, where, (owner, f"self.{expr.attr}"))
                return values
            if at < site.at:
                return None
        return None

    def _stored_here(self, expr: Attribute, site: Site) -> list[Store]:
        """The assignments to an attribute of the same object, as written, in the scope of a place."""
        stored = self._stored.get((site.file.path, site.scope))
        if stored is None:
            stored = self._stored[site.file.path, site.scope] = {}
            for store in site.file.stores(site.scope):
                if isinstance(store.key, str):
                    stored.setdefault(store.key, []).append(store)
        return [store for store in stored.get(expr.attr, ()) if store.base == expr.value]

    def handed_over(self, expr: Attribute, site: Site) -> Values | None:
        """What `parameter.attr` is where a caller has set it before the call: `args.workers = 0`, then `build(args)`.
        None where none has, and where the function itself sets it on some ways."""
        base = expr.value
        if not isinstance(base, Name) or expr.attr not in self._set_on_names() or self._stored_here(expr, site):
            return None
        found = self.world.symbols.lookup(base.id, site)
        if len(found) != 1 or found[0][0].kind != "param":
            return None
        where = found[0][1]
        key = (where.file.path, where.scope, where.frame, base.id, expr.attr)
        return self.world.memory.remember(self._handed, key, lambda: self._handed_over(base.id, expr.attr, where), None)

    def _handed_over(self, name: str, attr: str, where: Site) -> Values | None:
        given: list[tuple[Expr, Site, Values | None]] = []
        unclear = False
        for actual in self.world.parameters.actuals_of(Function(where.file, where.scope), name, where.frame):
            if actual is None or actual.expr is None or actual.site is None:
                unclear = True
            else:
                expr = Attribute(actual.expr, attr)
                plain = isinstance(actual.expr, (Name, Attribute))
                stored = self.reassigned(expr, actual.site) if plain else None
                if stored is None and plain:
                    stored = self.handed_over(expr, actual.site)
                given.append((expr, actual.site, stored))
        if all(stored is None for _, _, stored in given):
            return None
        found = [
            stored if stored is not None else self.world.values.evaluate(expr, site) for expr, site, stored in given
        ]
        return union([*found, (UNKNOWN,)] if unclear else found)

    def _set_on_names(self) -> set[str]:
        """The attributes that are set on what a variable or an attribute holds."""
        if self._named is None:
            self.outside_stores("")
            assert self._outside is not None
            self._named = {
                attr
                for attr, stores in self._outside.items()
                if any(isinstance(store.base, (Name, Attribute)) for _, store in stores)
            }
        return self._named

    def _or_annotated(self, value: Instance, name: str, found: Values) -> Values:
        """The values, or what the attribute is annotated with where they say nothing."""
        if all(one in (UNKNOWN, NONE) for one in found):
            return self._annotated(value, name) or found
        return found

    def _annotated(self, value: Instance, name: str) -> Values:
        for owner in self._owners(value):
            for event in owner.file.scopes[owner.scope].events:
                if isinstance(event.detail, Annotation) and event.target == Name(name):
                    site = Site(owner.file, owner.scope, 0, (0, 0), None)
                    return self.world.hierarchy.annotated(event.detail.expr, site)
        return ()

    def call_method(self, value: Instance, name: str) -> Values:
        """What calling a method of an instance with unknown arguments gives."""
        assert isinstance(value.of, Class)
        method = self.world.hierarchy.method(value.of, name)
        if method is None:
            return (UNKNOWN,)
        return self.world.values.returned(method, self.world.receiver_frame(value))
