"""The fix for a shared handle: each process opens it on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, Name
from dllint.facts.schema import Call, Event, Expr
from dllint.finding import AddImport, Fix, InsertStatement, ReplaceExpression
from dllint.inference.values import Class
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project.handles import Step
from dllint.rules.stores.shared_handles import Shared

if TYPE_CHECKING:
    from dllint.project.model import Project


def lazy_opening(project: Project, shared: Shared) -> tuple[Fix, ...]:
    """The fix for a handle that the `__init__` of the dataset's own class opens from literals and attributes, and
    that only its `__getitem__` reads; none otherwise."""
    handle = shared.handle
    if handle is None or len(handle.steps) != 1:
        return ()
    step = handle.steps[0]
    file, call = step.owner.file, shared.file.calls[shared.call]
    getitem = project.world.hierarchy.own_methods(step.owner).get("__getitem__")
    if (
        shared.file is not file
        or getitem is None
        or file.scopes[step.method].name != "__init__"
        or step.store.scope != step.method
        or step.store.value != CallRef(shared.call)
        or step.store.event.region
        or not _only_read_in(project, step, getitem)
    ):
        return ()
    opening = _written(call, file, file.scopes[step.method].params[0].name, file.scopes[getitem].params[0].name)
    first = _first_statement(file, getitem)
    if opening is None or first is None:
        return ()
    receiver = file.scopes[getitem].params[0].name
    held, owner = f"{receiver}.{step.attr}", f"{receiver}._{step.attr.lstrip('_')}_pid"
    code = f"if {held} is None or {owner} != os.getpid():\n    {held} = {opening}\n    {owner} = os.getpid()"
    edits = (
        ReplaceExpression(file.path, call.span, "None"),
        InsertStatement(file.path, first.span, code),
        AddImport(file.path, "os"),
    )
    return (Fix("Open it in each process on first use", "unsafe", edits),)


def _only_read_in(project: Project, step: Step, getitem: int) -> bool:
    """Whether the attribute is read in one function of the project only, and set in one place."""
    stores = project.world.stores.own_stores(step.owner).get(step.attr, [])
    classes = [
        cls
        for cls in (*project.world.hierarchy.line(step.owner), *project.world.hierarchy.subclasses(step.owner))
        if isinstance(cls, Class)
    ]
    readers = (
        (file, scope)
        for file in {cls.file for cls in classes}
        for scope in (
            *file.facts.loaded.get(step.attr, ()),
            *(file.place_of(index).scope for index in file.facts.called.get(step.attr, ())),
        )
    )
    elsewhere = any(reader != (step.owner.file, getitem) for reader in readers)
    return len(stores) == 1 and not elsewhere


def _first_statement(file: SourceFile, scope: int) -> Event | None:
    """The first simple statement of a function after its docstring; None if that is conditional."""
    events = [
        event for event in file.scopes[scope].events if not (event.kind == "expr" and isinstance(event.value, Constant))
    ]
    return events[0] if events and events[0].region == 0 and events[0].kind in ("assign", "expr", "return") else None


def _written(call: Call, file: SourceFile, initial: str, receiver: str) -> str | None:
    """The opener's call as source code for another method; None if an argument is neither a literal nor an attribute
    of `self`."""
    pieces = []
    for argument in call.args:
        text = _literal(argument.value, initial, receiver)
        if text is None or argument.keyword in ("*", "**"):
            return None
        pieces.append(text if argument.keyword is None else f"{argument.keyword}={text}")
    return f"{render(call.func, file, 200)}({', '.join(pieces)})"


def _literal(expr: Expr, initial: str, receiver: str) -> str | None:
    if isinstance(expr, Constant):
        value = expr.value
        plain = isinstance(value, str) and value.isprintable() and not set(value) & {'"', "\\"}
        return f'"{value}"' if plain else repr(value)
    if isinstance(expr, Attribute) and expr.value == Name(initial):
        return f"{receiver}.{expr.attr}"
    return None
