"""Which datasets of a loader are read by workers: its dataset and its worker count taken together, along one path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.inference import limits
from dllint.inference.values import Class, Const, Frame, Function, Instance
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.inference.engine import World


def goes_with_workers(world: World, loader: Loader, dataset: Instance) -> bool | None:
    """Whether workers read a dataset object of the loader: False where it comes without workers on every path that is
    told apart, None where several datasets and worker counts, 0 among them, are known and not which go together."""
    reached = False
    unpaired = False
    for frame in _paths(world, loader):
        datasets = loader.datasets(frame)
        if not any(_same(value, dataset) for value in datasets):
            continue
        if loader.workers(frame).possible:
            if len(datasets) == 1 or not _may_be_none(loader, frame):
                return True
            unpaired = True
        reached = True
    if unpaired:
        return None
    return not reached


def _may_be_none(loader: Loader, frame: Frame) -> bool:
    values = loader.argument("num_workers", frame).values
    return any(isinstance(value, Const) and value.value == 0 for value in values)


def _same(value: object, dataset: Instance) -> bool:
    if not isinstance(value, Instance) or (value.of, value.file, value.call) != (
        dataset.of,
        dataset.file,
        dataset.call,
    ):
        return False
    return value.frame is None or not value.frame.is_apart(dataset.frame)


def _paths(world: World, loader: Loader) -> Iterator[Frame]:
    """The activations of the function around the loader, told apart by the calls that run it, or by those that made the
    object whose method it is and those that lead there."""
    file, scope = loader.file, loader.file.calls[loader.call].scope
    owner = file.method_of(scope)
    if owner is None or world.hierarchy.receiver_kind(Function(file, scope)) != "self":
        yield from _activations(world, file, scope)
        return
    cls = Class(file, owner)
    for one in (cls, *world.hierarchy.subclasses(cls)):
        init = world.hierarchy.method(one, "__init__")
        for caller in world.calls.callers(init) if init is not None else ():
            if caller.call >= 0 and _makes(world, caller.file, caller.call, one):
                around = caller.file.calls[caller.call].scope
                frames: list[Frame | None] = [*_activations(world, caller.file, around)]
                for frame in frames or [None]:
                    yield world.receiver_frame(Instance(one, caller.file, caller.call, frame))


def _makes(world: World, file: SourceFile, index: int, cls: Class) -> bool:
    return cls in world.values.evaluate(file.calls[index].func, world.call_site(file, index, None))


def _activations(world: World, file: SourceFile, scope: int) -> Iterator[Frame]:
    """The activations of a function by the calls that run it."""
    if file.scopes[scope].kind == "function":
        function = Function(file, scope)
        for caller in limits.LOADER_PATHS.first(world.calls.callers(function)):
            yield world.told_apart(caller.file, caller.call, function, caller.frame)
