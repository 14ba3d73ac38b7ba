"""Findings about functions that workers cannot unpickle: judged by the worst loader, merged by cause, with fixes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import LambdaRef
from dllint.finding import AddImport, Edit, Finding, Fix, HoistFunction, Place, ReplaceExpression
from dllint.project.loaders import Loader
from dllint.project.regimes import Regime
from dllint.project.start_methods import Hop
from dllint.rules.pickling.functions import Unpicklable, captured, factory
from dllint.rules.pickling.local_objects import LocalObjects, is_guarded
from dllint.rules.pickling.pickled_loaders import judged, pickled_loaders, pickling_regime, rank
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


def unpicklable_functions(project: Project, code: str) -> Iterator[Finding]:
    """One finding a function that cannot be pickled, judged by the worst of the loaders that need it pickled."""
    uses: dict[tuple[str, int], list[tuple[Unpicklable, Loader, Regime]]] = {}
    for loader, _ in pickled_loaders(project, code):
        for one in project.ask(LocalObjects).of(loader):
            worst = pickling_regime(project, loader, code, one.files, one.holder) if one.code == code else None
            if worst is not None:
                uses.setdefault((one.file.path, one.scope), []).append((one, loader, worst))
    for found in uses.values():
        found.sort(key=lambda use: (not use[0].sure, rank(use[2])))
        yield _finding(project, code, found)


def _finding(project: Project, code: str, uses: list[tuple[Unpicklable, Loader, Regime]]) -> Finding:
    one, loader, regime = uses[0]
    values = {
        "kept": one.holder,
        "argument": one.holder,
        "what": one.words,
        "name": one.file.scopes[one.scope].name,
        "loader": project.where(loader.file, loader.span),
        "method": regime.method,
        "where": regime.where,
        "start": regime.method if regime.shown else f"{regime.method} (the default on {regime.where})",
    }
    fix = hoisting(project, one)
    if fix is not None and isinstance(fix.edits[-1], ReplaceExpression):
        values["factory"] = fix.edits[-1].code
        values["remedy"] = "default"
    message, severity = judged(regime)
    if severity == "error" and not one.sure:
        severity = "warning"
    if one.code == "DLL202" and regime.method != "fork":
        message = "guarded" if is_guarded(one.file, one.scope) else one.role or message
    hops: tuple[Hop, ...] = one.kept.hops if one.kept is not None else ()
    related = [project.loader_place(other) for _, other, _ in uses]
    if one.kept is not None and one.kept.span.line != one.span.line:
        related.insert(0, Place(one.kept.file.path, one.kept.span, f"kept here as `{one.kept.attr}`"))
    entry = one.file.scopes[one.scope]
    return Finding(
        code,
        one.file.path,
        entry.header,
        message,
        values,
        severity=severity,
        start_methods=tuple(dict.fromkeys(use[2].method for use in uses if use[2].method != "fork")),
        trace=(*(project.chain(regime.arrival) if regime.arrival is not None else ()), *project.trace(hops)),
        related=tuple(dict.fromkeys(related)),
        fixes=(fix,) if fix is not None else (),
        statement=statement_of(one),
    )


def statement_of(one: Unpicklable) -> Span | None:
    """The statement that holds the function."""
    at = one.file.scopes[one.scope]
    for event in one.file.scopes[at.parent].events if at.parent >= 0 else ():
        if event.span.covers(at.header):
            return event.span
    return None


def hoisting(project: Project, one: Unpicklable) -> Fix | None:
    """`int` for `defaultdict(lambda: 0)`, a module-level function where the function uses no local name."""
    file, scope = one.file, one.scope
    if one.is_lambda:
        replacement = _default_factory(one)
        if replacement is not None:
            edits: tuple[Edit, ...] = (ReplaceExpression(file.path, one.span, replacement),)
            if replacement.startswith("partial("):
                edits = (AddImport(file.path, "functools", "partial"), *edits)
            return Fix(f"Replace the lambda by `{replacement}`", "safe", edits)
    if file.scopes[scope].kind == "class" or is_guarded(file, scope) or captured(file, scope):
        return None
    name = _free_name(project, one)
    if name is None:
        return None
    return Fix(
        f"Move it to the top of the module as `{name}`",
        "safe",
        (HoistFunction(file.path, file.scopes[scope].header, name),),
    )


def _default_factory(one: Unpicklable) -> str | None:
    file = one.file
    for index in file.facts.called.get("defaultdict", ()):
        call = file.calls[index]
        if call.args and call.args[0].value == LambdaRef(one.scope):
            return factory(file, one.scope)
    return None


def _place_name(one: Unpicklable) -> str | None:
    """The keyword argument or variable that the lambda is written for.

    `transform` for `ImageFolder(p, transform=lambda …)`.
    """
    found: list[tuple[Span, str]] = []
    for call in one.file.calls:
        found.extend(
            (argument.span, str(argument.keyword))
            for argument in call.args
            if argument.keyword not in (None, "*", "**") and argument.span.covers(one.span)
        )
    for event in one.file.scopes[max(one.file.scopes[one.scope].parent, 0)].events:
        named = event.target is not None and event.target[0] in ("name", "attr")
        if event.kind == "assign" and named and event.target is not None and event.span.covers(one.span):
            found.append((event.span, str(event.target[-1])))
    if one.code in ("DLL204", "DLL207") or not found:
        return None
    return max(found, key=lambda place: (place[0].line, place[0].column))[1].lower()


def _free_name(project: Project, one: Unpicklable) -> str | None:
    """A module-level name that is not taken: the local function's own, or one after the attribute."""
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
        if candidate not in taken:
            return candidate
    return None
