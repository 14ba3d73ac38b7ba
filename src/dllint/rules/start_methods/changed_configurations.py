"""Configurations that the main program fills after the imports, while child processes read them as they were imported:
`cfg.merge_from_file(args.cfg)`, `cfg.size = args.size`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Constant, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference.entries import Change
from dllint.inference.values import Const, Mapping, Module, Site, Value
from dllint.linking.conditions import render
from dllint.linking.expressions import walk
from dllint.linking.implicit_calls import expressions
from dllint.linking.source import SourceFile
from dllint.rules.start_methods.changed_globals import ChangedGlobal, ChangedGlobals, Spot
from dllint.rules.start_methods.child_runs import Children, Run
from dllint.rules.start_methods.guarded_names import is_global
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_FILLING = frozenset({"set", "merge", "opaque"})
"""The kinds of changes that give an entry another value."""


class ChangedConfigurations:
    """Finds the entries of module-level dicts and configurations whose changes child processes do not see."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._leading: dict[tuple[str, str], bool] = {}

    def of(self, children: Children) -> Iterator[ChangedGlobal]:
        """The changed configurations that child processes read."""
        globals_ = self.project.ask(ChangedGlobals)
        seen: set[tuple[Change, str, int]] = set()
        for run in children.runs:
            for part, span, site in self._reads(run):
                changes = list(self._changes(part, site))
                # An entry that the processes set themselves, as in a cache, needs no change from the main program.
                if any((change.file.path, change.scope) in children.own for change, _ in changes):
                    continue
                for change, holder in changes:
                    key = (change, run.file.path, run.scope)
                    if change.file.path not in children.loaded or key in seen:
                        continue
                    place = Spot(change.file, change.scope, change.region, change.at)
                    late = globals_.only_in_the_program(change.file, change.scope, change.region, children.loaded)
                    if late and globals_.made_above(place, children):
                        seen.add(key)
                        yield ChangedGlobal(
                            render(holder, run.file), change.file, _span(change), run.file, span, run.hops
                        )

    def _reads(self, run: Run) -> Iterator[tuple[Attribute | Subscript, Span, Site]]:
        """What a function may read of module-level dicts and configurations."""
        file, scope = run.file, run.scope
        names = [
            name
            for name, scopes in file.facts.loaded.items()
            if scope in scopes and is_global(file, scope, name) and self._leads_to_entries(file, name)
        ]
        for expr, span, region, _ in expressions(file, scope) if names else ():
            for part in walk(expr, file):
                if isinstance(part, (Attribute, Subscript)) and _variable(part) in names:
                    yield part, span, Site(file, scope, region, span.start, run.frame)

    def _leads_to_entries(self, file: SourceFile, name: str) -> bool:
        """Whether a global variable is a module, or a dict or configuration that a module's top level makes."""
        key = (file.path, name)
        found = self._leading.get(key)
        if found is None:
            bound = name in file.bindings(0)
            values = self.world.values.evaluate(Name(name), Site(file, 0, 0, _END, None)) if bound else ()
            found = self._leading[key] = any(isinstance(one, Module) or _at_import(one) for one in values)
        return found

    def _changes(self, read: Attribute | Subscript, site: Site) -> Iterator[tuple[Change, Expr]]:
        """The changes that may give an entry another value, each with the dict or configuration that has it."""
        base = read.value
        key = read.attr if isinstance(read, Attribute) else read.index
        if isinstance(key, Constant):
            key = key.value
        for value in self.world.values.evaluate(base, site):
            for change, where in self.world.mappings.changes_of(value) if _at_import(value) else ():
                if change.kind in _FILLING and self._may_set(change, where, key):
                    yield change, base

    def _may_set(self, change: Change, where: Site, key: object) -> bool:
        if change.kind != "set" or change.key is None:
            return True
        if isinstance(change.key, str):
            return change.key == key
        values = self.world.values.evaluate(change.key, where)
        return not values or any(not isinstance(one, Const) or one.value == key for one in values)


_END = (10**9, 0)


def _at_import(value: Value) -> bool:
    return isinstance(value, Mapping) and (value.made or value.written).site.scope == 0


def _variable(expr: Expr) -> str:
    """The name of the variable whose entry, or entry's entry, an expression reads; "" if it reads another object."""
    while isinstance(expr, (Attribute, Subscript)):
        expr = expr.value
    return expr.id if isinstance(expr, Name) else ""


def _span(change: Change) -> Span:
    """The statement that makes a change, or the header of the one whose header does."""
    scope, calls = change.file.scopes[change.scope], change.file.calls
    spans = (*(one.span for one in scope.events), *(calls[one].statement for one in change.file.calls_of(change.scope)))
    return next((one for one in spans if one.start == change.at), Span(*change.at, *change.at))
