"""Enumerations: their members are instances that no written call constructs."""

from __future__ import annotations

from dllint.facts.nodes import CallRef
from dllint.inference.folding import is_member
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Class, Const, Instance, Value, Values, const
from dllint.linking.source import last_name

_PLAIN = frozenset({"enum.Enum", "enum.Flag", "object"})
"""Bases of enumerations whose members are not also strings or numbers."""


def member(owner: Class, name: str) -> Instance | None:
    """Return the member of an enumeration with this name; None if there is none."""
    index = owner.file.members.get((owner.scope, name))
    return Instance(owner, owner.file, index) if index is not None else None


def members(cls: Class) -> list[Instance]:
    """Return the members of an enumeration, in order; empty for other classes."""
    return [Instance(cls, cls.file, index) for (scope, _), index in cls.file.members.items() if scope == cls.scope]


def attribute(world: Engine, value: Instance, name: str) -> Values:
    """Return the `name` or `value` of a member; of all members if it is unknown which."""
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
    """Return the value of a member, as bound in the class body; `auto()` counts from one (enum documentation,
    "auto")."""
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
    """Return the values, with each member that is also a string or a number replaced by that value."""
    if not any(is_member(value) for value in values):
        return values
    return union(_equal(world, value) for value in values)


def _equal(world: Engine, value: Value) -> Values:
    of = value.of if isinstance(value, Instance) and is_member(value) else None
    if not isinstance(of, Class) or not isinstance(value, Instance) or _PLAIN.issuperset(world.hierarchy.externals(of)):
        return (value,)
    return _value(world, value)


def found_by_value(world: Engine, cls: Class, values: Values) -> Values:
    """Return the members that calling an enumeration with a value returns; all if the value is unknown."""
    if not all(isinstance(value, Const) for value in values):
        return tuple(members(cls))
    return tuple(one for one in members(cls) if any(has in values for has in _value(world, one)))


def found_by_name(cls: Class, key: Value) -> Values:
    """Return the members that indexing an enumeration with a key returns."""
    if isinstance(key, Const):
        one = member(cls, str(key.value))
        return (one,) if one is not None else ()
    return tuple(members(cls))
