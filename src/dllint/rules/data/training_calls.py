"""Calls that may compute gradients, told by names alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Name
from dllint.inference import limits
from dllint.linking.source import SourceFile, last_name
from dllint.rules.memory.backward_passes import STARTS

if TYPE_CHECKING:
    from dllint.project.model import Project


class TrainingCalls:
    """Finds the calls in one project that start a backward pass, or may call a function that does."""

    def __init__(self, project: Project) -> None:
        self.world = project.world

    def beside(self, file: SourceFile, index: int, loop: int) -> bool:
        """Whether a loop that contains a call may also compute gradients, in calls of other functions."""
        call = file.calls[index]
        others = (file.calls[one] for one in self.by_scope.get((file.path, call.scope), ()))
        return any(file.encloses(loop, one.region) and last_name(one.func) != last_name(call.func) for one in others)

    @cached_property
    def by_scope(self) -> dict[tuple[str, int], list[int]]:
        """The calls that may compute gradients, by scope, judged by names alone.

        A cheap filter, so that the loaders of most loops in a project need not be determined.
        """
        found: dict[tuple[str, int], list[int]] = {}
        names = dict.fromkeys(STARTS, 0)
        todo = list(names)
        while todo:
            name = todo.pop(0)
            for file, index in self.world.called(name):
                scope = file.calls[index].scope
                found.setdefault((file.path, scope), []).append(index)
                handing = self._handing(file, scope)
                parent = file.scopes[scope].parent
                if handing:
                    found.setdefault((file.path, parent), []).extend(handing)
                for outer in (*self._names_of(file, scope), *(self._names_of(file, parent) if handing else ())):
                    if outer not in names and names[name] < limits.TRAINING_DEPTH.most:
                        names[outer] = names[name] + 1
                        todo.append(outer)
        return found

    @staticmethod
    def _handing(file: SourceFile, scope: int) -> list[int]:
        """The calls of a function that hand on a local function of it: `timed(step)`."""
        name, parent = file.scopes[scope].name, file.scopes[scope].parent
        if parent <= 0 or file.scopes[parent].kind != "function":
            return []
        calls = file.calls_of(parent)
        return [index for index in calls if any(one.value == Name(name) for one in file.calls[index].args)]

    def _names_of(self, file: SourceFile, scope: int) -> Iterator[str]:
        """The names that a function is called by: its own, and the variables that receive it from the function around
        it, `step = make_step(model)`, or that hold it with arguments, `step = partial(train_step, model)`."""
        name, parent = file.scopes[scope].name, file.scopes[scope].parent
        yield name
        yield from self.world.aliases(name)
        if parent > 0 and any(one.value == Name(name) for one in file.scopes[parent].events_of("return")):
            for caller, index in self.world.called(file.scopes[parent].name):
                for event in caller.scopes[caller.calls[index].scope].events_of("assign"):
                    if event.value == CallRef(index) and isinstance(event.target, Name):
                        yield event.target.id
