"""Expressions that make a new tuple, list, set or dict, as one record of many."""

from __future__ import annotations

from dllint.facts.nodes import CallRef, Comprehension, Dict, List, Name, Tuple
from dllint.facts.schema import Expr
from dllint.inference.all_entries import inside
from dllint.inference.engine import World
from dllint.inference.values import External, Instance, Pattern, Site
from dllint.linking.expressions import as_display

_CONTAINERS = tuple(map(Name, ("list", "tuple", "set", "frozenset", "sorted")))
_PASSING_ON = tuple(map(Name, ("map", "filter", "reversed", "sorted", "list", "tuple")))
_SCALARS = tuple(map(Name, ("int", "float", "str", "bool", "ord")))
"""Functions that make a container of the elements of an iterable, that hand such elements on, and that make numbers or
strings of them."""


def makes_container(world: World, expr: Expr, site: Site) -> bool:
    """Whether an expression makes a new tuple, list, set or dict. None of its parts may be known to be an array
    or a path."""
    expr = as_display(expr, site.file)
    if isinstance(expr, (Tuple, List, Dict)):
        return _plain(world, expr, site)
    if isinstance(expr, Comprehension):
        return expr.kind != "generator" and _plain(world, List((expr.element,)), inside(expr, site))
    if not isinstance(expr, CallRef) or site.file.calls[expr.index].func not in _CONTAINERS:
        return False
    given = [one.value for one in site.file.calls[expr.index].args[:1] if one.keyword is None]
    while given and isinstance(given[0], CallRef) and site.file.calls[given[0].index].func in _PASSING_ON:
        args = site.file.calls[given[0].index].args
        # Each element is what the function makes of one: `list(map(float, row))`.
        if site.file.calls[given[0].index].func == Name("map") and args and args[0].value in _SCALARS:
            return True
        given = [one.value for one in args[-1:]]
    parts = given[0] if given else None
    return isinstance(parts, Comprehension) and _plain(world, List((parts.element,)), inside(parts, site))


def _plain(world: World, expr: Tuple | List | Dict, site: Site) -> bool:
    """Whether no part of a tuple, list or dict is known to be an array or a path."""
    parts = [one for _, one in expr.items] if isinstance(expr, Dict) else expr.children()
    for part in parts:
        if isinstance(part, (Tuple, List, Dict)):
            if not _plain(world, part, site):
                return False
            continue
        for value in world.values.evaluate(part, site):
            name = value.of.name if isinstance(value, Instance) and isinstance(value.of, External) else ""
            if isinstance(value, Pattern) or name.startswith(("torch.", "numpy.", "os.path.", "pathlib.", "PIL.")):
                return False
    return True
