"""Programs: the module-level code whose calls reach a place, and the environment variables that programs set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Constant, Dict, Expr, Name
from dllint.inference import limits
from dllint.inference.values import Class, Const, External, Frame, Function, Instance, Site
from dllint.linking.conditions import under_main_guard
from dllint.linking.derivations import stores_of_items
from dllint.linking.source import SourceFile, last_name
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.inference.engine import World


@dataclass(frozen=True)
class EnvironmentSetting:
    """`os.environ[NAME] = value` or an equivalent call. `name_span` covers the string that is the name; `value` is
    None if unknown."""

    file: SourceFile
    scope: int
    region: int
    span: Span
    statement: Span
    name: str
    value: str | None

    @property
    def at_import(self) -> bool:
        return self.scope == 0 and not under_main_guard(self.file, self.region)


class Programs:
    """Queries about transitive callers up to module level, and about environment variables."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._settings: list[EnvironmentSetting] | None = None
        self._above: dict[tuple[str, int], list[str]] = {}
        self._reaching: dict[tuple[str, int], dict[tuple[str, int], set[int]]] = {}
        self._leading: dict[tuple[str, int], frozenset[str]] = {}

    @staticmethod
    def behind(value: Instance) -> set[str]:
        """The files that an object comes from: those of its class, of its construction, and of the calls that its
        activation remembers."""
        found = {file.path for file in (value.file, value.of.file if isinstance(value.of, Class) else None) if file}
        frame: Frame | None = value.frame
        while frame is not None:
            actuals = frame.actuals
            for actual in (*actuals.positional, *actuals.keywords.values()) if actuals is not None else ():
                if actual.site is not None:
                    found.add(actual.site.file.path)
            frame = frame.parent
        return found

    def loaded(self, file: SourceFile, call: int) -> set[str]:
        """The files that programs with a call may load: its own, those whose module-level code reaches it, and what all
        of these import."""
        above = self.above(file, file.calls[call].scope)
        return self.world.import_graph.import_closure({file.path, *above})

    def above(self, file: SourceFile, scope: int) -> list[str]:
        """The files whose module-level code reaches a function through calls and launches."""
        found = self._above.get((file.path, scope))
        if found is not None:
            return found
        tops: dict[str, None] = {}
        seen: set[tuple[str, int]] = set()
        todo = [(file, scope)]
        while todo and not limits.MODULES_ABOVE.reached(len(seen)):
            where, inner = todo.pop()
            if (where.path, inner) in seen:
                continue
            seen.add((where.path, inner))
            if inner <= 0:
                tops[where.path] = None
                continue
            todo.extend((above, outer) for above, outer, _ in self._directly_above(where, inner))
        self._leading[(file.path, scope)] = frozenset(path for path, _ in seen)
        found = self._above[(file.path, scope)] = list(tops)
        return found

    def leading(self, file: SourceFile, scope: int) -> frozenset[str]:
        """The files whose code reaches a function through calls, including tests that nothing calls."""
        self.above(file, scope)
        return self._leading[(file.path, scope)]

    def reaching(self, file: SourceFile, scope: int) -> set[tuple[str, str]]:
        """A function and those that reach it through calls, each as the path of its module and its name."""
        places = [(file.path, scope), *self.calls_to(file, scope)]
        files = self.world.files
        return {(path, files[path].scopes[inner].name) for path, inner in places if inner > 0}

    def run_together(self, one: tuple[SourceFile, int], other: tuple[SourceFile, int]) -> bool:
        """Whether one run of a program can reach both functions: not if they are reached only as alternatives of the
        same calls, as the `train` of two modules that a name chooses between."""
        calls, others = self.calls_to(*one), self.calls_to(*other)
        places = [(file.path, scope) for file, scope in (one, other)]
        if places[0] in others or places[1] in calls or not calls.keys() & others.keys():
            return True
        return any(len(calls[place] | others[place]) > 1 for place in calls.keys() & others.keys())

    def calls_to(self, file: SourceFile, scope: int) -> dict[tuple[str, int], set[int]]:
        """The functions that reach a function, each with its calls that do (-1 for a lambda or class in it)."""
        key = (file.path, scope)
        found = self._reaching.get(key)
        if found is not None:
            return found
        found = self._reaching[key] = {}
        todo, seen = [(file, scope)], {key}
        while todo and not limits.MODULES_ABOVE.reached(len(seen)):
            where, inner = todo.pop()
            for above, outer, call in self._directly_above(where, inner):
                found.setdefault((above.path, outer), set()).add(call)
                if (above.path, outer) not in seen:
                    seen.add((above.path, outer))
                    todo.append((above, outer))
        return found

    def _directly_above(self, file: SourceFile, scope: int) -> Iterator[tuple[SourceFile, int, int]]:
        """The scopes that call a function, each with its call, or the scope that a lambda or class stands in, with no
        call (-1)."""
        kind = file.scopes[scope].kind
        if kind == "function":
            for caller in self.world.calls.callers(Function(file, scope)):
                if caller.call >= 0:
                    yield caller.file, caller.file.calls[caller.call].scope, caller.call
        elif kind in ("lambda", "class"):
            yield file, file.scopes[scope].parent, -1

    def environment(self) -> list[EnvironmentSetting]:
        """All assignments of environment variables whose name is a string constant."""
        if self._settings is None:
            self._settings = [*self._stored(), *self._called()]
        return self._settings

    def _stored(self) -> Iterator[EnvironmentSetting]:
        for file in self.world.files.values():
            if "os" not in file.imported_packages():
                continue
            for scope, stores in file.each(stores_of_items):
                for store in stores:
                    if isinstance(store.key, str):
                        continue
                    event = store.event
                    site = Site(file, scope, event.region, event.span.start, None)
                    if not self._is_environ(store.base, site):
                        continue
                    for key in self.world.values.evaluate(store.key, site):
                        if isinstance(key, Const) and isinstance(key.value, str):
                            value = self._constant(store.value, site)
                            yield EnvironmentSetting(
                                file, scope, event.region, event.span, event.span, key.value, value
                            )

    def _called(self) -> Iterator[EnvironmentSetting]:
        for name in ("setdefault", "putenv", "update"):
            for file, index in self.world.called(name):
                call = file.calls[index]
                site = self.world.call_site(file, index, None)
                if (
                    isinstance(call.func, Attribute)
                    and name != "putenv"
                    and not self._is_environ(call.func.value, site)
                ):
                    continue
                if name == "putenv" and self.world.values.evaluate(call.func, site) != (External("os.putenv"),):
                    continue
                for key, value in self._pairs(file, index, name):
                    names = self.world.values.evaluate(key, site)
                    if len(names) == 1 and isinstance(names[0], Const) and isinstance(names[0].value, str):
                        yield EnvironmentSetting(
                            file,
                            call.scope,
                            call.region,
                            call.span,
                            call.statement,
                            names[0].value,
                            self._constant(value, site),
                        )

    @staticmethod
    def _pairs(file: SourceFile, index: int, name: str) -> Iterator[tuple[Expr, Expr]]:
        args = file.calls[index].args
        if name == "update":
            for argument in args:
                if argument.keyword is None and isinstance(argument.value, Dict):
                    for key, value in argument.value.items:
                        if key is not None:
                            yield key, value
                elif argument.keyword not in (None, "*", "**"):
                    yield Constant(argument.keyword), argument.value
        elif len(args) >= 2 and args[0].keyword is None:
            yield args[0].value, args[1].value

    def _is_environ(self, expr: Expr, site: Site) -> bool:
        if not isinstance(expr, (Name, Attribute)) or last_name(expr) not in (
            "environ",
            *self.world.aliases("environ"),
        ):
            return False
        return External("os.environ") in self.world.values.evaluate(expr, site)

    def _constant(self, expr: Expr | None, site: Site) -> str | None:
        values = self.world.values.evaluate(expr, site)
        if len(values) == 1 and isinstance(values[0], Const):
            return str(values[0].value)
        return None
