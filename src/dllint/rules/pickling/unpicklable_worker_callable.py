"""DLL204: a lambda or local function as `collate_fn` or `worker_init_fn`, which spawn and forkserver cannot pickle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding
from dllint.project import Project
from dllint.rules.pickling.unpicklable_functions import unpicklable_functions

CODE = "DLL204"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    yield from unpicklable_functions(project, CODE)
