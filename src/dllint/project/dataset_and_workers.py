"""Pairs the datasets of a loader with its worker counts along each call path: which datasets workers read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dllint.inference import limits
from dllint.inference.values import Class, Const, Display, Frame, Function, Instance, Mapping, Value
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.inference.edges import Caller
    from dllint.inference.engine import World

_Pairing = Literal["workers", "unpaired", "unclear", "none", "others"]
"""What happens to a dataset along a call path: workers read it, it is unknown whether workers read it, it is unknown
whether the dataset arrives, it arrives with zero workers, or only other datasets arrive."""


@dataclass(frozen=True)
class _Path:
    """An activation of the function that makes a loader, and the call that creates it if known."""

    frame: Frame
    caller: Caller | None = None
    function: Function | None = None

    def above(self, world: World) -> list[_Path]:
        """The same call, once per activation of the function that contains it."""
        caller, function = self.caller, self.function
        if caller is None or function is None or caller.call < 0:
            return []
        around = caller.file.calls[caller.call].scope
        bound = function.bound_to(self.frame.receiver) if self.frame.receiver is not None else function
        outer = list(_activations(world, caller.file, around))
        return [
            _Path(world.frame(caller.file, caller.call, path.frame, bound), path.caller, path.function)
            for path in outer
        ]


def goes_with_workers(world: World, loader: Loader, dataset: Instance) -> bool | None:
    """Whether workers read a dataset object of the loader.

    False if on every distinct path it arrives with zero workers or another dataset is passed. None if several datasets
    and worker counts, 0 among them, are known but not which belong together.
    """
    paths = _paths(world, loader, by_users=not of_test(world, dataset))
    found = {_along(world, loader, dataset, path, limits.CALLER_LEVELS.most) for path in paths}
    if "workers" in found:
        return True
    if "unpaired" in found:
        return None
    return not found or found == {"unclear"} or found == {"unclear", "others"}


def has_workers_in(world: World, loader: Loader, program: str) -> bool:
    """Whether a loader can have workers in a program: False only if calls in the file of that program are known to make
    the loader, or the object whose method makes it, and each passes zero workers."""
    counts = [loader.workers(path.frame) for path in _paths(world, loader, by_users=False) if _is_from(path, program)]
    return not counts or any(one.possible for one in counts)


def _is_from(path: _Path, program: str) -> bool:
    receiver = path.frame.receiver
    if isinstance(receiver, Instance) and receiver.file is not None and receiver.call >= 0:
        return receiver.file.path == program
    return path.caller is not None and path.caller.file.path == program


def of_test(world: World, value: Value) -> bool:
    """Whether a test creates an object: users of the package create their own."""
    return isinstance(value, Instance) and value.file is not None and world.import_graph.is_test(value.file.path)


def _along(world: World, loader: Loader, dataset: Instance, path: _Path, levels: int) -> _Pairing:
    """How a dataset is paired with worker counts along one path to the loader.

    Where the path has several datasets and worker counts, longer paths are followed to pair them.
    """
    frame = path.frame
    datasets = loader.datasets(frame)
    if not any(_same(value, dataset) for value in datasets):
        clear = bool(datasets) and frame.actuals is not None
        return "others" if clear and all(map(_is_plain, datasets)) else "unclear"
    if not loader.workers(frame).possible:
        return "none"
    if len(datasets) == 1 or not _may_be_none(loader, frame):
        return "workers"
    above = path.above(world) if levels else []
    found = {_along(world, loader, dataset, one, levels - 1) for one in above} or {"unpaired"}
    return next(one for one in ("workers", "unpaired", "unclear", "none", "others") if one in found)


def _is_plain(value: object) -> bool:
    """Whether a value is fully known, so that it cannot hide the dataset in question: a container, a constant or an
    object of the project."""
    return isinstance(value, (Display, Mapping, Const)) or (isinstance(value, Instance) and isinstance(value.of, Class))


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


def _paths(world: World, loader: Loader, by_users: bool) -> Iterator[_Path]:
    """The activations of the function that makes the loader, one per call of it.

    For a method: one per call that constructs its object, combined with each activation of the function around that
    call. Functions that only tests call have one more where calls `by_users` of the package count.
    """
    file, scope = loader.file, loader.file.calls[loader.call].scope
    owner = file.method_of(scope)
    if by_users and world.calls.only_tested(Function(file, scope)):
        yield _by_users(world, Function(file, scope), owner)
    if owner is None or world.hierarchy.receiver_kind(Function(file, scope)) != "self":
        yield from _activations(world, file, scope)
        return
    called = list(_activations(world, file, scope))
    if called and all(_is_made(path.frame.receiver) for path in called):
        yield from called
        return
    cls = Class(file, owner)
    for one in (cls, *world.hierarchy.subclasses(cls)):
        init = world.hierarchy.method(one, "__init__")
        if by_users and init is not None and world.calls.only_tested(init):
            yield _by_users(world, Function(file, scope), one.scope if one.file is file else owner)
        for caller in world.calls.callers(init) if init is not None else ():
            if caller.call >= 0 and _makes(world, caller.file, caller.call, one):
                around = caller.file.calls[caller.call].scope
                frames: list[Frame | None] = [path.frame for path in _activations(world, caller.file, around)]
                for frame in frames or [None]:
                    yield _Path(world.receiver_frame(Instance(one, caller.file, caller.call, frame)))


def _by_users(world: World, function: Function, owner: int | None) -> _Path:
    """An activation of a function with unknown arguments, on an unspecified object of its class."""
    if owner is not None and world.hierarchy.receiver_kind(function) == "self":
        return _Path(world.receiver_frame(Instance(Class(function.file, owner))))
    return _Path(world.intern(("users", function), None, function, None))


def _is_made(receiver: object) -> bool:
    """Whether the call that constructed an object is known."""
    return isinstance(receiver, Instance) and receiver.call >= 0


def _makes(world: World, file: SourceFile, index: int, cls: Class) -> bool:
    return cls in world.values.evaluate(file.calls[index].func, world.call_site(file, index, None))


def _activations(world: World, file: SourceFile, scope: int) -> Iterator[_Path]:
    """The activations of a function, one per call of it; for a method also per receiver."""
    if file.scopes[scope].kind == "function":
        function = Function(file, scope)
        for caller in limits.LOADER_PATHS.first(world.calls.callers(function)):
            targets = world.calls.targets(caller.file, caller.call) if caller.call >= 0 else ()
            frames = [target.frame for target in targets if target.function.key == function.key]
            for frame in dict.fromkeys(frames or [caller.frame]):
                bound = function.bound_to(frame.receiver) if frame.receiver is not None else function
                yield _Path(world.told_apart(caller.file, caller.call, bound, frame), caller, function)
