"""Numbers that functions compute: conversions, extremes, sums, lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dllint.facts.nodes import CallRef, Element, List, Name, Starred, Tuple
from dllint.facts.schema import Expr
from dllint.inference.interface import Engine
from dllint.inference.values import (
    UNKNOWN,
    Class,
    Const,
    Instance,
    Pattern,
    Site,
    Value,
    Values,
    const,
    constant,
)
from dllint.libraries.dynamic_lookup import first_argument
from dllint.linking.source import last_name

if TYPE_CHECKING:
    from dllint.linking.source import SourceFile


_NUMBERS: dict[str, Callable[[Any], object]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "abs": abs,
    "round": round,
}


def converted(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `int(text)`, `abs(number)` and `round(number)` give."""
    call = file.calls[index]
    values = first_argument(world, file, index, site)
    convert = _NUMBERS.get(call.func.id) if isinstance(call.func, Name) else None
    if values is None or convert is None:
        return None
    found: list[Value] = []
    for value in values:
        if isinstance(value, Const) and value.value is not None:
            try:
                found.append(constant(convert(value.value)))
            except (TypeError, ValueError, OverflowError):
                found.append(UNKNOWN)
        elif isinstance(value, Pattern) and convert is str:
            found.append(value)
        else:
            found.append(UNKNOWN)
    return tuple(dict.fromkeys(found))


def extreme(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `min(a, b)` and `max([a, b])` give: the one value, or what a count that is never negative leaves over."""
    call = file.calls[index]
    if call.func not in (Name("min"), Name("max")) or any(one.keyword for one in call.args):
        return None
    written = [one.value for one in call.args]
    if len(written) == 1 and isinstance(written[0], (List, Tuple)):
        written = list(written[0].elements)
    if len(written) < 2 or any(isinstance(one, Starred) for one in written):
        return None
    choose = min if call.func == Name("min") else max
    operands = [world.values.evaluate(one, site) for one in written]
    if all(len(values) == 1 and isinstance(values[0], Const) for values in operands):
        try:
            return (const(choose(values[0].value for values in operands if isinstance(values[0], Const))),)
        except TypeError:
            return None
    if choose is min and any(values == (const(0),) for values in operands):
        counted = all(_is_count(file, *one) for one in zip(written, operands, strict=True))
        return (const(0),) if counted else (const(0), UNKNOWN)
    least = [one.value for values in operands for one in values if len(values) == 1 and isinstance(one, Const)]
    if choose is max and any(isinstance(one, int) and one > 0 for one in least):
        # A number of workers, at least one: the other operand may be smaller.
        return (const(max(one for one in least if isinstance(one, (int, float)))), UNKNOWN)
    return (UNKNOWN,)


def summed(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `sum(datasets)` gives: something with the parts of each, as `__add__` of datasets makes it."""
    plain = [one.value for one in file.calls[index].args if one.keyword is None]
    return _joined(world, plain[0], site) if len(plain) == 1 else None


def reduced(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `reduce(add, datasets)` gives, in the same way."""
    args = file.calls[index].args
    return _joined(world, args[1].value, site) if len(args) == 2 and not any(one.keyword for one in args) else None


def _joined(world: Engine, several: Expr, site: Site) -> Values | None:
    parts = world.values.evaluate(Element(several), site)
    objects = [part for part in parts if isinstance(part, Instance) and isinstance(part.of, Class)]
    return tuple(dict.fromkeys(objects)) or None


def length(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """The length of objects whose class says it: what `__len__` returns, if it is a number."""
    found: list[Value] = []
    for value in first_argument(world, file, index, site) or ():
        if not isinstance(value, Instance) or not isinstance(value.of, Class):
            return None
        method = world.hierarchy.method(value.of, "__len__")
        if method is None:
            return None
        found += world.values.returned(method, world.receiver_frame(value))
    return tuple(dict.fromkeys(found)) if found and all(isinstance(one, Const) for one in found) else None


def _is_count(file: SourceFile, expr: Expr, values: Values) -> bool:
    """Whether an expression is never negative: a length, a number of processors, or numbers that are known."""
    if isinstance(expr, CallRef) and last_name(file.calls[expr.index].func) in ("len", "cpu_count"):
        return True
    return bool(values) and all(
        isinstance(one, Const) and isinstance(one.value, (int, float)) and one.value >= 0 for one in values
    )
