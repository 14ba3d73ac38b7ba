"""Dicts, lists and keyword arguments: the value under a key, with later mutations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dllint.facts.nodes import (
    Attribute,
    CallRef,
    Comprehension,
    Dict,
    Opaque,
    Tuple,
)
from dllint.facts.schema import Expr
from dllint.inference import enumerations, fields, generators
from dllint.inference.all_entries import AllEntries, inside
from dllint.inference.answers import Table
from dllint.inference.changes import CONTAINERS, Changes
from dllint.inference.default_factories import DefaultFactories
from dllint.inference.dict_objects import DictObjects
from dllint.inference.earlier_changes import EarlierChanges
from dllint.inference.entries import ABSENT, FILLING, OPAQUE, Change, Found
from dllint.inference.folding import is_member
from dllint.inference.interface import Engine
from dllint.inference.iteration import is_iterator, is_mapped, mapped, of_iterator
from dllint.inference.layers import layered
from dllint.inference.sequences import Sequences
from dllint.inference.unions import union
from dllint.inference.values import (
    COLUMN_MARK,
    PICK_MARK,
    UNKNOWN,
    Actual,
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
    Partial,
    Pattern,
    Site,
    Unknown,
    Value,
    Values,
    Written,
    const,
)
from dllint.inference.written_changes import is_other
from dllint.linking.source import SourceFile

_MISSING = (const("???"),)
"""What stands for an entry that another layer has to give (OmegaConf, "Mandatory values")."""


class Mappings:
    """Lookup in containers."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self.changes = Changes(world)
        self.lists = Sequences(world, self.changes)
        self.earlier = EarlierChanges(world, self.changes)
        self.defaults = DefaultFactories(world, self.changes)
        self.objects = DictObjects(world, self.changes)
        self.entries = AllEntries(world, self.changes, self.defaults)
        self._dict_classes: dict[tuple[str, int], bool] = {}
        self._found: Table[Found | None] = {}
        self._iterated: Table[Values | None] = {}
        self._looked_up: Table[Found | None] = {}

    # Changes

    def history(self, value: Display | Mapping) -> list[Change]:
        """Return the mutations that have filled a container, or the containers that it is a copy of."""
        found = [change for change in self.changes.of(value) if change.kind in FILLING]
        if isinstance(value, Mapping):
            return found + (self.history(replace(value, made=None)) if value.made is not None else [])
        return found + [change for part in value.parts for change in self.history(part)]

    @staticmethod
    def changed_at(change: Change, value: Display | Mapping) -> Site:
        """Return the site where a mutation of a container is evaluated."""
        site = value.written.site
        same = change.file is site.file and change.scope == site.scope
        return change.site(site.frame if same else None)

    def changes_in(self, file: SourceFile) -> list[Change]:
        """The changes of containers that are written in a file."""
        return self.changes.in_file(file)

    def is_overlaid(self, file: SourceFile, call: int) -> bool:
        """Whether the program puts entries under names that nothing tells into what a call returns."""
        return self.changes.is_overlaid(file, call)

    def changes_of(self, value: Value) -> Iterator[tuple[Change, Site]]:
        """Yield the mutations of a container, anywhere in the project, each with the site where it is evaluated."""
        for change in self.changes.of(value):
            for where in self.changes.runs(change, value):
                yield change, where

    def fillings(self, value: Display | Mapping) -> Iterator[tuple[Change, Site]]:
        """Yield the mutations that have filled a container, or those that it is a copy of, each with its site."""
        for change in self.history(value):
            for where in self.changes.runs(change, value) or [self.changed_at(change, value)]:
                yield change, where

    def slots(self, value: Display) -> list[tuple[Expr, Site]] | None:
        """Return all elements of a sequence in order; None if unknown."""
        return self.lists.slots(value)

    def length(self, values: Values) -> int | None:
        """Return the length that all of the sequences share; None if unknown."""
        return self.lists.length(values)

    def local_changes(self, expr: Expr, site: Site, key: object, values: Values) -> list[tuple[Change, Site, bool]]:
        return self.earlier.changes(expr, site, key, values)

    # Lookup by key

    def lookup(self, expr: Expr, site: Site, key: object) -> Found | None:
        """Look up `expr[key]` (or the attribute `key` of a namespace), including later mutations in the same function.

        None if `expr` is not known to be a container.
        """
        # A value computed from itself, such as a running sum, would otherwise be looked up again and again.
        return self.world.memory.remember(
            self._looked_up, (expr, site, key), lambda: self._lookup(expr, site, key), Found((), False)
        )

    def _lookup(self, expr: Expr, site: Site, key: object) -> Found | None:
        values = self.world.values.evaluate(expr, site)
        if isinstance(key, int) and values and all(isinstance(value, Display) for value in values):
            each = (self.lists.item(value, const(key), site) for value in values if isinstance(value, Display))
            return Found(union(each), False)
        groups: list[Values] = []
        defaults: list[Values] = []
        absent = written = False
        for change, where, sure in self.local_changes(expr, site, key, values):
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
        others: list[Value] = []
        for value in values:
            found = self.in_value(value, key, (site.file.path, site.scope))
            if found is not None:
                seen = True
                groups.append(found.values)
                absent = absent or found.absent
                written = written or found.named
            elif isinstance(value, Const) and value.value is None:
                absent = True
            elif groups or defaults or (isinstance(value, Instance) and isinstance(value.of, External)):
                others.append(value)
        if not seen and not groups and not defaults:
            return None
        # Where one value is a container, what a library returned is one as well: `yaml.safe_load(file) or {}`.
        groups += (self.item(value, const(key)) for value in others)
        return _defaulted(Found(union(groups), absent or not seen, written), defaults)

    def _changed(self, change: Change, where: Site, key: object) -> Found | None:
        """Return the values that a mutation puts under the key; None if it does not affect the key."""
        if change.kind in ("set", "default", "remove"):
            if is_other(change.key, key):
                return None
            keys = self.changes.keys(change, where)
            if not any(_may_equal(one, key) for one in keys):
                return None
            named = any(_equals(one, key) for one in keys)
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

    def _merged_under(self, expr: Expr, site: Site, key: object) -> Found:
        """Return the values that another mapping, or pairs, contribute under the key."""
        found = self.lookup(expr, site, key)
        if found is not None:
            return found
        pairs = self.lists.pairs(expr, site)
        if pairs is None:
            return self._under_any(expr, site, key)
        plain = ((enumerations.plain(self.world, keys), values) for keys, values in pairs)
        fitting = [(values, len(keys) == 1) for keys, values in plain if any(_may_equal(one, key) for one in keys)]
        sure = next((number for number, (_, alone) in enumerate(reversed(fitting)) if alone), None)
        counted = fitting if sure is None else fitting[len(fitting) - 1 - sure :]
        return Found(union(values for values, _ in counted), sure is None, bool(fitting))

    def _under_any(self, expr: Expr, site: Site, key: object) -> Found:
        """Like `_merged_under`, for pairs of unknown number and order: `((kind, Rows(kind)) for kind in kinds)`."""
        values = self.entries.merged(expr, site, keys=False)
        if all(isinstance(one, Unknown) for one in values):
            return OPAQUE
        keys = enumerations.plain(self.world, self.entries.merged(expr, site, keys=True))
        return Found(values, True) if any(_may_equal(one, key) for one in keys) else OPAQUE

    def in_value(self, value: Value, key: object, reader: tuple[str, int] | None = None) -> Found | None:
        """Look up the key in one container; None if the value is not a container.

        `reader` is the function that contains the query: its own mutations are applied in order elsewhere.
        """
        if isinstance(value, Unknown):
            return Found((value,), True)
        if isinstance(value, Partial):
            return self.from_unpacked(self.world.made_with(value), key)
        if not isinstance(value, CONTAINERS):
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
        """Look up the key without any mutations."""
        if isinstance(value, Mapping):
            return self._written(value, key) if value.made is None else self._original(value.made, key)
        if isinstance(value, Keywords):
            return self._in_keywords(value, key)
        if isinstance(value, Parsed):
            return self.world.knowledge.in_parsed(value, str(key))
        return self.world.knowledge.in_data(value, key) if isinstance(value, Data) else OPAQUE

    def dict_like(self, cls: Class) -> bool:
        """Whether objects of a project class are plain dicts or namespaces. Classes that define `__getitem__` or
        `__init__` are excluded, as these may do anything, and those whose methods fill the object."""
        found = self._dict_classes.get(cls.key)
        if found is None:
            hierarchy, knowledge = self.world.hierarchy, self.world.knowledge
            found = any(
                knowledge.canonical(name) in knowledge.dict_classes for name in hierarchy.externals(cls)
            ) and all(hierarchy.method(cls, name) is None for name in ("__init__", "__getitem__"))
            found = found and not self.objects.fills_itself(cls)
            self._dict_classes[cls.key] = found
        return found

    def _original(self, made: Written, key: object) -> Found:
        """Look up the key in the original that `made` copies."""
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
                keys = enumerations.plain(self.world, self.world.values.evaluate(entry_key, site))
                if not any(_may_equal(one, key) for one in keys):
                    continue
                groups.append(self.world.values.evaluate(entry, site))
                if any(_equals(one, key) for one in keys):
                    written = True
                    if len(keys) == 1:
                        return Found(union(groups), False)
            return Found(union(groups), True, written)
        if isinstance(expr, CallRef):
            actuals = self.world.actuals(site.file, expr.index, site.frame)
            if value.layered:
                return layered(actuals.positional, lambda one: self._in_layer(one, key), _MISSING)
            return self.from_unpacked(Actuals([], actuals.keywords, [], actuals.positional + actuals.mappings), key)
        if isinstance(expr, Comprehension) and expr.key is not None:
            return self._made_by_comprehension(expr, site, key)
        return OPAQUE

    def _in_layer(self, actual: Actual, key: object) -> Found | None:
        return None if actual.expr is None or actual.site is None else self.lookup(actual.expr, actual.site, key)

    def _made_by_comprehension(self, expr: Comprehension, site: Site, key: object) -> Found:
        copied = _copied(expr, site.file)
        if copied is not None:
            found = self.lookup(copied, site, key) or OPAQUE
            return Found(found.values, found.absent or bool(expr.clauses[0].ifs), found.named)
        within = inside(expr, site)
        keys = enumerations.plain(self.world, self.world.values.evaluate(expr.key, within))
        known = all(isinstance(one, Const) or is_member(one) for one in keys)
        if known and not any(_equals(one, key) for one in keys):
            return ABSENT
        return Found(self.world.values.evaluate(expr.element, within), not known)

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
        """Look up the key in the keyword arguments of a call, including unpacked mappings."""
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
            described = self.world.knowledge.made_of if actual.described else None
            groups.append(described(found.values, actual.site.file) if described is not None else found.values)
            written = written or found.named
            if not found.absent:
                return Found(union(groups), False)
        if actuals.under is not None:
            found = self.from_unpacked(actuals.under, key)
            return Found(union([*groups, found.values]), found.absent, written or found.named)
        return Found(union(groups), True, written)

    # Items and elements

    def item(self, value: Value, key: Value) -> Values:
        """Return the values of `value[key]`; of any item if the key is unknown."""
        if isinstance(value, Unknown):
            return (value,)
        if isinstance(key, Const):
            if isinstance(value, Parsed) and isinstance(key.value, int):
                return (value,)
            if isinstance(value, Display):
                return self.lists.item(value, key)
            if isinstance(value, Const) and isinstance(value.value, tuple):
                # `path.parents[1]`
                at = value.value[key.value : key.value + 1] if isinstance(key.value, int) else ()
                return (const(at[0]),) if at else (UNKNOWN,)
        if isinstance(key, Const) or is_member(key):
            found = self.in_value(value, key.value if isinstance(key, Const) else key)
            if found is not None:
                return found.values or (UNKNOWN,)
        if isinstance(value, Display):
            return self.lists.elements(value)
        if isinstance(value, Mapping):
            return self.all_values(value) or (UNKNOWN,)
        single = isinstance(key, Const) and isinstance(key.value, int)
        if isinstance(value, Instance) and not single and self.world.knowledge.gives_subsets(value):
            return (value, UNKNOWN) if isinstance(key, Unknown) else (value,)
        if isinstance(value, Instance) and isinstance(value.of, External):
            if self.defaults.is_one(value) and (made := self.defaults.values(value)):
                return made
            if self.world.knowledge.canonical(value.of.name) in self.world.knowledge.same_items:
                return (value,)
            if is_mapped(value) and (made := mapped(self.world, value)):
                return made
            if isinstance(key, Const) and isinstance(key.value, int) and not value.of.name.endswith("[]"):
                part = f"{self.world.knowledge.canonical(value.of.name)}[{key.value}]"
                if part in self.world.knowledge.known_parts:
                    return (Instance(External(part), value.file, value.call, value.frame),)
                if not self.world.knowledge.reads(value.of.name):
                    return (UNKNOWN,)
            mark = PICK_MARK if isinstance(key, Display) else "[]"
            if isinstance(key, Const) and self.world.knowledge.is_table(value.of.name):
                mark += COLUMN_MARK
            return (Instance(External(value.of.name + mark), value.file, value.call, value.frame),)
        if isinstance(value, Instance) and isinstance(value.of, Class):
            number = key.value if isinstance(key, Const) and isinstance(key.value, int) else None
            item = fields.at(self.world, value, number) if number is not None else ()
            if not item and self.objects.is_one(value):
                item = self.objects.under(value, key)
            return item or self.world.objects.call_method(value, "__getitem__")
        return (UNKNOWN,)

    def keys_apart(self, value: Value, keys: Values) -> Values:
        """Return the keys that `item` may tell apart: of those that give the same item of an object, only the first.

        An expression with many values as its base and as its index would otherwise ask for each pair of them.
        """
        if not isinstance(value, Instance) or self.objects.is_one(value):
            return keys
        outside = isinstance(value.of, External)
        kinds: dict[object, Value] = {}
        for key in keys:
            if isinstance(key, Const) and (outside or isinstance(key.value, int)):
                kinds.setdefault(key, key)
            else:
                kinds.setdefault(type(key) if isinstance(key, (Unknown, Display)) else None, key)
        return tuple(kinds.values())

    def all_values(self, value: Mapping) -> Values:
        """Return the values under any key."""
        return self.entries.values(value)

    def values_of(self, value: Value) -> Values | None:
        """Return the values under any key of a dict, including a defaultdict; None for anything else."""
        if isinstance(value, Mapping):
            return self.all_values(value)
        if isinstance(value, Instance) and self.objects.is_one(value):
            return self.objects.values(value)
        return self.defaults.values(value) if isinstance(value, Instance) and self.defaults.is_one(value) else None

    def all_keys(self, value: Mapping) -> Values:
        """Return the keys."""
        return self.entries.keys(value)

    def flattened(self, value: Value) -> Values:
        """Return the value itself, or the contents of a container and of containers inside it."""
        return self.entries.flattened(value)

    def elements(self, value: Value) -> Values:
        """Return the elements that iterating `value` yields."""
        if isinstance(value, Mapping):
            return self.all_keys(value) or (UNKNOWN,)
        if isinstance(value, Instance):
            if (named := self.world.named_tuples.view(value)) is not None:
                return self.lists.elements(named)
            if self.objects.is_one(value):
                return self.objects.keys(value) or (UNKNOWN,)
            if isinstance(value.of, Class):
                of_object = self.world.memory.remember(
                    self._iterated, value, lambda: generators.of_object(self.world, value), ()
                )
                return of_object or (UNKNOWN,)
            given = generators.elements(self.world, value) or mapped(self.world, value) or None
            if not given and is_iterator(self.world, value):
                # A loop can wrap an iterator in itself: `rows = filter(keep, rows)`.
                given = self.world.memory.remember(self._iterated, value, lambda: of_iterator(self.world, value), ())
                if given is not None:
                    return given
            if given is None and isinstance(value.of, External) and self.world.knowledge.reads(value.of.name):
                return (Instance(External(f"{value.of.name}[]"), value.file, value.call, value.frame),)
            return given or (UNKNOWN,)
        return self.lists.elements(value) if isinstance(value, Display) else (UNKNOWN,)


def _may_equal(value: Value, key: object) -> bool:
    """Whether a value may equal a key, which is a constant or a member of an enumeration."""
    if is_member(value):
        return value == key
    if isinstance(value, Const):
        return bool(value.value == key)
    if isinstance(value, Pattern):
        return isinstance(key, str) and value.fits(key)
    return isinstance(value, (Unknown, External, Instance))


def _equals(value: Value, key: object) -> bool:
    """Whether a value certainly equals a key."""
    return value.value == key if isinstance(value, Const) else is_member(value) and value == key


def _defaulted(found: Found, defaults: list[Values]) -> Found:
    """Add the defaults of `setdefault` if the key may be missing."""
    if not defaults or not found.absent:
        return found
    return Found(union([found.values, *defaults]), False, found.written)


def _is_default(value: Value, reader: tuple[str, int] | None) -> bool:
    """Whether a container is a parameter's default, so that mutations persist between calls."""
    if not isinstance(value, Mapping) or reader is None:
        return False
    file = value.written.site.file
    params = file.scopes[reader[1]].params if file.path == reader[0] else []
    return any(param.default is value.written.expr for param in params)


def _at_once(change: Change, value: Mapping) -> bool:
    """Whether a mutation certainly follows in the scope that creates a container."""
    site = value.written.site
    return change.region == 0 and change.file is site.file and change.scope == site.scope


def _copied(expr: Comprehension, file: SourceFile) -> Expr | None:
    """Return the mapping whose entries a comprehension copies: `options` in `{key: value for key, value in
    options.items() if …}`."""
    (target, iterable, _), *more = expr.clauses
    if more or target != Tuple((expr.key or Opaque(), expr.element)) or not isinstance(iterable, CallRef):
        return None
    func = file.calls[iterable.index].func
    return func.value if isinstance(func, Attribute) and func.attr == "items" else None
