"""Arguments of a call, and which parameter each one fills."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from dllint.facts.schema import Expr, Param
from dllint.inference.values import Site
from dllint.span import Span


class Actual(NamedTuple):
    """An argument as written, with the site at which it is evaluated. `expr` is null for one that the callee's
    caller makes up, such as the process index that `torch.multiprocessing.spawn` passes first."""

    expr: Expr | None
    site: Site | None
    span: Span | None


@dataclass
class Actuals:
    """The arguments of one call. `open` says that an unpacked sequence of unknown length stands among the
    positional ones, after `positional`."""

    positional: list[Actual] = field(default_factory=list)
    keywords: dict[str, Actual] = field(default_factory=dict)
    stars: list[Actual] = field(default_factory=list)
    mappings: list[Actual] = field(default_factory=list)

    @property
    def open(self) -> bool:
        return bool(self.stars)


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
