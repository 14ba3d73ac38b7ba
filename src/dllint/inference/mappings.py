"""Dicts, lists and keyword arguments: what is under a key, with later changes taken into account."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dllint.facts.nodes import (
    Attribute,
    CallRef,
    Comprehension,
    Dict,
    Element,
    Name,
    Opaque,
    Slice,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Expr
from dllint.inference import iteration as iterating
from dllint.inference import limits
from dllint.inference.changes import Changes, identity, is_other
from dllint.inference.entries import ABSENT, FILLING, OPAQUE, Change, Found
from dllint.inference.interface import Engine, Table
from dllint.inference.sequences import Sequences
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
    Pattern,
    Site,
    Unknown,
    Value,
    Values,
    Written,
    const,
)
from dllint.linking.conditions import contradict
from dllint.linking.expressions import summands
from dllint.linking.source import SourceFile


class Mappings:
    """Lookup in containers."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self.changes = Changes(world)
        self.lists = Sequences(world, self.changes)
        self._dict_classes: dict[tuple[str, int], bool] = {}
        self._found: Table[Found | None] = {}
        self._every_value: Table[Values] = {}
        self._every_key: Table[Values] = {}

    # Changes

    def history(self, value: Display | Mapping) -> list[Change]:
        """What has filled a container, or the ones that it is a copy of."""
        found = [change for change in self.changes.of(value) if change.kind in FILLING]
        if isinstance(value, Mapping):
            return found + (self.history(replace(value, made=None)) if value.made is not None else [])
        return found + [change for part in value.parts for change in self.history(part)]

    @staticmethod
    def changed_at(change: Change, value: Display | Mapping) -> Site:
        """Where a change of a container is evaluated."""
        site = value.written.site
        same = change.file is site.file and change.scope == site.scope
        return change.site(site.frame if same else None)

    def changes_of(self, value: Value) -> Iterator[tuple[Change, Site]]:
        """The changes of a container, wherever they are made, each with where it is evaluated."""
        for change in self.changes.of(value):
            for where in self.changes.runs(change, value):
                yield change, where

    def slots(self, value: Display) -> list[tuple[Expr, Site]] | None:
        """All elements of a sequence in their order, where that is known."""
        return self.lists.slots(value)

    def length(self, values: Values) -> int | None:
        """The one length that all of the sequences have; None where that is not known."""
        return self.lists.length(values)

    def local_changes(self, expr: Expr, site: Site, key: object) -> list[tuple[Change, Site, bool]]:
        """The changes under a key, in the same function and before a place, of what an expression stands for there, the
        latest first; each with where it is evaluated, and whether it is surely made, and of nothing else. Those of
        functions that the function calls are among them."""
        values = self.world.values.evaluate(expr, site)
        found: list[tuple[tuple[int, int], Change, Site, bool]] = []
        for change in self.changes.in_scope(site.file, site.scope):
            if is_other(change.key, key) or (change.kind == "set" and isinstance(change.key, Slice)):
                continue
            before = self._before(change.at, change.region, site)
            alone = self._changes_it(change, expr, values, site) if before is not None else None
            if alone is not None:
                found.append((change.at, change, change.site(site.frame), alone and bool(before)))
        for value in values:
            for change in self.changes.under(value, key) if isinstance(value, (Mapping, Parsed, Data)) else ():
                for where, call in self.changes.called_in(change, value, (site.file.path, site.scope)):
                    at = (call.statement.line, call.statement.column)
                    before = False if at == site.at else self._before(at, call.region, site)
                    if before is not None:
                        sure = before and not change.region
                        bases = self.world.values.evaluate(change.base, where) if sure else ()
                        found.append((at, change, where, self._is_one(values, bases, site)))
        found.sort(key=lambda one: one[0], reverse=True)
        return [(change, where, sure) for _, change, where, sure in found]

    def _before(self, at: tuple[int, int], region: int, site: Site) -> bool | None:
        """Whether what stands at a place of a function has happened when another is reached: True if surely, None if
        not."""
        early = site.at == (0, 0) or at < site.at
        if not early and not self.world.symbols.share_loop(site.file, region, site.region):
            return None
        here = self.world.symbols.atoms(site.file, site.scope, site.region)
        if here and contradict(here, self.world.symbols.atoms(site.file, site.scope, region)):
            return None
        return early and site.file.encloses(region, site.region)

    def _changes_it(self, change: Change, expr: Expr, values: Values, site: Site) -> bool | None:
        """Whether a change is one of what `expr` stands for: True if of nothing else, None if it is none."""
        where = change.site(site.frame)
        if change.base == expr:
            found, before = self._bindings(expr, site), self._bindings(expr, where)
            return found == before if not found or found & before else None
        if not any(self.changes.changes(change, value) for value in values if _is_container(value)):
            return None
        return self._is_one(values, self.world.values.evaluate(change.base, where), site)

    @staticmethod
    def _is_one(values: Values, bases: Values, reader: Site) -> bool:
        """Whether both are surely one container: one that the function itself makes, or one call makes for it."""
        if len(values) != 1 or len(bases) != 1 or identity(values[0]) != identity(bases[0]):
            return False
        made = identity(values[0])
        if isinstance(made, Written):
            return made.site.frame is not None or (made.site.file, made.site.scope) == (reader.file, reader.scope)
        if not isinstance(made, Parsed):
            return True
        return made.frame is not None or made.file.calls[made.call].scope == reader.scope

    def _bindings(self, expr: Expr, site: Site) -> set[int]:
        """What the first name of an expression is bound by."""
        while isinstance(expr, (Attribute, Subscript)):
            expr = expr.value
        if not isinstance(expr, Name):
            return set()
        return {id(binding) for binding, _ in self.world.symbols.lookup(expr.id, site)}

    # Lookup by key

    def lookup(self, expr: Expr, site: Site, key: object) -> Found | None:
        """What `expr[key]` (or the attribute `key` of a namespace) is, later changes in the same function included.
        None where `expr` is not known to be a container."""
        values = self.world.values.evaluate(expr, site)
        if isinstance(key, int) and values and all(isinstance(value, Display) for value in values):
            each = (self.lists.item(value, const(key), site) for value in values if isinstance(value, Display))
            return Found(union(each), False)
        groups: list[Values] = []
        defaults: list[Values] = []
        absent = written = False
        for change, where, sure in self.local_changes(expr, site, key):
            found = self._changed(change, where, key)
            if found is None:
                continue
            written = written or found.named
            if change.kind == "default":
                defaults.append(found.values)
                continue
            groups.append(found.values)
            if change.kind in ("remove", "clear"):
                absent = True
            if sure and (not found.absent or change.kind in ("remove", "clear")):
                return _defaulted(Found(union(groups), absent, written), defaults)
        seen = False
        for value in values:
            found = self.in_value(value, key, (site.file.path, site.scope))
            if found is not None:
                seen = True
                groups.append(found.values)
                absent = absent or found.absent
                written = written or found.named
            elif isinstance(value, Const) and value.value is None:
                absent = True
            elif groups or defaults:
                groups.append(self.item(value, const(key)))
        if not seen and not groups and not defaults:
            return None
        return _defaulted(Found(union(groups), absent or not seen, written), defaults)

    def _changed(self, change: Change, where: Site, key: object) -> Found | None:
        """What a change puts under the key; None where it does not concern the key."""
        if change.kind in ("set", "default", "remove"):
            if is_other(change.key, key):
                return None
            keys = self._keys(change, where)
            if not any(_may_equal(one, key) for one in keys):
                return None
            named = any(isinstance(one, Const) and one.value == key for one in keys)
            sure = named and len(keys) == 1
            if change.kind == "remove":
                return Found((), not sure)
            values = self.world.values.evaluate(change.value, where)
            return Found(values, not sure, named)
        if change.kind == "merge" and change.value is not None:
            found = self._merged_under(change.value, where, key)
            return found if found.values else None
        if change.kind == "clear":
            return ABSENT
        return OPAQUE if change.kind == "opaque" else None

    def _keys(self, change: Change, where: Site) -> Values:
        if change.key is None:
            return (UNKNOWN,)
        return (const(change.key),) if isinstance(change.key, str) else self.world.values.evaluate(change.key, where)

    def _merged_under(self, expr: Expr, site: Site, key: object) -> Found:
        """What another mapping, or pairs, hand over under the key."""
        found = self.lookup(expr, site, key)
        if found is not None:
            return found
        pairs = self.lists.pairs(expr, site)
        if pairs is None:
            return OPAQUE
        fitting = [(values, len(keys) == 1) for keys, values in pairs if any(_may_equal(one, key) for one in keys)]
        sure = next((number for number, (_, alone) in enumerate(reversed(fitting)) if alone), None)
        counted = fitting if sure is None else fitting[len(fitting) - 1 - sure :]
        return Found(union(values for values, _ in counted), sure is None, bool(fitting))

    def in_value(self, value: Value, key: object, reader: tuple[str, int] | None = None) -> Found | None:
        """What is under the key in one container; None where the value is none. `reader` is the function that asks:
        its own changes are looked at in their order."""
        if isinstance(value, Unknown):
            return OPAQUE
        if not _is_container(value):
            return None
        return self.world.memory.remember(
            self._found, (value, key, reader), lambda: self._in_value(value, key, reader), None
        )

    def _in_value(self, value: Value, key: object, reader: tuple[str, int] | None) -> Found | None:
        if isinstance(value, Display):
            return Found(self.lists.item(value, const(key)), False) if isinstance(key, int) else None
        if isinstance(value, Parsed) and not isinstance(key, str):
            return None
        found = self._content(value, key)
        groups: list[Values] = []
        defaults: list[Values] = []
        absent, written = found.absent, found.named
        for change in () if isinstance(value, Keywords) else self.changes.under(value, key):
            if (change.file.path, change.scope) == reader and not _is_default(value, reader):
                continue
            called = [where for where, _ in self.changes.called_in(change, value, reader)] if reader is not None else []
            for where in self.changes.runs(change, value):
                if where in called:
                    continue
                put = self._changed(change, where, key)
                if put is None:
                    continue
                written = written or put.named
                if change.kind in ("remove", "clear"):
                    absent = True
                else:
                    (defaults if change.kind == "default" else groups).append(put.values)
                    absent = absent and put.absent
                if isinstance(value, Mapping) and change.kind == "set" and not put.absent and _at_once(change, value):
                    groups, absent = [put.values], False
                    if reader is not None and reader[0] != change.file.path:
                        found = ABSENT
        return _defaulted(Found(union([*groups, found.values]), absent, written), defaults)

    def _content(self, value: Value, key: object) -> Found:
        """What is under the key without any changes."""
        if isinstance(value, Mapping):
            return self._written(value, key) if value.made is None else self._original(value.made, key)
        if isinstance(value, Keywords):
            return self._in_keywords(value, key)
        if isinstance(value, Parsed):
            return self.world.knowledge.in_parsed(value, str(key))
        return self.world.knowledge.in_data(value, key) if isinstance(value, Data) else OPAQUE

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

    def _original(self, made: Written, key: object) -> Found:
        """What is under the key where `made` copies a mapping."""
        assert isinstance(made.expr, CallRef)
        call = made.site.file.calls[made.expr.index]
        if call.args:
            copied: Expr = call.args[0].value
        else:
            assert isinstance(call.func, Attribute)
            copied = call.func.value
        return self.lookup(copied, made.site, key) or OPAQUE

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
                if not any(_may_equal(one, key) for one in keys):
                    continue
                groups.append(self.world.values.evaluate(entry, site))
                if any(isinstance(one, Const) and one.value == key for one in keys):
                    written = True
                    if len(keys) == 1:
                        return Found(union(groups), False)
            return Found(union(groups), True, written)
        if isinstance(expr, CallRef):
            actuals = self.world.actuals(site.file, expr.index, site.frame)
            return self.from_unpacked(Actuals([], actuals.keywords, [], actuals.positional + actuals.mappings), key)
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
            found = self._merged_under(actual.expr, actual.site, key)
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
            if isinstance(value, Display):
                return self.lists.item(value, key)
            found = self.in_value(value, key.value)
            if found is not None:
                return found.values or (UNKNOWN,)
        if isinstance(value, Display):
            return self.lists.elements(value)
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
        return self.world.memory.remember(self._every_value, value, lambda: self._all(value, keys=False), ())

    def all_keys(self, value: Mapping) -> Values:
        """The keys."""
        return self.world.memory.remember(self._every_key, value, lambda: self._all(value, keys=True), ())

    def _all(self, value: Mapping, keys: bool) -> Values:
        """All values, or all keys."""
        if value.made is not None:
            original = replace(value, made=None)
            groups = [self.all_keys(original) if keys else self.all_values(original)]
        else:
            groups = list(self._all_written(value, keys))
        for change, where in self.changes_of(value):
            if change.kind in ("set", "default"):
                groups.append(self._keys(change, where) if keys else self.world.values.evaluate(change.value, where))
            elif change.kind == "merge" and change.value is not None:
                groups.append(self._merged(change.value, where, keys))
        return union(groups, limits.ITEMS)

    def _all_written(self, value: Mapping, keys: bool) -> Iterator[Values]:
        expr, site = value.written.expr, value.written.site
        evaluate = self.world.values.evaluate
        if isinstance(expr, Dict):
            for key, entry in expr.items:
                one = key if keys else entry
                yield self._merged(entry, site, keys) if key is None else evaluate(one, site)
        elif isinstance(expr, CallRef):
            actuals = self.world.actuals(site.file, expr.index, site.frame)
            for name, actual in actuals.keywords.items():
                yield (const(name),) if keys else self.world.values.passed(actual)
            for actual in (*actuals.positional[:1], *actuals.mappings):
                if actual.expr is not None and actual.site is not None:
                    yield self._merged(actual.expr, actual.site, keys)
        elif isinstance(expr, Comprehension) and expr.key is not None:
            yield evaluate(expr.key if keys else expr.element, self._inside(expr, site))

    def _merged(self, expr: Expr, site: Site, keys: bool) -> Values:
        """The values under any key, or the keys, that another dict or a sequence of pairs hands over."""
        groups: list[Values] = []
        parts = summands(expr)
        if len(parts) > 1:
            return union((self._merged(part, site, keys) for part in parts), limits.ITEMS)
        for value in self.world.values.evaluate(expr, site):
            if isinstance(value, Mapping):
                groups.append(self.all_keys(value) if keys else self.all_values(value))
            elif isinstance(value, Display):
                groups.extend(self.item(pair, const(0 if keys else 1)) for pair in self.elements(value))
            else:
                groups.append(iterating.part(self.world, Element(expr), 0 if keys else 1, site) or (UNKNOWN,))
        return union(groups, limits.ITEMS)

    def elements(self, value: Value) -> Values:
        """The values that iterating `value` gives."""
        if isinstance(value, Mapping):
            return self.all_keys(value) or (UNKNOWN,)
        return self.lists.elements(value) if isinstance(value, Display) else (UNKNOWN,)


def _is_container(value: Value) -> bool:
    return isinstance(value, (Mapping, Keywords, Parsed, Data, Display))


def _may_equal(value: Value, key: object) -> bool:
    """Whether a value may be equal to a constant key."""
    if isinstance(value, Const):
        return bool(value.value == key)
    if isinstance(value, Pattern):
        return isinstance(key, str) and value.fits(key)
    return isinstance(value, (Unknown, External, Instance))


def _defaulted(found: Found, defaults: list[Values]) -> Found:
    """What is there with what `setdefault` puts there where nothing else is."""
    if not defaults or not found.absent:
        return found
    return Found(union([found.values, *defaults]), False, found.written)


def _is_default(value: Value, reader: tuple[str, int] | None) -> bool:
    """Whether a container is a parameter's default, so that each call finds what the one before has left."""
    if not isinstance(value, Mapping) or reader is None:
        return False
    file = value.written.site.file
    params = file.scopes[reader[1]].params if file.path == reader[0] else []
    return any(param.default is value.written.expr for param in params)


def _at_once(change: Change, value: Mapping) -> bool:
    """Whether a change surely follows in the scope that makes a container."""
    site = value.written.site
    return change.region == 0 and change.file is site.file and change.scope == site.scope


def _copied(expr: Comprehension, file: SourceFile) -> Expr | None:
    """What a comprehension copies by entries: `options` of `{key: value for key, value in options.items() if …}`."""
    (target, iterable, _), *more = expr.clauses
    if more or target != Tuple((expr.key or Opaque(), expr.element)) or not isinstance(iterable, CallRef):
        return None
    func = file.calls[iterable.index].func
    return func.value if isinstance(func, Attribute) and func.attr == "items" else None
