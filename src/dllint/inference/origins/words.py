"""Values and their sources in words: for `dllint trace` and for messages."""

from __future__ import annotations

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
    Value,
)
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile

GIVEN = {
    "parameter": "default of `{}` of {}",
    "option": "default of {}",
    "with": "with {}",
    "without": "without {}",
    "class": "attribute of class {}",
    "entry": "`{}`",
}
"""Kind of `Given` → its description, with placeholders for its names."""
REASONS = {
    "computed": "{} is known only when the program runs",
    "result": "what `{}` gives is known only when the program runs",
    "option": "`{}` depends on a command line option",
    "unwritten": "no value is written there",
    "uncalled": "`{}` is a parameter of {}, and no call of it was found",
    "launched": "the launcher fills `{}` of {}",
    "unpacked": "`{}` of {} comes out of `*{}`, which is not known",
    "outside": "what `{}` imports is outside of the project",
    "bound": "what `{}` is there is not known",
    "callee": "what `{}` calls is not known",
    "held": "what `{}` holds is not known",
    "unset": "nothing that is known sets `{}` of {}",
    "under": "what is under `{}` is known only when the program runs",
    "container": "what holds `{}` is not known",
    "lacking": "`{}` is not in this file",
    "undeclared": "no command line option that is known fills `{}`",
    "no keywords": "no call of {} is known, which takes it by `**`",
    "unpacking": "`{}` may hold it, and cannot be followed",
    "run time": "its value is known only when the program runs",
    "keywords": "what fills `**` of {} is not known",
}
"""Kind of reason → why a value is unknown, with placeholders for its names."""
CAVEAT = "the command line may change it"


def described(value: Value) -> str:
    """Describe a value in a few words, without its place."""
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
    """Describe the result of an external call by the name of the callee."""
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


def computed(expr: Expr | None, file: SourceFile) -> str:
    """Describe a computed expression: its source text if short."""
    text = render(expr, file)
    return "what is computed here" if text.startswith("…") else f"`{text}`"
