"""Expressions as JSON: a node is the list of its `parts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from dllint.facts.nodes import (
    Attribute,
    Await,
    Base,
    BinOp,
    BoolOp,
    Bytes,
    CallRef,
    Clause,
    Compare,
    Comprehension,
    Constant,
    Dict,
    Expr,
    FString,
    IfExp,
    LambdaRef,
    List,
    Name,
    Not,
    Opaque,
    Set,
    Slice,
    Starred,
    Subscript,
    Tuple,
    UnaryOp,
    Walrus,
    Yield,
)


def plain(part: Any) -> Any:
    """Convert a node, or a container of nodes, to nested lists of plain values."""
    if isinstance(part, Base):
        part = part.parts()
    elif not isinstance(part, (list, tuple)):
        return part
    return [plain(one) for one in part]


def from_plain(data: Any) -> Expr:
    """Convert the result of `plain` back to a node.

    Raises:
        ValueError, TypeError, KeyError, IndexError: if the data does not describe a node.
    """
    return _MAKERS[data[0]](data)


def _all(data: Any) -> tuple[Expr, ...]:
    return tuple([_MAKERS[one[0]](one) for one in data])


def _or_none(data: Any) -> Optional[Expr]:
    return None if data is None else _MAKERS[data[0]](data)


def _comprehension(data: Any) -> Comprehension:
    _, kind, result, clauses = data
    *key, element = _all(result)
    return Comprehension(
        kind,
        key[0] if key else None,
        element,
        tuple([Clause(from_plain(target), from_plain(iterable), _all(ifs)) for target, iterable, ifs in clauses]),
    )


_MAKERS: dict[str, Callable[[Any], Expr]] = {
    "const": lambda data: Constant(data[1]),
    "bytes": lambda data: Bytes(data[1]),
    "name": lambda data: Name(data[1]),
    "attr": lambda data: Attribute(_MAKERS[data[1][0]](data[1]), data[2]),
    "item": lambda data: Subscript(from_plain(data[1]), from_plain(data[2])),
    "slice": lambda data: Slice(_or_none(data[1]), _or_none(data[2]), _or_none(data[3])),
    "call": lambda data: CallRef(data[1]),
    "lambda": lambda data: LambdaRef(data[1]),
    "list": lambda data: List(_all(data[1])),
    "tuple": lambda data: Tuple(_all(data[1])),
    "set": lambda data: Set(_all(data[1])),
    "dict": lambda data: Dict(tuple([(_or_none(key), from_plain(value)) for key, value in data[1]])),
    "ifexp": lambda data: IfExp(from_plain(data[1]), from_plain(data[2]), from_plain(data[3])),
    "and": lambda data: BoolOp("and", _all(data[1])),
    "or": lambda data: BoolOp("or", _all(data[1])),
    "not": lambda data: Not(from_plain(data[1])),
    "unary": lambda data: UnaryOp(data[1], from_plain(data[2])),
    "binop": lambda data: BinOp(data[1], from_plain(data[2]), from_plain(data[3])),
    "compare": lambda data: Compare(from_plain(data[1]), tuple([(op, from_plain(right)) for op, right in data[2]])),
    "fstring": lambda data: FString(_all(data[1])),
    "comp": _comprehension,
    "star": lambda data: Starred(from_plain(data[1])),
    "await": lambda data: Await(from_plain(data[1])),
    "yield": lambda data: Yield(_or_none(data[1])),
    "walrus": lambda data: Walrus(data[1], from_plain(data[2])),
    "unknown": lambda data: Opaque(),
}
