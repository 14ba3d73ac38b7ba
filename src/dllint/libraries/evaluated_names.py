"""Dotted names in strings that a program evaluates: `eval("models." + name)`, `eval(f"{name}.{name}")`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from string import Formatter
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp, CallRef, Constant, FString, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import (
    CHOSEN,
    UNKNOWN,
    Class,
    Const,
    Function,
    Module,
    Pattern,
    Site,
    Unknown,
    Value,
    Values,
    const,
)
from dllint.libraries.dynamic_lookup import first_argument, members
from dllint.linking.import_graph import imports_by_text

if TYPE_CHECKING:
    from dllint.linking.source import SourceFile

Segment = tuple["str | Expr", ...]
"""A part of a dotted name: literal text, and expressions whose text is put between."""


def evaluated(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return what `eval("models." + name)` names; only dotted names are evaluated.

    Where its result is called, a name that is not known can be that of any class which the file defines or imports:
    `eval(config.dataset)(root)`.
    """
    found: list[Value] = []
    path = _segments(file, file.calls[index].args[0].value) if file.calls[index].args else ()
    if len(path) > 1 and not isinstance(path[0][0], str):
        return tuple(dict.fromkeys(_at(world, path, site))) or (UNKNOWN,)
    for text in first_argument(world, file, index, site) or ():
        if isinstance(text, Unknown) and isinstance(file.calls[index].args[0].value, (Name, Attribute, Subscript)):
            found += (_classes(world, file) if file.of_call(result_is_called, index) else ()) or (UNKNOWN,)
            continue
        known = text.value if isinstance(text, Const) else text.prefix if isinstance(text, Pattern) else None
        *parts, last = known.split(".") if isinstance(known, str) else ("",)
        if not all(part.isidentifier() for part in parts) or not (parts or last.isidentifier()):
            found.append(UNKNOWN)
            continue
        expr: Expr | None = None
        for part in parts:
            expr = Name(part) if expr is None else Attribute(expr, part)
        if isinstance(text, Const):
            named = world.values.evaluate(Name(last) if expr is None else Attribute(expr, last), site)
            unknown = expr is None and all(isinstance(one, Unknown) for one in named)
            found += (_imported_by_text(world, file, last) if unknown else ()) or named
        elif isinstance(text, Pattern) and expr is not None and "." not in text.inner + text.suffix:
            for base in world.values.evaluate(expr, site):
                members = world.members_like(base, Pattern(last, text.suffix, text.inner))
                found += members if members and not limits.MEMBERS.exceeded(len(members)) else (UNKNOWN,)
        else:
            found.append(UNKNOWN)
    return tuple(dict.fromkeys(found))


def _imported_by_text(world: Engine, file: SourceFile, name: str) -> Values:
    """Return what a file imports under a name by `exec(f"from {name} import {name}")`, wherever the module is."""
    if not file.derived(imports_by_text):
        return ()
    found = world.index.resolve(file.path, name)[-1:] or world.index.inside_packages(file.path, name)[:1]
    values = (value for path in found for value in world.imports.member(path, name))
    return tuple(one for one in values if isinstance(one, (Class, Function)))


def _classes(world: Engine, file: SourceFile) -> Values:
    """Return the classes that an unknown name can select in a file, with `CHOSEN`, unless there are too many."""
    named = world.members_like(Module(file.path), Pattern("", ""))
    classes = [one for one in named if isinstance(one, Class)]
    return (*classes, CHOSEN) if classes and not limits.CHOICES.exceeded(len(classes)) else ()


def result_is_called(file: SourceFile, index: int) -> bool:
    """Whether what a call returns is called, directly or by the name that the statement assigns it to."""
    unnamed = file.facts.called.get("", [])
    # The callee of a call comes right before it, but for the calls among its own arguments.
    following = unnamed[bisect_right(unnamed, index) :][:2]
    if any(file.calls[other].func == CallRef(index) for other in following):
        return True
    call = file.calls[index]
    return any(
        file.calls[other].func == event.target and file.calls[other].scope == call.scope
        for event in file.events_around(call.scope, call.span)
        if event.kind == "assign" and event.value == CallRef(index) and isinstance(event.target, Name)
        for other in file.facts.called.get(event.target.id, ())
    )


def _segments(file: SourceFile, expr: Expr) -> tuple[Segment, ...]:
    """Return the parts of a text between its dots; empty if it is not put together in place."""
    segments: list[list[str | Expr]] = [[]]
    for piece in _pieces(file, expr):
        first, *others = piece.split(".") if isinstance(piece, str) else (piece,)
        segments[-1] += [first] if first != "" else []
        segments += [[one] if one else [] for one in others]
    return tuple(map(tuple, segments)) if all(segments) else ()


def _pieces(file: SourceFile, expr: Expr) -> Iterator[str | Expr]:
    """Yield the literal and the other parts of `f"{name}.{name}"`, `"{0}.{0}".format(name)` and `name + "." + name`."""
    if isinstance(expr, FString):
        for part in expr.values:
            yield from _pieces(file, part)
    elif isinstance(expr, BinOp) and expr.op == "+":
        yield from _pieces(file, expr.left)
        yield from _pieces(file, expr.right)
    elif isinstance(expr, Constant) and isinstance(expr.value, str):
        yield expr.value
    elif isinstance(expr, CallRef):
        filled = _filled(file, expr)
        yield from filled if filled is not None else (expr,)
    else:
        yield expr


def _filled(file: SourceFile, expr: CallRef) -> list[str | Expr] | None:
    """Return the parts of `"{0}.{0}".format(name)`; None for another call."""
    call = file.calls[expr.index]
    text = call.func.value if isinstance(call.func, Attribute) and call.func.attr == "format" else None
    if not isinstance(text, Constant) or not isinstance(text.value, str):
        return None
    plain = [one.value for one in call.args if one.keyword is None]
    given = {one.keyword: one.value for one in call.args if one.keyword is not None}
    given |= {str(number): one for number, one in enumerate(plain)}
    found: list[str | Expr] = []
    try:
        fields = list(Formatter().parse(text.value))
    except ValueError:
        return None
    for number, (literal, name, form, conversion) in enumerate(fields):
        found += [literal] if literal else []
        value = None if name is None else given.get(name or str(number))
        if form or conversion or (name is not None and value is None):
            return None
        found += [value] if value is not None else []
    return found


def _at(world: Engine, path: tuple[Segment, ...], site: Site) -> Iterator[Value]:
    """Yield what a dotted name can be that begins with a module of unknown name: a member of any module that the file
    names."""
    first, *others = path
    for name in _modules(world, first, site):
        bases: Values = tuple(one for one in world.values.evaluate(Name(name), site) if isinstance(one, Module))
        for segment in others:
            # What the same expression gives is the same text again: the class is named as its module.
            same = segment[: len(first)] == first
            rest = segment[len(first) :] if same else segment
            found = members(world, bases, tuple(_texts(world, rest, site, name if same else "")))
            # A module without such a member is not meant.
            bases = tuple(one for one in found if not isinstance(one, Unknown))
        yield from bases


def _modules(world: Engine, segment: Segment, site: Site) -> list[str]:
    """Return the names that a part of a text can be, if it is the first of a dotted name; empty if they are many."""
    texts = list(_texts(world, segment, site))
    known = [one.value for one in texts if isinstance(one, Const)]
    if len(known) < len(texts):
        patterns = [one for one in texts if isinstance(one, Pattern)]
        named = [one for one in world.imports.names(site.file.path) if any(each.fits(one) for each in patterns)]
        known += [
            one for one in named if any(isinstance(value, Module) for value in world.values.evaluate(Name(one), site))
        ]
    return [] if limits.CHOICES.exceeded(len(known)) else list(dict.fromkeys(known))


def _texts(world: Engine, segment: Segment, site: Site, before: str = "") -> Iterator[Value]:
    """Yield the texts of a part of a dotted name behind the text `before`; a pattern where it is not known."""
    found: list[tuple[str, bool]] = [(before, True)]
    for piece in segment:
        values = (const(piece),) if isinstance(piece, str) else world.values.evaluate(piece, site)
        texts = [one.value if isinstance(one, Const) and isinstance(one.value, str) else None for one in values]
        found = [
            (text + (one or ""), known and one is not None) if known else (text, False)
            for text, known in found
            for one in dict.fromkeys(texts)
            if one is not None or not all(isinstance(value, Const) for value in values)
        ]
        if limits.CHOICES.exceeded(len(found)):
            found = [(before, False)]
    for text, known in found:
        if not known:
            yield Pattern(text, "")
        elif text.isidentifier():
            yield const(text)
