"""Methods that split, join or format strings, evaluated if the string is known."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, Constant, List
from dllint.inference.interface import Engine, Handler
from dllint.inference.values import UNKNOWN, Const, Display, Site, Value, Values, Written, const
from dllint.linking.source import SourceFile

_LONGEST = 1000
"""The most characters of a text that is evaluated; a longer one is no name."""


def _receivers(world: Engine, file: SourceFile, index: int, site: Site) -> Iterator[str]:
    """Yield the known strings that are the receiver of a method call."""
    func = file.calls[index].func
    for value in world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ():
        if isinstance(value, Const) and isinstance(value.value, str) and len(value.value) <= _LONGEST:
            yield value.value


def _given(world: Engine, file: SourceFile, index: int, site: Site) -> list[object] | None:
    """Return the arguments of a call; None unless all are positional and each is one constant."""
    found: list[object] = []
    for argument in file.calls[index].args:
        values = world.values.evaluate(argument.value, site) if argument.keyword is None else ()
        if len(values) != 1 or not isinstance(values[0], Const):
            return None
        found.append(values[0].value)
    return found


def _changed(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Apply a string method to known strings; the result is one string or several. None if anything is unknown."""
    func, given = file.calls[index].func, _given(world, file, index, site)
    if given is None or not isinstance(func, Attribute):
        return None
    texts = list(_receivers(world, file, index, site))
    if not texts or len(texts) != len(world.values.evaluate(func.value, site)):
        return None
    found: dict[Value, None] = {}
    for text in texts:
        try:
            found[_value(getattr(text, func.attr)(*given), file, index, text, site)] = None
        except (TypeError, ValueError):
            found[UNKNOWN] = None
    return tuple(found)


def _value(result: object, file: SourceFile, index: int, text: str, site: Site) -> Value:
    if isinstance(result, str):
        return const(result)
    if not isinstance(result, (list, tuple)):
        return UNKNOWN
    key = ("parts of a text", index, text, *result)
    parts = file.interned.setdefault(key, List(tuple(Constant(part) for part in result)))
    return Display("tuple", Written(parts, site))


def _joined(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Evaluate `".".join(parts)`; None if any part is unknown."""
    args = file.calls[index].args
    between = list(_receivers(world, file, index, site))
    if len(args) != 1 or args[0].keyword or len(between) != 1:
        return None
    found: dict[Value, None] = {}
    for value in world.values.evaluate(args[0].value, site):
        slots = world.mappings.slots(value) if isinstance(value, Display) else None
        if slots is None:
            return None
        parts = [world.values.evaluate(*slot) for slot in slots]
        texts = [one[0].value for one in parts if len(one) == 1 and isinstance(one[0], Const)]
        if len(texts) != len(parts) or not all(isinstance(text, str) for text in texts):
            return None
        found[const(between[0].join(texts))] = None
    return tuple(found) or None


RESULTS: dict[str, Handler] = {
    "str().join": _joined,
    **dict.fromkeys(
        (
            *("str().split", "str().rsplit", "str().partition", "str().rpartition"),
            *("str().lower", "str().upper", "str().title", "str().capitalize", "str().replace"),
            *("str().strip", "str().lstrip", "str().rstrip", "str().removeprefix", "str().removesuffix"),
        ),
        _changed,
    ),
}
