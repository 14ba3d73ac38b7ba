"""Methods that fill an object after it is constructed: `rows = Rows(); rows.populate(path)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Name, Subscript
from dllint.facts.schema import Operator
from dllint.inference.values import Class, Function, Instance
from dllint.inference.written_changes import ADDING
from dllint.libraries.index import RUNS_BEFORE_LOADING, canonical
from dllint.linking.source import SourceFile
from dllint.project.arrivals import Hop

if TYPE_CHECKING:
    from dllint.inference.edges import Caller
    from dllint.inference.engine import World

_Place = tuple[str, int]
"""The path of a file and the scope of a function in it."""


class Preparation:
    """Finds the methods that the project calls on new objects, and that fill attributes of them."""

    def __init__(self, world: World, init_code: Callable[[Class], dict[_Place, tuple[Hop, ...]]]) -> None:
        self.world = world
        self.init_code = init_code
        self._called: dict[_Place, frozenset[_Place]] = {}
        self._reached: dict[_Place, frozenset[_Place]] = {}

    def called(self, cls: Class) -> frozenset[_Place]:
        """The methods of a class that fill attributes and that the project calls on new objects."""
        found = self._called.get(cls.key)
        if found is None:
            self._called[cls.key] = frozenset()
            found = self._called[cls.key] = frozenset(
                method.key for method in self._filling(cls) if self._is_called_on_new(method)
            )
        return found

    def reached(self, cls: Class) -> frozenset[_Place]:
        """The same, with the methods that such a call reaches through `self`: `add_line`, which `add_page` calls."""
        found = self._reached.get(cls.key)
        if found is None:
            self._reached[cls.key] = frozenset()
            methods = self._methods(cls)
            found = self._reached[cls.key] = frozenset(
                method.key
                for method in self._filling(cls)
                if any(map(self._is_called_on_new, _ways_to(method, methods)))
            )
        return found

    def of_object(self, value: Instance, place: _Place) -> bool:
        """Whether the project calls a method on this object where it constructs the object."""
        if value.file is None or value.call < 0 or not isinstance(value.of, Class):
            return False
        if place not in self.called(value.of):
            return False
        callers = self.world.calls.callers(Function(self.world.files[place[0]], place[1]))
        return any(
            (one.file, one.call) == (value.file, value.call)
            and not (value.frame is not None and value.frame.is_apart(one.frame))
            for caller in callers
            for one in self._new_objects(caller)
        )

    def _methods(self, cls: Class) -> list[Function]:
        return [
            Function(owner.file, scope)
            for owner in self.world.hierarchy.line(cls)
            if isinstance(owner, Class)
            for name, scope in self.world.hierarchy.own_methods(owner).items()
            if not name.startswith("__")
        ]

    def _filling(self, cls: Class) -> Iterator[Function]:
        """The methods that fill attributes, and that construction does not run."""
        made = self.init_code(cls)
        for method in self._methods(cls):
            if fills(method.file, method.scope) and method.key not in made:
                yield method

    def _is_called_on_new(self, method: Function) -> bool:
        return any(map(self._on_new_object, self.world.calls.callers(method)))

    def _on_new_object(self, caller: Caller) -> bool:
        """Whether the receiver of a call may be an object that the calling function has constructed, or has got from a
        function that constructs it."""
        return any(True for _ in self._new_objects(caller))

    def _new_objects(self, caller: Caller) -> Iterator[Instance]:
        """The receivers of a call that the calling function has constructed, or has got from another function. A hook
        that a framework calls before the loaders are made may be given them in any way."""
        call = caller.file.calls[caller.call] if caller.call >= 0 and not caller.guessed else None
        if (
            call is None
            or not isinstance(call.func, Attribute)
            or not isinstance(call.func.value, (Name, Attribute, CallRef, Subscript))
        ):
            return
        early = is_in_hook(self.world, caller)
        for one in self.world.values.evaluate(
            call.func.value, self.world.call_site(caller.file, caller.call, caller.frame.parent)
        ):
            if not isinstance(one, Instance) or one.file is None or one.call < 0:
                continue
            made_here = one.file is caller.file and caller.file.calls[one.call].scope == call.scope
            if (
                made_here
                or early
                or (isinstance(call.func.value, Name) and _is_result(caller.file, call.scope, call.func.value))
            ):
                yield one


def is_in_hook(world: World, caller: Caller) -> bool:
    """Whether a call stands in a hook of a class that a framework calls before loaders are made."""
    scope = caller.file.calls[caller.call].scope if caller.call >= 0 and not caller.guessed else 0
    owner = caller.file.method_of(scope)
    if owner is None:
        return False
    bases = world.hierarchy.externals(Class(caller.file, owner))
    return any(caller.file.scopes[scope].name in RUNS_BEFORE_LOADING.get(canonical(one), ()) for one in bases)


def _is_result(file: SourceFile, scope: int, name: Name) -> bool:
    """Whether every assignment to a name in a function gives it the result of a call."""
    if any(param.name == name.id for param in file.scopes[scope].params):
        return False
    bound = [one.event for one in file.bindings(scope).get(name.id, ())]
    return bool(bound) and all(
        event is not None
        and event.kind == "assign"
        and not isinstance(event.detail, Operator)
        and isinstance(event.value, CallRef)
        for event in bound
    )


def _ways_to(method: Function, methods: list[Function]) -> list[Function]:
    """A method, and those of the same object that call it through `self`, directly or through others."""
    found = [method]
    for one in found:
        found += [other for other in methods if other not in found and _calls(other, one.name)]
    return found


def _calls(method: Function, name: str) -> bool:
    """Whether a method calls `self.name()`."""
    params = method.file.scopes[method.scope].params
    called = Attribute(Name(params[0].name), name) if params else None
    return any(method.file.calls[index].func == called for index in method.file.calls_of(method.scope))


def fills(file: SourceFile, method: int, called: bool = False) -> bool:
    """Whether a method sets attributes of its object or adds elements to them; with `called`, also whether it calls
    another method of the object."""
    params = file.scopes[method].params
    own = Name(params[0].name) if params else None
    if any(own in (store.base, getattr(store.base, "value", None)) for store in file.stores(method)):
        return True
    funcs = (file.calls[index].func for index in file.calls_of(method))
    return any(
        isinstance(func, Attribute)
        and ((func.attr in ADDING and getattr(func.value, "value", None) == own) or (called and func.value == own))
        for func in funcs
    )
