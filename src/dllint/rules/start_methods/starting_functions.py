"""The functions that may start processes, themselves or through the functions that they call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dllint.inference.edges import Target
from dllint.inference.values import Class, Frame, Function, Instance
from dllint.project.process_starts import Starting

if TYPE_CHECKING:
    from dllint.project.model import Project


class _Code(NamedTuple):
    """A function as it runs on objects of one class; `cls` is None where it has no receiver of a known class."""

    function: tuple[str, int]
    cls: Class | None


class StartingFunctions:
    """The functions from which a process start can be reached, whatever arguments they receive.

    Every function is looked into once per class of its receiver, for the whole project. A walk that distinguishes
    activations, as one of each file of a project must, then only enters functions that can lead to a start.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._starting: set[_Code] = set()
        self._callers: dict[_Code, list[_Code]] = {}

    def may_start(self, target: Target) -> bool:
        """Whether the function that a call runs can start processes, itself or through functions that it runs.

        A function that calls what it is given can lead wherever its callers say, so the answer is true for it.
        """
        code = _code(target)
        if code not in self._callers:
            try:
                self._look_into(code, target)
            except BaseException:
                # Nothing that was found on the way is complete.
                self._callers.clear()
                self._starting.clear()
                raise
        return code in self._starting

    def _look_into(self, code: _Code, target: Target) -> None:
        """Find out about a function and about all that it can run."""
        self._callers[code] = []
        todo = [(code, target)]
        found: list[_Code] = []
        for here, one in todo:
            function, frames = one.function, self._frames(one)
            if self._starts_itself(function, frames):
                found.append(here)
            for index in function.file.calls_of(function.scope):
                targets = (to for frame in frames for to in self.world.calls.targets(function.file, index, frame))
                for called, to in {_code(to): to for to in targets}.items():
                    if called not in self._callers:
                        self._callers[called] = []
                        todo.append((called, to))
                    elif called in self._starting:
                        found.append(here)
                    self._callers[called].append(here)
        while found:
            starting = found.pop()
            if starting not in self._starting:
                self._starting.add(starting)
                found += self._callers[starting]

    def _frames(self, target: Target) -> tuple[Frame | None, ...]:
        """The activations that stand for all of a function's: any, and one on an object of exactly the class."""
        receiver = _receiver(target)
        if receiver is None:
            return (None,)
        plain = Instance(receiver.of, receiver.file, receiver.call, None, receiver.by)
        return (None, self.world.receiver_frame(plain))

    def _starts_itself(self, function: Function, frames: tuple[Frame | None, ...]) -> bool:
        file, scope = function.file, function.scope
        starting = self.project.ask(Starting)
        return (
            self.world.activations.differ(file.path, scope)
            or any((file.path, index) in starting.launching for index in file.calls_of(scope))
            or any(True for frame in frames for _ in starting.iterations(file, scope, frame))
        )


def _receiver(target: Target) -> Instance | None:
    """The object on which a method runs, where the call that made it is known."""
    receiver = target.frame.receiver
    return receiver if isinstance(receiver, Instance) and isinstance(receiver.of, Class) and receiver.call >= 0 else None


def _code(target: Target) -> _Code:
    receiver = _receiver(target)
    return _Code(target.function.key, receiver.of if receiver is not None and isinstance(receiver.of, Class) else None)
