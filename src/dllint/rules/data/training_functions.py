"""Functions that train for one epoch and make the loader for it: whether each call makes the same loader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, List, Name, Tuple
from dllint.facts.schema import Expr
from dllint.inference.edges import Caller
from dllint.inference.values import Function
from dllint.linking.expressions import names_in, walk
from dllint.linking.source import last_name
from dllint.project.loaders import Loader
from dllint.rules.memory.backward_passes import STARTS

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.rules.data.sameness import Sameness


class TrainingFunctions:
    """Compares the loaders that the calls of a training function make, in one project."""

    def __init__(self, world: World, sameness: Sameness) -> None:
        self.world = world
        self.sameness = sameness

    def makes_the_same(self, loader: Loader, caller: Caller, loop: int) -> bool:
        """Whether a call in a loop makes the same loader in each iteration, in a function that trains with it."""
        file, scope = loader.file, loader.file.calls[loader.call].scope
        if file.scopes[scope].kind != "function" or not _trains(loader):
            return False
        read = _read_by(loader)
        around = caller.file.calls[caller.call].scope
        # What a call gives may differ each time: a sampler, or a part of the data that is drawn.
        if any(isinstance(part, CallRef) for expr in read for part in walk(expr, file)):
            return False
        if file is caller.file and any(self.sameness.depends(file, around, loop, expr) for expr in read):
            return False
        function = Function(file, scope)
        names = {name for expr in read for name in names_in(expr, file)}
        given = (
            self.world.parameters.bound(function, param.name, caller.frame).actual
            for param in file.scopes[scope].params
            if param.name in names
        )
        return all(
            one is None or one.expr is None or self.sameness.stays(caller.file, around, loop, one.expr) for one in given
        )


def _trains(loader: Loader) -> bool:
    file = loader.file
    return any(last_name(file.calls[one].func) in STARTS for one in file.calls_of(file.calls[loader.call].scope))


def _read_by(loader: Loader) -> list[Expr]:
    """The arguments of a loader's call, and what the function assigns to the variables among them."""
    file, call = loader.file, loader.file.calls[loader.call]
    found = [argument.value for argument in call.args]
    names = {name for expr in found for name in names_in(expr, file)}
    size = -1
    while size < len(names):
        size = len(names)
        for event in file.scopes[call.scope].events_of("assign"):
            bound = event.target.elements if isinstance(event.target, (List, Tuple)) else (event.target,)
            if event.value is not None and any(isinstance(one, Name) and one.id in names for one in bound):
                if event.value not in found:
                    found.append(event.value)
                names |= names_in(event.value, file)
    return found
