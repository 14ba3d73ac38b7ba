"""DLL203: a dataset keeps a handle, lock or other object that cannot be pickled to workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding
from dllint.project import Project
from dllint.rules.pickling.pickling_verdict import judge, stopped
from dllint.rules.pickling.recursive_getattr import RECURSION
from dllint.rules.pickling.sent_to_workers import Told, unpicklable
from dllint.rules.pickling.unpicklable_values import Refused, refused_by_pickle

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL203"
_RECURSIVE = {"main": "recursive_main", "latent": "recursive_latent", "fork_only": "recursive_fork_only"}


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    python = max(project.targets.pythons)

    def tell(one: Refused, message: str) -> Told:
        refusal = one.refusal
        message = _RECURSIVE[message] if refusal is RECURSION else message
        return Told(message, {"what": refusal.what, "error": refusal.error(python), "remedy": refusal.remedy})

    return unpicklable(project, CODE, partial(refused_by_pickle, project), tell)


def concerns(run: LoaderRun) -> bool:
    return stopped(run, CODE)
