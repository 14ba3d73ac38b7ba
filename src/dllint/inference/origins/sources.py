"""Sources of values, and values in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dllint.facts.schema import Expr
from dllint.inference.values import (
    Class,
    Const,
    Data,
    Display,
    External,
    Function,
    Instance,
    Keywords,
    Mapping,
    Module,
    Parsed,
    Partial,
    Pattern,
    Super,
    Unknown,
    Value,
)
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.span import Span


@dataclass(frozen=True)
class Source:
    """One value that an expression can have, with what gives it.

    Attributes:
        text: the value, or why it is not known.
        how: "default of --workers"; empty where the place says enough.
        path, span: the place that gives it.
        caveat: what may still change it.
        known: false where `text` is a reason.
    """

    text: str
    how: str
    path: str
    span: Span
    caveat: str = ""
    known: bool = True


class Here(NamedTuple):
    """The step that is being followed."""

    file: SourceFile
    span: Span
    how: str = ""
    caveat: str = ""


def described(value: Value) -> str:
    """A value in a few words, without its place."""
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Pattern):
        return f"{value.prefix!r}…{value.suffix!r}"
    if isinstance(value, Function):
        return _function(value)
    if isinstance(value, Class):
        return f"class {value.name}"
    if isinstance(value, External):
        return value.name
    if isinstance(value, Instance):
        if isinstance(value.of, Class):
            return value.of.name
        return _outside(value.of.name)
    if isinstance(value, Partial):
        return f"partial of {described(value.function)}"
    if isinstance(value, Display):
        return {"comp": "list", "generator": "generator"}.get(value.kind, value.kind)
    words = {Mapping: "dict", Keywords: "keyword arguments", Parsed: "command line options", Super: "super()"}
    if isinstance(value, Module):
        return "module"
    if isinstance(value, Data):
        return ".".join(map(str, value.pointer)) or "configuration file"
    return words.get(type(value), "not known")


def _outside(name: str) -> str:
    """An object that something from outside the project gave, by the name of what was called."""
    called, bracket, _ = name.partition("[")
    if bracket and called[:1]:
        return f"an item of what {called}(…) gives"
    last = name.rsplit(".", 1)[-1]
    return last if last[:1].isupper() and not last.endswith(")") else f"what {name}(…) gives"


def _function(value: Function) -> str:
    file = value.file
    if file.scopes[value.scope].kind == "lambda":
        return "lambda"
    parent = file.scopes[file.scopes[value.scope].parent]
    if parent.kind == "class":
        return f"method {parent.name}.{value.name}"
    return f"local function {value.name}" if parent.kind in ("function", "lambda") else f"function {value.name}"


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
    made = defined_at(value)
    if isinstance(value, Instance) and made is not None:
        return Source(described(value), here.how or "made", *made, here.caveat)
    if made is not None:
        return Source(described(value), here.how, *made, here.caveat)
    return Source(described(value), here.how, here.file.path, here.span, here.caveat)


def unknown(here: Here, why: str) -> Source:
    """A reason in the place of a value."""
    return Source(why, "", here.file.path, here.span, known=False)


def either(value: Value, here: Here, why: str) -> Source:
    """The source of a value, or the reason where it is not known."""
    return unknown(here, why) if isinstance(value, Unknown) else known(value, here)


def at_run_time(expr: Expr | None, file: SourceFile) -> str:
    """The reason for an expression that depends on what the program meets."""
    text = render(expr, file)
    return f"{'what is computed here' if text.startswith('…') else f'`{text}`'} is known only when the program runs"


def line_at(at: tuple[int, int]) -> Span:
    """The place of a statement of which only the start is kept."""
    line, column = max(at[0], 1), max(at[1], 1)
    return Span(line, column, line, column)
