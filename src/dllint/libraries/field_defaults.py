"""The default that a field function declares: `workers: int = field(default=0)`.

Of the standard library, attrs, pydantic, and of parsers that fill dataclasses, whose functions take the arguments of
`dataclasses.field` and more (fields.py of each of them).
"""

from __future__ import annotations

from dllint.inference.edges import Given
from dllint.inference.interface import Engine
from dllint.inference.values import UNKNOWN, Actuals, Class, External, Function, Site, Value, Values
from dllint.linking.source import SourceFile


def _default(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """The default of `field(default=…)`, `Field(…)` or `attr.ib(…)`."""
    for argument in file.calls[index].args:
        if argument.keyword == "default" or argument.keyword is None:
            return world.values.evaluate(argument.value, site)
        if argument.keyword in ("default_factory", "factory"):
            found: list[Value] = []
            for value in world.values.evaluate(argument.value, site):
                called = isinstance(value, (Class, Function)) or (isinstance(value, External) and "." in value.name)
                given = Given(file, index, site.frame, Actuals(), ("factory",))
                found += world.values.result(value, given) if called else (UNKNOWN,)
            return tuple(dict.fromkeys(found))
    return (UNKNOWN,)


_FUNCTIONS = (
    *("dataclasses.field", "pydantic.Field", "attr.ib", "attrs.field"),
    *("simple_parsing.field", "simple_parsing.helpers.field", "draccus.field", "pyrallis.field"),
)
RESULTS = dict.fromkeys(_FUNCTIONS, _default)
