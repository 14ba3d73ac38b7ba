"""Arguments written apart from the function that they are for: the `args` tuple and `kwargs` dict of a process or
thread."""

from __future__ import annotations

from dllint.facts.nodes import Starred
from dllint.inference.interface import Engine
from dllint.inference.values import Actual, Actuals, Display


def add_handed(world: Engine, made: Actuals, args: Actual | None, kwargs: Actual | None) -> Actuals:
    """`made` with the elements of a tuple or list of arguments, and of a dict of keyword arguments."""
    if args is not None and args.expr is not None and args.site is not None:
        sequences = [
            value
            for value in world.values.evaluate(args.expr, args.site)
            if isinstance(value, Display) and value.kind != "comp"
        ]
        if len(sequences) == 1 and sequences[0].written.expr[0] in ("tuple", "list"):
            written = sequences[0].written
            for element in written.expr[1]:
                if isinstance(element, Starred):
                    made.add(Actual(element.value, written.site, None, starred=True))
                else:
                    made.add(Actual(element, written.site, args.span))
        else:
            made.add(Actual(args.expr, args.site, args.span, starred=True))
    if kwargs is not None:
        made.mappings.append(kwargs)
    return made
