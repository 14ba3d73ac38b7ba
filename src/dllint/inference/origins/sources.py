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
    """A source of a value other than an assignment: a default, an option, a configuration file.

    Attributes:
        kind: "parameter" or "option" (its default), "with" or "without" (a command line switch), "class" (a class
            attribute), "entry" (of a configuration file).
        names: a parameter's name and its function; the flag; the class and the attribute; the dotted path of the entry.
        path, span: where it is declared.
    """

    kind: str
    names: tuple[str, ...]
    path: str
    span: Span


@dataclass(frozen=True)
class Source:
    """One possible value of an expression, with its source.

    Attributes:
        value: Unknown if it is not known.
        path, span: the place that the value comes from.
        given: the default, switch, class attribute or entry.
        reason: why the value is unknown: a kind of `words.REASONS` with its names; empty if it is known.
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
        """The value, or the reason why it is unknown."""
        return words.REASONS[self.reason[0]].format(*self.reason[1:]) if self.reason else words.described(self.value)

    @property
    def how(self) -> str:
        """A description such as "default of --workers"; empty if the place is enough."""
        if self.given is not None and not self.reason:
            return words.GIVEN[self.given.kind].format(*self.given.names)
        made = isinstance(self.value, Instance) and self.known and defined_at(self.value) is not None
        return "made" if made else ""

    @property
    def caveat(self) -> str:
        """What may still change the value; empty if nothing."""
        return words.CAVEAT if self.known and self.given is not None and self.given.kind == "option" else ""


class Here(NamedTuple):
    """The place of a step, with the source of the value there."""

    file: SourceFile
    span: Span
    given: Given | None = None

    def moved(self, file: SourceFile, span: Span) -> Here:
        """Return another place of the same value."""
        return Here(file, span, self.given)

    def by(self, kind: str, *names: str) -> Here:
        """Return the same place with a declaration as its source. A value that the command line may change keeps that
        source."""
        if self.given is not None and self.given.kind == "option" and kind != "option":
            return self
        return self._replace(given=Given(kind, names, self.file.path, self.span))


class Step(NamedTuple):
    """An expression that a value comes from: `expr` itself or, with a `key`, its entry under the key."""

    expr: Expr
    site: Site
    here: Here
    key: object = None


def defined_at(value: Value) -> tuple[str, Span] | None:
    """Return where an object is defined or created, if the project does; else None."""
    if isinstance(value, (Function, Class)):
        return value.file.path, value.file.scopes[value.scope].header
    if isinstance(value, Instance) and value.file is not None and value.call >= 0:
        return value.file.path, value.file.calls[value.call].span
    if isinstance(value, Partial):
        return value.file.path, value.file.calls[value.call].span
    return None


def known(value: Value, here: Here) -> Source:
    """Return the source of a known value: where it is created or defined, else the current step."""
    return Source(value, *(defined_at(value) or (here.file.path, here.span)), here.given)


def unknown(here: Here, kind: str, *names: str) -> Source:
    """Return a source with the reason why its value is unknown."""
    return Source(UNKNOWN, here.file.path, here.span, here.given, (kind, *names))


def either(value: Value, here: Here, kind: str, *names: str) -> Source:
    """Return the source of a value, or the reason if it is unknown."""
    return unknown(here, kind, *names) if isinstance(value, Unknown) else known(value, here)


def computed(expr: Expr | None, here: Here, file: SourceFile) -> Source:
    """Return the reason for an expression whose value depends on the program's run."""
    return unknown(here, "computed", words.computed(expr, file))


def line_at(at: tuple[int, int]) -> Span:
    """Return the span of a statement whose start alone is known."""
    line, column = max(at[0], 1), max(at[1], 1)
    return Span(line, column, line, column)
