"""Dicts, lists and keyword arguments: what is under a key, with later changes taken into account."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from dllint.facts.nodes import (
    Attribute,
    CallRef,
    Comprehension,
    Constant,
    Dict,
    Element,
    List,
    Name,
    Opaque,
    Set,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Expr, Operator
from dllint.inference import iteration as iterating
from dllint.inference import limits
from dllint.inference.entries import ABSENT, OPAQUE, Change, Found
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import (
    UNKNOWN,
    Actuals,
    Class,
    Const,
    Data,
    Display,
    External,
    Instance,
    Keywords,
    Mapping,
    Parsed,
    Site,
    Unknown,
    Value,
    Values,
    const,
)
from dllint.linking.conditions import contradict, render
from dllint.linking.expressions import summands
from dllint.linking.source import SourceFile

_CHANGING_METHODS = {
    "update": "merge",
    "setdefault": "default",
    "append": "add",
    "insert": "add",
    "extend": "extend",
    "add": "add",
}


class Mappings:
    """Lookup in containers."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._changes: dict[str, dict[str, list[Change]]] = {}
        self._owned: dict[tuple[str, int, str], list[tuple[SourceFile, Change]]] = {}
        self._dict_classes: dict[tuple[str, int], bool] = {}
        self._found: dict[Hashable, tuple[Found | None, int | None] | None] = {}
        self._every_value: dict[Hashable, tuple[Values, int | None] | None] = {}
        self._every_element: dict[Hashable, tuple[Values, int | None] | None] = {}

    # Changes

    def changes(self, file: SourceFile, text: str) -> list[Change]:
        """All changes in a file of the container that is written as `text`."""
        table = self._changes.get(file.path)
        if table is None:
            table = self._changes[file.path] = self._collect(file)
        return table.get(text, [])

    def _collect(self, file: SourceFile) -> dict[str, list[Change]]:
        table: dict[str, list[Change]] = {}
        for scope in range(len(file.scopes)):
            for store in file.stores(scope):
                at = (store.event.span.line, store.event.span.column)
                change = Change("set", scope, store.event.region, at, store.key, store.value)
                table.setdefault(render(store.base, file, 200), []).append(change)
            for event in file.scopes[scope].events:
                if event.detail in (Operator("|"), Operator("+")) and isinstance(event.target, (Name, Attribute)):
                    kind = "merge" if event.detail == Operator("|") else "extend"
                    at = (event.span.line, event.span.column)
                    change = Change(kind, scope, event.region, at, None, event.value)
                    table.setdefault(render(event.target, file, 200), []).append(change)
        for method, kind in _CHANGING_METHODS.items():
            for index in file.facts.called.get(method, ()):
                call = file.calls[index]
                if not isinstance(call.func, Attribute) or not call.args:
                    continue
                base = render(call.func.value, file, 200)
                at = (call.statement.line, call.statement.column)
                plain = [argument for argument in call.args if argument.keyword is None]
                if kind == "merge":
                    for argument in call.args:
                        if argument.keyword is None or argument.keyword == "**":
                            change = Change("merge", call.scope, call.region, at, None, argument.value)
                        else:
                            change = Change(
                                "set", call.scope, call.region, at, Constant(argument.keyword), argument.value
                            )
                        table.setdefault(base, []).append(change)
                elif kind == "default" and len(plain) == 2:
                    change = Change("default", call.scope, call.region, at, plain[0].value, plain[1].value)
                    table.setdefault(base, []).append(change)
                elif plain:
                    change = Change(kind, call.scope, call.region, at, None, plain[-1].value)
                    table.setdefault(base, []).append(change)
        return table

    def owned_changes(self, file: SourceFile, owner: tuple[int, str] | None) -> list[tuple[SourceFile, Change]]:
        """The changes of a container that a variable holds, or an attribute: those by methods of subclasses too."""
        if owner is None:
            return []
        key = (file.path, *owner)
        found = self._owned.get(key)
        if found is None:
            found = self._owned[key] = list(self._find_owned(file, *owner))
        return found

    def _find_owned(self, file: SourceFile, scope: int, text: str) -> Iterator[tuple[SourceFile, Change]]:
        kind = file.scopes[scope].kind
        for change in self.changes(file, text):
            if (
                change.scope == scope
                or (kind == "class" and file.enclosing_class(change.scope) == scope)
                or (scope == 0 and kind == "module" and not self._shadowed(file, change.scope, text))
            ):
                yield file, change
        for below in self.world.hierarchy.subclasses(Class(file, scope)) if kind == "class" else ():
            for change in self.changes(below.file, text):
                if below.file.enclosing_class(change.scope) == below.scope:
                    yield below.file, change

    @staticmethod
    def changed_at(file: SourceFile, change: Change, site: Site) -> Site:
        """Where a change of a container that was written at `site` is evaluated."""
        same = file is site.file and change.scope == site.scope
        return Site(file, change.scope, change.region, change.at, site.frame if same else None)

    @staticmethod
    def _shadowed(file: SourceFile, scope: int, name: str) -> bool:
        while scope > 0:
            if name in file.bindings(scope):
                return True
            scope = file.scopes[scope].parent
        return False

    # Lookup by key

    def lookup(self, expr: Expr, site: Site, key: object) -> Found | None:
        """What `expr[key]` (or the attribute `key` of a namespace) is, later changes in the same function included.
        None where `expr` is not known to be a container."""
        groups: list[Values] = []
        written = False
        text = render(expr, site.file, 200) if isinstance(expr, (Name, Attribute, Subscript)) else ""
        local = [change for change in self.changes(site.file, text) if change.scope == site.scope] if text else []
        here = self.world.symbols.atoms(site.file, site.scope, site.region)
        for change in sorted(local, key=lambda item: item.at, reverse=True):
            if site.at != (0, 0) and change.at >= site.at:
                continue
            if here and contradict(here, self.world.symbols.atoms(site.file, site.scope, change.region)):
                continue
            where = Site(site.file, change.scope, change.region, change.at, site.frame)
            found = self._changed(change, where, key)
            if found is None:
                continue
            groups.append(found.values)
            written = written or found.named
            if change.kind != "default" and not found.absent and site.file.encloses(change.region, site.region):
                return Found(union(groups), False)
        absent = False
        values = self.world.values.evaluate(expr, site)
        seen = False
        for value in values:
            found = self.in_value(value, key, skip=(site.file.path, site.scope, text))
            if found is not None:
                seen = True
                groups.append(found.values)
                absent = absent or found.absent
                written = written or found.named
            elif isinstance(value, Const) and value.value is None:
                absent = True
        if not seen and not groups:
            return None
        return Found(union(groups), absent or not seen, written)

    def _changed(self, change: Change, where: Site, key: object, owner: tuple[int, str] | None = None) -> Found | None:
        """What a change puts under the key; None where it does not concern the key."""
        if change.kind in ("set", "default"):
            if isinstance(change.key, Constant) and change.key.value != key:
                return None
            if isinstance(change.key, str) and change.key != key:
                return None
            keys: Values
            if isinstance(change.key, str):
                keys = (const(change.key),)
            elif change.key is None:
                return None
            else:
                keys = self.world.values.evaluate(change.key, where)
            if any(isinstance(value, Const) and value.value == key for value in keys):
                values = self.world.values.evaluate(change.value, where)
                if isinstance(change.key, str) and owner is not None:
                    values = self.world.values.owned(values, change.value, where, (owner[0], f"{owner[1]}.{key}"))
                return Found(values, len(keys) > 1, True)
            if any(not isinstance(value, Const) for value in keys) and not isinstance(key, str):
                return Found(self.world.values.evaluate(change.value, where), True)
            return None
        if change.kind == "merge" and change.value is not None:
            found = self.lookup(change.value, where, key)
            return found if found is not None and found.values else None
        return None

    def in_value(self, value: Value, key: object, skip: tuple[str, int, str] | None = None) -> Found | None:
        """What is under the key in one container; None where the value is none."""
        if isinstance(value, Unknown):
            return OPAQUE
        if not isinstance(value, (Mapping, Keywords, Parsed, Data, Display)):
            return None
        return self.world.memory.remember(
            self._found, (value, key, skip), lambda: self._in_value(value, key, skip), None
        )

    def _in_value(self, value: Value, key: object, skip: tuple[str, int, str] | None) -> Found | None:
        if isinstance(value, Mapping):
            return self._in_mapping(value, key, skip)
        if isinstance(value, Keywords):
            return self._in_keywords(value, key)
        if isinstance(value, Parsed) and isinstance(key, str):
            return self.world.knowledge.in_parsed(value, key)
        if isinstance(value, Data):
            return self.world.knowledge.in_data(value, key)
        if isinstance(value, Display) and isinstance(key, int):
            return Found(self.item(value, const(key)), False)
        return None

    def dict_like(self, cls: Class) -> bool:
        """Whether objects of a class of the project are dicts, or namespaces that are made like one, and hold no data
        of their own: those that define `__getitem__` or `__init__` may do anything."""
        found = self._dict_classes.get(cls.key)
        if found is None:
            hierarchy, knowledge = self.world.hierarchy, self.world.knowledge
            found = any(
                knowledge.canonical(name) in knowledge.dict_classes for name in hierarchy.externals(cls)
            ) and all(hierarchy.method(cls, name) is None for name in ("__init__", "__getitem__"))
            self._dict_classes[cls.key] = found
        return found

    def _in_mapping(self, value: Mapping, key: object, skip: tuple[str, int, str] | None) -> Found:
        site = value.written.site
        groups: list[Values] = []
        written = False
        if value.owner is not None and (site.file.path, *value.owner) != skip:
            for file, change in self.owned_changes(site.file, value.owner):
                where = self.changed_at(file, change, site)
                found = self._changed(change, where, key, value.owner)
                if found is not None:
                    groups.append(found.values)
                    written = written or found.named
                    if change.kind == "set" and change.region == 0 and where[:2] == site[:2] and not found.absent:
                        groups = [found.values]
        base = self._written(value, key)
        groups.append(base.values)
        return Found(union(groups), base.absent and not any(groups[:-1]), written or base.named)

    def _written(self, value: Mapping, key: object) -> Found:
        expr, site = value.written.expr, value.written.site
        if isinstance(expr, Dict):
            groups: list[Values] = []
            written = False
            for entry_key, entry in reversed(expr.items):
                if entry_key is None:
                    found = self.lookup(entry, site, key)
                    if found is None:
                        continue
                    groups.append(found.values)
                    written = written or found.named
                    if not found.absent:
                        return Found(union(groups), False)
                    continue
                keys = self.world.values.evaluate(entry_key, site)
                if any(one == key or (isinstance(one, Const) and one.value == key) for one in keys):
                    groups.append(self.world.values.evaluate(entry, site))
                    written = True
                    if len(keys) == 1:
                        return Found(union(groups), False)
            return Found(union(groups), True, written)
        if isinstance(expr, CallRef):
            actuals = self.world.actuals(site.file, expr.index, site.frame)
            return self.from_unpacked(Actuals([], actuals.keywords, [], actuals.mappings + actuals.positional), key)
        if isinstance(expr, Comprehension) and expr.key is not None:
            return self._made_by_comprehension(expr, site, key)
        return OPAQUE

    def _made_by_comprehension(self, expr: Comprehension, site: Site, key: object) -> Found:
        copied = _copied(expr, site.file)
        if copied is not None:
            found = self.lookup(copied, site, key) or OPAQUE
            return Found(found.values, found.absent or bool(expr.clauses[0].ifs), found.named)
        inside = self._inside(expr, site)
        keys = self.world.values.evaluate(expr.key, inside)
        known = all(isinstance(one, Const) for one in keys)
        if known and not any(isinstance(one, Const) and one.value == key for one in keys):
            return ABSENT
        return Found(self.world.values.evaluate(expr.element, inside), not known)

    @staticmethod
    def _inside(comprehension: Comprehension, site: Site) -> Site:
        """Where the element of a comprehension is evaluated, whose targets hold there alone."""
        return site._replace(region=site.file.inside(comprehension, site.at, site.region))

    def _in_keywords(self, value: Keywords, key: object) -> Found:
        function = value.function
        frames = (
            [value.frame]
            if value.frame is not None and value.frame.actuals is not None
            else [caller.frame for caller in self.world.calls.callers(function)]
        )
        params = {
            param.name for param in function.file.scopes[function.scope].params if param.kind in ("normal", "keyword")
        }
        if key in params:
            return ABSENT
        if not frames:
            return OPAQUE
        groups: list[Values] = []
        absent = written = False
        for frame in frames:
            if frame.actuals is None:
                return OPAQUE
            found = self.from_unpacked(frame.actuals, key)
            groups.append(found.values)
            absent = absent or found.absent
            written = written or found.named
        return Found(union(groups), absent, written)

    def from_unpacked(self, actuals: Actuals, key: object) -> Found:
        """What the keyword arguments of a call, unpacked mappings included, hold under the key."""
        if isinstance(key, str) and key in actuals.keywords:
            actual = actuals.keywords[key]
            if actual.expr is not None and actual.site is not None:
                return Found(self.world.values.evaluate(actual.expr, actual.site), False)
        groups: list[Values] = []
        written = False
        for actual in reversed(actuals.mappings):
            if actual.expr is None or actual.site is None:
                return OPAQUE
            found = self.lookup(actual.expr, actual.site, key)
            if found is None:
                found = OPAQUE
            groups.append(found.values)
            written = written or found.named
            if not found.absent:
                return Found(union(groups), False)
        if actuals.under is not None:
            found = self.from_unpacked(actuals.under, key)
            return Found(union([*groups, found.values]), found.absent, written or found.named)
        return Found(union(groups), True, written)

    # Items and elements

    def item(self, value: Value, key: Value) -> Values:
        """The values of `value[key]`; of any item where the key is not known."""
        if isinstance(value, Unknown):
            return (UNKNOWN,)
        if isinstance(key, Const):
            if isinstance(value, Parsed) and isinstance(key.value, int):
                return (value,)
            if (
                isinstance(value, Display)
                and isinstance(key.value, int)
                and isinstance(value.written.expr, (Tuple, List))
            ):
                elements = value.written.expr.elements
                if -len(elements) <= key.value < len(elements) and not any(isinstance(e, Starred) for e in elements):
                    return self.world.values.evaluate(elements[key.value], value.written.site)
                return self.elements(value)
            found = self.in_value(value, key.value)
            if found is not None:
                return found.values or (UNKNOWN,)
        if isinstance(value, Display):
            return self.elements(value)
        if isinstance(value, Mapping):
            return self.all_values(value) or (UNKNOWN,)
        if isinstance(value, Instance) and isinstance(value.of, External):
            if self.world.knowledge.canonical(value.of.name) in self.world.knowledge.same_items:
                return (value,)
            if isinstance(key, Const) and isinstance(key.value, int) and not value.of.name.endswith("[]"):
                part = f"{self.world.knowledge.canonical(value.of.name)}[{key.value}]"
                if part in self.world.knowledge.new_storage:
                    return (Instance(External(part), value.file, value.call, value.frame),)
                return (UNKNOWN,)
            mark = "[:]" if isinstance(key, Display) else "[]"
            return (Instance(External(value.of.name + mark), value.file, value.call, value.frame),)
        if isinstance(value, Instance) and isinstance(value.of, Class):
            return self.world.objects.call_method(value, "__getitem__")
        return (UNKNOWN,)

    def all_values(self, value: Mapping) -> Values:
        """The values under any key."""
        return self.world.memory.remember(self._every_value, value, lambda: self._all_values(value), ())

    def _all_values(self, value: Mapping) -> Values:
        expr, site = value.written.expr, value.written.site
        groups: list[Values] = []
        if isinstance(expr, Dict):
            for key, entry in expr.items:
                groups.extend(
                    self.all_values(one) if key is None and isinstance(one, Mapping) else (one,)
                    for one in self.world.values.evaluate(entry, site)
                )
        elif isinstance(expr, CallRef):
            actuals = self.world.actuals(site.file, expr.index, site.frame)
            groups.extend(
                self.world.values.evaluate(actual.expr, actual.site)
                for actual in actuals.keywords.values()
                if actual.site is not None
            )
            groups.extend(
                self._merged(actual.expr, actual.site)
                for actual in (*actuals.positional[:1], *actuals.mappings)
                if actual.expr is not None and actual.site is not None
            )
        elif isinstance(expr, Comprehension) and expr.key is not None:
            groups.append(self.world.values.evaluate(expr.element, self._inside(expr, site)))
        for file, change in self.owned_changes(site.file, value.owner):
            where = Site(file, change.scope, change.region, change.at, None)
            if change.kind in ("set", "default"):
                groups.append(self.world.values.evaluate(change.value, where))
            elif change.kind == "merge" and change.value is not None:
                groups.append(self._merged(change.value, where))
        return union(groups, limits.ITEMS)

    def _merged(self, expr: Expr, site: Site) -> Values:
        """The values under any key that another dict, or a sequence of pairs, hands over."""
        groups: list[Values] = []
        parts = summands(expr)
        if len(parts) > 1:
            return union((self._merged(part, site) for part in parts), limits.ITEMS)
        for value in self.world.values.evaluate(expr, site):
            if isinstance(value, Mapping):
                groups.append(self.all_values(value))
            elif isinstance(value, Display):
                groups.extend(self.item(pair, const(1)) for pair in self.elements(value))
            else:
                groups.append(iterating.part(self.world, Element(expr), 1, site) or (UNKNOWN,))
        return union(groups, limits.ITEMS)

    def elements(self, value: Value) -> Values:
        """The values that iterating `value` gives."""
        if not isinstance(value, Display):
            return (UNKNOWN,)
        return self.world.memory.remember(self._every_element, value, lambda: self._elements(value), ())

    def _elements(self, value: Display) -> Values:
        expr, site = value.written.expr, value.written.site
        groups: list[Values] = []
        if isinstance(expr, Comprehension):
            groups.append(self.world.values.evaluate(expr.key or expr.element, self._inside(expr, site)))
        elif isinstance(expr, (List, Tuple, Set)):
            for element in expr.elements:
                if isinstance(element, Starred):
                    groups.extend(self.elements(one) for one in self.world.values.evaluate(element.value, site))
                else:
                    groups.append(self.world.values.evaluate(element, site))
        for file, change in self.owned_changes(site.file, value.owner):
            where = self.changed_at(file, change, site)
            if change.kind == "add":
                groups.append(self.world.values.evaluate(change.value, where))
            elif change.kind == "extend" and change.value is not None:
                groups.extend(
                    self.elements(one)
                    for one in self.world.values.evaluate(change.value, where)
                    if isinstance(one, Display)
                )
        return union(groups, limits.ITEMS)


def _copied(expr: Comprehension, file: SourceFile) -> Expr | None:
    """What a comprehension copies by entries: `options` of `{key: value for key, value in options.items() if …}`."""
    (target, iterable, _), *more = expr.clauses
    if more or target != Tuple((expr.key or Opaque(), expr.element)) or not isinstance(iterable, CallRef):
        return None
    func = file.calls[iterable.index].func
    return func.value if isinstance(func, Attribute) and func.attr == "items" else None
