"""Arguments passed as a tuple or dict to a function that another call runs: `args` and `kwargs` of a process or
thread."""

from __future__ import annotations

from dllint.facts.nodes import List, Starred, Tuple
from dllint.inference.interface import Engine
from dllint.inference.values import Actual, Actuals, Display


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
