"""Fields of classes whose constructor is written for them: dataclasses, attrs, pydantic models, named tuples."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import Annotation
from dllint.inference.interface import Engine
from dllint.inference.values import UNKNOWN, Actual, Class, Instance, Values
from dllint.linking.source import last_name

DECORATORS = frozenset({"dataclass", "define", "frozen", "mutable", "attrs", "attr_s"})
"""Last names of the decorators of the standard library's dataclasses, pydantic's and attrs' ("attr.s" is "s")."""
BASES = frozenset({"pydantic.BaseModel", "pydantic_settings.BaseSettings", "typing.NamedTuple", "msgspec.Struct"})


def given(world: Engine, value: Instance, name: str) -> list[Values]:
    """What the call that made the object gives for a field; nothing where it leaves the default."""
    actual = argument(world, value, name)
    if actual is not None:
        return [world.values.evaluate(actual.expr, actual.site) if actual.site is not None else (UNKNOWN,)]
    assert isinstance(value.of, Class)
    if not has_fields(world, value.of):
        return []
    if value.call < 0 or value.file is None:
        default = _default(world, value.of, name)
        return [default, (UNKNOWN,)] if default and not _made_anywhere(world, value.of) else []
    actuals = world.made_with(value)
    if actuals.mappings:
        found = world.mappings.from_unpacked(actuals, name)
        return [found.values, *([] if not found.absent else [_default(world, value.of, name)])]
    if actuals.stars:
        return [(UNKNOWN,)]
    return []


def argument(world: Engine, value: Instance, name: str) -> Actual | None:
    """The argument that gives a field in the call that made the object."""
    assert isinstance(value.of, Class)
    if value.call < 0 or value.file is None or not has_fields(world, value.of):
        return None
    actuals = world.made_with(value)
    names = _names(world, value.of)
    if name in actuals.keywords or name not in names or names.index(name) >= len(actuals.positional):
        return actuals.keywords.get(name)
    return actuals.positional[names.index(name)]


def has_fields(world: Engine, cls: Class) -> bool:
    """Whether the constructor of a class takes the values of its fields."""
    if world.hierarchy.method(cls, "__init__") is not None:
        return False
    if any(name in BASES for name in world.hierarchy.externals(cls)):
        return True
    for owner in world.hierarchy.line(cls):
        if isinstance(owner, Class):
            for decorator in owner.file.scopes[owner.scope].decorators:
                expr = decorator.expr
                if isinstance(expr, CallRef):
                    expr = owner.file.calls[expr.index].func
                if isinstance(expr, (Name, Attribute)) and last_name(expr) in DECORATORS:
                    return True
    return False


def _names(world: Engine, cls: Class) -> list[str]:
    """The fields in the order of the constructor's parameters."""
    names: dict[str, None] = {}
    for owner in reversed([one for one in world.hierarchy.line(cls) if isinstance(one, Class)]):
        for event in owner.file.scopes[owner.scope].events:
            if isinstance(event.detail, Annotation) and event.target:
                names.setdefault(last_name(event.target))
    return list(names)


def _made_anywhere(world: Engine, cls: Class) -> bool:
    """Whether any code of the project makes objects of a class, or of one below it. Otherwise something from outside
    does, which fills the fields as a command line or a file says."""
    classes = (cls, *world.hierarchy.subclasses(cls))
    return any(world.called(one.name) for one in classes)


def _default(world: Engine, cls: Class, name: str) -> Values:
    for owner in world.hierarchy.line(cls):
        if isinstance(owner, Class) and name in owner.file.bindings(owner.scope):
            return world.values.attribute(owner, name)
    return ()
