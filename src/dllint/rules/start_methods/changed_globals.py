"""Variables of modules and attributes of classes that the main program changes after the imports, while child processes
read their initial value: `conversation.default = templates[version]`, `Vocabulary.words = load(path)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, Name
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.values import Class, Function, Instance, Module, Site
from dllint.linking.assignments import Store
from dllint.linking.conditions import under_main_guard
from dllint.linking.expressions import walk
from dllint.linking.implicit_calls import expressions
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrivals import Hop
from dllint.project.counting import loops
from dllint.project.same_process import exclusive
from dllint.rules.start_methods.child_runs import Children, Run
from dllint.rules.start_methods.guarded_names import is_global, rebound_under_guard
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


@dataclass(frozen=True)
class ChangedGlobal:
    """A module variable or class attribute that child processes read and only the main program changes.

    Attributes:
        name: as messages show it: "default", "Vocabulary.words".
        file, changed: where it is changed.
        reader, read: where the processes read it.
        hops: the calls from their entry point to that read.
        also: where it is changed besides.
    """

    name: str
    file: SourceFile
    changed: Span
    reader: SourceFile
    read: Span
    hops: tuple[Hop, ...]
    also: tuple[tuple[SourceFile, Span], ...] = ()


@dataclass(frozen=True)
class _Change:
    name: str
    file: SourceFile
    scope: int
    region: int
    span: Span


class Spot(NamedTuple):
    """A statement at `at` (line, column), or the call `call`, in a function or at the top of a module."""

    file: SourceFile
    scope: int
    region: int
    at: tuple[int, int]
    call: int = -1


_Owner = tuple[str, int]
"""The path of a module and 0, or the path and the scope of a class."""


class ChangedGlobals:
    """Finds the variables of modules and classes whose changes child processes do not see, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._imported: dict[tuple[str, int, int, frozenset[str]], bool] = {}
        self._led: dict[tuple[Spot, bool], dict[tuple[str, int], set[Spot]]] = {}

    def of(self, children: Children) -> Iterator[ChangedGlobal]:
        """The changed variables that child processes read."""
        seen: set[tuple[_Owner, str]] = set()
        for run in children.runs if self._changes else ():
            for key, read in self._reads(run):
                changes = self._changes[key]
                # A variable that the processes set themselves needs no change from the main program.
                if key in seen or any((one.file.path, one.scope) in children.own for one in changes):
                    continue
                seen.add(key)
                for one in changes:
                    late = one.file.path in children.loaded and self.only_in_the_program(
                        one.file, one.scope, one.region, children.loaded
                    )
                    if late and self.made_above(Spot(one.file, one.scope, one.region, one.span.start), children):
                        yield ChangedGlobal(one.name, one.file, one.span, run.file, read, run.hops)
                        break

    def _reads(self, run: Run) -> Iterator[tuple[tuple[_Owner, str], Span]]:
        """The changed variables that a function reads, each with the first place."""
        file, scope = run.file, run.scope
        names = [name for name in self._paths if scope in file.facts.loaded.get(name, ())]
        for name in names:
            own = ((file.path, 0), name) in self._changes and is_global(file, scope, name)
            for expr, span, region, _ in expressions(file, scope):
                site = Site(file, scope, region, span.start, run.frame)
                found = next((key for key in self._read_in(expr, name, own, site) if key in self._changes), None)
                if found is not None:
                    yield found, span
                    break

    def _read_in(self, expr: Expr, name: str, own: bool, site: Site) -> Iterator[tuple[_Owner, str]]:
        for part in walk(expr, site.file):
            if own and part == Name(name):
                yield (site.file.path, 0), name
            elif isinstance(part, Attribute) and part.attr == name and isinstance(part.value, (Name, Attribute)):
                for value in self.world.values.evaluate(part.value, site):
                    if isinstance(value, Module):
                        yield (value.path, 0), name
                    elif isinstance(value, Class):
                        yield from ((owner, name) for owner in self._owners(value))
                    elif isinstance(value, Instance) and isinstance(value.of, Class):
                        yield from ((owner, name) for owner in self._owners(value.of, name))

    def _owners(self, cls: Class, unless: str = "") -> Iterator[_Owner]:
        """A class and its bases; none if its objects have an attribute `unless` of their own."""
        line = [one for one in self.world.hierarchy.line(cls) if isinstance(one, Class)]
        if not any(self._sets_itself(one, unless) for one in line):
            yield from (one.key for one in line)

    def _sets_itself(self, cls: Class, name: str) -> bool:
        return any(
            not self.world.stores.on_class(cls, store) for store in self.world.stores.own_stores(cls).get(name, ())
        )

    @cached_property
    def _paths(self) -> dict[str, None]:
        return dict.fromkeys(name for _, name in self._changes)

    @cached_property
    def _changes(self) -> dict[tuple[_Owner, str], list[_Change]]:
        """The assignments in functions or under a main guard, by owner and name."""
        found: dict[tuple[_Owner, str], list[_Change]] = {}
        for file in self.world.files.values():
            for name, region, span in file.derived(rebound_under_guard):
                found.setdefault(((file.path, 0), name), []).append(_Change(name, file, 0, region, span))
            for (around, name), ways in file.within.items():
                for scope, binding in ways if around == 0 else ():
                    if binding.event is not None:
                        change = _Change(name, file, scope, binding.event.region, binding.event.span)
                        found.setdefault(((file.path, 0), name), []).append(change)
        stores = self.world.symbols.module_stores
        for name in stores.names():
            for path in stores.modules(name):
                for binding, site in stores.of(self.world.files[path], name) if path in self.world.files else ():
                    if binding.event is not None and (site.scope or under_main_guard(site.file, site.region)):
                        change = _Change(name, site.file, site.scope, site.region, binding.event.span)
                        found.setdefault(((path, 0), name), []).append(change)
        for name in sorted(self.world.stores.set_on_names):
            for file, store in self.world.stores.outside_stores(name):
                for cls in self._classes(file, store, name):
                    change = _Change(f"{cls.name}.{name}", file, store.scope, store.event.region, store.event.span)
                    found.setdefault((cls.key, name), []).append(change)
        return found

    def _classes(self, file: SourceFile, store: Store, name: str) -> Iterator[Class]:
        """The classes of the project on which a function or the main guard sets an attribute that their body sets."""
        named = last_name(store.base)
        if named is None or not (named == "cls" or named[:1].isupper()):
            return
        if not (store.scope or under_main_guard(file, store.event.region)):
            return
        site = Site(file, store.scope, store.event.region, store.event.span.start, None)
        for value in self.world.values.evaluate(store.base, site):
            if isinstance(value, Class) and any(
                isinstance(one, Class) and name in one.file.bindings(one.scope)
                for one in self.world.hierarchy.line(value)
            ):
                yield value

    def made_above(self, change: Spot, children: Children) -> bool:
        """Whether a process above the child processes makes a change: one of its functions makes it or calls what does,
        and leads to the start of the processes too, in one run. What only a started process runs is no change of its
        parent."""
        file, index = children.start
        call = file.calls[index]
        made = self._leading(change, False)
        start = self._leading(Spot(file, call.scope, call.region, call.span.start, index), True)
        return any(
            # If one call leads to both, its callee decides.
            one.call < 0 or (one not in start[scope] and other not in made[scope])
            for scope in made.keys() & start.keys()
            for one in made[scope]
            for other in start[scope]
            if not exclusive(self.world, scope, one.region, other.region)
            and not (children.started_by_call and _follows(one, other, index))
        )

    def _leading(self, place: Spot, through_launches: bool) -> dict[tuple[str, int], set[Spot]]:
        """The functions and modules that lead to a place by calls, and by launches where these count, each with its
        calls that do."""
        key = (place, through_launches)
        if key not in self._led:
            found: dict[tuple[str, int], set[Spot]] = {}
            todo = [place]
            while todo and not limits.PROCESS_FUNCTIONS.reached(len(found)):
                one = todo.pop()
                file, scope = one.file, one.scope
                while scope > 0 and file.scopes[scope].kind != "function":
                    scope = file.scopes[scope].parent
                known = (file.path, scope) in found
                found.setdefault((file.path, scope), set()).add(one)
                for caller in self.world.calls.callers(Function(file, scope)) if scope > 0 and not known else ():
                    launched = self.project.launches.at(caller.file, caller.call) if caller.call >= 0 else ()
                    if caller.call >= 0 and (through_launches or not launched):
                        call = caller.file.calls[caller.call]
                        todo.append(Spot(caller.file, call.scope, call.region, call.span.start, caller.call))
            self._led[key] = found
        return self._led[key]

    def only_in_the_program(self, file: SourceFile, scope: int, region: int, loaded: frozenset[str]) -> bool:
        """Whether only a running program reaches a statement, never the import of a file of its own: `loaded`."""
        key = (file.path, scope, region, loaded)
        found = self._imported.get(key)
        if found is None:
            found = self._imported[key] = self._runs_late(file, scope, region, loaded)
        return found

    def _runs_late(self, file: SourceFile, scope: int, region: int, loaded: frozenset[str]) -> bool:
        todo = [(file, scope, region)]
        seen: set[tuple[str, int]] = set()
        guarded = False
        while todo and not limits.MODULES_ABOVE.reached(len(seen)):
            file, scope, region = todo.pop()
            if scope <= 0:
                if file.path not in loaded:
                    continue
                if not under_main_guard(file, region):
                    return False
                guarded = True
            elif (file.path, scope) not in seen:
                seen.add((file.path, scope))
                for caller in self.world.calls.callers(Function(file, scope)):
                    if caller.call >= 0:
                        call = caller.file.calls[caller.call]
                        todo.append((caller.file, call.scope, call.region))
        return guarded


def _follows(change: Spot, start: Spot, index: int) -> bool:
    """Whether a function makes a change only after it has called what starts processes by the call `index`. Where it
    makes that call itself, a later one may start them: `process.start()`."""
    return start.call != index and change.at > start.at and not loops(start.file, start.region)
