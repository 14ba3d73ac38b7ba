"""Expressions, as typed nodes.

The classes have the names and fields of Python's own `ast`, where there is an equivalent. Only positions, comments and
types are omitted. Nodes for the contents of a file:

    Constant(value)                  None, bool, int, float, str; a negative number literal is folded into one, and a
                                     string in several adjacent pieces is one
    Bytes(length)                    a bytes literal
    Name(id)
    Attribute(value, attr)           value.attr
    Subscript(value, index)          value[index]; the index may be a Slice, or a Tuple containing slices
    Slice(lower, upper, step)
    CallRef(index)                   file.calls[index]
    LambdaRef(scope)                 file.scopes[scope]
    List, Tuple, Set (elements)      an element may be Starred
    Dict(items)                      pairs of key and value; the key of `**value` is None
    IfExp(test, body, orelse)        body if test else orelse
    BoolOp(op, values)               "and" or "or"; chains are flattened
    Not(operand)
    UnaryOp(op, operand)             "-", "+", "~"
    BinOp(op, left, right)
    Compare(left, comparisons)       pairs of operator and right side
    FString(values)                  literal pieces are Constant
    Comprehension(kind, key, element, clauses)   "list", "set", "dict" or "generator"; key is None unless "dict"
    Starred(value)  Await(value)  Yield(value or None)  Walrus(name, value)
    Opaque()                         anything not modelled: `...`, an imaginary number, a template string

Nodes that stand for no source text, but that the interpreter evaluates:

    Element(value)                   an element of `value`
    Entered(value)                   what `with value as …` returns
    Defined(scope)                   the function or class of file.scopes[scope]
    Getter(value, attr)              the getter function behind the property `value.attr`

Nodes compare by structure, and nodes of different classes are never equal. They are immutable after extraction, so
that the hash is computed from the structure too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, Union


class Base:
    """The base class of all expression nodes: comparison, hash and representation."""

    # Defined once here: dataclass would compile comparison, hash and representation for each class, which costs 10 ms
    # of every start.
    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.parts() == other.parts())

    def __hash__(self) -> int:
        return hash(tuple(self.parts()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(repr(getattr(self, one)) for one in self.__match_args__)})"

    def parts(self) -> list[Any]:
        """Return the kind of the node, followed by its fields."""
        raise NotImplementedError

    def children(self) -> tuple[Expr, ...]:
        """Return the direct subexpressions, roughly from left to right as written. Those of calls and lambdas are
        excluded: the file stores them."""
        return ()


@dataclass(slots=True, eq=False, repr=False)
class _AroundOne(Base):
    """Base of the nodes around one expression."""

    value: Expr

    def children(self) -> tuple[Expr, ...]:
        return (self.value,)


@dataclass(slots=True, eq=False, repr=False)
class _Row(Base):
    elements: tuple[Expr, ...]

    def children(self) -> tuple[Expr, ...]:
        return self.elements


@dataclass(slots=True, eq=False, repr=False)
class Constant(Base):
    value: Any

    def parts(self) -> list[Any]:
        return ["const", self.value]


@dataclass(slots=True, eq=False, repr=False)
class Bytes(Base):
    length: int

    def parts(self) -> list[Any]:
        return ["bytes", self.length]


@dataclass(slots=True, eq=False, repr=False)
class Name(Base):
    id: str

    def __eq__(self, other: object) -> bool:
        # Most comparisons are between names.
        return type(other) is Name and self.id == other.id

    def __hash__(self) -> int:
        return hash(("name", self.id))

    def parts(self) -> list[Any]:
        return ["name", self.id]


@dataclass(slots=True, eq=False, repr=False)
class Attribute(_AroundOne):
    attr: str

    def parts(self) -> list[Any]:
        return ["attr", self.value, self.attr]


@dataclass(slots=True, eq=False, repr=False)
class Subscript(Base):
    value: Expr
    index: Expr

    def parts(self) -> list[Any]:
        return ["item", self.value, self.index]

    def children(self) -> tuple[Expr, ...]:
        return (self.value, self.index)


@dataclass(slots=True, eq=False, repr=False)
class Slice(Base):
    lower: Optional[Expr]
    upper: Optional[Expr]
    step: Optional[Expr]

    def parts(self) -> list[Any]:
        return ["slice", self.lower, self.upper, self.step]

    def children(self) -> tuple[Expr, ...]:
        return tuple(part for part in (self.lower, self.upper, self.step) if part is not None)


@dataclass(slots=True, eq=False, repr=False)
class CallRef(Base):
    index: int

    def parts(self) -> list[Any]:
        return ["call", self.index]


@dataclass(slots=True, eq=False, repr=False)
class LambdaRef(Base):
    scope: int

    def parts(self) -> list[Any]:
        return ["lambda", self.scope]


@dataclass(slots=True, eq=False, repr=False)
class List(_Row):
    def parts(self) -> list[Any]:
        return ["list", self.elements]


@dataclass(slots=True, eq=False, repr=False)
class Tuple(_Row):
    def parts(self) -> list[Any]:
        return ["tuple", self.elements]


@dataclass(slots=True, eq=False, repr=False)
class Set(_Row):
    def parts(self) -> list[Any]:
        return ["set", self.elements]


@dataclass(slots=True, eq=False, repr=False)
class Dict(Base):
    items: tuple[tuple[Optional[Expr], Expr], ...]

    def parts(self) -> list[Any]:
        return ["dict", self.items]

    def children(self) -> tuple[Expr, ...]:
        return tuple(part for pair in self.items for part in pair if part is not None)


@dataclass(slots=True, eq=False, repr=False)
class IfExp(Base):
    test: Expr
    body: Expr
    orelse: Expr

    def parts(self) -> list[Any]:
        return ["ifexp", self.test, self.body, self.orelse]

    def children(self) -> tuple[Expr, ...]:
        return (self.test, self.body, self.orelse)


@dataclass(slots=True, eq=False, repr=False)
class BoolOp(Base):
    op: str
    values: tuple[Expr, ...]

    def parts(self) -> list[Any]:
        return [self.op, self.values]

    def children(self) -> tuple[Expr, ...]:
        return self.values


@dataclass(slots=True, eq=False, repr=False)
class Not(Base):
    operand: Expr

    def parts(self) -> list[Any]:
        return ["not", self.operand]

    def children(self) -> tuple[Expr, ...]:
        return (self.operand,)


@dataclass(slots=True, eq=False, repr=False)
class UnaryOp(Base):
    op: str
    operand: Expr

    def parts(self) -> list[Any]:
        return ["unary", self.op, self.operand]

    def children(self) -> tuple[Expr, ...]:
        return (self.operand,)


@dataclass(slots=True, eq=False, repr=False)
class BinOp(Base):
    op: str
    left: Expr
    right: Expr

    def parts(self) -> list[Any]:
        return ["binop", self.op, self.left, self.right]

    def children(self) -> tuple[Expr, ...]:
        return (self.left, self.right)


@dataclass(slots=True, eq=False, repr=False)
class Compare(Base):
    left: Expr
    comparisons: tuple[tuple[str, Expr], ...]

    def parts(self) -> list[Any]:
        return ["compare", self.left, self.comparisons]

    def children(self) -> tuple[Expr, ...]:
        return (self.left, *(right for _, right in self.comparisons))


@dataclass(slots=True, eq=False, repr=False)
class FString(Base):
    values: tuple[Expr, ...]

    def parts(self) -> list[Any]:
        return ["fstring", self.values]

    def children(self) -> tuple[Expr, ...]:
        return self.values


class Clause(NamedTuple):
    """`for target in iterable if …` of a comprehension."""

    target: Expr
    iterable: Expr
    ifs: tuple[Expr, ...]


@dataclass(slots=True, eq=False, repr=False)
class Comprehension(Base):
    kind: str
    key: Optional[Expr]
    element: Expr
    clauses: tuple[Clause, ...]

    def parts(self) -> list[Any]:
        return ["comp", self.kind, (self.element,) if self.key is None else (self.key, self.element), self.clauses]

    def children(self) -> tuple[Expr, ...]:
        clauses = [part for one in self.clauses for part in (one.target, one.iterable, *one.ifs)]
        return (self.element, *clauses) if self.key is None else (self.key, self.element, *clauses)


@dataclass(slots=True, eq=False, repr=False)
class Starred(_AroundOne):
    def parts(self) -> list[Any]:
        return ["star", self.value]


@dataclass(slots=True, eq=False, repr=False)
class Await(_AroundOne):
    def parts(self) -> list[Any]:
        return ["await", self.value]


@dataclass(slots=True, eq=False, repr=False)
class Yield(Base):
    value: Optional[Expr]

    def parts(self) -> list[Any]:
        return ["yield", self.value]

    def children(self) -> tuple[Expr, ...]:
        return () if self.value is None else (self.value,)


@dataclass(slots=True, eq=False, repr=False)
class Walrus(Base):
    name: str
    value: Expr

    def parts(self) -> list[Any]:
        return ["walrus", self.name, self.value]

    def children(self) -> tuple[Expr, ...]:
        return (self.value,)


@dataclass(slots=True, eq=False, repr=False)
class Opaque(Base):
    def parts(self) -> list[Any]:
        return ["unknown"]


@dataclass(slots=True, eq=False, repr=False)
class Element(_AroundOne):
    def parts(self) -> list[Any]:
        return ["element", self.value]


@dataclass(slots=True, eq=False, repr=False)
class Entered(_AroundOne):
    def parts(self) -> list[Any]:
        return ["entered", self.value]


@dataclass(slots=True, eq=False, repr=False)
class Defined(Base):
    scope: int

    def parts(self) -> list[Any]:
        return ["defined", self.scope]


@dataclass(slots=True, eq=False, repr=False)
class Getter(_AroundOne):
    attr: str

    def parts(self) -> list[Any]:
        return ["getter", self.value, self.attr]


Expr = Union[
    Constant,
    Bytes,
    Name,
    Attribute,
    Subscript,
    Slice,
    CallRef,
    LambdaRef,
    List,
    Tuple,
    Set,
    Dict,
    IfExp,
    BoolOp,
    Not,
    UnaryOp,
    BinOp,
    Compare,
    FString,
    Comprehension,
    Starred,
    Await,
    Yield,
    Walrus,
    Opaque,
    Element,
    Entered,
    Defined,
    Getter,
]
"""An expression."""


def last_name(expr: Expr) -> str:
    """Return `c` for `a.b.c`, `a` for `a`, and "" for any other expression."""
    return expr.attr if isinstance(expr, Attribute) else expr.id if isinstance(expr, Name) else ""
