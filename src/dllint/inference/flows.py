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

SAME = 0b1001
IN = 0b1010
OUT = 0b1100
EITHER = 0b1111
"""How one location relates to another: the second holds what the first holds; holds it in a container; holds what the
containers at the first hold; any of these. The bits are four steps between the two states of an object at a location,
which is itself there, or inside what is there: from itself to itself (1) and to inside (2), from inside to itself (4)
and to inside (8)."""
ITSELF = 0b01
INSIDE = 0b10
"""The states of an object at a location, as bits."""

_MOVED = [[(how & 3 if state & 1 else 0) | (how >> 2 if state & 2 else 0) for how in range(16)] for state in range(4)]
"""The states at the second location, by those at the first and by how the second relates to it."""
_COMPOSED = [[_MOVED[one & 3][then] | _MOVED[one >> 2][then] << 2 for then in range(16)] for one in range(16)]
"""How a third location relates to the first, by how the second relates to the first, and the third to the second."""

_HANDING_ON = {
    "vars": SAME,
    **dict.fromkeys(
        ("Namespace", "SimpleNamespace", "OrderedDict", "EasyDict", "Dict", "CfgNode", "ConfigDict"), EITHER
    ),
    **dict.fromkeys(("dict", "next", "getattr", "get", "pop", "popitem", "items", "values", "setdefault", "copy"), OUT),
}
"""Last names of functions and methods that return what their receiver, or their first argument, holds, or an object
around it, besides those that iterate their arguments; and how."""
_TAKING_IN = frozenset({"append", "extend", "insert", "add", "update", "setdefault"})
"""Methods that add their arguments to their receiver."""

Place = tuple[object, ...]
"""An abstract location: an expression that creates an object ("at", or "call" with its file and index), a "name" in its
scope, an "attribute" or a "result" of anything with that name, or an "argument" of all functions of a name."""
Way = tuple[Place, int]
"""A location, and how what it holds relates to what is at another one."""


def meets(states: int, how: int) -> bool:
    """Whether an object in some of its states at a location may be what an expression evaluates to."""
    return bool(_MOVED[states][how] & ITSELF)


class Flows:
    """Computes where objects can flow, over a linked project."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._ways: dict[str, Mapping[Place, Iterable[Way]]] = {}
        self._same: dict[Place, Place] = {}
        self._functions: dict[str, list[tuple[SourceFile, int]]] | None = None
        self._reached: dict[tuple[Place, int], Mapping[Place, int]] = {}
        self._standing: dict[int, Place] = {}

    @cached_property
    def ways(self) -> Ways:
        knowledge = self.world.knowledge
        return Ways(knowledge.iterates, lambda name: bool(self._named(name)), knowledge.arguments_kept)

    def stand(self, expr: Expr, place: Place) -> None:
        """Set the location that holds an object for which `expr` stands, if no source expression creates it."""
        self._standing[id(expr)] = place

    def reached(self, start: Place, state: int = ITSELF) -> Mapping[Place, int]:
        """Return the locations that an object can reach which is created at `start`, each with its states there."""
        kept = self._reached.get((start, state))
        if kept is None:
            found = {start: state}
            todo = [(start, state)]
            while todo and not limits.PLACES.reached(len(found)):
                place, states = todo.pop(0)
                for step, how in self._steps(place):
                    moved = _MOVED[states][how]
                    before = found.get(step, 0)
                    if moved | before != before:
                        found[step] = moved | before
                        todo.append((step, moved & ~before))
            kept = self._reached[start, state] = found
        return kept

    def files(self, place: Place) -> Iterable[SourceFile]:
        """Return the files that may refer to a location."""
        kind, name = place[0], place[1]
        if kind in ("attribute", "result") and isinstance(name, str):
            return self.world.files_loading(name) if kind == "attribute" else self.world.files_calling(name)
        return (self.world.files[str(name)],) if kind in ("name", "call") else ()

    def start(self, expr: Expr, file: SourceFile) -> Way:
        """Return the location of the object that an expression creates, and its state there. What a call returns may be
        any part of it: of a configuration, all parts are created by the call."""
        if isinstance(expr, CallRef):
            return ("call", file.path, expr.index), ITSELF | INSIDE
        standing = self._standing.get(id(expr))
        return (standing, INSIDE) if standing is not None else (("at", file.path, id(expr)), ITSELF)

    def _steps(self, place: Place) -> Iterator[Way]:
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
            yield from ((("name", path, 0, place[1]), SAME) for path in modules)
        files = (self.world.files[str(place[1])],) if kind == "at" else self.files(place)
        for file in files:
            yield from self._ways_of(file).get(place, ())

    def _exported(self, place: Place) -> Iterator[Way]:
        """Yield the names under which other files import a module's variable, and the attributes of modules and
        classes."""
        _, path, scope, name = place
        file = self.world.files[str(path)]
        if scope == 0:
            yield ("attribute", name), SAME
            for importer, _ in self.world.imports.importers(file):
                for binding in importer.bindings(0).get(str(name), ()):
                    if binding.kind == "import":
                        yield ("name", importer.path, 0, name), SAME
                for _, _, imported in importer.imports():
                    if imported.alias and imported.name == name:
                        yield ("name", importer.path, 0, imported.alias), SAME
                    elif imported.name == "*":
                        yield ("name", importer.path, 0, name), SAME
        elif isinstance(scope, int) and file.scopes[scope].kind == "class":
            yield ("attribute", name), SAME

    def _parameters(self, place: Place) -> Iterator[Way]:
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
                    yield ("name", file.path, scope, param.name), IN if param.kind in ("var", "kw") else SAME

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

    def _ways_of(self, file: SourceFile) -> Mapping[Place, Iterable[Way]]:
        ways = self._ways.get(file.path)
        if ways is None:
            # Most locations occur in several ways, and equal ways often: each is stored once.
            same = self._same
            ways = self._ways[file.path] = {
                same.setdefault(source, source): tuple((same.setdefault(at, at), how) for at, how in targets.items())
                for source, targets in by_source(self.ways.collect(file.raw)).items()
            }
        return ways

    def places(self, expr: Expr | None, file: SourceFile, scope: int) -> Mapping[Place, int]:
        """Return the locations whose objects an expression may evaluate to, or contain, and how."""
        return gathered(self.ways.places(expr, file, scope))


def gathered(ways: Iterable[Way]) -> dict[Place, int]:
    """Return each location once, with all that relates to it."""
    found: dict[Place, int] = {}
    for place, how in ways:
        found[place] = found.get(place, 0) | how
    return found


def by_source(ways: Iterable[tuple[Place, Way]]) -> dict[Place, dict[Place, int]]:
    """Return the ways from each location that lead to another, with how they lead there."""
    found: dict[Place, dict[Place, int]] = {}
    for source, (target, how) in ways:
        if source != target:
            targets = found.setdefault(source, {})
            targets[target] = targets.get(target, 0) | how
    return found


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

    def collect(self, file: SourceFile) -> Iterator[tuple[Place, Way]]:
        """Yield the ways, each from a location to the next."""
        for number, scope in enumerate(file.scopes):
            for name, bindings in file.bindings(number).items():
                target = ("name", file.path, number, name)
                for binding in bindings:
                    if binding.kind == "value":
                        yield from self._to(target, binding.expr, file, number)
            for param in scope.params:
                if param.default is not None:
                    yield from self._to(("name", file.path, number, param.name), param.default, file, scope.parent)
            for store in file.stores(number):
                if isinstance(store.key, str):
                    yield from self._to(("attribute", store.key), store.value, file, number)
                if not (isinstance(store.key, str) and store.base in _RECEIVERS):
                    held = [*self.places(store.value, file, number)]
                    yield from _into(held, [place for place, _ in self.places(store.base, file, number)])
            for event in scope.events_of("return", "yield"):
                if event.value is not None:
                    for one, how in self.places(event.value, file, number):
                        yield one, (("result", scope.name), how if event.kind == "return" else how | _COMPOSED[how][IN])
                        if scope.decorators:
                            yield one, (("attribute", scope.name), how)
        for (around, name), declared in file.within.items():
            for number, binding in declared:
                if binding.kind == "value":
                    yield from self._to(("name", file.path, around, name), binding.expr, file, number)
        for index, call in enumerate(file.calls):
            yield from self._given(call, file)
            if last_name(call.func) == "defaultdict":
                yield from self._made_by_factory(call, ("call", file.path, index), file)

    def _to(self, target: Place, expr: Expr | None, file: SourceFile, scope: int) -> Iterator[tuple[Place, Way]]:
        return ((one, (target, how)) for one, how in self.places(expr, file, scope))

    @staticmethod
    def called(file: SourceFile) -> Iterator[str]:
        """Yield the names that `collect` may look up as functions."""
        for call in file.calls:
            yield last_name(call.func)
            if call.args:
                yield last_name(call.args[0].value)

    def _made_by_factory(self, call: Call, held: Place, file: SourceFile) -> Iterator[tuple[Place, Way]]:
        """Yield the flow from a default factory's results to its dict."""
        for argument in call.args[:1]:
            if isinstance(argument.value, LambdaRef):
                scope = argument.value.scope
                for event in file.scopes[scope].events_of("return"):
                    yield from _into(self.places(event.value, file, scope), [held])
            elif isinstance(argument.value, (Name, Attribute)):
                yield ("result", last_name(argument.value)), (held, IN)

    def _given(self, call: Call, file: SourceFile) -> Iterator[tuple[Place, Way]]:
        name = last_name(call.func)
        targets: list[Place] = []
        if name in _TAKING_IN and isinstance(call.func, Attribute):
            targets = [place for place, _ in self.places(call.func.value, file, call.scope)]
        shift = 0
        if name == "partial" and call.args:
            name, shift = last_name(call.args[0].value), 1
        known = bool(name) and self._is_function(name)
        kept = self._kept(name)
        for number, argument in enumerate(call.args if known or targets or kept else ()):
            position = number - shift if argument.keyword in (None, "*") else argument.keyword
            given = [*self.places(argument.value, file, call.scope)]
            if argument.keyword == "*":
                given = [(one, _COMPOSED[how][EITHER]) for one, how in given]
            for one, how in given:
                if known:
                    yield one, (("argument", name, position), how)
                yield from ((one, (("attribute", held), how)) for held, at in kept if position in (held, at))
            yield from _into(given, targets)

    def places(self, expr: Expr | None, file: SourceFile, scope: int) -> Iterator[Way]:
        """Yield the locations whose objects an expression may evaluate to, or contain, and how."""
        match expr:
            case Name(name):
                yield ("name", file.path, _binding_scope(file, scope, name), name), SAME
            case Attribute(value, attr):
                yield ("attribute", attr), SAME
                if value not in _RECEIVERS:
                    yield from self._through(SAME if attr == "__dict__" else OUT, value, file, scope)
            case Subscript(value):
                yield ("at", file.path, id(expr)), SAME
                yield from self._through(OUT, value, file, scope)
            case CallRef(index):
                yield ("call", file.path, index), SAME
                yield from self._returned(file.calls[index], file, scope)
            case IfExp(_, body, orelse):
                yield from self.places(body, file, scope)
                yield from self.places(orelse, file, scope)
            case Walrus():
                yield from self.places(expr.value, file, scope)
            case Element():
                yield from self._through(OUT, expr.value, file, scope)
            case Starred() | Await() | Entered():
                yield from self._through(EITHER, expr.value, file, scope)
            case List() | Tuple() | Set() | Dict():
                yield ("at", file.path, id(expr)), SAME
                for part in expr.children():
                    yield from self._through(IN, part, file, scope)
            case BinOp():
                yield ("at", file.path, id(expr)), SAME
                for part in expr.children():
                    yield from self._through(EITHER, part, file, scope)
            case BoolOp(_, values):
                for part in values:
                    yield from self.places(part, file, scope)
            case Comprehension():
                yield ("at", file.path, id(expr)), SAME
                yield from self._through(IN, expr.element, file, scope)

    def _through(self, then: int, expr: Expr | None, file: SourceFile, scope: int) -> Iterator[Way]:
        """Yield the locations of an expression, as one around it relates to them."""
        return ((place, _COMPOSED[how][then]) for place, how in self.places(expr, file, scope))

    def _returned(self, call: Call, file: SourceFile, scope: int) -> Iterator[Way]:
        name = last_name(call.func)
        how = EITHER if name in self._iterates else _HANDING_ON.get(name)
        if how is None:
            yield ("result", name), SAME
            return
        of_method = isinstance(call.func, Attribute)
        for number, argument in enumerate(call.args):
            # `next(rows, None)` and `getattr(options, name, default)` return the argument behind the first itself, too.
            first = number == 0 and not of_method and argument.keyword is None
            yield from self._through(how if first or how != OUT else EITHER, argument.value, file, scope)
        if isinstance(call.func, Attribute):
            yield from self._through(how, call.func.value, file, scope)


def _into(held: Iterable[Way], containers: Iterable[Place]) -> Iterator[tuple[Place, Way]]:
    """Yield the ways by which what is held comes into containers."""
    containers = [*containers]
    return ((one, (place, _COMPOSED[how][IN])) for one, how in held for place in containers)


_RECEIVERS = (Name("self"), Name("cls"))


def _binding_scope(file: SourceFile, scope: int, name: str) -> int:
    """Return the enclosing scope that binds a name; 0 for the module."""
    first = True
    while scope > 0:
        if (first or file.scopes[scope].kind != "class") and name in file.bindings(scope):
            return scope
        scope, first = file.scopes[scope].parent, False
    return 0
