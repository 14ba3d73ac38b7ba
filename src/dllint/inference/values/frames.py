"""Activations of functions, places in them, and the arguments that create them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Optional

from dllint.facts.nodes import Expr
from dllint.inference.values.base import Value
from dllint.linking.source import SourceFile
from dllint.span import Span


class Frame:
    """An activation of a function. Interned, so compared by identity.

    Attributes:
        actuals: the arguments that the parameters are read from; None for any.
        call: the file and the index of the call that creates it, if the source contains one.
        receiver: a method's receiver.
        parent: the activation of the caller.
        closure: the activation of the enclosing function.
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
        # Contexts multiply with every level. Those on a chain that is followed anyway add no cost.
        self.depth: int = 0 if chain else 1 + (parent.depth if parent else 0)
        own = receiver.nesting if receiver is not None else 0
        self.nesting: int = max(own, parent.nesting if parent is not None else 0)

    def is_apart(self, other: Frame | None) -> bool:
        """Whether they are certainly different activations of one function: their calls or enclosing calls differ."""
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
    """An argument as written, with the site at which it is evaluated.

    Attributes:
        expr: None for an argument that the callee's caller generates, such as the process index that
            `torch.multiprocessing.spawn` passes first.
        starred: whether it is an unpacked sequence.
        described: whether it is a configuration whose entries may describe objects.
    """

    expr: Expr | None
    site: Site | None
    span: Span | None
    starred: bool = False
    described: bool = False


@dataclass
class Actuals:
    """The arguments of one call.

    Attributes:
        positional: those before the first unpacked sequence.
        rest: the first unpacked sequence, and all positional arguments after it, in order.
        under: fallback arguments with lower precedence: those that a partial binds.
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
        """Add a positional argument, or an unpacked sequence."""
        (self.rest if self.rest or actual.starred else self.positional).append(actual)

    def without_first(self) -> Actuals:
        """Return the arguments after the first positional one."""
        return Actuals(self.positional[1:], self.keywords, self.rest, self.mappings, self.under)

    def then(self, late: Actuals) -> Actuals:
        """Return the arguments of a call through a partial that binds these: positional ones come first, and keywords
        are overridden by those of the call (functools documentation, "partial")."""
        positional, rest = [*self.positional, *late.positional], late.rest
        if self.rest:
            positional, rest = self.positional, [*self.rest, *late.positional, *late.rest]
        if not late.mappings:
            return Actuals(positional, {**self.keywords, **late.keywords}, rest, self.mappings, self.under)
        under = Actuals([], self.keywords, [], self.mappings, self.under)
        return Actuals(positional, late.keywords, rest, late.mappings, under if under.names_any() else None)

    def names_any(self) -> bool:
        """Whether any argument is, or may be, passed by keyword."""
        return bool(self.keywords or self.mappings or self.under)
