"""Lists, dicts and keyword arguments."""

from __future__ import annotations

from dataclasses import dataclass

from dllint.facts.nodes import CallRef, Expr
from dllint.inference.values.base import Value
from dllint.inference.values.frames import Frame, Site
from dllint.inference.values.functions import Function


class Written:
    """An expression of the source together with its site; equal text means the same object."""

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
        """Whether both have the same text, and may belong to the same activation."""
        if self.text != other.text:
            return False
        mine, frame = self.site.frame, other.site.frame
        return mine is frame or mine is None or frame is None or not mine.is_apart(frame)


@dataclass(frozen=True)
class Display(Value):
    """A list, tuple, set or comprehension as written in the source.

    `owner` is the scope and the variable (or the class and `self.attribute`) that first holds it. A copy, slice or
    concatenation is created by `made` from `parts`; its `written` is that of the first part. `names` are those of the
    fields of a named tuple.
    """

    kind: str
    written: Written
    owner: tuple[int, str] | None = None
    made: Written | None = None
    parts: tuple[Display, ...] = ()
    names: tuple[str, ...] = ()

    def made_by(self, kind: str, made: Written, *more: Display) -> Display:
        """Return a new sequence of the elements of this one, and of others."""
        return Display(kind, self.written, self.owner, made, (self, *more))


@dataclass(frozen=True)
class Mapping(Value):
    """A dict or namespace with known keys.

    `owner` is the scope and the variable (or the class and `self.attribute`) that first holds it. `made` is the call
    that creates a copy of `written`. `layered`: `written` is a call that merges its arguments at every level.
    """

    written: Written
    owner: tuple[int, str] | None = None
    made: Written | None = None
    layered: bool = False


@dataclass(frozen=True)
class Keywords(Value):
    """The `**kwargs` of a function, as bound in one call."""

    function: Function
    frame: Frame | None
