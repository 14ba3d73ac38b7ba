"""Texts and paths put together from pieces."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any

from dllint.facts.nodes import Attribute
from dllint.inference.interface import Engine
from dllint.inference.values import (
    UNKNOWN,
    Const,
    Pattern,
    Site,
    Value,
    Values,
    const,
    constant,
)

if TYPE_CHECKING:
    from dllint.linking.source import SourceFile


def formatted(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Evaluate `"pkg.{}.{}".format(kind, name)`: to a constant, or to the text before the first and after the last
    field."""
    call = file.calls[index]
    if not isinstance(call.func, Attribute):
        return None
    given = [world.values.evaluate(argument.value, site) for argument in call.args if argument.keyword is None]
    plain = [values[0].value for values in given if len(values) == 1 and isinstance(values[0], Const)]
    texts = world.values.evaluate(call.func.value, site)
    return tuple(dict.fromkeys(_filled(text, plain, len(call.args)) for text in texts)) or None


def _filled(text: Value, plain: list[Any], count: int) -> Value:
    """Fill the fields of a format string if all `count` arguments are constants and each field takes one; else return a
    pattern of its fixed text."""
    if not isinstance(text, Const) or not isinstance(text.value, str):
        return UNKNOWN
    try:
        pieces = list(Formatter().parse(text.value))
    except ValueError:
        return UNKNOWN
    fields = [number for number, piece in enumerate(pieces) if piece[1] is not None]
    if not fields:
        return const("".join(piece[0] for piece in pieces))
    if len(plain) == count == len(fields) and all(pieces[number][1:] == ("", "", None) for number in fields):
        return constant(text.value.format(*plain))
    inner = "".join(piece[0] for piece in pieces[1 : fields[-1] + 1])
    return Pattern(pieces[0][0], "".join(piece[0] for piece in pieces[fields[-1] + 1 :]), inner)
