"""Lists, dicts and keyword arguments."""

from __future__ import annotations

from dataclasses import dataclass

from dllint.facts.nodes import CallRef, Expr
from dllint.inference.values.base import Value
from dllint.inference.values.frames import Frame, Site
from dllint.inference.values.functions import Function


class Written:
    """An expression of the source together with where it is evaluated; the same text is the same object."""

    __slots__ = ("_hash", "_identity", "expr", "site", "text")

    def __init__(self, expr: Expr, site: Site) -> None:
        self.expr = expr
        self.site = site
        number = expr.index if isinstance(expr, CallRef) else -1 - id(expr)
        self.text = (number, site.file.path)
        self._identity = (number, site.file.path, id(site.frame))
        self._hash = hash(self._identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and self._identity == other._identity

    def __hash__(self) -> int:
        return self._hash

    def may_be(self, other: Written) -> bool:
        """Whether both are one text, and not surely of two activations."""
        if self.text != other.text:
            return False
        mine, frame = self.site.frame, other.site.frame
        return mine is frame or mine is None or frame is None or not mine.is_apart(frame)


@dataclass(frozen=True)
class Display(Value):
    """A list, tuple, set or comprehension as written in the source.

    `owner` is the scope and the variable (or the class and `self.attribute`) that holds it first. A copy, a slice or a
    sum is made by `made`, of `parts`; it is `written` where the first of those is.
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
class Mapping(Value):
    """A dict or namespace with known keys.

    `owner` is the scope and the variable (or the class and `self.attribute`) that holds it first. `made` is what makes
    a copy of the one that is `written`.
    """

    written: Written
    owner: tuple[int, str] | None = None
    made: Written | None = None


@dataclass(frozen=True)
class Keywords(Value):
    """The `**kwargs` of a function, as one call fills it."""

    function: Function
    frame: Frame | None
