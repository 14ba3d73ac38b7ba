"""Fixes for a function that cannot be pickled: replace it by a factory, or move it to module level."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, Dict, LambdaRef, List, Name
from dllint.finding import AddImport, Edit, Fix, HoistFunction, ReplaceExpression
from dllint.linking.conditions import render
from dllint.linking.expressions import names_in
from dllint.linking.source import SourceFile, last_name
from dllint.rules.pickling.local_objects import UnpicklableFunction, is_guarded
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


def hoisting(project: Project, one: UnpicklableFunction) -> Fix | None:
    """The fix for an unpicklable function: `int` for `defaultdict(lambda: 0)`, or a module-level function if it uses
    no local names; None if there is none."""
    file, scope = one.file, one.scope
    if one.is_lambda:
        replacement = default_factory(one)
        if replacement is not None:
            edits: tuple[Edit, ...] = (ReplaceExpression(file.path, one.span, replacement),)
            if replacement.startswith("partial("):
                edits = (AddImport(file.path, "functools", "partial"), *edits)
            return Fix(f"Replace the lambda by `{replacement}`, which can be pickled", "safe", edits)
    # Workers cannot import what a notebook defines at its top, so moving it there does not help.
    if file.is_notebook or file.scopes[scope].kind == "class" or is_guarded(file, scope) or captured(file, scope):
        return None
    name = _free_name(project, one)
    if name is None:
        return None
    if one.is_lambda and name in file.bindings(0):
        same: Edit = ReplaceExpression(file.path, one.span, name)
        return Fix(f"Use `{name}`, which does the same and can be pickled", "safe", (same,))
    return Fix(
        f"Move it to the top of the module as `{name}`, where workers can import it",
        "safe",
        (HoistFunction(file.path, file.scopes[scope].header, name),),
    )


def default_factory(one: UnpicklableFunction) -> str | None:
    """The replacement for a lambda that a `defaultdict` receives, as source code; None for any other lambda."""
    file = one.file
    for index in file.facts.called.get("defaultdict", ()):
        call = file.calls[index]
        if call.args and call.args[0].value == LambdaRef(one.scope):
            return factory(file, one.scope)
    return None


def _place_name(one: UnpicklableFunction) -> str | None:
    """The keyword argument or variable that the lambda is assigned to.

    `transform` for `ImageFolder(p, transform=lambda …)`.
    """
    if one.code in ("DLL204", "DLL207"):
        return None
    statements, named = _named_places(one.file)
    at = bisect_right(statements, one.span) - 1
    scope = max(one.file.scopes[one.scope].parent, 0)
    found = [
        (span, name)
        for statement in statements[max(at, 0) : at + 1]
        for span, name, only in named[statement]
        if only in (None, scope) and span.covers(one.span)
    ]
    return max(found, key=lambda place: place[0].start)[1].lower() if found else None


@lru_cache(maxsize=1)
def _named_places(file: SourceFile) -> tuple[list[Span], dict[Span, list[tuple[Span, str, int | None]]]]:
    """The statements of a file in source order, and per statement the keyword arguments and variables that it sets:
    span, name, and the scope of a variable."""
    found: dict[Span, list[tuple[Span, str, int | None]]] = {}
    for call in file.calls:
        for argument in call.args:
            if argument.keyword not in (None, "*", "**"):
                found.setdefault(call.statement, []).append((argument.span, str(argument.keyword), None))
    for scope, entry in enumerate(file.scopes):
        for event in entry.events:
            if event.kind == "assign" and isinstance(event.target, (Name, Attribute)):
                found.setdefault(event.span, []).append((event.span, str(last_name(event.target)), scope))
    return sorted(found), found


def _free_name(project: Project, one: UnpicklableFunction) -> str | None:
    """A module-level name for the moved function: the local function's own name, or one derived from the attribute.

    The name must be free, or that of a function that does the same as the lambda. None if there is none.
    """
    entry = one.file.scopes[one.scope]
    if one.is_lambda:
        attr = (_place_name(one) if one.kept is None else None) or one.holder.rsplit(".", 1)[-1].lower()
        base = attr if attr.isidentifier() else "function"
        base = f"_{base.lstrip('_')}"
    else:
        base = entry.name
        if entry.decorators or entry.is_generator or entry.is_async:
            return None
    taken = set(one.file.bindings(0))
    others = [f"{base}_{number}" for number in range(2, 6)] if one.is_lambda else []
    for candidate in (base, *others):
        if candidate not in taken or (one.is_lambda and _does_the_same(one, candidate)):
            return candidate
    return None


def _does_the_same(one: UnpicklableFunction, name: str) -> bool:
    """Whether a module-level function, defined earlier and bound once, has the parameters of a lambda and returns the
    same expression.

    Neither may have default values, which would be evaluated elsewhere.
    """
    file = one.file
    found = [scope for scope in file.children.get(0, ()) if file.scopes[scope].name == name]
    if len(found) != 1 or len(file.bindings(0)[name]) != 1:
        return False
    function, written = file.scopes[found[0]], file.scopes[one.scope]
    if function.decorators or function.is_async or function.is_generator or function.span.end_line >= one.span.line:
        return False
    if any(param.default is not None for param in (*function.params, *written.params)):
        return False
    if [(param.name, param.kind) for param in function.params] != [
        (param.name, param.kind) for param in written.params
    ]:
        return False
    events = [event for event in function.events if event.kind != "param"]
    if [event.kind for event in events] != ["return"] or not written.events:
        return False
    returned, value = (render(event.value, file, 400) for event in (events[0], written.events[-1]))
    return returned == value and "…" not in value


def captured(file: SourceFile, scope: int) -> set[str]:
    """Names that a function reads from enclosing functions or a class body, and that it would lose if moved."""
    own = set(file.bindings(scope))
    found: set[str] = set()
    for event in file.scopes[scope].events:
        for expr in (event.value, event.target):
            if expr is not None:
                found |= names_in(expr, file)
    for child in file.children.get(scope, ()):
        found |= captured(file, child)
    found -= own
    around: set[str] = set()
    outer = file.scopes[scope].parent
    while outer > 0:
        around |= set(file.bindings(outer))
        outer = file.scopes[outer].parent
    return found & around


def factory(file: SourceFile, scope: int) -> str | None:
    """The factory that can replace a lambda in `defaultdict`: `int` for `lambda: 0`, `list` for `lambda: []`; None
    if there is none."""
    entry = file.scopes[scope]
    if entry.params or not entry.events or entry.events[0].value is None:
        return None
    body = entry.events[0].value
    if isinstance(body, Constant):
        if isinstance(body.value, bool):
            return None if body.value else "bool"
        if body.value == 0 and isinstance(body.value, int):
            return "int"
        if body.value == 0.0 and isinstance(body.value, float):
            return "float"
        return "str" if body.value == "" else None
    if body == List(()):
        return "list"
    if body == Dict(()):
        return "dict"
    if isinstance(body, CallRef):
        call = file.calls[body.index]
        if call.func in (Name("set"), Name("list"), Name("dict"), Name("int")) and not call.args:
            return last_name(call.func)
        if last_name(call.func) == "defaultdict" and len(call.args) == 1 and isinstance(call.args[0].value, Name):
            inner = call.args[0].value.id
            if inner in ("int", "float", "list", "dict", "set", "str"):
                return f"partial(defaultdict, {inner})"
    return None
