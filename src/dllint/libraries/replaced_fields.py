"""Copies of objects with some fields changed: `dataclasses.replace(options, workers=8)`.

The copy is constructed with the changed fields and the present values of the others (docs.python.org, "dataclasses",
"copy.replace"; www.attrs.org, "evolve"; docs.pydantic.dev, "model_copy", whose `update` is not validated).
"""

from __future__ import annotations

from typing import cast

from dllint.facts.nodes import Attribute, Constant, Expr, Subscript
from dllint.inference import fields
from dllint.inference.arguments import Held
from dllint.inference.interface import Engine
from dllint.inference.values import Actual, Actuals, Class, External, Instance, Site, Values
from dllint.libraries.index import canonical
from dllint.linking.source import SourceFile, last_name

_FUNCTIONS = frozenset({"dataclasses.replace", "copy.replace", "attr.evolve", "attrs.evolve"})
_METHODS = frozenset({"model_copy"})
_LAST_NAMES = _METHODS | {name.rpartition(".")[2] for name in _FUNCTIONS}


def _copied(world: Engine, file: SourceFile, index: int, site: Site) -> Instance | None:
    """Return the object that a call copies with changed fields; None if that is unknown."""
    call = file.calls[index]
    if last_name(call.func) not in _LAST_NAMES:
        return None
    if isinstance(call.func, Attribute) and call.func.attr in _METHODS:
        expr = call.func.value
    else:
        callees = world.values.evaluate(call.func, site)
        known = all(isinstance(one, External) and canonical(one.name) in _FUNCTIONS for one in callees)
        if not callees or not known or not call.args or call.args[0].keyword is not None:
            return None
        expr = call.args[0].value
    values = world.values.evaluate(expr, site)
    one = values[0] if len(values) == 1 else None
    if not isinstance(one, Instance) or not isinstance(one.of, Class) or not fields.has_fields(world, one.of):
        return None
    return one


def replaced(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the copy."""
    found = _copied(world, file, index, site)
    return None if found is None else (Instance(found.of, file, index, site.frame),)


def configured(world: Engine, actuals: Actuals, file: SourceFile, index: int, site: Site) -> Actuals:
    """Return the arguments that the copy is constructed with; the call's own if it copies nothing."""
    one = _copied(world, file, index, site)
    if one is None or not isinstance(one.of, Class):
        return actuals
    changed = dict(actuals.keywords)
    mappings = actuals.mappings
    if isinstance(func := file.calls[index].func, Attribute) and func.attr in _METHODS:
        update = changed.pop("update", None)
        changed, mappings = {}, [update] if update is not None else []
    kept: dict[str, Actual] = {}
    for name in fields.names(world, one.of):
        kept[name] = Actual(Attribute(cast(Expr, Held(one)), name), site, None)
        for mapping in mappings:
            if mapping.expr is None or mapping.site is None:
                continue
            inside = world.mappings.lookup(mapping.expr, mapping.site, name)
            if inside is not None and not inside.absent:
                changed.setdefault(name, Actual(Subscript(mapping.expr, Constant(name)), mapping.site, mapping.span))
    return Actuals(keywords={**kept, **changed})


RESULTS = dict.fromkeys(_FUNCTIONS, replaced) | dict.fromkeys(("pydantic.BaseModel().model_copy",), replaced)
