"""Findings and their fixes, as plain data: no syntax tree, no source text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Union

from dllint.span import Span

Severity = Literal["error", "warning", "info"]
Applicability = Literal["safe", "unsafe", "suggestion"]
Verdict = Literal["confirmed", "latent", "refuted", "inconclusive", "not reached"]
Origin = Literal["static", "runtime"]
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""From mildest to worst."""
VERDICTS: tuple[Verdict, ...] = ("confirmed", "latent", "inconclusive", "refuted", "not reached")
"""The verdicts of a run on a finding, from what needs fixing to what the run says nothing about."""


@dataclass(frozen=True)
class Place:
    """A related place: one hop of a trace, or another place that matters, with a few words on its role. `guessed`: this
    hop calls a method of an unknown object, found by its name alone. `cell`: as for `Finding`."""

    path: str
    span: Span
    message: str
    guessed: bool = False
    cell: int | None = None


@dataclass(frozen=True)
class SetArgument:
    """Give the call at `call` the keyword argument `keyword=value`, replacing one that is there."""

    path: str
    call: Span
    keyword: str
    value: str


@dataclass(frozen=True)
class RemoveArgument:
    """Remove the keyword argument `keyword` from the call at `call`."""

    path: str
    call: Span
    keyword: str


@dataclass(frozen=True)
class ReplaceExpression:
    """Replace the expression at `span` by the expression `code`."""

    path: str
    span: Span
    code: str


@dataclass(frozen=True)
class InsertStatement:
    """Insert `code` (one or more lines, not indented) before or after the statement that holds `anchor`.

    With `toplevel`, the statement meant is the module-level one (its decorators included) around `anchor`;
    without it the innermost one, whose indentation the new lines take. Blank lines around a new module-level
    `def` follow PEP 8.
    """

    path: str
    anchor: Span
    code: str
    where: Literal["before", "after"] = "before"
    toplevel: bool = False


@dataclass(frozen=True)
class AddImport:
    """Add `import module` (or `from module import name`) unless the file already has it.

    It goes after the module's last top-of-file import, or after the docstring and `__future__` imports.
    """

    path: str
    module: str
    name: str | None = None


@dataclass(frozen=True)
class ReplaceComment:
    """Replace the comment at `span` by `text`.

    An empty text removes the comment and the blanks before it.
    """

    path: str
    span: Span
    text: str


@dataclass(frozen=True)
class ReplaceString:
    """Replace every string literal `old` inside `span` by the string `new`, keeping its quotes."""

    path: str
    span: Span
    old: str
    new: str


@dataclass(frozen=True)
class HoistFunction:
    """Move a function to the top of its module, before the module-level statement that holds it.

    The lambda whose expression is at `span` becomes `def name(…): return …` there and `name` here. For a local `def`,
    whose `def … name` is at `span`, the definition itself moves, and `name` is its own.
    """

    path: str
    span: Span
    name: str


@dataclass(frozen=True)
class GuardStatements:
    """Move the module-level statements from the one that holds `first` to the one that holds `last`, with all between
    them, under a new `if __name__ == "__main__":`.
    """

    path: str
    first: Span
    last: Span


Edit = Union[
    SetArgument,
    RemoveArgument,
    ReplaceExpression,
    InsertStatement,
    AddImport,
    ReplaceComment,
    ReplaceString,
    HoistFunction,
    GuardStatements,
]


@dataclass(frozen=True)
class TextEdit:
    """The text at `span` of the file, or of a cell of a notebook, becomes `content`; an empty span is an insertion."""

    path: str
    span: Span
    content: str
    cell: int | None = None


@dataclass(frozen=True)
class Fix:
    """One way to fix a finding: all of its edits or none.

    A `suggestion` has a title only (no edits), or edits that are shown and never applied.
    """

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()


def shown_only(fix: Fix) -> Fix:
    """The fix as one that reports and editors show, and that `--fix` does not make: for what fails nowhere yet."""
    return replace(fix, applicability="suggestion")


@dataclass(frozen=True)
class Finding:
    """A hazard at a place.

    Rules give `code`, `path`, `span`, the key of a message template of the rule's page and the values that
    fill it. `name`, `severity`, `text`, `help` and `url` are filled in from the page by the linter.

    Attributes:
        trace: the call chain from the launcher to the place, one entry per hop.
        related: further places that matter (the dataset's lambda, a second loader with the same cause).
        start_methods: the start methods under which the hazard exists; empty where it exists under all.
        statement: the whole statement around the place; a suppression on its first or last line counts.
        cell: in a report, the notebook's cell that `span` is in, from 1; before that, `span` is in the text that all of
            its cells make up.
        severity: as the rule decides from the project; `None` takes the page's.
        verdict: what a run showed: the hazard is real (confirmed), it is harmless under this start method but real
            under another allowed one (latent), it was measured to be absent (refuted), a clean run proves nothing
            (inconclusive), or the run did not reach the place (not reached). `None` without a run.
        evidence: the reasons for the verdict, one line each.
        origin: `runtime` where only a run found the hazard.
    """

    code: str
    path: str
    span: Span
    message: str = "main"
    values: Mapping[str, str | int] = field(default_factory=dict)
    severity: Severity | None = None
    start_methods: tuple[str, ...] = ()
    trace: tuple[Place, ...] = ()
    related: tuple[Place, ...] = ()
    fixes: tuple[Fix, ...] = ()
    statement: Span | None = None
    cell: int | None = None
    name: str = ""
    text: str = ""
    help: str = ""
    url: str = ""
    verdict: Verdict | None = None
    evidence: tuple[str, ...] = ()
    origin: Origin = "static"
