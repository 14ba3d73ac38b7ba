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
"""The verdicts of a run on a finding, from what needs fixing to what the run did not reach."""


@dataclass(frozen=True)
class Place:
    """A related place, with a few words on its role: one hop of a trace, or another place that matters. `guessed`: this
    hop calls a method of an unknown object, resolved by its name alone. `alike`: the same defect is here too, and a run
    may execute this place instead of the finding's own. `cell`: as in `Finding`."""

    path: str
    span: Span
    message: str
    guessed: bool = False
    cell: int | None = None
    alike: bool = False


@dataclass(frozen=True)
class SetArgument:
    """Set the keyword argument `keyword=value` in the call at `call`, replacing an existing one."""

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
    """Replace the expression at `span` with the expression `code`."""

    path: str
    span: Span
    code: str


@dataclass(frozen=True)
class InsertStatement:
    """Insert `code` (one or more lines, not indented) before or after the statement that contains `anchor`.

    With `toplevel`, that is the module-level statement around `anchor`, its decorators included; otherwise the
    innermost statement, whose indentation the new lines take. Blank lines around a new module-level `def` follow PEP 8.
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
    """Replace the comment at `span` with `text`.

    An empty text removes the comment and the blanks before it.
    """

    path: str
    span: Span
    text: str


@dataclass(frozen=True)
class ReplaceString:
    """Replace every string literal `old` inside `span` with the string `new`, keeping its quotes."""

    path: str
    span: Span
    old: str
    new: str


@dataclass(frozen=True)
class HoistFunction:
    """Move a function to the top of its module, before the module-level statement that contains it.

    The lambda whose expression is at `span` becomes `def name(…): return …` there and `name` here. For a local `def`,
    whose `def … name` is at `span`, the definition itself moves and keeps its name, `name`.
    """

    path: str
    span: Span
    name: str


@dataclass(frozen=True)
class GuardStatements:
    """Move the module-level statements from the one that contains `first` to the one that contains `last`, and all
    between them, under a new `if __name__ == "__main__":`."""

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
    """Replace the text at `span` of a file, or of a notebook's cell, with `content`; an empty span is an insertion."""

    path: str
    span: Span
    content: str
    cell: int | None = None


@dataclass(frozen=True)
class Fix:
    """One way to fix a finding: all of its edits are made, or none.

    A `suggestion` has only a title, or edits that are shown and never applied.
    """

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()


def shown_only(fix: Fix) -> Fix:
    """Return the fix as a suggestion, which is shown but never applied: for what fails nowhere yet."""
    return replace(fix, applicability="suggestion")


@dataclass(frozen=True)
class Finding:
    """A hazard at a place.

    Rules set `code`, `path`, `span`, the key of a message template on the rule's page and the values that fill it. The
    linter sets `name`, `severity`, `text`, `help` and `url` from the page.

    Attributes:
        trace: the call chain from the launcher to the place, one entry per hop.
        related: further places that matter (the dataset's lambda, a second loader with the same cause).
        start_methods: the start methods under which the hazard exists; empty for all of them.
        statement: the whole statement around the place; a suppression on its first or last line applies.
        cell: in a report, the notebook cell that `span` refers to, from 1; before that, `span` refers to the text of
            all cells together.
        severity: the severity if the rule computes one from the project; `None` for the page's.
        verdict: what a run showed: the hazard is real (confirmed), it is harmless under this start method but real
            under another allowed one (latent), it was measured to be absent (refuted), a clean run proves nothing
            (inconclusive), or the run did not reach the place (not reached). `None` without a run.
        evidence: the reasons for the verdict, one line each.
        origin: `runtime` if only a run found the hazard.
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
