"""Higher-order functions: activations distinguished by the callables that they receive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import Class, Frame, Function, Instance, Partial, Site
from dllint.linking.expressions import walk
from dllint.linking.reads import ScopeRef
from dllint.linking.source import SourceFile

Given = frozenset[tuple[str, int]]
NOTHING: Given = frozenset()


class _Parameter(NamedTuple):
    """A parameter of all functions with a given name."""

    function: str
    name: str
    position: int


class Seen:
    """The functions that a walk through the call graph has visited: once each, or once per set of callables
    received."""

    def __init__(self, world: Engine) -> None:
        self._activations = world.activations
        self._given: dict[tuple[str, int], Given] = {}
        self._visits: dict[tuple[str, int], int] = {}

    def __len__(self) -> int:
        return len(self._given)

    def may_add(self, function: Function) -> bool:
        """Whether an activation of the function may be worth visiting."""
        return function.key not in self._given or self._activations.differ(*function.key)

    def add(self, file: SourceFile, scope: int, frame: Frame | None) -> bool:
        """Record an activation. Returns False if visiting it adds nothing new."""
        key = (file.path, scope)
        known = self._given.get(key)
        given = self._activations.given(file, scope, frame)
        visits = self._visits.get(key, 0)
        if known is not None and (given <= known or visits >= limits.GIVEN_ACTIVATIONS.most):
            return False
        self._given[key] = given if known is None else known | given
        self._visits[key] = visits + 1
        return True


class Activations:
    """Distinguishes activations of one function by the callables that they receive."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._names: dict[tuple[str, int], set[str]] | None = None

    def differ(self, path: str, scope: int) -> bool:
        """Whether activations of a function can differ in the callables that they receive."""
        return (path, scope) in self._needed()

    def given(self, file: SourceFile, scope: int, frame: Frame | None) -> Given:
        """Return the functions of the project that an activation received as arguments and calls, or passes on to be
        called."""
        names = self._needed().get((file.path, scope))
        if not names or frame is None:
            return NOTHING
        found: set[tuple[str, int]] = set()
        for name in sorted(names):
            own = [name] == [one.name for one in file.scopes[scope].params[:1]] and file.method_of(scope) is not None
            for value in self.world.values.evaluate(Name(name), Site(file, scope, 0, (0, 0), frame)):
                while isinstance(value, Partial):
                    value = value.function
                if isinstance(value, Function):
                    found.add(value.key)
                elif isinstance(value, Instance) and isinstance(value.of, Class):
                    # Objects of one class call what each of them keeps.
                    found.add((value.file.path, value.call) if own and value.file is not None else value.of.key)
        return frozenset(found)

    def _needed(self) -> dict[tuple[str, int], set[str]]:
        """Return, per scope, the parameters (its own and those of enclosing functions) that it calls or passes on to be
        called, and the object itself if the scope calls all elements of an attribute."""
        if self._names is None:
            self._names = {}
            found: set[_Parameter] = set()
            for file in self.world.files.values():
                for scope, name in file.derived(composed):
                    self._names.setdefault((file.path, int(scope)), set()).add(name)
                for name in file.derived(called_parameters):
                    for index in file.facts.called[name]:
                        if isinstance(file.calls[index].func, Name):
                            found.update(self._mark(file, index, name))
            seen = set(found)
            for _ in range(limits.HANDING_STEPS.most):
                found = {mine for one in found for mine in self._handing_on(one)} - seen
                seen |= found
        return self._names

    def _handing_on(self, called: _Parameter) -> Iterator[_Parameter]:
        """Yield the parameters that callers pass on as an argument which is then called."""
        # Calls of a constructor use the name of its class.
        for file, index in self.world.called(called.function) if called.function != "__init__" else ():
            for position, argument in enumerate(file.calls[index].args):
                # In a method the receiver is the first parameter, but calls do not write it.
                fits = position in (called.position, called.position - 1) and argument.keyword is None
                if isinstance(argument.value, Name) and (fits or argument.keyword == called.name):
                    yield from self._mark(file, index, argument.value.id)

    def _mark(self, file: SourceFile, index: int, name: str) -> Iterator[_Parameter]:
        """Record that the scopes around a call need the value of a name, if that name is a parameter."""
        assert self._names is not None
        passed: list[int] = []
        scope = file.calls[index].scope
        while scope > 0:
            passed.append(scope)
            entry = file.scopes[scope]
            position = next((number for number, param in enumerate(entry.params) if param.name == name), None)
            if position is not None:
                if position or file.method_of(scope) is None:
                    for one in passed:
                        self._names.setdefault((file.path, one), set()).add(name)
                    yield _Parameter(entry.name, name, position)
                return
            if name in file.bindings(scope):
                return
            scope = entry.parent


def called_parameters(file: SourceFile) -> list[str]:
    """Return the names of parameters of a file that are also names of what it calls."""
    params = {param.name for scope in file.scopes for param in scope.params}
    return sorted(name for name in params if name in file.facts.called)


def composed(file: SourceFile) -> list[tuple[ScopeRef, str]]:
    """Return the methods of a file that call each element of an attribute, `for one in self.transforms: row =
    one(row)`, each with the name of its object."""
    found: list[tuple[ScopeRef, str]] = []
    for scope, entry in enumerate(file.scopes):
        if file.method_of(scope) is None or not entry.params:
            continue
        own = Name(entry.params[0].name)
        for event in entry.events_of("for"):
            iterated = event.value
            if isinstance(iterated, CallRef):
                # `enumerate(self.transforms)`
                iterated = next((one.value for one in file.calls[iterated.index].args), None)
            if not isinstance(iterated, Attribute) or iterated.value != own or event.target is None:
                continue
            names = [part.id for part in walk(event.target, file) if isinstance(part, Name)]
            if any(file.calls[index].scope == scope for name in names for index in file.facts.called.get(name, ())):
                found.append((ScopeRef(scope), own.id))
    return found
