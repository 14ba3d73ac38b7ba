"""Sources of values, and the steps that lead to them, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dllint.facts.schema import Expr
from dllint.inference.origins import words
from dllint.inference.values import UNKNOWN, Class, Function, Instance, Partial, Site, Unknown, Value
from dllint.linking.source import SourceFile
from dllint.span import Span


class Given(NamedTuple):
    """A source of a value that no statement assigns: a default, an option, a configuration file.

    Attributes:
        kind: "parameter" and "option" (the default of one), "with" and "without" (a switch of the command line),
            "class" (an attribute of one), "entry" (of a configuration file).
        names: a parameter's name and its function; the flag; the class; the dotted path of the entry.
        path, span: where it is declared.
    """

    kind: str
    names: tuple[str, ...]
    path: str
    span: Span


@dataclass(frozen=True)
class Source:
    """One value that an expression can have, with its source.

    Attributes:
        value: Unknown where it is not known.
        path, span: the place that gives it.
        given: the default, switch, class attribute or entry that it is.
        reason: why it is not known: a kind of `words.REASONS` with its names; empty where it is known.
    """

    value: Value
    path: str
    span: Span
    given: Given | None = None
    reason: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        return not self.reason

    @property
    def text(self) -> str:
        """The value, or why it is not known."""
        return words.REASONS[self.reason[0]].format(*self.reason[1:]) if self.reason else words.described(self.value)

    @property
    def how(self) -> str:
        """ "default of --workers"; empty where the place says enough."""
        if self.given is not None and not self.reason:
            return words.GIVEN[self.given.kind].format(*self.given.names)
        made = isinstance(self.value, Instance) and self.known and defined_at(self.value) is not None
        return "made" if made else ""

    @property
    def caveat(self) -> str:
        """What may still change it."""
        return words.CAVEAT if self.known and self.given is not None and self.given.kind == "option" else ""


class Here(NamedTuple):
    """The place of a step, with the source of the value there."""

    file: SourceFile
    span: Span
    given: Given | None = None

    def moved(self, file: SourceFile, span: Span) -> Here:
        """Another place of the same value."""
        return Here(file, span, self.given)

    def by(self, kind: str, *names: str) -> Here:
        """The same place, where something declared there gives the value. What the command line may change stays so."""
        if self.given is not None and self.given.kind == "option" and kind != "option":
            return self
        return self._replace(given=Given(kind, names, self.file.path, self.span))


class Step(NamedTuple):
    """An expression that another one gets its value from: `expr` itself, or, with a `key`, what it holds under that."""

    expr: Expr
    site: Site
    here: Here
    key: object = None


def defined_at(value: Value) -> tuple[str, Span] | None:
    """Where the object itself is defined or made, if the project says."""
    if isinstance(value, (Function, Class)):
        return value.file.path, value.file.scopes[value.scope].header
    if isinstance(value, Instance) and value.file is not None and value.call >= 0:
        return value.file.path, value.file.calls[value.call].span
    if isinstance(value, Partial):
        return value.file.path, value.file.calls[value.call].span
    return None


def known(value: Value, here: Here) -> Source:
    """The source of a value: where it is made or defined, else the step that is followed."""
    return Source(value, *(defined_at(value) or (here.file.path, here.span)), here.given)


def unknown(here: Here, kind: str, *names: str) -> Source:
    """A reason in the place of a value."""
    return Source(UNKNOWN, here.file.path, here.span, here.given, (kind, *names))


def either(value: Value, here: Here, kind: str, *names: str) -> Source:
    """The source of a value, or the reason where it is not known."""
    return unknown(here, kind, *names) if isinstance(value, Unknown) else known(value, here)


def computed(expr: Expr | None, here: Here, file: SourceFile) -> Source:
    """The reason for an expression that depends on what the program meets."""
    return unknown(here, "computed", words.computed(expr, file))


def line_at(at: tuple[int, int]) -> Span:
    """The place of a statement of which only the start is kept."""
    line, column = max(at[0], 1), max(at[1], 1)
    return Span(line, column, line, column)
