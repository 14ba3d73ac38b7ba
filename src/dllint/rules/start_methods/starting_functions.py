"""The functions that may start processes, themselves or through the functions that they call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, Name
from dllint.inference.answers import Table
from dllint.inference.edges import Target
from dllint.inference.values import Class, Frame, Instance, Unknown
from dllint.linking.source import last_name
from dllint.project.process_starts import Starting

if TYPE_CHECKING:
    from dllint.project.model import Project


class _Code(NamedTuple):
    """A function as it runs on objects of one class; `cls` is None where it has no receiver of a known class."""

    function: tuple[str, int]
    cls: Class | None


class _Own(NamedTuple):
    """What a function does: whether it may start processes itself, otherwise the functions that it runs, and whether it
    also calls or iterates what is unknown."""

    starts: bool
    runs: dict[_Code, Target]
    open: bool = False


_UNKNOWN = _Own(True, {})


class StartingFunctions:
    """The functions from which a process start can be reached, whatever arguments they receive.

    Every function is looked into once per class of its receiver, for the whole project. A walk that distinguishes
    activations, as one of each file of a project must, then only enters functions that can lead to a start.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._own: Table[_Own] = {}
        self._starting: set[_Code] = set()
        self._callers: dict[_Code, list[_Code]] = {}

    def may_start(self, target: Target) -> bool:
        """Whether the function that a call runs can start processes, itself or through functions that it runs.

        A function that calls what it is given can lead wherever its callers say, so the answer is true for it. So it is
        where a limit kept the analysis from what the function calls or iterates.
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
            own = self._of(here, one)
            if own.starts:
                found.append(here)
            for called, to in own.runs.items():
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

    def _of(self, code: _Code, target: Target) -> _Own:
        memory = self.world.memory
        own = memory.remember(self._own, code, lambda: self._find(target), _UNKNOWN)
        return own._replace(starts=True) if own.open and not memory.is_whole(self._own, code) else own

    def _find(self, target: Target) -> _Own:
        file, scope = target.function.file, target.function.scope
        starting = self.project.ask(Starting)
        if any((file.path, index) in starting.launching for index in file.calls_of(scope)):
            return _UNKNOWN
        if self.world.activations.differ(file.path, scope):
            return _UNKNOWN
        frames = self._frames(target)
        if any(True for frame in frames for _ in starting.iterations(file, scope, frame)):
            return _UNKNOWN
        runs = (
            to
            for index in file.calls_of(scope)
            for frame in frames
            for to in self.world.calls.targets(file, index, frame)
        )
        return _Own(False, {_code(to): to for to in runs}, self._is_open(target))

    def _is_open(self, target: Target) -> bool:
        """Whether the function calls a function of the project, or iterates something, that is unknown."""
        file, scope = target.function.file, target.function.scope
        for index in file.calls_of(scope):
            func = file.calls[index].func
            name = last_name(func) if isinstance(func, (Name, Attribute)) else ""
            named = self.world.defined(name) or self.world.is_alias(name)
            if name and not named and not any(True for _ in self.world.stored_under(name)):
                continue
            if any(isinstance(one, Unknown) for one in self.world.calls.callees(file, index, None)):
                return True
        return any(
            isinstance(one, Unknown)
            for expr, site in self.project.ask(Starting).iterated_in(file, scope)
            for one in self.world.values.evaluate(expr, site)
        )

    def _frames(self, target: Target) -> tuple[Frame | None, ...]:
        """The activations that stand for all of a function's: any, and one on an object of exactly the class."""
        receiver = _receiver(target)
        if receiver is None:
            return (None,)
        plain = Instance(receiver.of, receiver.file, receiver.call, None, receiver.by)
        return (None, self.world.receiver_frame(plain))


def _receiver(target: Target) -> Instance | None:
    """The object on which a method runs, where the call that made it is known."""
    receiver = target.frame.receiver
    return (
        receiver if isinstance(receiver, Instance) and isinstance(receiver.of, Class) and receiver.call >= 0 else None
    )


def _code(target: Target) -> _Code:
    receiver = _receiver(target)
    return _Code(target.function.key, receiver.of if receiver is not None and isinstance(receiver.of, Class) else None)
