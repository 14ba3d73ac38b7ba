"""Functions that train or evaluate in one epoch and make the loader for it: whether each call makes the same loader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, List, Name, Tuple
from dllint.facts.schema import Expr
from dllint.inference.edges import Caller
from dllint.inference.values import Function, Site
from dllint.linking.expressions import names_in, walk
from dllint.linking.source import last_name
from dllint.project.loaders import Loader
from dllint.project.process_starts import Starting
from dllint.rules.data.training_calls import TrainingCalls
from dllint.rules.memory.backward_passes import STARTS

if TYPE_CHECKING:
    from dllint.project.model import Project
    from dllint.rules.data.sameness import Sameness

_KEEPING = ("setdefault",)
"""Methods of a dict that keep their argument, and return what the dict had before."""


class EpochFunctions:
    """Compares the loaders that the calls of a function make for one epoch each, in one project."""

    def __init__(self, project: Project, sameness: Sameness) -> None:
        self.project = project
        self.world = project.world
        self.sameness = sameness

    def makes_the_same(self, loader: Loader, caller: Caller, loop: int) -> bool:
        """Whether a call in a loop over epochs makes the same loader in each of them, in a function that trains with
        it, or that goes through it beside the training."""
        file, scope = loader.file, loader.file.calls[loader.call].scope
        if file.scopes[scope].kind != "function" or not (_trains(loader) or self._evaluates(loader, caller, loop)):
            return False
        read = _read_by(loader)
        around = caller.file.calls[caller.call].scope
        # What a call gives may differ each time: a sampler, or a part of the data that is drawn.
        called = {part.index for expr in read for part in walk(expr, file) if isinstance(part, CallRef)}
        if not all(index == loader.call or self.sameness.repeats(file, index) for index in called):
            return False
        if file is caller.file and any(self.sameness.depends(file, around, loop, expr) for expr in read):
            return False
        if not _is_own_method(caller) and any(
            self._is_changed(loader, part) for expr in read for part in walk(expr, file)
        ):
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

    def _is_changed(self, loader: Loader, expr: Expr) -> bool:
        """Whether an expression in a method is an attribute of its object that anything but the constructor sets."""
        file, scope = loader.file, loader.file.calls[loader.call].scope
        cls, params = file.method_of(scope), file.scopes[scope].params
        if cls is None or not params or not isinstance(expr, Attribute) or expr.value != Name(params[0].name):
            return False
        methods = [one for one in file.children.get(cls, ()) if file.scopes[one].name != "__init__"]
        return bool(self.world.stores.outside_stores(expr.attr)) or any(
            store.key == expr.attr and file.scopes[one].params and store.base == Name(file.scopes[one].params[0].name)
            for one in methods
            for store in file.stores(one)
        )

    def _evaluates(self, loader: Loader, caller: Caller, loop: int) -> bool:
        """Whether a function goes through the loader that it makes, called in a loop that trains with other batches."""
        return (
            not loader.workers().off
            and self.project.ask(TrainingCalls).beside(caller.file, caller.call, loop)
            and self._goes_through(loader)
        )

    def _goes_through(self, loader: Loader) -> bool:
        """Whether a function has a loop over the loader that it makes, and no dict keeps that for the next call."""
        file, scope = loader.file, loader.file.calls[loader.call].scope
        made, events = CallRef(loader.call), file.scopes[scope].events
        named = [one.target for one in events if one.kind == "assign" and one.value == made]
        given = (call for call in map(file.calls.__getitem__, file.calls_of(scope)) if last_name(call.func) in _KEEPING)
        if any(one.value == made or one.value in named for call in given for one in call.args):
            return False
        return any(
            one.file is file and one.call == loader.call
            for event in events
            if event.kind == "for" and event.value is not None
            for one, _ in self.project.ask(Starting).gone_through(
                event.value, Site(file, scope, event.region, event.span.start, None)
            )
        )


def _is_own_method(caller: Caller) -> bool:
    """Whether a call is one of a method of the calling method's object."""
    func = caller.file.calls[caller.call].func
    return isinstance(func, Attribute) and func.value == Name("self")


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
