"""Enumerations: their members are instances that no written call constructs."""

from __future__ import annotations

from dllint.facts.nodes import CallRef
from dllint.inference.folding import is_member
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Class, Const, Instance, Value, Values, const
from dllint.linking.source import last_name

_PLAIN = frozenset({"enum.Enum", "enum.Flag", "object"})
"""Bases of enumerations whose members are no strings or numbers themselves."""


def member(owner: Class, name: str) -> Instance | None:
    """The member of a name that a class of an enumeration has."""
    index = owner.file.members.get((owner.scope, name))
    return Instance(owner, owner.file, index) if index is not None else None


def members(cls: Class) -> list[Instance]:
    """The members of an enumeration, in order; none of other classes."""
    return [Instance(cls, cls.file, index) for (scope, _), index in cls.file.members.items() if scope == cls.scope]


def attribute(world: Engine, value: Instance, name: str) -> Values:
    """The `name` or `value` of a member; of any, where it is not known which."""
    assert isinstance(value.of, Class)
    if name not in ("name", "value", "_name_", "_value_"):
        return ()
    classes = [value.of, *world.hierarchy.subclasses(value.of)] if value.call < 0 else []
    if not classes and not is_member(value):
        return ()
    found = [one for cls in classes for one in members(cls)] or ([value] if value.call >= 0 else [])
    return union(_value(world, one) if name.strip("_") == "value" else _name(one) for one in found)


def _name(value: Instance) -> Values:
    assert value.file is not None
    return (const(value.file.member_names[value.call]),)


def _value(world: Engine, value: Instance) -> Values:
    """What a member is bound to in the class body; `auto()` counts from one (enum documentation, "auto")."""
    assert isinstance(value.of, Class) and value.file is not None
    name = value.file.member_names[value.call]
    binding = value.file.bindings(value.of.scope)[name][-1]
    if isinstance(binding.expr, CallRef) and last_name(value.file.calls[binding.expr.index].func) == "auto":
        return _counted(world, value)
    return world.values.binding(name, binding, world.symbols.binding_site(binding, value.file, value.of.scope))


def _counted(world: Engine, value: Instance) -> Values:
    assert isinstance(value.of, Class)
    if not {"enum.Enum", "enum.IntEnum"}.intersection(world.hierarchy.externals(value.of)):
        return (UNKNOWN,)
    before = members(value.of)
    before = before[: before.index(value)]
    last = _value(world, before[-1]) if before else (const(0),)
    number = last[0].value if len(last) == 1 and isinstance(last[0], Const) else None
    return (const(number + 1),) if isinstance(number, int) else (UNKNOWN,)


def plain(world: Engine, values: Values) -> Values:
    """The values, with what a member is equal to in the place of one that is a string or a number itself."""
    if not any(is_member(value) for value in values):
        return values
    return union(_equal(world, value) for value in values)


def _equal(world: Engine, value: Value) -> Values:
    of = value.of if isinstance(value, Instance) and is_member(value) else None
    if not isinstance(of, Class) or not isinstance(value, Instance) or _PLAIN.issuperset(world.hierarchy.externals(of)):
        return (value,)
    return _value(world, value)


def found_by_value(world: Engine, cls: Class, values: Values) -> Values:
    """The members that calling an enumeration with a value gives: any, where the value is not known."""
    if not all(isinstance(value, Const) for value in values):
        return tuple(members(cls))
    return tuple(one for one in members(cls) if any(has in values for has in _value(world, one)))


def found_by_name(cls: Class, key: Value) -> Values:
    """The members that an item of an enumeration is."""
    if isinstance(key, Const):
        one = member(cls, str(key.value))
        return (one,) if one is not None else ()
    return tuple(members(cls))
