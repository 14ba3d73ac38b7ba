"""DLL202: a dataset's class, or a class or function that it keeps, is defined in a function or under the main guard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding
from dllint.project import Project
from dllint.rules.pickling.pickling_verdict import judge, stopped
from dllint.rules.pickling.unpicklable_functions import unpicklable_functions

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL202"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    return unpicklable_functions(project, CODE)


def concerns(run: LoaderRun) -> bool:
    return stopped(run, CODE)
