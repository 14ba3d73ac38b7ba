"""Sizes of new Python objects, as far as the source shows them."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, BinOp, CallRef, Constant, Dict, FString, List, Name, Tuple
from dllint.facts.schema import Expr
from dllint.linking.source import SourceFile

_STRING = 57
_DICT = 184
_TUPLE = 48
POINTER = 8
"""Bytes of a str without its characters, of a dict of up to five keys, of a tuple of one element, and of a reference
(`sys.getsizeof`, CPython 3.11 on 64 bit)."""

_PADDING = frozenset({"zfill", "ljust", "rjust", "center"})


def object_bytes(expr: Expr, file: SourceFile) -> int | None:
    """A lower bound of the bytes of a new string, tuple, list or dict; None for other expressions."""
    characters = _characters(expr, file)
    if characters is not None:
        return _STRING - 8 + characters
    match expr:
        case Tuple(elements) | List(elements):
            return _TUPLE + sum(POINTER + (object_bytes(part, file) or 0) for part in elements)
        case Dict(items):
            return _DICT + sum(object_bytes(part, file) or 0 for _, part in items)
    return None


def _characters(expr: Expr, file: SourceFile) -> int | None:
    """A lower bound of the length of a new string: an f-string, `"a" + str(i)`, `"%d" % i`, `str(i).zfill(9)`; None
    for other expressions."""
    match expr:
        case FString(values):
            return sum(len(str(part.value)) if isinstance(part, Constant) else 1 for part in values)
        case BinOp("+", left, right):
            new = [part for one in (left, right) if (part := _characters(one, file)) is not None]
            fixed = [
                len(one.value) for one in (left, right) if isinstance(one, Constant) and isinstance(one.value, str)
            ]
            return sum(new) + sum(fixed) if new else None
        case BinOp("%", left, _) if _is_text(left):
            return 1
        case CallRef(index):
            call = file.calls[index]
            if call.func == Name("str") and len(call.args) == 1 and "str" not in file.bindings(0):
                return 1
            if isinstance(call.func, Attribute) and call.func.attr in _PADDING and call.args:
                before, width = _characters(call.func.value, file), call.args[0].value
                wide = width.value if isinstance(width, Constant) and isinstance(width.value, int) else 0
                return None if before is None else max(before, wide)
            if isinstance(call.func, Attribute) and call.func.attr == "format" and _is_text(call.func.value):
                return 1
    return None


def _is_text(expr: Expr) -> bool:
    return isinstance(expr, Constant) and isinstance(expr.value, str)
