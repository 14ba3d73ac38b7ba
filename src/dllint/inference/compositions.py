"""Objects of libraries that call what they were given, one after another, as a composed transform does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import List, Starred, Tuple
from dllint.inference.values import Display, External, Instance, Site, Values

if TYPE_CHECKING:
    from dllint.facts.schema import Expr
    from dllint.inference.interface import Engine


def last_stage(world: Engine, composed: Instance) -> Values:
    """Return what a composition calls last, whose result is the result of the whole: `ToTensor()` of
    `Compose([Resize(64), ToTensor()])`; nothing if that is unknown."""
    if not isinstance(composed.of, External) or composed.of.name not in world.knowledge.compositions:
        return ()
    positional = world.made_with(composed).positional
    if not positional or positional[0].site is None:
        return ()
    if len(positional) > 1:
        return world.values.passed(positional[-1])
    values = world.values.passed(positional[0])
    if len(values) != 1 or not isinstance(values[0], Display):
        return values
    stages = values[0]
    written = stages.written.expr
    # Stages that the program adds later may come last.
    if not isinstance(written, (List, Tuple)) or any(True for _ in world.mappings.changes_of(stages)):
        return ()
    return _last(world, written.elements, stages.written.site)


def _last(world: Engine, elements: tuple[Expr, ...], site: Site) -> Values:
    return () if not elements or isinstance(elements[-1], Starred) else world.values.evaluate(elements[-1], site)
