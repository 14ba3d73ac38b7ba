"""The backend of the process group that a loader's program makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.project.loaders import Loader
from dllint.rules.start_methods.backends import backends
from dllint.rules.start_methods.cuda import Cuda

if TYPE_CHECKING:
    from dllint.project import Project


def may_use_nccl(project: Project, loader: Loader) -> bool:
    """Whether the loader's program initializes torch.distributed with NCCL, or with an unknown backend while one of its
    files uses CUDA."""
    calls = project.world.called("init_process_group")
    if not calls:
        return False
    around = project.programs.loaded(loader.file, loader.call)
    unknown = False
    for file, index in calls:
        if file.path not in around:
            continue
        values = project.evaluate_argument(file, index, 0, "backend") or ()
        names = [backends(project.world, value) for value in values]
        if any("nccl" in name.lower() for each in names for name in each):
            return True
        unknown = unknown or not values or not all(names)
    files = (project.world.files[path] for path in sorted(around) if path in project.world.files)
    return unknown and any(project.ask(Cuda).used_in(file) for file in files)
