"""Arguments of a call, and which parameter each one fills."""

from __future__ import annotations

from typing import NamedTuple

from dllint.facts.schema import Param
from dllint.inference.values import Actual, Actuals


class Bound(NamedTuple):
    """What fills a parameter. Exactly one of the cases holds:

    actual      this argument
    default     nothing was passed: the parameter's own default counts
    rest        a `*args` parameter: the positional arguments left over
    keywords    it may come out of an unpacked `**mapping`, or not at all
    star        it comes out of an unpacked `*sequence`, at `offset`
    """

    case: str
    actual: Actual | None = None
    offset: int = 0


def bind(actuals: Actuals, params: list[Param], name: str, skip: int) -> Bound:
    """How a call fills the parameter `name` of a function. `skip` is 1 where the first parameter is the receiver."""
    position = -1
    for index, param in enumerate(params):
        if param.name == name:
            position = index
            break
    if position < 0:
        return Bound("default")
    param = params[position]
    if param.kind == "kw":
        return Bound("rest")
    if param.kind == "var":
        return Bound("rest", None, position - skip)
    if name in actuals.keywords and param.kind != "positional":
        return Bound("actual", actuals.keywords[name])
    if param.kind in ("positional", "normal"):
        slot = position - skip
        if 0 <= slot < len(actuals.positional):
            return Bound("actual", actuals.positional[slot])
        if actuals.stars and slot >= 0:
            return Bound("star", actuals.stars[0], slot - len(actuals.positional))
    if actuals.mappings:
        return Bound("keywords")
    return Bound("default")
