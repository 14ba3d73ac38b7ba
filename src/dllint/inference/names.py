"""The names under which calls of a function are searched for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from dllint.facts.aliases import lambda_name, result_name
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import Class, Frame, Function
from dllint.linking.derivations import receivers_in
from dllint.linking.implicit_calls import decorated

AFTER_FIELDS = ("__post_init__", "__attrs_post_init__", "model_post_init")
"""Methods that generated constructors run once the fields are set: those of dataclasses, attrs and pydantic."""
CONSTRUCTORS = ("__init__", "__new__", *AFTER_FIELDS)
_OF_OBJECTS = ("__call__", "forward")
"""Methods that run when the object is called."""
ANY_CLASS = ("cls", "__class__", *CONSTRUCTORS)
"""Names under which constructors of any class are called."""


def names_of(world: Engine, function: Function, closure: Frame | None = None) -> dict[str, None]:
    """Return the last names under which the function may be called, its own first."""
    name = function.name
    names = {name: None}
    owner = function.file.method_of(function.scope)
    if owner is not None and name in (*CONSTRUCTORS, *_OF_OBJECTS):
        cls = Class(function.file, owner)
        classes = [cls.name, *(below.name for below in world.hierarchy.subclasses(cls))]
        if name in CONSTRUCTORS:
            names = dict.fromkeys([name, "cls", "__class__", *classes])
        else:
            names = dict.fromkeys([name, *map(result_name, classes), *_receivers(function)])
    if function.file.scopes[function.scope].kind == "lambda":
        function.file.note("lambdas", function.scope)
        names[lambda_name(function.scope)] = None
    stood_in_for = dict.fromkeys(replaced_names(world, function, closure))
    names = stood_in_for if closure is not None else {**names, **stood_in_for}
    todo = deque(names)
    while todo and not limits.ALIASES.reached(len(names)):
        for alias in world.aliases(todo.popleft()):
            if alias not in names:
                names[alias] = None
                todo.append(alias)
    return names


def called_as(world: Engine, names: Iterable[str]) -> set[str]:
    """Return the last names under which functions and classes with these last names may be called: also those of
    variables, attributes, containers and parameters that they are bound to."""
    found = set(names)
    # Nearest names first, then alphabetically: which ones exceed the bound must not depend on the order of a set.
    todo = deque(sorted(found))
    while todo:
        name = todo.popleft()
        for alias in sorted({*world.aliases(name), *world.calls.parameters_given(name)}):
            if alias not in found and not limits.CALLED_NAMES.reached(len(found)):
                found.add(alias)
                todo.append(alias)
    return found


def replaced_names(world: Engine, function: Function, closure: Frame | None) -> Iterator[str]:
    """Yield the names of the definitions that decorators may replace by a function defined inside them."""
    scopes = function.file.scopes
    around = scopes[function.scope].parent
    if closure is not None and closure.call is not None:
        file = world.files[closure.call[0]]
        yield file.scopes[decorated(file, closure.call[1])].name
    elif around > 0 and scopes[around].kind == "function":
        for file, scope in world.decorated(dict.fromkeys((scopes[around].name, scopes[scopes[around].parent].name))):
            yield file.scopes[scope].name


def _receivers(method: Function) -> Iterator[str]:
    """Yield the names of the first parameters of the methods in the same class."""
    yield from method.file.derived(receivers_in, method.file.scopes[method.scope].parent)
