"""Arguments written apart from the function that they are for: the `args` tuple and `kwargs` dict of a process or
thread."""

from __future__ import annotations

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
                if element[0] == "star":
                    made.stars.append(Actual(element[1], written.site, None))
                elif not made.stars:
                    made.positional.append(Actual(element, written.site, args.span))
        else:
            made.stars.append(Actual(args.expr, args.site, args.span))
    if kwargs is not None:
        made.mappings.append(kwargs)
    return made
