"""Arguments passed as a tuple or dict to a function that another call runs: `args` and `kwargs` of a process or
thread."""

from __future__ import annotations

from collections.abc import Iterable

from dllint.facts.nodes import Constant, List, Starred, Subscript, Tuple
from dllint.inference.interface import Engine
from dllint.inference.values import UNKNOWN, Actual, Actuals, Display


def add_handed(world: Engine, made: Actuals, args: Actual | None, kwargs: Actual | None) -> Actuals:
    """Add the elements of a tuple or list of arguments, and a dict of keyword arguments, to `made`."""
    if args is not None and args.expr is not None and args.site is not None:
        sequences = [
            value
            for value in world.values.evaluate(args.expr, args.site)
            if isinstance(value, Display) and value.kind != "comp"
        ]
        listed = sequences[0].written.expr if len(sequences) == 1 else None
        if isinstance(listed, (Tuple, List)):
            site = sequences[0].written.site
            for element in listed.elements:
                if isinstance(element, Starred):
                    made.add(Actual(element.value, site, None, starred=True))
                else:
                    made.add(Actual(element, site, args.span))
        else:
            made.add(Actual(args.expr, args.site, args.span, starred=True))
    if kwargs is not None:
        made.mappings.append(kwargs)
    return made


def laid_out(world: Engine, actuals: Actuals) -> Actuals:
    """Return the arguments with unpacked sequences of known elements expanded."""
    made = Actuals([*actuals.positional], actuals.keywords, [], actuals.mappings, actuals.under)
    for actual in actuals.rest:
        if actual.starred:
            add_handed(world, made, actual, None)
        else:
            made.add(actual)
    return made


def spread_out(world: Engine, actuals: Actuals, names: Iterable[str]) -> Actuals:
    """Return the arguments with unpacked sequences expanded, and with those keyword arguments that an unpacked dict is
    known to hold: `Process(**{"target": run})`."""
    made = laid_out(world, actuals) if actuals.rest else actuals
    if not made.mappings and made.under is None:
        return made
    held = {name: one for name in names if name not in made.keywords and (one := _held(world, made, name)) is not None}
    return Actuals(made.positional, {**held, **made.keywords}, made.rest, made.mappings, made.under)


def _held(world: Engine, actuals: Actuals, name: str) -> Actual | None:
    """Return the argument that an unpacked dict holds under a name; None if none is known to."""
    for one in reversed(actuals.mappings):
        if one.expr is None or one.site is None:
            continue
        found = world.mappings.lookup(one.expr, one.site, name)
        if found is not None and any(value != UNKNOWN for value in found.values):
            return Actual(Subscript(one.expr, Constant(name)), one.site, one.span)
    under = actuals.under
    return None if under is None else under.keywords.get(name) or _held(world, under, name)
