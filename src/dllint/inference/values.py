"""Abstract values: what the analyzer knows about an object that an expression may stand for.

Const            a constant: None, a bool, a number or a string
Pattern          a string of which only the ends are known: f"init_dist_{launcher}"
Function         a function, lambda or bound method of the project
Class            a class of the project
Module           a file of the project
External         anything reached through a name from outside the project: "torch.utils.data.DataLoader"
Instance         what calling a class of the project, or anything External, gave
Partial          functools.partial of a value
Display          a list, tuple, set or comprehension as written in the source
Mapping          a dict as written in the source, or made by `dict(…)` and its like
Keywords         the `**kwargs` of a function, as one call fills it
Parsed           what argparse's `parse_args` returned
Data             a value read from a configuration file of the project
Unknown          nothing is known; what depends on it stays silent
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Optional, Union

from dllint.facts.nodes import CallRef
from dllint.facts.schema import Expr
from dllint.linking.source import SourceFile
from dllint.span import Span


class Frame:
    """An activation: the arguments that a function's parameters are read from (None: any), and a method's receiver.
    `call` is the file and the index of the call that makes it, where it is one that the source writes.

    Interned, so compared by identity.
    """

    __slots__ = ("actuals", "call", "closure", "depth", "nesting", "parent", "receiver")

    def __init__(
        self, actuals: Actuals | None, receiver: Value | None, parent: Frame | None, closure: Frame | None, chain: bool
    ) -> None:
        self.actuals = actuals
        self.call: tuple[str, int] | None = None
        self.receiver = receiver
        self.parent = parent
        self.closure = closure
        # Contexts multiply with every level. Those of a chain that is followed anyway cost nothing more.
        self.depth: int = 0 if chain else 1 + (parent.depth if parent else 0)
        inner = receiver.frame if isinstance(receiver, Instance) else None
        own = 1 + (inner.nesting if inner is not None else 0) if isinstance(receiver, Instance) else 0
        self.nesting: int = max(own, parent.nesting if parent is not None else 0)

    def is_apart(self, other: Frame | None) -> bool:
        """Whether they are surely different activations of one function: their calls differ, or those around them."""
        mine: Frame | None = self
        while mine is not None and other is not None and mine is not other:
            if mine.call is not None and other.call is not None and mine.call != other.call:
                return True
            mine, other = mine.parent, other.parent
        return False


class Site(NamedTuple):
    """Where an expression is evaluated. `at` orders it among the statements of its scope; (0, 0) means at any time."""

    file: SourceFile
    scope: int
    region: int
    at: tuple[int, int]
    frame: Optional[Frame]


class Actual(NamedTuple):
    """An argument as written, with the site at which it is evaluated. `expr` is null for one that the callee's
    caller makes up, such as the process index that `torch.multiprocessing.spawn` passes first. `starred`: it is a
    sequence that is unpacked."""

    expr: Expr | None
    site: Site | None
    span: Span | None
    starred: bool = False


@dataclass
class Actuals:
    """The arguments of one call.

    Attributes:
        positional: those before the first unpacked sequence.
        rest: the first unpacked sequence, and all positional arguments after it, in order.
        under: arguments that hold where these say nothing: those that a partial binds.
    """

    positional: list[Actual] = field(default_factory=list)
    keywords: dict[str, Actual] = field(default_factory=dict)
    rest: list[Actual] = field(default_factory=list)
    mappings: list[Actual] = field(default_factory=list)
    under: Actuals | None = None

    @property
    def stars(self) -> list[Actual]:
        """The unpacked sequences."""
        return [actual for actual in self.rest if actual.starred]

    def add(self, actual: Actual) -> None:
        """One more positional argument, or unpacked sequence."""
        (self.rest if self.rest or actual.starred else self.positional).append(actual)

    def without_first(self) -> Actuals:
        """The arguments after the first positional one."""
        return Actuals(self.positional[1:], self.keywords, self.rest, self.mappings, self.under)

    def then(self, late: Actuals) -> Actuals:
        """The arguments of a call through a partial that binds these: positional ones come first, and keywords are
        overridden by those of the call (functools documentation, "partial")."""
        positional, rest = [*self.positional, *late.positional], late.rest
        if self.rest:
            positional, rest = self.positional, [*self.rest, *late.positional, *late.rest]
        if not late.mappings:
            return Actuals(positional, {**self.keywords, **late.keywords}, rest, self.mappings, self.under)
        under = Actuals([], self.keywords, [], self.mappings, self.under)
        return Actuals(positional, late.keywords, rest, late.mappings, under if under.names_any() else None)

    def names_any(self) -> bool:
        """Whether any argument is given by its name, or may be."""
        return bool(self.keywords or self.mappings or self.under)


@dataclass(frozen=True)
class Const:
    value: Any
    kind: str


def const(value: object) -> Const:
    return Const(value, type(value).__name__)


NONE = const(None)


@dataclass(frozen=True)
class Pattern:
    """`inner` is what is known between the ends, in order: "." for f"models.{kind}.{name}"."""

    prefix: str
    suffix: str
    inner: str = ""

    def fits(self, text: str) -> bool:
        return (
            len(text) >= len(self.prefix) + len(self.suffix)
            and text.startswith(self.prefix)
            and text.endswith(self.suffix)
        )


# Values are parts of the keys of all questions that are kept. Of those that are met most often there is one object for
# equal parts, so that they are compared and hashed by identity. A file keeps those that belong to it, and an External,
# of which no file is known, those made of it: they live as long as what they are made of.


@dataclass(frozen=True, eq=False, init=False)
class Function:
    """`frame` is the activation of the function around it, whose names it reads."""

    file: SourceFile
    scope: int
    receiver: Value | None
    frame: Frame | None
    name: str
    key: tuple[str, int]

    def __new__(
        cls, file: SourceFile, scope: int, receiver: Value | None = None, frame: Frame | None = None
    ) -> Function:
        """The one Function of these parts."""
        parts = (Function, scope, receiver, frame)
        found: Function | None = file.interned.get(parts)
        if found is None:
            found = file.interned[parts] = object.__new__(cls)
            name, key = file.scopes[scope].name, (file.path, scope)
            vars(found).update(file=file, scope=scope, receiver=receiver, frame=frame, name=name, key=key)
        return found

    def bound_to(self, receiver: Value) -> Function:
        """The method of an object, or of a class."""
        return Function(self.file, self.scope, receiver, self.frame)


@dataclass(frozen=True, eq=False, init=False)
class Class:
    file: SourceFile
    scope: int
    name: str
    key: tuple[str, int]
    plain: Instance | None = field(repr=False)

    def __new__(cls, file: SourceFile, scope: int) -> Class:
        """The one Class of a definition."""
        found: Class | None = file.interned.get((Class, scope))
        if found is None:
            found = file.interned[Class, scope] = object.__new__(cls)
            vars(found).update(file=file, scope=scope, name=file.scopes[scope].name, key=(file.path, scope), plain=None)
        return found


@dataclass(frozen=True)
class Module:
    path: str


@dataclass(frozen=True, eq=False, init=False)
class External:
    name: str
    plain: Instance | None = field(repr=False)

    _all: ClassVar[dict[str, External]] = {}

    def __new__(cls, name: str) -> External:
        """The one External of a name."""
        found = cls._all.get(name)
        if found is None:
            found = cls._all[name] = object.__new__(cls)
            vars(found).update(name=name, plain=None)
        return found


@dataclass(frozen=True, eq=False, init=False)
class Instance:
    """`call` is -1 for "any instance of the class" (a method's own `self`), of which `file` and `frame` are None.
    `by` is the partial through which the call makes it."""

    of: Class | External
    file: SourceFile | None
    call: int
    frame: Frame | None
    by: Partial | None

    def __new__(
        cls,
        of: Class | External,
        file: SourceFile | None = None,
        call: int = -1,
        frame: Frame | None = None,
        by: Partial | None = None,
    ) -> Instance:
        """The one Instance of these parts."""
        parts = (Instance, of, call, frame, by)
        found: Instance | None = of.plain if file is None else file.interned.get(parts)
        if found is None:
            found = object.__new__(cls)
            vars(found).update(of=of, file=file, call=call, frame=frame, by=by)
            if file is None:
                vars(of)["plain"] = found
            else:
                file.interned[parts] = found
        return found


@dataclass(frozen=True)
class Super:
    """What `super()` gives in a method of `cls`."""

    cls: Class
    receiver: Value | None
    frame: Frame | None


@dataclass(frozen=True)
class Partial:
    """What `functools.partial(function, …)` gives."""

    function: Value
    file: SourceFile
    call: int
    frame: Frame | None

    @property
    def plain(self) -> Value:
        """The function that partials of partials bind arguments of."""
        return self.function.plain if isinstance(self.function, Partial) else self.function


class Written:
    """An expression of the source together with where it is evaluated; the same text is the same object."""

    __slots__ = ("_hash", "_identity", "expr", "site")

    def __init__(self, expr: Expr, site: Site) -> None:
        self.expr = expr
        self.site = site
        text = ("call", expr.index) if isinstance(expr, CallRef) else ("at", id(expr))
        self._identity = (*text, site.file.path, id(site.frame))
        self._hash = hash(self._identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and self._identity == other._identity

    def __hash__(self) -> int:
        return self._hash

    def may_be(self, other: Written) -> bool:
        """Whether both are one text, and not surely of two activations."""
        if self._identity[:3] != other._identity[:3]:
            return False
        mine, frame = self.site.frame, other.site.frame
        return mine is frame or mine is None or frame is None or not mine.is_apart(frame)


@dataclass(frozen=True)
class Display:
    """`owner` is the scope and the variable (or the class and `self.attribute`) that holds it first.

    A copy, a slice or a sum is made by `made`, of `parts`; it is `written` where the first of those is.
    """

    kind: str
    written: Written
    owner: tuple[int, str] | None = None
    made: Written | None = None
    parts: tuple[Display, ...] = ()

    def made_by(self, kind: str, made: Written, *more: Display) -> Display:
        """A new sequence of the elements of this one, and others."""
        return Display(kind, self.written, self.owner, made, (self, *more))


@dataclass(frozen=True)
class Mapping:
    """A dict or namespace with known keys.

    `owner` is the scope and the variable (or the class and `self.attribute`) that holds it first. `made` is what makes
    a copy of the one that is `written`.
    """

    written: Written
    owner: tuple[int, str] | None = None
    made: Written | None = None


@dataclass(frozen=True)
class Keywords:
    function: Function
    frame: Frame | None


@dataclass(frozen=True)
class Parsed:
    """`parser` is the variable or attribute that holds the parser, as evaluated."""

    parser: Value
    file: SourceFile
    call: int


@dataclass(frozen=True)
class Data:
    """A node of a configuration file. `pointer` is the way to it from the top."""

    path: str
    pointer: tuple[str | int, ...]


@dataclass(frozen=True)
class Unknown:
    why: str = ""


UNKNOWN = Unknown()

Value = Union[
    Const,
    Pattern,
    Function,
    Class,
    Module,
    External,
    Instance,
    Super,
    Partial,
    Display,
    Mapping,
    Keywords,
    Parsed,
    Data,
    Unknown,
]
Values = tuple[Value, ...]
