"""DLL207: a lambda or local function as a task of a process pool, or as the target of a spawned process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding, Place, Severity
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.rules.causes import Causes
from dllint.rules.pickling.hoisting import hoisting
from dllint.rules.pickling.local_objects import unpicklable_function
from dllint.rules.pickling.pool_functions import SentFunction, sent_functions
from dllint.rules.pickling.sending_verdict import judge

__all__ = ["CODE", "check", "judge"]
CODE = "DLL207"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[SentFunction] = Causes()
    for sent in sent_functions(project):
        causes.add(sent, sent.function.key)
    for found in causes:
        found.sort(key=lambda sent: sent.method is not None and not sent.method.shown)
        yield _finding(project, found)


def _finding(project: Project, uses: list[SentFunction]) -> Finding:
    sent = uses[0]
    one = unpicklable_function(CODE, sent.function, "task")
    call = sent.launch.file.calls[sent.launch.call]
    defaults = project.targets.default_start_methods()
    method = sent.method
    severity: Severity = "error"
    message = "main"
    values = {
        "what": one.words,
        "error": one.error(project.targets.pythons),
        "launcher": render(call.func, sent.launch.file),
        "place": project.where(sent.launch.file, call.span),
    }
    if method is not None:
        message = "process" if method.shown else "latent"
        severity = "error" if method.shown or len(defaults) == 1 else "warning"
        values |= {"method": method.name, "where": method.where}
    fix = hoisting(project, one)
    places = [
        Place(other.launch.file.path, other.launch.file.calls[other.launch.call].span, "sent from here")
        for other in uses
    ]
    return Finding(
        CODE,
        one.file.path,
        one.span,
        message,
        values,
        severity=severity,
        start_methods=() if method is None else (method.name,),
        trace=project.chain(method.arrival) if method is not None else (),
        related=tuple(place for place in dict.fromkeys(places) if not place.span.covers(one.span)),
        fixes=(fix,) if fix is not None else (),
        statement=one.statement,
    )
