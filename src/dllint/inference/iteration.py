"""What the targets of a loop are given: the parts of what `enumerate`, `zip` and the methods of a dict go through."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, CallRef, Constant, Element, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference.interface import Engine
from dllint.inference.values import UNKNOWN, Mapping, Module, Site, Value, Values
from dllint.linking.source import last_name

_SAME_ELEMENTS = frozenset({"list", "tuple", "sorted", "reversed", "iter", "tqdm"})
"""Last names of functions that go through what their first argument goes through."""
_DEEPEST = 4


def iterated(world: Engine, expr: Expr, site: Site) -> Values | None:
    """The elements of `rows.values()`, inside `tqdm` and its like too; None for anything else."""
    plain = _unwrapped(expr, site)
    if isinstance(plain, CallRef):
        call = site.file.calls[plain.index]
        if isinstance(call.func, Attribute) and call.func.attr == "values" and not call.args:
            return _values(world, call.func.value, site)
    return world.values.evaluate(Element(plain), site) if plain is not expr else None


def part(world: Engine, expr: Expr, position: object, site: Site) -> Values | None:
    """One part of each element of `rows.items()`, `enumerate(rows)` or `zip(rows, others)`, where `expr` stands for
    such an element or for a part of one; None for anything else."""
    whole = _simplified(expr, site, 0)
    inner = _simplified(Subscript(whole, Constant(position)), site, 0)
    if isinstance(inner, Element):
        return world.values.evaluate(inner, site)
    if not isinstance(whole, Element) or not isinstance(whole.value, CallRef):
        return None
    call = site.file.calls[whole.value.index]
    if position != 1 or not isinstance(call.func, Attribute) or call.func.attr != "items" or call.args:
        return None
    return _values(world, call.func.value, site)


def _values(world: Engine, expr: Expr, site: Site) -> Values | None:
    bases = world.values.evaluate(expr, site)
    if not any(isinstance(base, (Mapping, Module)) for base in bases):
        return None
    found: dict[Value, None] = {}
    for base in bases:
        if isinstance(base, Module):
            found.update(dict.fromkeys(world.classes_of(base) or (UNKNOWN,)))
        else:
            found.update(dict.fromkeys(world.mappings.all_values(base) if isinstance(base, Mapping) else (UNKNOWN,)))
    return tuple(found)


def _simplified(expr: Expr, site: Site, depth: int) -> Expr:
    """`rows`' element for the second part of an element of `enumerate(rows)`, and so on."""
    if depth > _DEEPEST:
        return expr
    if isinstance(expr, Element):
        return Element(_unwrapped(expr.value, site))
    if not isinstance(expr, Subscript) or not isinstance(expr.index, Constant) or not isinstance(expr.index.value, int):
        return expr
    base = _simplified(expr.value, site, depth + 1)
    if isinstance(base, Element) and isinstance(base.value, CallRef):
        call = site.file.calls[base.value.index]
        plain = [argument.value for argument in call.args if argument.keyword is None]
        stars = any(argument.keyword == "*" for argument in call.args)
        if call.func == Name("enumerate") and plain and expr.index.value == 1:
            return _simplified(Element(plain[0]), site, depth + 1)
        if call.func == Name("zip") and not stars and 0 <= expr.index.value < len(plain):
            return _simplified(Element(plain[expr.index.value]), site, depth + 1)
    return Subscript(base, expr.index)


def _unwrapped(expr: Expr, site: Site) -> Expr:
    """`rows.items()` for `sorted(rows.items())`."""
    for _ in range(_DEEPEST):
        if not isinstance(expr, CallRef) or last_name(site.file.calls[expr.index].func) not in _SAME_ELEMENTS:
            break
        plain = [argument.value for argument in site.file.calls[expr.index].args if argument.keyword is None]
        if not plain:
            break
        expr = plain[0]
    return expr
