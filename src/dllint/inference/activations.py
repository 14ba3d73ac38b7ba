"""Higher-order functions: activations distinguished by the callables that they receive, and methods that call others
which subclasses define: activations distinguished by the class of their object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint.facts.nodes import Attribute, BoolOp, CallRef, Compare, Constant, Name, Not
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import UNKNOWN, Class, Const, Frame, Function, Instance, Partial, Site
from dllint.linking.expressions import names_in
from dllint.linking.reads import ScopeRef
from dllint.linking.source import SourceFile

Given = frozenset[tuple[str, object]]
"""What an activation depends on: the key of each function and class that it is given to call, and each parameter that
decides what it calls, with its value."""
NOTHING: Given = frozenset()
Marked = dict[tuple[str, int], set[str]]
"""By scope, the parameters whose values are needed: its own, and those of the functions around it."""
_SWITCHES = (Attribute, BoolOp, Compare, Constant, Name, Not)
"""Arguments that are worth evaluating to learn which branches they choose."""
ANY_METHOD = "*"
"""Stands for the name of a method that is worked out."""


class _Parameter(NamedTuple):
    """A parameter of all functions with a given name."""

    function: str
    name: str
    position: int


class _Switch(NamedTuple):
    """The value of a parameter that decides what an activation calls, and what else it is given to call."""

    value: object
    called: Given


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
        if known is not None and (_adds_nothing(given, known) or visits >= limits.GIVEN_ACTIVATIONS.most):
            return False
        self._given[key] = given if known is None else known | given
        self._visits[key] = visits + 1
        return True


def _adds_nothing(given: Given, known: Given) -> bool:
    """Whether what an activation depends on was met before; an unknown value stands for all."""
    return all(
        (name, what) in known or (isinstance(what, _Switch) and (name, what._replace(value=UNKNOWN)) in known)
        for name, what in given
    )


class Activations:
    """Distinguishes activations of one function by the callables that they receive, and by the class of the object
    whose methods it calls."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._names: dict[tuple[str, int], set[str]] | None = None
        self._switches: dict[tuple[str, int], set[str]] = {}
        self._templates: dict[tuple[str, int], bool] = {}

    def differ(self, path: str, scope: int) -> bool:
        """Whether activations of a function can differ in what they call."""
        key = (path, scope)
        return key in self._needed() or key in self._switches or self._is_template(self.world.files[path], scope)

    def given(self, file: SourceFile, scope: int, frame: Frame | None) -> Given:
        """Return the functions of the project that an activation received as arguments and calls, or passes on to be
        called, the class of its object, if that decides which methods it calls, and the switches that it tests or
        passes on to be tested."""
        names, switches = self._needed().get((file.path, scope)), self._switches.get((file.path, scope))
        template = frame is not None and self._is_template(file, scope)
        if frame is None or not (names or switches or template):
            return NOTHING
        found: set[tuple[str, object]] = set()
        if template:
            receiver = Name(file.scopes[scope].params[0].name)
            for value in self.world.values.evaluate(receiver, Site(file, scope, 0, (0, 0), frame)):
                if isinstance(value, Instance) and isinstance(value.of, Class):
                    found.add(value.of.key)
        for name in sorted(names or ()):
            own = [name] == [one.name for one in file.scopes[scope].params[:1]] and file.method_of(scope) is not None
            for value in self.world.values.evaluate(Name(name), Site(file, scope, 0, (0, 0), frame)):
                while isinstance(value, Partial):
                    value = value.function
                if isinstance(value, Function):
                    found.add(value.key)
                elif isinstance(value, Instance) and isinstance(value.of, Class):
                    # Objects of one class call what each of them keeps.
                    found.add((value.file.path, value.call) if own and value.file is not None else value.of.key)
        # One object may be called with the switches that another one was called with before.
        called = frozenset(found)
        return called.union((name, _Switch(self._switch(file, scope, frame, name), called)) for name in switches or ())

    def _switch(self, file: SourceFile, scope: int, frame: Frame, name: str) -> object:
        """Return the constant that a call passes for a parameter, as shown; `UNKNOWN` if it is none."""
        function = Function(file, scope)
        if frame.actuals is not None and any((one.name, one.kind) == (name, "kw") for one in file.scopes[scope].params):
            given = frame.actuals.keywords.items()
            return tuple(sorted((key, repr(one.expr)) for key, one in given if isinstance(one.expr, Constant)))
        bound = self.world.parameters.bound(function, name, frame)
        if bound.case == "actual" and bound.actual is not None and not isinstance(bound.actual.expr, _SWITCHES):
            return UNKNOWN
        values = self.world.values.evaluate(Name(name), Site(file, scope, 0, (0, 0), frame))
        return repr(values[0].value) if len(values) == 1 and isinstance(values[0], Const) else UNKNOWN

    def _is_template(self, file: SourceFile, scope: int) -> bool:
        """Whether a method calls others of its object that subclasses define, itself or through other methods."""
        key = (file.path, scope)
        known = self._templates.get(key)
        if known is None:
            known = self._templates[key] = self._calls_overridden(file, scope)
        return known

    def _calls_overridden(self, file: SourceFile, scope: int) -> bool:
        todo, seen = [Function(file, scope)], set[tuple[str, int]]()
        while todo:
            method = todo.pop()
            if method.key in seen:
                continue
            seen.add(method.key)
            owner = method.file.method_of(method.scope)
            called = method.file.derived(own_methods_called, method.scope) if owner is not None else ()
            if owner is None or not called:
                continue
            cls = Class(method.file, owner)
            below = self.world.hierarchy.subclasses(cls)
            if not below:
                continue
            defined = {one.file.scopes[child].name for one in below for child in one.file.children.get(one.scope, ())}
            if ANY_METHOD in called or not defined.isdisjoint(called):
                return True
            todo += [found for name in called if (found := self.world.hierarchy.method(cls, name)) is not None]
        return False

    def _needed(self) -> dict[tuple[str, int], set[str]]:
        """Return, per scope, the parameters (its own and those of enclosing functions) that it calls or passes on to be
        called, and the object itself if the scope calls all elements of an attribute."""
        if self._names is None:
            self._names = {}
            called: set[_Parameter] = set()
            tested: set[_Parameter] = set()
            for file in self.world.files.values():
                for scope, name in file.derived(composed):
                    self._names.setdefault((file.path, int(scope)), set()).add(name)
                for name in file.derived(called_parameters):
                    for index in file.facts.called[name]:
                        if isinstance(file.calls[index].func, Name):
                            called.update(_mark(self._names, file, file.calls[index].scope, name))
                for scope, name in file.derived(tested_parameters):
                    tested.update(_mark(self._switches, file, int(scope), name))
            self._hand_on(called, self._names)
            self._hand_on(tested, self._switches)
        return self._names

    def _hand_on(self, found: set[_Parameter], marked: Marked) -> None:
        """Mark the parameters that callers pass on to the given ones."""
        seen = set(found)
        for _ in range(limits.HANDING_STEPS.most):
            found = {mine for one in found for mine in self._handing_on(one, marked)} - seen
            seen |= found

    def _handing_on(self, called: _Parameter, marked: Marked) -> Iterator[_Parameter]:
        """Yield the parameters that callers pass on as an argument which is then called or tested."""
        # Calls of a constructor use the name of its class.
        for file, index in self.world.called(called.function) if called.function != "__init__" else ():
            for position, argument in enumerate(file.calls[index].args):
                # In a method the receiver is the first parameter, but calls do not write it.
                fits = position in (called.position, called.position - 1) and argument.keyword is None
                if isinstance(argument.value, Name) and (fits or argument.keyword == called.name):
                    yield from _mark(marked, file, file.calls[index].scope, argument.value.id)


def _mark(marked: Marked, file: SourceFile, scope: int, name: str) -> Iterator[_Parameter]:
    """Record that a scope, and those around it, need the value of a name, if that name is a parameter."""
    passed: list[int] = []
    while scope > 0:
        passed.append(scope)
        entry = file.scopes[scope]
        position = next((number for number, param in enumerate(entry.params) if param.name == name), None)
        if position is not None:
            if position or file.method_of(scope) is None:
                for one in passed:
                    marked.setdefault((file.path, one), set()).add(name)
                yield _Parameter(entry.name, name, position)
            return
        if name in file.bindings(scope):
            return
        scope = entry.parent


def own_methods_called(file: SourceFile, scope: int) -> list[str]:
    """Return the names of the methods that a method calls on its object or passes on; `ANY_METHOD` for a name that it
    works out."""
    params = file.scopes[scope].params
    own = Name(params[0].name) if params else None
    found: dict[str, None] = {}
    for index in file.calls_of(scope) if own is not None else ():
        call = file.calls[index]
        for expr in (call.func, *(one.value for one in call.args)):
            if isinstance(expr, Attribute) and expr.value == own:
                found[expr.attr] = None
        if call.func == own:
            found["__call__"] = None
        elif call.func == Name("getattr") and len(call.args) > 1 and call.args[0].value == own:
            named = call.args[1].value
            found[named.value if isinstance(named, Constant) and isinstance(named.value, str) else ANY_METHOD] = None
    return [*found]


def tested_parameters(file: SourceFile) -> list[tuple[ScopeRef, str]]:
    """Return the parameters in tests that decide whether a function makes a call, each with the function."""
    found: dict[tuple[ScopeRef, str], None] = {}
    for scope, entry in enumerate(file.scopes):
        params = {param.name for param in entry.params}
        regions = dict.fromkeys(file.calls[index].region for index in file.calls_of(scope)) if params else ()
        for one in dict.fromkeys(outer for region in regions for outer in file.regions(region)):
            test = file.facts.regions[one].expr if file.facts.regions[one].kind == "if" else None
            for name in names_in(test, file):
                kept = (event.value for event in entry.events_of("assign") if event.target == Name(name))
                made_of = {one for value in kept for one in names_in(value, file)}
                for tested in sorted(params & (made_of | {name})):
                    found[ScopeRef(scope), tested] = None
    return [*found]


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
            names = names_in(event.target, file)
            if any(file.calls[index].scope == scope for name in names for index in file.facts.called.get(name, ())):
                found.append((ScopeRef(scope), own.id))
    return found
