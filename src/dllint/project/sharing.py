"""How a program's processes share tensors: the calls of `torch.multiprocessing.set_sharing_strategy` that it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.inference.values import Const, Values
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.project.model import Project


def shares_by_file(project: Project, loader: Loader) -> bool:
    """Whether the loader's program switches to the strategy that needs no descriptor per storage."""
    return any(
        isinstance(one, Const) and one.value == "file_system" for values in _set(project, loader) for one in values
    )


def shares_by_descriptor(project: Project, loader: Loader) -> bool:
    """Whether a loader sends storages by file descriptors: the default on Linux, unless its program may change it."""
    return "linux" in project.targets.platforms and all(
        isinstance(one, Const) and one.value == "file_descriptor"
        for values in _set(project, loader)
        for one in values or (None,)
    )


def _set(project: Project, loader: Loader) -> list[Values]:
    """What the program of a loader may set the strategy to, by each call.

    A function that only other programs call sets nothing here, although this one imports it.
    """
    calls = list(project.external_calls("set_sharing_strategy", ""))
    if not calls:
        return []
    imported = project.programs.loaded(loader.file, loader.call)
    found: list[Values] = []
    for file, index, _ in calls:
        scope = file.calls[index].scope
        callers = project.programs.above(file, scope) if scope else ()
        here = (loader.file, loader.file.calls[loader.call].scope)
        if scope and not project.programs.run_together((file, scope), here):
            continue
        if file.path in imported and (not callers or not imported.isdisjoint(callers)):
            found.append(project.evaluate_argument(file, index, 0, "new_strategy") or ())
    return found
