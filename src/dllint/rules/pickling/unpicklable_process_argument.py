"""DLL209: a process receives an argument that cannot be pickled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding, Place, Severity
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.rules.causes import Causes
from dllint.rules.pickling.sending_verdict import judge
from dllint.rules.pickling.sent_arguments import SentArgument, sent_arguments

__all__ = ["CODE", "check", "judge"]
CODE = "DLL209"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[SentArgument] = Causes()
    for sent in sent_arguments(project):
        # Several parts of one object that come from one file, such as the functions of its layers, are one cause.
        same = (sent.launch.file.path, sent.launch.call, sent.file.path, sent.holder.partition(".")[0])
        causes.add(sent, (sent.file.path, sent.span), (sent.file.path, sent.statement), same)
    for found in causes:
        found.sort(key=lambda sent: sent.method is not None and not sent.method.shown)
        yield _finding(project, found)


def _finding(project: Project, uses: list[SentArgument]) -> Finding:
    sent = uses[0]
    call = sent.launch.file.calls[sent.launch.call]
    method = sent.method
    severity: Severity = "error" if sent.certain else "warning"
    message = "main"
    values = {
        "holder": sent.holder,
        "what": sent.what,
        "error": sent.error,
        "launcher": render(call.func, sent.launch.file),
        "place": project.where(sent.launch.file, call.span),
    }
    if method is not None:
        message = "process" if method.shown else "latent"
        only = len(project.targets.default_start_methods()) == 1
        severity = "error" if (method.shown or only) and sent.certain else "warning"
        values |= {"method": method.name, "where": method.where}
    values["remedy"] = sent.remedy
    starts = dict.fromkeys(
        Place(one.launch.file.path, one.launch.file.calls[one.launch.call].span, "a process gets it here")
        for one in uses
        if one.remedy == "main"
    )
    others = dict.fromkeys(
        Place(one.file.path, one.span, f"{one.what} cannot be pickled either", alike=True) for one in uses[1:]
    )
    return Finding(
        CODE,
        sent.file.path,
        sent.span,
        message,
        values,
        severity=severity,
        start_methods=() if method is None else (method.name,),
        trace=project.chain(method.arrival) if method is not None else (),
        related=(*starts, *(place for place in others if place.span != sent.span)),
        statement=sent.statement,
    )
