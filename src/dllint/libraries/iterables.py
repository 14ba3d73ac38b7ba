"""Functions that read iterables: into a sequence or a set, or their next element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Element, List, Name, Starred
from dllint.inference.generators import GENERATOR
from dllint.inference.interface import Engine
from dllint.inference.values import (
    UNKNOWN,
    Class,
    Const,
    Display,
    External,
    Function,
    Instance,
    Site,
    Value,
    Values,
    Written,
)
from dllint.libraries.dynamic_lookup import first_argument
from dllint.libraries.index import canonical, refuses

if TYPE_CHECKING:
    from dllint.linking.source import SourceFile


def read_up_as_sequence(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `list(rows)`, `sorted(rows)` and `iter(rows)` give."""
    func = file.calls[index].func
    if not file.calls[index].args and isinstance(func, Name) and func.id in ("list", "tuple"):
        return (Display(func.id, Written(CallRef(index), site)),)
    values = first_argument(world, file, index, site)
    if values is None:
        return None
    if func == Name("iter"):
        return tuple(value if isinstance(value, (Display, Instance)) else UNKNOWN for value in values)
    kind = "tuple" if func == Name("tuple") else "list"
    through = file.calls[index].args[0].value
    if isinstance(through, CallRef) and not all(
        isinstance(value, Display) or (isinstance(value, Instance) and value.of == GENERATOR) for value in values
    ):
        # Of what comes from outside, the call alone tells what it is.
        elements = world.values.evaluate(Element(through), site)
        if elements and all(map(_is_own, elements)):
            return (Display(kind, Written(List((Starred(through),)), site)),)
    return tuple(dict.fromkeys(_read_up(value, kind, Written(CallRef(index), site)) for value in values))


def _is_own(value: Value) -> bool:
    """Whether a value is a class or function of the project, an object of such a class, or a constant."""
    of = value.of if isinstance(value, Instance) else value
    return isinstance(of, (Class, Function, Const))


def empty_set(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the set that `set()` creates and other statements fill; None for `set(items)`, whose order is unknown."""
    call = file.calls[index]
    return (Display("set", Written(CallRef(index), site)),) if not call.args else None


def _read_up(value: Value, kind: str, made: Written) -> Value:
    """Return a new sequence of the elements of an iterable, or the object itself where its elements are unknown."""
    if isinstance(value, Display):
        return value.made_by(kind, made)
    if isinstance(value, Instance) and value.of == GENERATOR:
        return Display(kind, made)
    if isinstance(value, Instance) and not (isinstance(value.of, External) and refuses(canonical(value.of.name))):
        return value
    return UNKNOWN


def next_element(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `next(rows)` gives: any of the elements."""
    args = file.calls[index].args
    if not args or args[0].keyword is not None:
        return None
    through = args[0].value
    while isinstance(through, CallRef) and file.calls[through.index].func == Name("iter"):
        given = file.calls[through.index].args
        if len(given) != 1 or given[0].keyword is not None:
            break
        through = given[0].value
    return world.values.evaluate(Element(through), site)
