"""DLL605: a DataLoader gets an option that needs workers, but has or may have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import counted, said
from dllint.facts.nodes import Attribute, BoolOp, Constant, IfExp, Name
from dllint.facts.schema import Expr
from dllint.finding import Edit, Finding, Fix, Place, RemoveArgument, SetArgument
from dllint.libraries.torch import WORKER_OPTIONS
from dllint.linking.conditions import render, repeatable
from dllint.project import Project
from dllint.project.loaders import Loader, written
from dllint.rules.data.worker_options import Clash, WorkerOptions, leaves

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL605"
_OFF = {"timeout": "0"}
"""The values that switch an option off, if not None."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    given = WorkerOptions(project)
    ignored: dict[tuple[str, int], list[Loader]] = {}
    for loader in (one for one in project.loaders if not one.api.copied):
        clash = given.clash(loader)
        if clash is not None:
            yield _finding(loader, clash)
        elif given.ignored(loader):
            ignored.setdefault((loader.file.path, loader.site.scope), []).append(loader)
    for loaders in ignored.values():
        yield _ignored(loaders)


def _finding(loader: Loader, clash: Clash) -> Finding:
    names = [loader.api.names.get(option, option) for option in clash.options]
    values = {
        "argument": "` and `".join(names),
        "need": "needs" if len(names) == 1 else "need",
        "count": loader.api.names.get("num_workers", "num_workers"),
        "error": WORKER_OPTIONS[clash.options[0]],
        "origin": clash.origin,
        "example": _example(names[0], clash.options[0]),
    }
    return Finding(
        CODE,
        loader.file.path,
        loader.span,
        "main" if clash.sure else "chosen" if clash.chosen else "default",
        values,
        severity="error" if clash.sure else "info" if clash.chosen else "warning",
        related=tuple(place for place in (clash.place, clash.caller) if place is not None),
        fixes=_removed(loader, clash, names) if clash.sure else _conditional(loader, clash, names),
        statement=loader.file.calls[loader.call].statement,
    )


def _example(name: str, option: str) -> str:
    """An example of an option that depends on the worker count: "prefetch_factor=… if workers > 0 else None"."""
    if option == "persistent_workers":
        return f"{name}=workers > 0"
    return f"{name}=… if workers > 0 else {_OFF.get(option, 'None')}"


def _ignored(loaders: list[Loader]) -> Finding:
    """The finding for the loaders of one function."""
    loader, *others = sorted(loaders, key=lambda one: one.span)
    values = {
        "argument": loader.api.names.get("worker_init_fn", "worker_init_fn"),
        "count": loader.api.names.get("num_workers", "num_workers"),
    }
    return Finding(
        CODE,
        loader.file.path,
        loader.span,
        "ignored",
        values,
        severity="info",
        related=tuple(Place(one.file.path, one.span, "nor is it here", alike=True) for one in others),
        statement=loader.file.calls[loader.call].statement,
    )


def _removed(loader: Loader, clash: Clash, names: list[str]) -> tuple[Fix, ...]:
    """The fix that removes the options, if the loader's call writes all of them itself, and fails for every caller."""
    if not set(names) <= set(_written(loader)) or (clash.caller is not None and not _fails_alone(loader, names)):
        return ()
    names = [*names, *_others(loader, names)]
    edits: tuple[Edit, ...] = tuple(RemoveArgument(loader.file.path, loader.span, name) for name in names)
    return (
        Fix(f"Remove `{'` and `'.join(names)}`, which {'needs' if len(names) == 1 else 'need'} workers", "safe", edits),
    )


def _fails_alone(loader: Loader, names: list[str]) -> bool:
    """Whether the count and the options are constants of the call itself, whoever calls the function around it."""
    count = written(loader, "num_workers")
    constants = all(isinstance(_written(loader)[name], Constant) for name in names)
    unpacked = any(argument.keyword in ("*", "**") for argument in loader.file.calls[loader.call].args)
    return constants and (count is None or isinstance(count, Constant)) and not unpacked


def _conditional(loader: Loader, clash: Clash, names: list[str]) -> tuple[Fix, ...]:
    """The fix that makes every option that needs workers conditional: unchanged with workers, off without."""
    named = _written(loader)
    count = named.get(loader.api.names.get("num_workers", "num_workers"))
    if count is None or not _plain(count) or not set(names) <= set(named):
        return ()
    workers = render(count, loader.file, 200)
    edits: list[Edit] = []
    torch_names = {loader.api.names.get(option, option): option for option in WORKER_OPTIONS}
    for name in (*names, *_others(loader, names)):
        value, option = named[name], torch_names[name]
        if not isinstance(value, Constant) and not repeatable(value, loader.file):
            return ()
        code = render(value, loader.file, 200)
        if "…" in code or leaves(value, loader.file) & leaves(count, loader.file):
            return ()
        code = f"({code})" if isinstance(value, (IfExp, BoolOp)) else code
        if option != "persistent_workers":
            code = f"{code} if {workers} > 0 else {_OFF.get(option, 'None')}"
        else:
            code = f"{workers} > 0" if isinstance(value, Constant) else f"{code} and {workers} > 0"
        edits.append(SetArgument(loader.file.path, loader.span, name, code))
    return (Fix("Pass the option only where there are workers", "unsafe", tuple(edits)),)


def _others(loader: Loader, names: list[str]) -> list[str]:
    """The other options of the call that need workers, unless they are written as off: their values are unknown."""
    named = _written(loader)
    options = (loader.api.names.get(option, option) for option in WORKER_OPTIONS)
    return [
        name
        for name in options
        if name in named and name not in names and named[name] not in (Constant(None), Constant(False), Constant(0))
    ]


def _written(loader: Loader) -> dict[str, Expr]:
    arguments = loader.file.calls[loader.call].args
    return {argument.keyword: argument.value for argument in arguments if argument.keyword not in (None, "*", "**")}


def _plain(expr: Expr) -> bool:
    """Whether an expression is a name or an attribute, so that it can be repeated."""
    return bool(isinstance(expr, Name) or (isinstance(expr, Attribute) and _plain(expr.value)))


def judge(case: Case) -> Judgement:
    """Did the constructor or `iter()` reject the option?"""
    for run in case.runs:
        if run.loader.error:
            return case.confirmed(f"the constructor raised {run.loader.error}")
        for one in run.iterations:
            if one.error and not run.count:
                return case.confirmed(f"iter() raised {said(one.error, one.text)}")
    if case.died_here is not None:
        return case.confirmed(case.died_here)
    if not case.runs:
        return case.not_reached("this loader was never built")
    if any(run.count for run in case.runs):
        return case.not_reached(f"its loader ran with {counted(case.count, 'worker')} here")
    return case.refuted("it was built without workers and without an error")
