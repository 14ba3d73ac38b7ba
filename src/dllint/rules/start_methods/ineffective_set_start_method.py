"""DLL105: a call of set_start_method that raises, or that has no effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import said
from dllint.finding import Finding, Place
from dllint.project import Project
from dllint.project.set_calls import SetCall
from dllint.rules.start_methods.method_settings import MethodSettings

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL105"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    settings = MethodSettings(project)
    for setting in (one for one in project.methods.set_calls() if one.own):
        finding = _raising(project, settings, setting) or _passed_by(project, settings, setting)
        if finding is not None:
            yield finding


def _raising(project: Project, settings: MethodSettings, setting: SetCall) -> Finding | None:
    if setting.force or not settings.raises_freely(setting):
        return None
    child = settings.child(setting) if settings.unconditional(setting) else None
    if child is not None:
        launch, reached = child
        span = launch.file.calls[launch.call].span
        origin = Place(launch.file.path, span, "the process is launched here")
        return _finding(project, setting, "child", origin, (origin, *project.trace(reached.hops())))
    fixed = settings.fixed_before(setting)
    if fixed is not None:
        origin = Place(fixed.file.path, fixed.span, "this fixes the start method")
        return _finding(project, setting, "locked", origin, (), call=fixed.text)
    again = settings.imported_again(setting)
    if again is not None:
        origin = Place(again.file.path, again.span, f"this starts processes by {again.method}")
        return _finding(project, setting, "unguarded", origin, (), sure=again.sure)
    return None


def _passed_by(project: Project, settings: MethodSettings, setting: SetCall) -> Finding | None:
    other = settings.passed_by(setting)
    if other is None:
        return None
    origin = Place(other.file.path, other.span, f"this launches by {other.method}")
    return _finding(project, setting, "other", origin, (), launcher=other.text, own=other.method)


def _finding(
    project: Project,
    setting: SetCall,
    message: str,
    origin: Place,
    trace: tuple[Place, ...],
    *,
    sure: bool = True,
    **values: str,
) -> Finding:
    call = setting.file.calls[setting.call]
    method = setting.methods[0] if len(setting.methods) == 1 else "…"
    where = project.line_shown(origin.path, origin.span)
    return Finding(
        CODE,
        setting.file.path,
        call.span,
        message,
        {"method": method, "where": where, **values},
        severity="warning" if message == "other" or not sure else "error",
        trace=trace,
        related=() if trace else (origin,),
        statement=call.statement,
    )


def judge(case: Case) -> Judgement:
    """Did set_start_method fail, or have no effect?"""
    for end in case.seen.died_at(case.finding):
        if "context has already been set" in end.text:
            return case.confirmed(said(end.exception, end.text))
    return case.inconclusive("a run cannot show a call that has no effect")
