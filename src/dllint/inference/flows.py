"""A flow-insensitive points-to analysis by names: the variables, attributes, parameters and containers that an object
can reach from its creation. It over-approximates; its callers verify each answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from functools import cached_property

from dllint.facts.nodes import (
    Attribute,
    Await,
    BinOp,
    BoolOp,
    CallRef,
    Comprehension,
    Dict,
    Element,
    Entered,
    IfExp,
    LambdaRef,
    List,
    Name,
    Set,
    Starred,
    Subscript,
    Tuple,
    Walrus,
)
from dllint.facts.schema import Call, Expr
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.linking.source import SourceFile, last_name

_HANDING_ON = frozenset(
    {
        *("dict", "next", "vars"),
        *("getattr", "Namespace", "SimpleNamespace", "OrderedDict", "EasyDict", "Dict", "CfgNode", "ConfigDict"),
        *("get", "pop", "popitem", "items", "values", "setdefault", "copy"),
    }
)
"""Last names of functions and methods that return objects contained in their arguments or receiver, besides those that
iterate their arguments."""
_TAKING_IN = frozenset({"append", "extend", "insert", "add", "update", "setdefault"})
"""Methods that add their arguments to their receiver."""

Place = tuple[object, ...]
"""An abstract location: an expression that creates an object ("at", or "call" with its file and index), a "name" in its
scope, an "attribute" or a "result" of anything with that name, or an "argument" of all functions of a name."""


class Flows:
    """Computes where objects can flow, over a linked project."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._ways: dict[str, Mapping[Place, Iterable[Place]]] = {}
        self._same: dict[Place, Place] = {}
        self._functions: dict[str, list[tuple[SourceFile, int]]] | None = None
        self._reached: dict[Place, tuple[Place, ...]] = {}
        self._standing: dict[int, Place] = {}

    @cached_property
    def ways(self) -> Ways:
        knowledge = self.world.knowledge
        return Ways(knowledge.iterates, lambda name: bool(self._named(name)), knowledge.arguments_kept)

    def stand(self, expr: Expr, place: Place) -> None:
        """Set the location of an object that `expr` stands for, if no source expression creates it."""
        self._standing[id(expr)] = place

    def reached(self, start: Place) -> tuple[Place, ...]:
        """Return the locations reachable from `start`, itself first."""
        kept = self._reached.get(start)
        if kept is None:
            found = {start: None}
            todo = [start]
            while todo and not limits.PLACES.reached(len(found)):
                for step in self._steps(todo.pop(0)):
                    if step not in found:
                        found[step] = None
                        todo.append(step)
            kept = self._reached[start] = tuple(found)
        return kept

    def files(self, place: Place) -> Iterable[SourceFile]:
        """Return the files that may refer to a location."""
        kind, name = place[0], place[1]
        if kind in ("attribute", "result") and isinstance(name, str):
            return self.world.files_loading(name) if kind == "attribute" else self.world.files_calling(name)
        return (self.world.files[str(name)],) if kind in ("name", "call") else ()

    def start(self, expr: Expr, file: SourceFile) -> Place:
        """Return the location of the object that an expression creates."""
        if isinstance(expr, CallRef):
            return ("call", file.path, expr.index)
        return self._standing.get(id(expr), ("at", file.path, id(expr)))

    def _steps(self, place: Place) -> Iterator[Place]:
        kind = place[0]
        if kind != "at":
            self.world.reads.places.add(place)
        if kind == "argument":
            yield from self._parameters(place)
            return
        if kind == "name":
            yield from self._exported(place)
        if kind == "attribute":
            modules = self.world.symbols.module_stores.modules(str(place[1]))
            yield from (("name", path, 0, place[1]) for path in modules)
        files = (self.world.files[str(place[1])],) if kind == "at" else self.files(place)
        for file in files:
            yield from self._ways_of(file).get(place, ())

    def _exported(self, place: Place) -> Iterator[Place]:
        """Yield the names under which other files import a module's variable, and the attributes of modules and
        classes."""
        _, path, scope, name = place
        file = self.world.files[str(path)]
        if scope == 0:
            yield ("attribute", name)
            for importer, _ in self.world.imports.importers(file):
                for binding in importer.bindings(0).get(str(name), ()):
                    if binding.kind == "import":
                        yield ("name", importer.path, 0, name)
                for _, _, imported in importer.imports():
                    if imported.alias and imported.name == name:
                        yield ("name", importer.path, 0, imported.alias)
                    elif imported.name == "*":
                        yield ("name", importer.path, 0, name)
        elif isinstance(scope, int) and file.scopes[scope].kind == "class":
            yield ("attribute", name)

    def _parameters(self, place: Place) -> Iterator[Place]:
        """Yield the parameters that an argument may bind: of all functions and constructors with the callee's name."""
        _, callee, position = place
        for file, scope in self._named(str(callee)):
            params = file.scopes[scope].params
            first = 1 if file.method_of(scope) is not None else 0
            for number, param in enumerate(params):
                if isinstance(position, int):
                    fits = position + first == number or (param.kind == "var" and number <= position + first)
                else:
                    fits = param.name == position
                if fits or (first and number and position == number):
                    yield ("name", file.path, scope, param.name)

    def _named(self, name: str) -> list[tuple[SourceFile, int]]:
        if self._functions is None:
            self._functions = {}
            for file in self.world.files.values():
                scopes = file.raw.scopes
                for index, scope in enumerate(scopes):
                    if scope.kind == "function":
                        name_of = scope.name
                        if name_of == "__init__" and file.method_of(index) is not None:
                            name_of = scopes[scope.parent].name
                        self._functions.setdefault(name_of, []).append((file, index))
        self.world.reads.defined.add(name)
        return self._functions.get(name, [])

    def _ways_of(self, file: SourceFile) -> Mapping[Place, Iterable[Place]]:
        ways = self._ways.get(file.path)
        if ways is None:
            # Most locations occur in several ways, and equal ways often: each is stored once.
            same = self._same
            found: dict[Place, list[Place]] = {}
            for source, target in dict.fromkeys(self.ways.collect(file.raw)):
                if source == target:
                    continue
                target = same.setdefault(target, target)
                targets = found.get(source)
                if targets is None:
                    found[same.setdefault(source, source)] = [target]
                else:
                    targets.append(target)
            ways = self._ways[file.path] = {source: tuple(targets) for source, targets in found.items()}
        return ways

    def places(self, expr: Expr | None, file: SourceFile, scope: int) -> Iterator[Place]:
        """Yield the locations whose objects an expression may evaluate to, or contain."""
        return self.ways.places(expr, file, scope)


class Ways:
    """The ways between locations that one file shows.

    Args:
        iterates: the functions that iterate their arguments.
        is_function: whether a function or class of the project has a name.
        kept: the attributes in which external classes of a name keep arguments, each with the argument's position.
    """

    def __init__(
        self,
        iterates: Container[str],
        is_function: Callable[[str], bool],
        kept: Callable[[str], Collection[tuple[str, int]]],
    ) -> None:
        self._iterates = iterates
        self._is_function = is_function
        self._kept = kept

    def collect(self, file: SourceFile) -> Iterator[tuple[Place, Place]]:
        """Yield the ways, each from a location to the next."""
        for number, scope in enumerate(file.scopes):
            for name, bindings in file.bindings(number).items():
                target = ("name", file.path, number, name)
                for binding in bindings:
                    if binding.kind == "value":
                        yield from ((one, target) for one in self.places(binding.expr, file, number))
            for param in scope.params:
                if param.default is not None:
                    target = ("name", file.path, number, param.name)
                    yield from ((one, target) for one in self.places(param.default, file, scope.parent))
            for store in file.stores(number):
                targets = [*([("attribute", store.key)] if isinstance(store.key, str) else ())]
                if not (isinstance(store.key, str) and store.base in _RECEIVERS):
                    targets += self.places(store.base, file, number)
                yield from ((one, to) for one in self.places(store.value, file, number) for to in targets)
            for event in scope.events_of("return", "yield"):
                if event.value is not None:
                    for one in self.places(event.value, file, number):
                        yield one, ("result", scope.name)
                        if scope.decorators:
                            yield one, ("attribute", scope.name)
        for (around, name), declared in file.within.items():
            for number, binding in declared:
                if binding.kind == "value":
                    target = ("name", file.path, around, name)
                    yield from ((one, target) for one in self.places(binding.expr, file, number))
        for index, call in enumerate(file.calls):
            yield from self._given(call, file)
            if last_name(call.func) == "defaultdict":
                yield from self._made_by_factory(call, ("call", file.path, index), file)

    @staticmethod
    def called(file: SourceFile) -> Iterator[str]:
        """Yield the names that `collect` may look up as functions."""
        for call in file.calls:
            yield last_name(call.func)
            if call.args:
                yield last_name(call.args[0].value)

    def _made_by_factory(self, call: Call, held: Place, file: SourceFile) -> Iterator[tuple[Place, Place]]:
        """Yield the flow from a default factory's results to its dict."""
        for argument in call.args[:1]:
            if isinstance(argument.value, LambdaRef):
                scope = argument.value.scope
                for event in file.scopes[scope].events_of("return"):
                    yield from ((one, held) for one in self.places(event.value, file, scope))
            elif isinstance(argument.value, (Name, Attribute)):
                yield ("result", last_name(argument.value)), held

    def _given(self, call: Call, file: SourceFile) -> Iterator[tuple[Place, Place]]:
        name = last_name(call.func)
        if name in _TAKING_IN and isinstance(call.func, Attribute):
            targets = list(self.places(call.func.value, file, call.scope))
        else:
            targets = []
        shift = 0
        if name == "partial" and call.args:
            name, shift = last_name(call.args[0].value), 1
        known = bool(name) and self._is_function(name)
        kept = self._kept(name)
        for number, argument in enumerate(call.args if known or targets or kept else ()):
            position = number - shift if argument.keyword in (None, "*") else argument.keyword
            for one in self.places(argument.value, file, call.scope):
                if known:
                    yield one, ("argument", name, position)
                yield from ((one, ("attribute", held)) for held, at in kept if position in (held, at))
                yield from ((one, to) for to in targets)

    def places(self, expr: Expr | None, file: SourceFile, scope: int) -> Iterator[Place]:
        """Yield the locations whose objects an expression may evaluate to, or contain."""
        match expr:
            case Name(name):
                yield ("name", file.path, _binding_scope(file, scope, name), name)
            case Attribute(value, attr):
                yield ("attribute", attr)
                if value not in _RECEIVERS:
                    yield from self.places(value, file, scope)
            case Subscript(value):
                yield ("at", file.path, id(expr))
                yield from self.places(value, file, scope)
            case CallRef(index):
                yield ("call", file.path, index)
                call = file.calls[index]
                name = last_name(call.func)
                if name not in _HANDING_ON and name not in self._iterates:
                    yield ("result", name)
                    return
                for argument in call.args:
                    yield from self.places(argument.value, file, scope)
                if isinstance(call.func, Attribute):
                    yield from self.places(call.func.value, file, scope)
            case IfExp(_, body, orelse):
                yield from self.places(body, file, scope)
                yield from self.places(orelse, file, scope)
            case Starred() | Await() | Walrus() | Element() | Entered():
                yield from self.places(expr.value, file, scope)
            case List() | Tuple() | Set() | Dict() | BinOp():
                yield ("at", file.path, id(expr))
                for part in expr.children():
                    yield from self.places(part, file, scope)
            case BoolOp(_, values):
                for part in values:
                    yield from self.places(part, file, scope)
            case Comprehension():
                yield ("at", file.path, id(expr))
                yield from self.places(expr.element, file, scope)


_RECEIVERS = (Name("self"), Name("cls"))


def _binding_scope(file: SourceFile, scope: int, name: str) -> int:
    """Return the enclosing scope that binds a name; 0 for the module."""
    first = True
    while scope > 0:
        if (first or file.scopes[scope].kind != "class") and name in file.bindings(scope):
            return scope
        scope, first = file.scopes[scope].parent, False
    return 0
