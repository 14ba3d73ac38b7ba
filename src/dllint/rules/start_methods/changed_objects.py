"""Objects of modules that the main program changes after the imports, while child processes read them as they were
imported: `opt.load(path)`, `opt.scale = args.scale`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.inference import limits
from dllint.inference.names import CONSTRUCTORS
from dllint.inference.values import Class, Function, Instance, Module, Site, Value
from dllint.linking.derivations import constructed_in
from dllint.linking.expressions import walk
from dllint.linking.implicit_calls import expressions
from dllint.linking.source import SourceFile, last_name
from dllint.rules.start_methods.changed_globals import ChangedGlobal, ChangedGlobals, Spot
from dllint.rules.start_methods.child_runs import Children, Run
from dllint.rules.start_methods.guarded_names import is_global
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_Key = tuple[str, int]
"""The path of a module and the call at its top level that makes an object."""
_Place = tuple[str, int]


class _Change(NamedTuple):
    """A statement that changes an object.

    Attributes:
        by: the functions that make the change: where the statement is, and the methods that it calls for it.
    """

    file: SourceFile
    scope: int
    region: int
    span: Span
    by: frozenset[_Place]


class ChangedObjects:
    """Finds the objects of modules whose changes child processes do not see, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._changes: dict[str | None, dict[_Key, list[_Change]]] = {}

    def of(self, children: Children) -> Iterator[ChangedGlobal]:
        """The changed objects that child processes read."""
        found: dict[_Key, tuple[str, Run, Span]] = {}
        places: dict[_Key, set[tuple[str, Span]]] = {}
        for run in children.runs if self._objects else ():
            for key, read, span in self._reads(run):
                changes = self._late(self._changes_of(key, read.attr), children)
                if changes:
                    found.setdefault(key, (f"{self._objects[key]}.{read.attr}", run, span))
                    places.setdefault(key, set()).update((one.file.path, one.span) for one in changes)
        for key, (name, run, read_at) in found.items():
            first, *others = ((self.world.files[path], span) for path, span in sorted(places[key]))
            yield ChangedGlobal(name, *first, run.file, read_at, run.hops, tuple(others))

    def _late(self, changes: list[_Change], children: Children) -> list[_Change]:
        """The changes that the program of the processes makes before they start, and that they do not see: none if the
        processes or the import change the object too."""
        globals_ = self.project.ask(ChangedGlobals)
        if any(one.by & children.own for one in changes):
            return []
        loaded = children.loaded
        here = [one for one in changes if one.file.path in loaded]
        if not all(globals_.only_in_the_program(one.file, one.scope, one.region, loaded) for one in here):
            return []
        return [
            one for one in here if globals_.made_above(Spot(one.file, one.scope, one.region, one.span.start), children)
        ]

    def _reads(self, run: Run) -> Iterator[tuple[_Key, Attribute, Span]]:
        """The attributes that a function reads of such objects and that may change, each with the first place."""
        file, scope = run.file, run.scope
        loaded = file.facts.loaded
        names = {name for name in self._settable if scope in loaded.get(name, ())}
        if not names and not any(scope in loaded.get(name, ()) for name in self._open_names):
            return
        for expr, span, region, _ in expressions(file, scope):
            for part in walk(expr, file):
                if not isinstance(part, Attribute) or not isinstance(part.value, (Name, Attribute)):
                    continue
                if part.attr not in names and last_name(part.value) not in self._open_names:
                    continue
                site = Site(file, scope, region, span.start, run.frame)
                if not self._is_global(part.value, site):
                    continue
                for value in self.world.values.evaluate(part.value, site):
                    key = _key(value)
                    if key in self._objects and not self._is_method(value, part.attr):
                        assert key is not None
                        yield key, part, span

    def _is_global(self, expr: Name | Attribute, site: Site) -> bool:
        """Whether an expression is a variable of a module. What a dataset keeps goes to its workers as it is."""
        if isinstance(expr, Name):
            return is_global(site.file, site.scope, expr.id)
        values = self.world.values.evaluate(expr.value, site)
        return bool(values) and all(isinstance(one, Module) for one in values)

    def _is_method(self, value: Value, attr: str) -> bool:
        assert isinstance(value, Instance) and isinstance(value.of, Class)
        return self.world.hierarchy.method(value.of, attr) is not None

    @cached_property
    def _settable(self) -> frozenset[str]:
        """The attributes that something sets on such objects, or their own methods."""
        lines = (self.world.hierarchy.line(cls) for cls in self._classes)
        owners = dict.fromkeys(one for line in lines for one in line if isinstance(one, Class))
        own = (attr for owner in owners for attr in self.world.stores.own_stores(owner))
        return self.world.stores.set_on_names.union(own)

    @cached_property
    def _open_names(self) -> frozenset[str]:
        """The variables with objects whose attributes may all change."""
        return self._with_aliases(self._objects[key] for key in self._changes_in(None))

    @cached_property
    def _names(self) -> frozenset[str]:
        """The variables with such objects."""
        return self._with_aliases(self._objects.values())

    def _with_aliases(self, names: Iterable[str]) -> frozenset[str]:
        """Names of variables, and those under which other files import them."""
        own = frozenset(names)
        return own.union(*(self.world.aliases(name) for name in sorted(own)))

    @cached_property
    def _objects(self) -> dict[_Key, str]:
        """The objects of the project's classes that the top level of a module makes, with their variables."""
        found: dict[_Key, str] = {}
        for file in self.world.files.values():
            for name, made in file.derived(constructed_in, 0):
                assert isinstance(made, CallRef)
                for value in self.world.values.evaluate(made, self.world.call_site(file, made.index, None)):
                    if _key(value) == (file.path, made.index):
                        found[file.path, made.index] = name
        return found

    @cached_property
    def _classes(self) -> tuple[Class, ...]:
        return tuple(dict.fromkeys(self._class_of(key) for key in self._objects))

    def _changes_of(self, key: _Key, attr: str) -> list[_Change]:
        """The changes of one attribute of an object."""
        return [*self._changes_in(attr).get(key, ()), *self._changes_in(None).get(key, ())]

    def _changes_in(self, attr: str | None) -> dict[_Key, list[_Change]]:
        """The changes of one attribute of all objects; for None, those whose attribute only a run tells."""
        found = self._changes.get(attr)
        if found is None:
            found = self._changes[attr] = {}
            both = chain(self._from_outside(attr) if attr is not None else (), self._by_methods(attr))
            for key, change in both:
                found.setdefault(key, []).append(change)
        return found

    def _from_outside(self, attr: str) -> Iterator[tuple[_Key, _Change]]:
        """The assignments `options.attr = value`."""
        for file, store in self.world.stores.outside_stores(attr):
            if last_name(store.base) not in self._names:
                continue
            span = store.event.span
            site = Site(file, store.scope, store.event.region, span.start, None)
            for value in self.world.values.evaluate(store.base, site):
                key = _key(value)
                if key in self._objects:
                    assert key is not None
                    by = frozenset({(file.path, store.scope)})
                    yield key, _Change(file, store.scope, store.event.region, span, by)

    def _made(self, key: _Key) -> Instance:
        file = self.world.files[key[0]]
        site = self.world.call_site(file, key[1], None)
        values = self.world.values.evaluate(CallRef(key[1]), site)
        return next(one for one in values if isinstance(one, Instance) and isinstance(one.of, Class))

    def _class_of(self, key: _Key) -> Class:
        cls = self._made(key).of
        assert isinstance(cls, Class)
        return cls

    def _constructed_by(self, key: _Key) -> Collection[_Place]:
        """The functions that run while an object is constructed."""
        return self.project.datasets.construction.of(self._made(key))

    def _by_methods(self, attr: str | None) -> Iterator[tuple[_Key, _Change]]:
        """The calls of methods that set an attribute, on objects of modules."""
        stores = self.world.stores
        for cls in self._classes:
            for owner in (one for one in self.world.hierarchy.line(cls) if isinstance(one, Class)):
                setting = stores.own_spreads(owner) if attr is None else stores.own_stores(owner).get(attr, ())
                methods = dict.fromkeys(one.scope for one in setting)
                for scope in (one for one in methods if owner.file.scopes[one].name not in CONSTRUCTORS):
                    for key, change in self._calls_of(owner, scope):
                        initial = self._constructed_by(key)
                        # A constructor's call that this object's arguments keep from running changes nothing.
                        if (owner.file.path, scope) not in initial and (change.file.path, change.scope) not in initial:
                            yield key, change

    def _calls_of(self, owner: Class, scope: int) -> Iterator[tuple[_Key, _Change]]:
        todo, seen = [Function(owner.file, scope)], set[_Place]()
        while todo and not limits.MODULES_ABOVE.reached(len(seen)):
            function = todo.pop()
            seen.add((function.file.path, function.scope))
            for caller in self.world.calls.callers(function):
                if caller.call < 0 or caller.guessed:
                    continue
                file, call = caller.file, caller.file.calls[caller.call]
                if not isinstance(call.func, Attribute):
                    continue
                keys = {
                    _key(one)
                    for one in self.world.values.evaluate(
                        call.func.value, self.world.call_site(file, caller.call, None)
                    )
                }
                for key in keys & self._objects.keys():
                    assert key is not None
                    by = frozenset({*seen, (file.path, call.scope)})
                    yield key, _Change(file, call.scope, call.region, call.statement, by)
                method = file.method_of(call.scope)
                params = file.scopes[call.scope].params
                of_itself = method is not None and bool(params) and call.func.value == Name(params[0].name)
                if of_itself and (file.path, call.scope) not in seen:
                    todo.append(Function(file, call.scope))


def _key(value: Value) -> _Key | None:
    """The call at the top level of a module that makes an object of one of the project's classes."""
    if not isinstance(value, Instance) or not isinstance(value.of, Class) or value.file is None or value.call < 0:
        return None
    return (value.file.path, value.call) if value.file.calls[value.call].scope == 0 else None
