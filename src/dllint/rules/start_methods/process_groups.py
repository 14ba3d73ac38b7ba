"""The backend of the process group that a loader's program makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.inference.values import Const, External, Instance, Value
from dllint.libraries.index import canonical
from dllint.project.loaders import Loader
from dllint.rules.start_methods.cuda import Cuda

if TYPE_CHECKING:
    from dllint.project import Project

BACKEND = "torch.distributed.Backend"
"""A string with the backends as attributes: `Backend.NCCL == Backend("NCCL") == "nccl"` (`torch/distributed/
distributed_c10d.py`)."""


def may_use_nccl(project: Project, loader: Loader) -> bool:
    """Whether the loader's program initializes torch.distributed with NCCL, or with an unknown backend while one of its
    files uses CUDA."""
    calls = project.world.called("init_process_group")
    if not calls:
        return False
    scope = loader.file.calls[loader.call].scope
    around = project.import_graph.import_closure({loader.file.path, *project.programs.above(loader.file, scope)})
    unknown = False
    for file, index in calls:
        if file.path not in around:
            continue
        values = project.evaluate_argument(file, index, 0, "backend") or ()
        names = [list(_names(project, value)) for value in values]
        if any("nccl" in name.lower() for each in names for name in each):
            return True
        unknown = unknown or not values or not all(names)
    files = (project.world.files[path] for path in sorted(around) if path in project.world.files)
    return unknown and any(project.ask(Cuda).used_in(file) for file in files)


def _names(project: Project, value: Value) -> Iterator[str]:
    """The names of backends that a value stands for; none if it is unknown."""
    if isinstance(value, Const):
        yield str(value.value)
    elif isinstance(value, External):
        owner, _, name = canonical(value.name).rpartition(".")
        if owner == BACKEND:
            yield name
    elif isinstance(value, Instance) and isinstance(value.of, External) and canonical(value.of.name) == BACKEND:
        for given in project.world.made_with(value).positional[:1]:
            if given.expr is not None and given.site is not None:
                for one in project.world.values.evaluate(given.expr, given.site):
                    yield from _names(project, one)
