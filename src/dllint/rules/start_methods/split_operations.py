"""Operations of torch large enough to be split among threads, in a process and in those that it forks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute
from dllint.inference.values import External, Frame, Instance, Value
from dllint.libraries.index import canonical
from dllint.libraries.torch.threads import (
    CONVERTING,
    CONVOLUTIONS,
    GRAIN_SIZE,
    SPLIT_FUNCTIONS,
    SPLIT_MAKERS,
    SPLIT_METHODS,
    SPLIT_ORDERS,
)
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrays import Array
from dllint.project.counting import whole_number
from dllint.project.launches import Launch
from dllint.project.same_process import Reached
from dllint.rules.start_methods.cuda_forks import CudaForks

if TYPE_CHECKING:
    from dllint.project.model import Project

_LAST_NAMES = frozenset(
    {*SPLIT_METHODS, *CONVERTING, *(name.rpartition(".")[2] for name in SPLIT_MAKERS | SPLIT_ORDERS | SPLIT_FUNCTIONS)}
)
_MOVING = ("cuda", "to", "set_default_device")
"""Calls after which an operation may run on another device."""
_POOLED = re.compile(
    r"((torch\.)?multiprocessing(\.pool)?\.Pool|concurrent\.futures\.(process\.)?ProcessPoolExecutor)\(\)\."
)
"""Methods of pools whose processes are forked copies of the one that makes the pool."""
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


class Hanging(NamedTuple):
    """An operation of a forked process that waits for threads of its parent, which ran the other one before."""

    launch: Launch
    reached: Reached
    call: int
    parent: tuple[SourceFile, int]


def hanging(project: Project, launch: Launch) -> Hanging | None:
    """The first such operation of the processes of a launch; None if they are not forked, or may have one thread."""
    forks = project.ask(CudaForks)
    if not _forked_here(project, launch) or not forks.launch_forks(launch):
        return None
    if any(setting.name in _THREADS for setting in project.programs.environment()):
        return None
    runs = forks.runs_of(launch)
    if any(_sets_threads(project, run.file, run.scope) for run in runs):
        return None
    child = next(((run, index) for run in runs for index in _operations(project, run)), None)
    if child is None:
        return None
    for before, index in forks.calls_before(launch):
        if _is_set(project, before.file, index):
            return None
        if _is_split(project, before.file, index, before.frame):
            return Hanging(launch, *child, (before.file, index))
    return None


def _forked_here(project: Project, launch: Launch) -> bool:
    """Whether a launch starts a Process, or gives a task to a pool whose processes run nothing before it: an
    initializer may set the number of their threads."""
    if launch.api.endswith("Process"):
        return True
    if not _POOLED.match(launch.api):
        return False
    func = launch.file.calls[launch.call].func
    site = project.world.call_site(launch.file, launch.call, launch.frame)
    pools = project.world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ()
    given = [project.world.made_with(pool) for pool in pools if isinstance(pool, Instance)]
    return bool(given) and not any(
        "initializer" in one.keywords or one.mappings or one.under or len(one.positional) > 1 for one in given
    )


def _operations(project: Project, run: Reached) -> Iterator[int]:
    for index in run.file.calls_of(run.scope):
        if _is_split(project, run.file, index, run.frame):
            yield index


def _sets_threads(project: Project, file: SourceFile, scope: int) -> bool:
    return any(_is_set(project, file, index) for index in file.calls_of(scope))


def _is_set(project: Project, file: SourceFile, index: int) -> bool:
    return last_name(file.calls[index].func) == "set_num_threads"


def _is_split(project: Project, file: SourceFile, index: int, frame: Frame | None) -> bool:
    """Whether a call surely runs, and goes through more elements than one thread does."""
    call, world = file.calls[index], project.world
    layer = file.scopes[call.scope].name == "forward"
    if last_name(call.func) not in _LAST_NAMES and not layer:
        return False
    site = world.call_site(file, index, frame)
    if world.impossible(site) or any(one.keyword in ("device", "out", "**") for one in call.args):
        return False
    values = world.values.evaluate(call.func, site)
    if layer and values and all(_is_convolution(value) for value in values):
        return not any(world.called(name) for name in _MOVING)
    functions = [value for value in values if isinstance(value, External)]
    names = [canonical(value.name) for value in functions]
    if len(names) < len(values) or not names or any(f"().{moved}" in name for name in names for moved in _MOVING):
        return False
    if all(name in SPLIT_ORDERS for name in names):
        count = whole_number(world, call.args[0].value, site) if call.args else None
        return count is not None and count > GRAIN_SIZE
    if all(name in SPLIT_MAKERS for name in names):
        return all(_is_large(project.arrays.of(Instance(value, file, index, frame))) for value in functions)
    if all(name in SPLIT_FUNCTIONS for name in names):
        return bool(call.args) and _is_large(project.arrays.computed(call.args[0].value, site))
    if not isinstance(call.func, Attribute) or not all(name.startswith("torch.") for name in names):
        return False
    array = project.arrays.computed(call.func.value, site)
    if array is None or not _is_large(array):
        return False
    return call.func.attr in SPLIT_METHODS or CONVERTING[call.func.attr] != array.item


def _is_large(array: Array | None) -> bool:
    return array is not None and array.size is not None and array.size // (array.item or 8) > GRAIN_SIZE


def _is_convolution(value: Value) -> bool:
    return isinstance(value, Instance) and isinstance(value.of, External) and canonical(value.of.name) in CONVOLUTIONS
