"""Fields of classes with generated constructors: dataclasses, attrs, pydantic models, named tuples."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, CallRef, Constant, Expr, Name, Subscript
from dllint.facts.schema import Annotation, Event
from dllint.inference.interface import Engine
from dllint.inference.makings import objects_of
from dllint.inference.values import UNKNOWN, Actual, Class, External, Instance, Site, Values
from dllint.linking.assignments import Store
from dllint.linking.source import last_name

DECORATORS = frozenset({"dataclass", "define", "frozen", "mutable", "attrs", "attr_s", "attributes"})
"""Last names of the class decorators of dataclasses, pydantic and attrs."""
_SHORT = Attribute(Name("attr"), "s")
"""The one decorator of attrs whose last name is not distinctive."""
_FIELDS = frozenset({"attr.ib", "attr.attrib"})
"""Calls that create an attrs field without an annotation."""
NAMED_TUPLE = "typing.NamedTuple"
BASES = frozenset({"pydantic.BaseModel", "pydantic_settings.BaseSettings", NAMED_TUPLE, "msgspec.Struct"})

_OBJECT = Name("self")
_FROM_OUTSIDE = frozenset({"pydantic_settings.BaseSettings", "pydantic.BaseSettings"})
"""Bases whose fields can be set by the environment."""


def given(world: Engine, value: Instance, name: str) -> list[Values]:
    """Return the values of a field passed in the call that created the object; empty if the call leaves the default."""
    actual = argument(world, value, name)
    if actual is not None:
        return [world.values.evaluate(actual.expr, actual.site) if actual.site is not None else (UNKNOWN,)]
    assert isinstance(value.of, Class)
    if not has_fields(world, value.of):
        return []
    names = _names(world, value.of)
    if name not in names:
        return []
    if value.call < 0 or value.file is None:
        return _of_any(world, value.of, name)
    actuals = world.made_with(value)
    if actuals.mappings:
        found = world.mappings.from_unpacked(actuals, name)
        return [found.values, *([] if not found.absent else [_default(world, value.of, name)])]
    if actuals.stars:
        return [(UNKNOWN,)]
    if _FROM_OUTSIDE.intersection(world.hierarchy.externals(value.of)):
        return [_default(world, value.of, name), (UNKNOWN,)]
    return []


def _of_any(world: Engine, cls: Class, name: str) -> list[Values]:
    """Return the values of a field of an object whose class alone is known: what the calls give it that create
    objects of the class, other than those of tests, and the default where one of them leaves it. Empty if that is the
    default alone."""
    default = _default(world, cls, name)
    is_test = world.import_graph.is_test
    made = [one for one in objects_of(world, cls) if one.file is None or not is_test(one.file.path)]
    if not made:
        return [default, (UNKNOWN,)] if default and not _made_anywhere(world, cls) else []
    passed = [given(world, one, name) for one in made]
    if not any(passed):
        return []
    return [*(values for one in passed for values in one), *([] if all(passed) else [default])]


def default(world: Engine, value: Instance, name: str) -> Values:
    """Return the default that the constructor stores in a field of the object, not bound to it as a class attribute
    is; empty if there is none."""
    assert isinstance(value.of, Class)
    if value.call < 0 or not has_fields(world, value.of) or name not in _names(world, value.of):
        return ()
    return _default(world, value.of, name)


def stores(world: Engine, value: Instance) -> Iterator[tuple[Class, Store, Site]]:
    """Yield the assignments by which the generated constructor sets the fields of the object, each with the class that
    declares the field and the site where its value is evaluated."""
    assert isinstance(value.of, Class)
    if value.call < 0 or not has_fields(world, value.of):
        return
    names = _names(world, value.of)
    for owner in world.hierarchy.line(value.of):
        if not isinstance(owner, Class):
            continue
        for event in owner.file.scopes[owner.scope].events:
            if event.kind != "assign" or not isinstance(event.target, Name) or names.pop(event.target.id, None) is None:
                continue
            name = event.target.id
            if _annotation(event) == "InitVar":
                continue
            given = argument(world, value, name)
            if given is None:
                site = Site(owner.file, owner.scope, event.region, event.span.start, None)
                yield owner, Store(owner.scope, event, _OBJECT, name, event.value), site
            elif given.expr is not None and given.site is not None:
                yield owner, Store(owner.scope, event, _OBJECT, name, given.expr), given.site


def argument(world: Engine, value: Instance, name: str) -> Actual | None:
    """Return the argument for a field in the call that created the object; None if there is none."""
    assert isinstance(value.of, Class)
    if value.call < 0 or value.file is None or not has_fields(world, value.of):
        return None
    actuals = world.made_with(value)
    names = [one for one, positional in _names(world, value.of).items() if positional]
    if name in actuals.keywords or name not in names or names.index(name) >= len(actuals.positional):
        return actuals.keywords.get(name)
    return actuals.positional[names.index(name)]


def at(world: Engine, value: Instance, position: int) -> Values:
    """Return the values of the field at a position of a named tuple; empty if the object is none, or has no such."""
    assert isinstance(value.of, Class)
    names = of_named_tuple(world, value.of)
    if not -len(names) <= position < len(names):
        return ()
    return world.objects.attribute(value, names[position])


def of_named_tuple(world: Engine, cls: Class) -> tuple[str, ...]:
    """Return the names of the fields of a class with `NamedTuple` as its base; empty for other classes."""
    return tuple(_names(world, cls)) if NAMED_TUPLE in world.hierarchy.externals(cls) else ()


def names(world: Engine, cls: Class) -> tuple[str, ...]:
    """Return the names of the fields that the constructor takes."""
    return tuple(_names(world, cls))


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
                if last_name(expr) in DECORATORS or expr == _SHORT:
                    return True
    return False


def _names(world: Engine, cls: Class) -> dict[str, bool]:
    """Return the fields that the constructor takes, in order → whether they can be passed by position."""
    names: dict[str, bool] = {}
    for owner in reversed([one for one in world.hierarchy.line(cls) if isinstance(one, Class)]):
        for base in world.hierarchy.made_bases(owner):
            names.update(dict.fromkeys(world.named_tuples.fields(base) or (), True))
        for name, positional, taken, made in _own_names(owner):
            if made is not None and not _is_field(world, owner, made):
                continue
            names[name] = positional
            if not taken:
                del names[name]
    return names


def _own_names(owner: Class) -> tuple[tuple[str, bool, bool, Event | None], ...]:
    """Return what the body of a class says about its fields, in order: the name, whether it can be passed by position,
    whether the constructor takes it, and the assignment if it is a field only where that calls `attr.ib(…)`."""
    key = ("fields", owner.scope)
    known: tuple[tuple[str, bool, bool, Event | None], ...] | None = owner.file.interned.get(key)
    if known is not None:
        return known
    scope = owner.file.scopes[owner.scope]
    by_name = any(_says(owner, one.expr, "kw_only", True) for one in scope.decorators)
    found: list[tuple[str, bool, bool, Event | None]] = []
    for event in scope.events:
        if event.kind != "assign" or not isinstance(event.target, Name):
            continue
        annotation = _annotation(event)
        if annotation == "KW_ONLY":
            by_name = True
            continue
        plain = annotation in (None, "ClassVar")
        if plain and not isinstance(event.value, CallRef):
            continue
        positional = not by_name and not _says(owner, event.value, "kw_only", True)
        taken = not _says(owner, event.value, "init", False)
        found.append((event.target.id, positional, taken, event if plain else None))
    known = owner.file.interned[key] = tuple(found)
    return known


def _annotation(event: Event) -> str | None:
    """Return the last name of a field's annotation: "ClassVar" for `ClassVar[int]` and `"typing.ClassVar[int]"`."""
    expr = event.detail.expr if isinstance(event.detail, Annotation) else None
    if isinstance(expr, Constant) and isinstance(expr.value, str):
        return expr.value.partition("[")[0].rpartition(".")[2]
    return None if expr is None else last_name(expr.value if isinstance(expr, Subscript) else expr)


def _is_field(world: Engine, owner: Class, event: Event) -> bool:
    """Whether a name in a class body is bound to the result of `attr.ib(…)`."""
    if not isinstance(event.value, CallRef):
        return False
    site = Site(owner.file, owner.scope, event.region, event.span.start, None)
    callees = world.calls.callees(owner.file, event.value.index, site.frame)
    return any(isinstance(one, External) and one.name in _FIELDS for one in callees)


def _says(owner: Class, expr: Expr | None, keyword: str, what: bool) -> bool:
    """Whether a call has a keyword argument with this constant."""
    args = owner.file.calls[expr.index].args if isinstance(expr, CallRef) else ()
    return any(one.keyword == keyword and one.value == Constant(what) for one in args)


def _made_anywhere(world: Engine, cls: Class) -> bool:
    """Whether any code of the project instantiates a class or a subclass. Otherwise external code does, and fills the
    fields from a command line or a file."""
    classes = (cls, *world.hierarchy.subclasses(cls))
    return any(world.called(one.name) for one in classes)


def _default(world: Engine, cls: Class, name: str) -> Values:
    for owner in world.hierarchy.line(cls):
        if isinstance(owner, Class) and name in owner.file.bindings(owner.scope):
            return world.values.attribute(owner, name)
    return ()
