"""Methods of named tuples (docs.python.org, "collections.namedtuple")."""

from __future__ import annotations

from dllint.facts.nodes import Attribute
from dllint.inference.edges import Given
from dllint.inference.fields import NAMED_TUPLE
from dllint.inference.interface import Engine, Handler
from dllint.inference.named_tuples import COLLECTIONS, OBJECT
from dllint.inference.values import UNKNOWN, Actuals, Instance, Site, Value, Values
from dllint.linking.source import SourceFile


def _receivers(world: Engine, file: SourceFile, index: int, site: Site) -> Values:
    func = file.calls[index].func
    return world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ()


def _replaced(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    named = [world.named_tuples.view(one) for one in _receivers(world, file, index, site)]
    found: list[Value] = [UNKNOWN if one is None else world.named_tuples.replaced(one, index, site) for one in named]
    return tuple(dict.fromkeys(found)) if any(named) else None


def _as_dict(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    named = [world.named_tuples.view(one) for one in _receivers(world, file, index, site)]
    found: list[Value] = [UNKNOWN if one is None else world.named_tuples.as_dict(one, index, site) for one in named]
    return tuple(dict.fromkeys(found)) if any(named) else None


def _made(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the tuple that `_make` fills with the elements of a sequence."""
    actuals = world.actuals(file, index, site.frame)
    unpacked = Actuals(rest=[one._replace(starred=True) for one in actuals.positional[:1]])
    given = Given(file, index, site.frame, unpacked, ("elements",))
    found = [
        value
        for one in _receivers(world, file, index, site)
        if isinstance(one, Instance)
        for value in world.named_tuples.made(one, given)
    ]
    return tuple(dict.fromkeys(found)) or None


RESULTS: dict[str, Handler] = {
    f"{COLLECTIONS}()._make": _made,
    f"{NAMED_TUPLE}()._make": _made,
    **dict.fromkeys((f"{OBJECT}._replace", f"{NAMED_TUPLE}()._replace"), _replaced),
    **dict.fromkeys((f"{OBJECT}._asdict", f"{NAMED_TUPLE}()._asdict"), _as_dict),
}
