"""Named tuples: their fields by name and by position (`collections.namedtuple`, `typing.NamedTuple`)."""

from __future__ import annotations

from typing import cast

from dllint.facts.nodes import Attribute, CallRef, Constant, Dict, IfExp, Opaque, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference import fields
from dllint.inference.answers import Table
from dllint.inference.arguments import Held, Passed
from dllint.inference.edges import Given
from dllint.inference.interface import Engine
from dllint.inference.values import (
    Actual,
    Actuals,
    Class,
    Const,
    Display,
    External,
    Instance,
    Mapping,
    Site,
    Value,
    Values,
    Written,
    const,
)

COLLECTIONS = "collections.namedtuple"
TYPING = "typing.NamedTuple"
OBJECT = f"{COLLECTIONS}()()"
"""An object of a class that the function makes, in the names of its methods."""
_MAKERS = {COLLECTIONS: "field_names", TYPING: "fields"}


class NamedTuples:
    """Named tuples as tuples whose elements have names: one tuple per call that makes one."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._written: dict[tuple[object, ...], Expr] = {}
        self._fields: Table[tuple[str, ...] | None] = {}

    def fields(self, cls: Instance) -> tuple[str, ...] | None:
        """Return the names of the fields of a class that a call makes; None if it makes no named tuple, or if they are
        unknown."""
        if not isinstance(cls.of, External) or cls.of.name not in _MAKERS or cls.file is None or cls.call < 0:
            return None
        return self.world.memory.remember(self._fields, cls, lambda: self._listed(cls), None)

    def _listed(self, cls: Instance) -> tuple[str, ...] | None:
        assert isinstance(cls.of, External)
        actuals = self.world.made_with(cls)
        second = actuals.positional[1] if len(actuals.positional) > 1 else actuals.keywords.get(_MAKERS[cls.of.name])
        if second is None or actuals.rest or "rename" in actuals.keywords:
            return None
        values = self.world.values.passed(second)
        given = values[0] if len(values) == 1 else None
        if isinstance(given, Const):
            return tuple(given.value.replace(",", " ").split()) if isinstance(given.value, str) else None
        if not isinstance(given, Display):
            return None
        slots = self.world.mappings.slots(given)
        names = [self._named(self.world.values.evaluate(expr, site)) for expr, site in slots or ()]
        return tuple(one for one in names if one) if slots is not None and all(names) else None

    def _named(self, values: Values) -> str | None:
        """Return the name that a field is declared by: the name itself, or the first of a pair with its type."""
        one = values[0] if len(values) == 1 else None
        if isinstance(one, Display):
            first = self.world.mappings.item(one, const(0))
            one = first[0] if len(first) == 1 else None
        return one.value if isinstance(one, Const) and isinstance(one.value, str) else None

    def made(self, cls: Instance, given: Given) -> Values:
        """Return the tuple that a call of such a class makes; empty if it is no named tuple of known fields.

        A class that a function makes, or that has another name than its variable, is not resolved: pickle does not find
        it, so the class itself is what matters.
        """
        names = self.fields(cls)
        if names is None or cls.file is None or cls.file.calls[cls.call].scope != 0 or self._has_another_name(cls):
            return ()
        actuals = given.actuals or self.world.actuals(given.file, given.call, given.frame)
        here = self.world.call_site(given.file, given.call, given.frame)
        defaults = self._defaults(cls, names)
        elements = [_argument(actuals, at, name) or defaults.get(name, Opaque()) for at, name in enumerate(names)]
        return (self._tuple(names, elements, here, (given.key, cls)),)

    def _has_another_name(self, cls: Instance) -> bool:
        """Whether a variable of the module holds such a class, and none by the name that the class is given."""
        assert cls.file is not None
        made = CallRef(cls.call)
        bound = {name for name, all_of in cls.file.bindings(0).items() if any(one.expr == made for one in all_of)}
        actuals = self.world.made_with(cls)
        first = actuals.positional[0] if actuals.positional else actuals.keywords.get("typename")
        given = self.world.values.passed(first) if first is not None else ()
        names = {one.value for one in given if isinstance(one, Const)}
        return bool(bound) and len(names) == 1 and not names & bound

    def _defaults(self, cls: Instance, names: tuple[str, ...]) -> dict[str, Expr]:
        """Return the defaults of the last fields (collections documentation, "namedtuple")."""
        found = self.world.made_with(cls).keywords.get("defaults")
        values = self.world.values.passed(found) if found is not None else ()
        slots = self.world.mappings.slots(values[0]) if len(values) == 1 and isinstance(values[0], Display) else None
        if not slots:
            return {}
        each = (_passed(Actual(expr, site, None)) for expr, site in slots)
        return dict(zip(names[-len(slots) :], each, strict=False))

    def _tuple(self, names: tuple[str, ...], elements: list[Expr], here: Site, key: tuple[object, ...]) -> Display:
        # The expression identifies the tuple.
        expr = self._written.setdefault((here, *key), Tuple(tuple(elements)))
        return Display("tuple", Written(expr, here), names=names)

    def view(self, value: Value) -> Display | None:
        """Return a named tuple by its elements, also an object of a class with `NamedTuple` as its base; None for any
        other value."""
        if isinstance(value, Display):
            return value if value.names else None
        if not isinstance(value, Instance) or not isinstance(value.of, Class) or value.file is None:
            return None
        names = fields.of_named_tuple(self.world, value.of)
        if not names:
            return None
        here = self.world.call_site(value.file, value.call, value.frame)
        elements: list[Expr] = [Attribute(_held(value), name) for name in names]
        return self._tuple(names, elements, here, (value,))

    def replaced(self, value: Display, index: int, here: Site) -> Display:
        """Return the tuple that a call of `_replace` makes."""
        actuals = self.world.actuals(here.file, index, here.frame)
        elements: list[Expr] = []
        for at, name in enumerate(value.names):
            kept = Subscript(_held(value), Constant(at))
            given = _argument(actuals, -1, name)
            both = given is not None and name not in actuals.keywords
            elements.append(IfExp(Opaque(), given, kept) if given is not None and both else given or kept)
        return self._tuple(value.names, elements, here, (index, value))

    def as_dict(self, value: Display, index: int, here: Site) -> Mapping:
        """Return the dict that a call of `_asdict` makes."""
        items = [(Constant(name), Subscript(_held(value), Constant(at))) for at, name in enumerate(value.names)]
        return Mapping(Written(self._written.setdefault((here, index, value), Dict(tuple(items))), here))


def _argument(actuals: Actuals, at: int, name: str) -> Expr | None:
    """Return the argument for a field, by its position and its name; None if there is none."""
    if 0 <= at < len(actuals.positional):
        return _passed(actuals.positional[at])
    if name in actuals.keywords:
        return _passed(actuals.keywords[name])
    if actuals.under is not None or len(actuals.rest) + len(actuals.mappings) > 1:
        return Opaque()
    for one in (*actuals.rest, *actuals.mappings):
        if one.expr is None or one.site is None:
            return Opaque()
        key = Constant(at - len(actuals.positional) if one.starred else name)
        return _passed(Actual(Subscript(one.expr, key), one.site, None))
    return None


def _held(value: Value) -> Expr:
    return cast(Expr, Held(value))


def _passed(actual: Actual) -> Expr:
    return cast(Expr, Passed(actual))
