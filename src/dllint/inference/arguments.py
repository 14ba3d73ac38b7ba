"""Arguments of a call, matched to the parameters of the function."""

from __future__ import annotations

from typing import Any, NamedTuple

from dllint.facts.nodes import Base, Expr, Starred
from dllint.facts.schema import Param
from dllint.inference.values import Actual, Actuals, Site, Value


class Passed(Base):
    """An argument used as an expression: one element of a `*args` parameter, with the site of its call."""

    __slots__ = ("actual",)

    def __init__(self, actual: Actual) -> None:
        self.actual = actual

    def parts(self) -> list[Any]:
        return ["passed", self.actual]


class Held(Base):
    """A value used as an expression: for example the receiver of a method call."""

    __slots__ = ("value",)
    tag = "held"

    def __init__(self, value: Value) -> None:
        self.value = value

    def parts(self) -> list[Any]:
        return [self.tag, self.value]


class Bound(NamedTuple):
    """The binding of a parameter. `case` is one of:

    actual      this argument
    default     nothing was passed: the parameter has its default
    rest        a `*args` parameter: the remaining positional arguments
    keywords    an unpacked `**mapping` may contain it
    star        an unpacked `*sequence` may contain it, at `offset` from its first element
    unknown     the arguments of the call are unknown
    """

    case: str
    actual: Actual | None = None
    offset: int = 0


def bind(actuals: Actuals, params: list[Param], name: str, skip: int) -> Bound:
    """Return how a call binds the parameter `name`. `skip` is 1 if the first parameter is the receiver, which the call
    does not write."""
    for position, param in enumerate(params):  # noqa: B007 - asked for each call of each function
        if param.name == name:
            break
    else:
        return Bound("default")
    kind = param.kind
    if kind == "kw":
        return Bound("rest")
    if kind == "var":
        return Bound("rest", None, position - skip)
    if name in actuals.keywords and kind != "positional":
        return Bound("actual", actuals.keywords[name])
    if kind in ("positional", "normal"):
        slot = position - skip
        if 0 <= slot < len(actuals.positional):
            return Bound("actual", actuals.positional[slot])
        if actuals.rest and slot >= 0:
            return Bound("star", None, slot - len(actuals.positional))
    return Bound("keywords" if actuals.mappings and kind != "positional" else "default")


def takes(params: list[Param], actuals: Actuals, skip: int) -> bool:
    """Whether a call with these arguments can be bound to the parameters at all: otherwise Python raises a TypeError
    (language reference, "Calls"). `skip` is as in `bind`."""
    own = params[skip:]
    kinds = {param.kind for param in own}
    names = {param.name for param in own if param.kind in ("normal", "keyword")}
    slots = [param for param in own if param.kind in ("positional", "normal")]
    if len(actuals.positional) > len(slots) and "var" not in kinds:
        return False
    if "kw" not in kinds and not names.issuperset(actuals.keywords):
        return False
    if actuals.rest or actuals.mappings or actuals.under is not None:
        return True
    filled = {param.name for param in slots[: len(actuals.positional)]}.union(actuals.keywords)
    return all(param.default is not None or param.kind in ("var", "kw") or param.name in filled for param in own)


def made_up(value: Value, site: Site) -> Actual:
    """Return an argument with the given value that no source expression writes."""
    node: Any = Held(value)
    return Actual(node, site, None)


def passed(actual: Actual) -> Expr:
    """Return the expression that stands for an argument."""
    node: Any = Passed(actual)
    return Starred(node) if actual.starred else node
