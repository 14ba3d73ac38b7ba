"""Functions that return the fields of an object as a dict: `dataclasses.asdict(options)`, `options.model_dump()`.

See the documentation of dataclasses ("asdict"), attrs ("asdict") and pydantic ("Serialization"). The dicts that they
make of objects inside are not modelled.
"""

from __future__ import annotations

from typing import cast

from dllint.facts.nodes import Attribute, Constant, Dict, Expr
from dllint.inference import fields
from dllint.inference.arguments import Held
from dllint.inference.interface import Engine, Handler
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Class, Instance, Mapping, Site, Value, Values, Written
from dllint.libraries.dynamic_lookup import first_argument
from dllint.linking.source import SourceFile

_FUNCTIONS = ("dataclasses.asdict", "attr.asdict", "attrs.asdict")
_METHODS = ("pydantic.BaseModel().model_dump", "pydantic.BaseModel().dict")
_LEAVING_OUT = frozenset(
    {"dict_factory", "filter", *("exclude", "include", "exclude_unset", "exclude_defaults", "exclude_none")}
)
"""Arguments that decide which fields the dict has."""


class FieldDicts:
    """One dict per call and object."""

    def __init__(self) -> None:
        self.results: dict[str, Handler] = {
            **dict.fromkeys(_FUNCTIONS, self.of_argument),
            **dict.fromkeys(_METHODS, self.of_receiver),
            "vars": self.of_any,
        }
        self._written: dict[tuple[Site, int, Value], Dict] = {}

    def of_argument(self, world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return the fields of the object that a function is given."""
        return self._all(world, first_argument(world, file, index, site) or (), index, site)

    def of_receiver(self, world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return the fields of the object whose method is called."""
        func = file.calls[index].func
        found = world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ()
        return self._all(world, found, index, site)

    def of_any(self, world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return the result of `vars`: the fields of an object that has some, otherwise the object as a namespace."""
        found = first_argument(world, file, index, site)
        return union(self._of(world, one, index, site) or (one,) for one in found) if found else found

    def _all(self, world: Engine, values: Values, index: int, site: Site) -> Values | None:
        if any(one.keyword in _LEAVING_OUT for one in site.file.calls[index].args):
            return None
        found = [self._of(world, one, index, site) for one in values]
        return union(one or (UNKNOWN,) for one in found) if any(found) else None

    def _of(self, world: Engine, value: Value, index: int, site: Site) -> Values:
        """Return the dict of an object's fields; empty if it has no generated constructor."""
        if not isinstance(value, Instance) or not isinstance(value.of, Class) or not fields.has_fields(world, value.of):
            return ()
        key = (site, index, value)
        if key not in self._written:
            held = cast(Expr, Held(value))
            names = fields.names(world, value.of)
            self._written[key] = Dict(tuple((Constant(name), Attribute(held, name)) for name in names))
        return (Mapping(Written(self._written[key], site)),)
