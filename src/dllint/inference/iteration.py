"""What the targets of a loop are given: the parts of what `enumerate`, `zip` and the methods of a dict go through."""

from __future__ import annotations

from dllint.facts.nodes import Constant, Element, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference.interface import Engine
from dllint.inference.values import UNKNOWN, Mapping, Site, Value, Values
from dllint.linking.source import last_name

_SAME_ELEMENTS = frozenset({"list", "tuple", "sorted", "reversed", "iter", "tqdm"})
"""Last names of functions that go through what their first argument goes through."""
_DEEPEST = 4


def iterated(world: Engine, expr: Expr, site: Site) -> Values | None:
    """The elements of `rows.values()`, inside `tqdm` and its like too; None for anything else."""
    plain = _unwrapped(expr, site)
    if plain[0] == "call":
        call = site.file.calls[plain[1]]
        if call.func[0] == "attr" and call.func[2] == "values" and not call.args:
            return _values(world, call.func[1], site)
    return world.values.evaluate(Element(plain), site) if plain is not expr else None


def part(world: Engine, expr: Expr, position: object, site: Site) -> Values | None:
    """One part of each element of `rows.items()`, `enumerate(rows)` or `zip(rows, others)`, where `expr` stands for
    such an element or for a part of one; None for anything else."""
    whole = _simplified(expr, site, 0)
    inner = _simplified(Subscript(whole, Constant(position)), site, 0)
    if inner[0] == "element":
        return world.values.evaluate(inner, site)
    if whole[0] != "element" or whole[1][0] != "call":
        return None
    call = site.file.calls[whole[1][1]]
    if position != 1 or call.func[0] != "attr" or call.func[2] != "items" or call.args:
        return None
    return _values(world, call.func[1], site)


def _values(world: Engine, expr: Expr, site: Site) -> Values | None:
    bases = world.values.evaluate(expr, site)
    if not any(isinstance(base, Mapping) for base in bases):
        return None
    found: dict[Value, None] = {}
    for base in bases:
        found.update(dict.fromkeys(world.mappings.all_values(base) if isinstance(base, Mapping) else (UNKNOWN,)))
    return tuple(found)


def _simplified(expr: Expr, site: Site, depth: int) -> Expr:
    """`rows`' element for the second part of an element of `enumerate(rows)`, and so on."""
    if depth > _DEEPEST:
        return expr
    if expr[0] == "element":
        return Element(_unwrapped(expr[1], site))
    if expr[0] != "item" or expr[2][0] != "const" or not isinstance(expr[2][1], int):
        return expr
    base = _simplified(expr[1], site, depth + 1)
    if base[0] == "element" and base[1][0] == "call":
        call = site.file.calls[base[1][1]]
        plain = [argument.value for argument in call.args if argument.keyword is None]
        stars = any(argument.keyword == "*" for argument in call.args)
        if call.func == Name("enumerate") and plain and expr[2][1] == 1:
            return _simplified(Element(plain[0]), site, depth + 1)
        if call.func == Name("zip") and not stars and 0 <= expr[2][1] < len(plain):
            return _simplified(Element(plain[expr[2][1]]), site, depth + 1)
    return Subscript(base, expr[2])


def _unwrapped(expr: Expr, site: Site) -> Expr:
    """`rows.items()` for `sorted(rows.items())`."""
    for _ in range(_DEEPEST):
        if expr[0] != "call" or last_name(site.file.calls[expr[1]].func) not in _SAME_ELEMENTS:
            break
        plain = [argument.value for argument in site.file.calls[expr[1]].args if argument.keyword is None]
        if not plain:
            break
        expr = plain[0]
    return expr
