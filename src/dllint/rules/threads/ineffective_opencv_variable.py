"""DLL502: an environment variable that is set to cap OpenCV's threads but has no effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.facts.nodes import Attribute
from dllint.finding import Finding, Fix, Place, ReplaceString
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.programs import EnvironmentSetting
from dllint.rules.threads.opencv import FICTIONAL
from dllint.rules.threads.opencv_caps import VARIABLE
from dllint.rules.threads.thread_pool_verdict import judge

__all__ = ["CODE", "check", "judge"]
CODE = "DLL502"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    for setting in project.programs.environment():
        if setting.name not in (FICTIONAL, VARIABLE):
            continue
        first = _used_before(project, setting)
        if setting.name == VARIABLE and first is None:
            continue
        message = "too_late" if setting.name == VARIABLE else "fictional" if first is None else "both"
        values = {"remedy": message}
        related: tuple[Place, ...] = ()
        if first is not None:
            file, index = first
            values["first"] = project.where(file, file.calls[index].span)
            related = (Place(file.path, file.calls[index].span, "cv2 is used here already"),)
        fixes: tuple[Fix, ...] = ()
        if message == "fictional":
            edit = ReplaceString(setting.file.path, setting.span, FICTIONAL, VARIABLE)
            fixes = (Fix(f"Use the variable that OpenCV reads: `{VARIABLE}`", "safe", (edit,)),)
        yield Finding(
            CODE,
            setting.file.path,
            setting.span,
            message,
            values,
            related=related,
            fixes=fixes,
            statement=setting.statement,
        )


def _used_before(project: Project, setting: EnvironmentSetting) -> tuple[SourceFile, int] | None:
    """A cv2 call that provably runs before the variable is set: earlier in the same scope, at the same level; None
    without one."""
    file = setting.file
    for index in file.calls_of(setting.scope):
        call = file.calls[index]
        if call.span < setting.span and file.encloses(call.region, setting.region) and isinstance(call.func, Attribute):
            name = project.external_name(file, index)
            if name is not None and name.startswith("cv2.") and name != "cv2.setNumThreads":
                return file, index
    return None
